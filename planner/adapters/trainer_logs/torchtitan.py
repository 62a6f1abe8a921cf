"""torchtitan: `[titan] 2026-01-01 12:00:00,123 - root - INFO - step: 10  loss: ...  tps: 7,500 ...`.

The lines' own times time the steps; `tps` is tokens/s of one accelerator (torchtitan/components/metrics.py). If several
ranks write, the lines of the first that shows a step count.
"""

from __future__ import annotations

import re
from dataclasses import replace

from planner.adapters.trainer_logs.log_source import LONGEST_LINE, LogSource
from planner.adapters.trainer_logs.numbers_in_text import count, moment_s, number, positive
from planner.adapters.trainer_logs.trainer_log import Beside, Facts, TrainerLog, spans_between

_TIME = re.compile(r"^(.{0,80}?)(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) - \S{1,60} - [A-Z]{4,8} - ")
_STEP = re.compile(
    r"- step:\s{1,9}(\d{1,9})\s{1,9}loss:\s{0,9}([-+\w.]{1,20}).{0,200}?(?:tps|wps):\s{0,9}([\d,]{1,15})"
)
"""Line of a step. The rate was called `wps` until 2024."""
_START = re.compile(
    r"local batch size (\d{1,9}), global batch size (\d{1,9}), gradient accumulation steps (\d{1,9}), "
    r"sequence length (\d{1,9})"
)
_BESIDE = {"validate step:": Beside.EVALUATION, "Saving the checkpoint": Beside.CHECKPOINT,
           "Finished saving the checkpoint": Beside.CHECKPOINT}  # fmt: skip
_RECOMPUTED = re.compile(r"Applied (selective|full)(?:AC)? activation checkpointing", re.IGNORECASE)


def read(source: LogSource) -> list[TrainerLog]:
    """Return one training for each console's output."""
    return source.each_console(_log)


def _log(source: LogSource, name: str) -> TrainerLog | None:
    points: list[tuple[int, float]] = []
    rates: dict[int, float] = {}
    beside: list[tuple[int, Beside]] = []
    losses: list[float] = []
    start: tuple[int | None, ...] = (None,) * 4
    compiled, recomputed = None, None
    rank = None
    for line in source.lines(name):
        stamp = _TIME.search(line[:LONGEST_LINE])
        if stamp is None:
            continue
        if found := _STEP.search(line[:LONGEST_LINE]):
            rank = stamp[1] if rank is None else rank
            clock = moment_s(stamp[2])
            if clock is not None and rank == stamp[1] and not (points and points[-1][0] == int(found[1])):
                points.append((int(found[1]), clock))
                rates[int(found[1])] = positive(found[3]) or 0.0
                loss = number(found[2])
                losses.append(float("nan") if loss is None else loss)
        elif found := _START.search(line):
            start = tuple(count(part) for part in found.groups())
        elif found := _RECOMPUTED.search(line):
            recomputed = found[1].casefold()
        elif "with torch.compile" in line:
            compiled = True
        elif points:
            beside += [(points[-1][0], what) for words, what in _BESIDE.items() if words in line]
    if not rates:
        return None
    spans, doubts = spans_between(points, beside=beside)
    spans = [replace(span, tokens=rates[span.end] * span.seconds or None) for span in spans] if not start[0] else spans
    micro, whole, accumulation, seq_len = start
    devices = None
    if micro and whole and accumulation and whole % (micro * accumulation) == 0:
        devices = whole // (micro * accumulation)
    return TrainerLog(
        format="torchtitan",
        framework="torchtitan",
        spans=tuple(spans),
        resolution_s=0.001,
        tokens_of_one_device=True,
        facts=Facts(
            micro_batch=micro, global_batch=whole, accumulation=accumulation, seq_len=seq_len, devices=devices,
            compiled=compiled, checkpointing=recomputed, padded=False, strategy="fsdp2",
        ),
        losses=tuple(losses),
        doubts=tuple(doubts),
        files=(name,),
    )  # fmt: skip
