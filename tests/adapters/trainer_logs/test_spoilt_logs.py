"""Every answer that a spoilt log gets is right, and few logs are refused although they hold the answer."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from planner.adapters.trainer_logs.log_formats import read_logs
from planner.adapters.trainer_logs.log_source import opened
from planner.adapters.trainer_logs.steady_steps import steady
from planner.errors import InputError
from tests.adapters.trainer_logs.spoilt_logs import spoilt_log

NEAR = 0.03
MOST_REFUSED = 0.10


def seconds_read(folder: Path) -> float | None:
    """Return the seconds of a step that are read; None where the log is refused."""
    try:
        with opened(folder) as source:
            logs = read_logs(source)
    except InputError:
        return None
    if len(logs) != 1:
        return None
    part = steady(logs[0].spans, logs[0].resolution_s)
    return part.seconds / part.steps if part is not None and part.steps else None


def check_seeds(seeds: range, folder: Path) -> None:
    """Read the logs of some seeds and compare each answer with the training that wrote the log."""
    wrong: list[str] = []
    refused: Counter[tuple[str, ...]] = Counter()
    for seed in seeds:
        log = spoilt_log(seed, folder / str(seed))
        found = seconds_read(log.folder)
        if found is None:
            refused[log.done] += 1
        elif abs(found / log.seconds - 1) > NEAR:
            wrong.append(f"seed {seed}, {', '.join(log.done)}: {found:.4g} s for {log.seconds:.4g} s")
    assert not wrong, f"{len(wrong)} wrong:\n" + "\n".join(wrong[:40])
    assert refused.total() <= MOST_REFUSED * len(seeds), refused


@pytest.mark.slow
def test_answers_to_spoilt_logs_are_right(tmp_path):
    check_seeds(range(1000, 2000), tmp_path)
