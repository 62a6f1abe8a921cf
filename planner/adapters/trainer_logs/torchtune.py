"""torchtune: `Step 12
loss:1.2 lr:2e-05 tokens_per_second_per_gpu:8123.4 ...` (training/metric_logging.py).

A line's rate counts only that step's tokens with a label, which may be fewer than the computed ones.
"""

from __future__ import annotations

import re

from planner.adapters.trainer_logs.log_source import LONGEST_LINE, LogSource
from planner.adapters.trainer_logs.numbers_in_text import number, positive
from planner.adapters.trainer_logs.trainer_log import Facts, LogSpan, TrainerLog

_STEP = re.compile(r"(?:^|\s)Step (\d{1,9}) \| (.{1,2000})$")
_FIGURE = re.compile(r"(\w{1,60}):([-+\w.]{1,40})")


def read(source: LogSource) -> list[TrainerLog]:
    """Return one training for each file."""
    return source.each_console(_log)


def _log(source: LogSource, name: str) -> TrainerLog | None:
    spans: list[LogSpan] = []
    losses: list[float] = []
    for line in source.lines(name):
        if not (found := _STEP.search(line[:LONGEST_LINE])):
            continue
        step, figures = int(found[1]), dict(_FIGURE.findall(found[2]))
        rate = positive(figures.get("tokens_per_second_per_gpu"))
        if rate is None:
            continue
        spans.append(LogSpan(step - 1, step, 1 / rate, 1.0))
        loss = number(figures.get("loss"))
        losses.append(float("nan") if loss is None else loss)
    if not spans:
        return None
    return TrainerLog(
        format="torchtune",
        framework="torchtune",
        spans=tuple(spans),
        rates_alone=True,
        tokens_of_one_device=True,
        facts=Facts(padded=False),
        losses=tuple(losses),
        files=(name,),
    )
