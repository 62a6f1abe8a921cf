"""nanoGPT and what copies its loop: `iter 10: loss 3.2000, time 312.45ms, mfu 2.30%`, one of every few steps.

The time of an iteration holds the evaluation before it, which `step 250: train loss ...` tells (nanoGPT's train.py).
"""

from __future__ import annotations

import re

from planner.adapters.trainer_logs.log_source import LONGEST_LINE, LogSource
from planner.adapters.trainer_logs.numbers_in_text import count, number, positive
from planner.adapters.trainer_logs.trainer_log import Beside, Facts, Span, TrainerLog

_ITER = re.compile(r"(?:^|\s)iter (\d{1,9}): loss ([-+\w.]{1,30}), time ([\d.]{1,20})ms")
_STEP = re.compile(r"(?:^|\s)step (\d{1,9}): (?:train|val) loss ")
_TOKENS = re.compile(r"^tokens per iteration will be: ([\d,]{1,30})")
_OVERRIDE = re.compile(r"^(?:Overriding: )?(batch_size|block_size|gradient_accumulation_steps) = (\d{1,9})\s*$")


def read(source: LogSource) -> list[TrainerLog]:
    """Return one training of each console's output."""
    return source.each_console(_log)


def _log(source: LogSource, name: str) -> TrainerLog | None:
    spans: list[Span] = []
    losses: list[float] = []
    tokens, evaluated = None, -1
    said: dict[str, int | None] = {}
    for line in source.lines(name):
        if found := _ITER.search(line[:LONGEST_LINE]):
            step, seconds = int(found[1]), positive(found[3])
            if seconds:
                beside = Beside.EVALUATION if step == evaluated else None
                spans.append(Span(step, step + 1, seconds / 1e3, tokens, beside))
            loss = number(found[2])
            losses.append(float("nan") if loss is None else loss)
        elif found := _STEP.search(line[:LONGEST_LINE]):
            evaluated = int(found[1])
        elif found := _TOKENS.match(line):
            tokens = positive(found[1])
        elif found := _OVERRIDE.match(line):
            said[found[1]] = count(found[2])
    if not spans:
        return None
    seq_len = said.get("block_size")
    return TrainerLog(
        format="nanogpt",
        framework="nanoGPT",
        spans=tuple(spans),
        facts=Facts(seq_len=seq_len, micro_batch=said.get("batch_size"), padded=False),
        losses=tuple(losses),
        files=(name,),
    )
