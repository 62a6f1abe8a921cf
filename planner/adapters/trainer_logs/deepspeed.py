"""DeepSpeed's throughput lines: `[time] ... global_step=450, RunningAvgSamplesPerSec=25.7, CurrSamplesPerSec=25.8`.

If `step=450, skipped=0, lr=...` is logged too, it counts the steps. Steps are timed by the lines' own times, because
the rates exclude input time (deepspeed/utils/timer.py). The configuration at the start (`train_batch_size ........ 16`)
has the other facts.
"""

from __future__ import annotations

import re

from planner.adapters.trainer_logs.log_source import LONGEST_LINE, LogSource
from planner.adapters.trainer_logs.numbers_in_text import count, moment_s, positive
from planner.adapters.trainer_logs.trainer_log import Beside, Facts, TrainerLog, spans_between

_STAMP = r"\[(?:INFO )?(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:,\d{3})?)\].{0,200}?"
_LINE = re.compile(
    _STAMP + r"(?:micro_step=(\d{1,12})/global_step=|\b\d{1,9}/)(\d{1,12}), (?:RunningAvg)?SamplesPerSec=([\d.]{1,25})"
)
_STEP = re.compile(_STAMP + r"\bstep=(\d{1,12}), skipped=\d")
"""Line of an optimizer step. Releases before 0.8 count passes in the throughput line instead."""
_ARGUMENT = re.compile(r"print\]\s{1,4}(\w{2,60}) \.{0,60} (\S{1,200})\s*$")

PASSES = (
    "this release counts passes and not optimizer steps, so that --global-batch must be that of a pass; import a log "
    "with its lines 'step=..., skipped=...', or a later release's"
)
PRECISIONS = {"bfloat16_enabled": "bf16", "fp16_enabled": "fp16", "float16_enabled": "fp16"}


def read(source: LogSource) -> list[TrainerLog]:
    """Return one training for each console's output."""
    return source.each_console(_log)


def _log(source: LogSource, name: str) -> TrainerLog | None:
    points: list[tuple[int, float]] = []
    steps: list[tuple[int, float]] = []
    beside: list[tuple[int, Beside]] = []
    said: dict[str, str] = {}
    accumulation, counts_steps = None, False
    for line in source.lines(name):
        if "print]" in line and (found := _ARGUMENT.search(line[:400])):
            said.setdefault(found[1], found[2])
        elif "skipped=" in line and (found := _STEP.search(line[:LONGEST_LINE])):
            if (clock := moment_s(found[1])) is not None:
                steps.append((int(found[2]), clock))
        elif "SamplesPerSec=" in line and (found := _LINE.search(line[:LONGEST_LINE])):
            step, clock = int(found[3]), moment_s(found[1])
            if clock is not None and positive(found[4]):
                points.append((step, clock))
                counts_steps = counts_steps or found[2] is not None
                accumulation = count(round(int(found[2]) / step)) if found[2] and step else accumulation
        elif (points or steps) and "Saving model checkpoint" in line:
            beside.append(((steps or points)[-1][0], Beside.CHECKPOINT))
    if len(steps) > 1 and not counts_steps:
        points = steps
    if len(points) < 2:
        return None
    spans, doubts = spans_between(points, beside=beside)
    if not steps and not counts_steps and said.get("gradient_accumulation_steps") != "1":
        doubts.append(PASSES)
    stage = said.get("zero_optimization_stage", "0")
    return TrainerLog(
        format="deepspeed",
        framework="DeepSpeed",
        spans=tuple(spans),
        resolution_s=0.001,
        facts=Facts(
            micro_batch=count(said.get("train_micro_batch_size_per_gpu")),
            global_batch=count(said.get("train_batch_size")),
            accumulation=count(said.get("gradient_accumulation_steps")) or accumulation,
            devices=count(said.get("world_size")),
            strategy={"0": "ddp", "1": "zero1", "2": "zero2", "3": "zero3"}.get(stage) if said else None,
            precision=next((new for old, new in PRECISIONS.items() if said.get(old) == "True"), None),
            padded=True,
        ),
        doubts=tuple(doubts),
        files=(name,),
    )
