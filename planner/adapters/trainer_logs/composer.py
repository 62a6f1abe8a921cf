"""Composer and llm-foundry: `[batch=10/120]:` with lines of figures below, as the console logger writes them.

Rates are means over SpeedMonitor's window without evaluation (composer/callbacks/speed_monitor.py).
"""

from __future__ import annotations

import re

from planner.adapters.trainer_logs.log_source import LogSource
from planner.adapters.trainer_logs.numbers_in_text import count, number, positive
from planner.adapters.trainer_logs.trainer_log import Facts, LogSpan, TrainerLog

_BATCH = re.compile(r"^(?:\d{1,5}: )?\[(?:epoch=\d{1,9}\]\[)?batch=(\d{1,9})/\d{1,9}\]:")
_FIGURE = re.compile(r"^(?:\d{1,5}: )?\s{1,12}Train ([\w/]{1,80}): ([-+\w.]{1,40})\s*$")


def read(source: LogSource) -> list[TrainerLog]:
    """Return one training for each console's output."""
    return source.each_console(_log)


def _log(source: LogSource, name: str) -> TrainerLog | None:
    entries: list[tuple[int, dict[str, str]]] = []
    for line in source.lines(name):
        if found := _BATCH.match(line):
            entries.append((int(found[1]), {}))
        elif entries and (found := _FIGURE.match(line)):
            entries[-1][1].setdefault(found[1], found[2])
    spans: list[LogSpan] = []
    losses: list[float] = []
    batches: set[int] = set()
    micro = None
    for place, (step, figures) in enumerate(entries):
        if "loss/train/total" in figures:
            loss = number(figures["loss/train/total"])
            losses.append(float("nan") if loss is None else loss)
        rate = positive(figures.get("throughput/batches_per_sec"))
        before = entries[place - 1][0] if place else step - 1
        if rate is None or step <= before:
            continue
        seconds = (step - before) / rate
        tokens = positive(figures.get("throughput/tokens_per_sec"))
        spans.append(LogSpan(before, step, seconds, tokens and tokens * seconds))
        samples = positive(figures.get("throughput/samples_per_sec"))
        batches.add(round(samples / rate) if samples else 0)
        micro = count(figures.get("trainer/device_train_microbatch_size")) or micro
    if not spans:
        return None
    whole = batches.pop() if len(batches) == 1 else 0
    return TrainerLog(
        format="composer",
        framework="Composer",
        spans=tuple(spans),
        facts=Facts(micro_batch=micro, global_batch=whole or None, padded=False),
        losses=tuple(losses),
        files=(name,),
    )
