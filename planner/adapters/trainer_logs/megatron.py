"""Megatron-LM and its relatives: `iteration 10/ 5000 | ... | elapsed time per iteration (ms): 12936.1 | ...`.

A line holds the mean of the iterations since the line before, without evaluation (megatron/training `training_log`);
the arguments at the start (`seq_length ........ 2048`) say the rest.
"""

from __future__ import annotations

import re

from planner.adapters.trainer_logs.log_source import LogSource
from planner.adapters.trainer_logs.numbers_in_text import count, number, positive
from planner.adapters.trainer_logs.trainer_log import Beside, Facts, Span, TrainerLog

_LINE = re.compile(r"iteration\s{1,12}(\d{1,12})/\s{0,12}\d{1,12} \|(.{1,2000})")
_FIELD = re.compile(r"\s{0,9}([^:|]{1,60}):\s{0,20}([^|\s]{1,30})\s{0,9}(?:\||$)")
_ARGUMENT = re.compile(r"(?:^|\s)(\w{2,60}) \.{3,60} (\S{1,200})\s*$")
_BESIDE = re.compile(r"saving checkpoint at iteration|validation loss at iteration|evaluating iter", re.IGNORECASE)
PRECISIONS = ("bf16", "fp16")


def read(source: LogSource) -> list[TrainerLog]:
    """Return one training of each console's output."""
    return source.each_console(_log)


def _log(source: LogSource, name: str) -> TrainerLog | None:
    spans: list[Span] = []
    losses: list[float] = []
    said: dict[str, str] = {}
    batch, before = None, 0
    for line in source.lines(name):
        if " ..." in line and (found := _ARGUMENT.search(line[:400])):
            said.setdefault(found[1], found[2])
        if "elapsed time per iteration" not in line or not (found := _LINE.search(line)):
            continue
        step = int(found[1])
        fields = {key.strip(): value for key, value in _FIELD.findall(found[2])}
        ms = positive(fields.get("elapsed time per iteration (ms)"))
        if ms is None:
            continue
        steps = step - before if 0 < before < step else 1
        spans.append(Span(step - steps, step, ms / 1e3 * steps, beside=None if before else Beside.COMPILE))
        batch, before = count(fields.get("global batch size")) or batch, step
        if "lm loss" in fields:
            loss = number(fields["lm loss"])
            losses.append(float("nan") if loss is None else loss)
    if not spans:
        return None
    return TrainerLog(
        format="megatron", framework="Megatron-LM", spans=tuple(spans), facts=_facts(said, batch),
        losses=tuple(losses), files=(name,),
    )  # fmt: skip


def _facts(said: dict[str, str], batch: int | None) -> Facts:
    recompute = said.get("recompute_granularity", "").casefold()
    return Facts(
        devices=count(said.get("world_size")),
        micro_batch=count(said.get("micro_batch_size")),
        global_batch=batch or count(said.get("global_batch_size")),
        seq_len=count(said.get("seq_length")),
        precision=next((name for name in PRECISIONS if said.get(name) == "True"), None),
        checkpointing=recompute if recompute in ("full", "selective") else None,
        strategy="zero1" if said.get("use_distributed_optimizer") == "True" else None,
        padded=False,
    )
