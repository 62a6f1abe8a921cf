"""Megatron-LM and its relatives: `iteration 10/ 5000 | ... | elapsed time per iteration (ms): 12936.1 | ...`.

GPT-NeoX puts `samples/sec: 2.7 |` in front, Megatron-DeepSpeed writes `samples per second`; nanotron writes
`iteration: 10 / 5000 | ... | elapsed_time_per_iteration_ms: 11.5K | ...`, in three digits.

A figure may be followed by its mean over the run (`1000.4/1080.0`), which is passed over.

A line holds the mean of the iterations since the line before, without evaluation (megatron/training `training_log`);
the arguments at the start (`seq_length ........ 2048`) say the rest.
"""

from __future__ import annotations

import re

from planner.adapters.trainer_logs.log_source import LONGEST_LINE, LogSource
from planner.adapters.trainer_logs.numbers_in_text import count, number, positive
from planner.adapters.trainer_logs.trainer_log import Beside, Facts, LogSpan, TrainerLog

_LINE = re.compile(r"(.{0,200}?)iteration:?\s{1,12}(\d{1,12})\s?/\s{0,12}(\d{1,12}) \|(.{1,2000})")
_FIELD = re.compile(r"\s{0,9}([^:|]{1,60}):\s{0,20}([^|\s]{1,30})\s{0,9}(?:\||$)")
_ARGUMENT = re.compile(r"(?:^|\s)(\w{2,60}) \.{3,60} (\S{1,200})\s*$")
MS = "elapsed time per iteration (ms)"
SAMPLES_PER_S = ("samples/sec", "samples per second")
PRECISIONS = ("bf16", "fp16")


def read(source: LogSource) -> list[TrainerLog]:
    """Return one training for each console's output."""
    return source.each_console(_log)


def _log(source: LogSource, name: str) -> TrainerLog | None:
    spans: list[LogSpan] = []
    losses: list[float] = []
    said: dict[str, str] = {}
    batch, before, skipped, planned = None, 0, 0, 0
    framework = "Megatron-LM"
    for line in source.lines(name):
        if " ..." in line and (found := _ARGUMENT.search(line[:400])):
            said.setdefault(found[1], found[2])
        if "elapsed" not in line or not (found := _LINE.search(line[:LONGEST_LINE])):
            continue
        step = int(found[2])
        fields = {
            key.strip(): value.partition("/")[0]
            for key, value in _FIELD.findall(f"{found[1]}|{found[4]}".replace("||", "|"))
        }
        if "elapsed_time_per_iteration_ms" in fields:
            framework = "nanotron"
            fields = {key.replace("_", " "): value for key, value in fields.items()}
            fields[MS] = fields.pop("elapsed time per iteration ms")
        ms = positive(fields.get(MS))
        if ms is None:
            skipped += 1
            continue
        steps = step - before if 0 < before < step else 1
        planned = int(found[3])
        spans.append(LogSpan(step - steps, step, ms / 1e3 * steps, beside=None if before else Beside.COMPILE))
        batch, before = count(fields.get("global batch size")) or _batch(fields, ms) or batch, step
        if "lm loss" in fields:
            loss = number(fields["lm loss"])
            losses.append(float("nan") if loss is None else loss)
    if not spans:
        return None
    return TrainerLog(
        format="megatron", framework=framework, spans=tuple(spans), facts=_facts(said, batch, planned),
        losses=tuple(losses), used_lines=len(spans), skipped_lines=skipped, files=(name,),
    )  # fmt: skip


def _batch(fields: dict[str, str], ms: float) -> int | None:
    """Return samples/s x seconds, if a line has samples/s and no batch."""
    rate = next((rate for name in SAMPLES_PER_S if (rate := positive(fields.get(name)))), None)
    return count(round(rate * ms / 1e3)) if rate else None


def _facts(said: dict[str, str], batch: int | None, planned: int) -> Facts:
    recompute = said.get("recompute_granularity", "").casefold()
    return Facts(
        devices=count(said.get("world_size")),
        micro_batch=count(said.get("micro_batch_size")),
        global_batch=batch or count(said.get("global_batch_size")),
        seq_len=count(said.get("seq_length")),
        precision=next((name for name in PRECISIONS if said.get(name) == "True"), None),
        checkpointing=recompute if recompute in ("full", "selective") else None,
        strategy="zero1" if said.get("use_distributed_optimizer") == "True" else None,
        planned_steps=planned or None,
        padded=False,
    )
