"""Console output of PyTorch libraries: Composer and llm-foundry, torchtune, torchtitan, fairseq and metaseq."""

from __future__ import annotations

import re
from dataclasses import replace

from planner.adapters.trainer_logs.csv_columns import RATES_ALONE
from planner.adapters.trainer_logs.log_source import LONGEST_LINE, LogSource
from planner.adapters.trainer_logs.numbers_in_text import count, moment_s, number, number_or_nan, positive
from planner.adapters.trainer_logs.trainer_log import Facts, LogSpan, OtherWork, TrainerLog, spans_between

_BATCH = re.compile(r"^(?:\d{1,5}: )?\[(?:epoch=\d{1,9}\]\[)?batch=(\d{1,9})/\d{1,9}\]:")
_COMPOSER_FIGURE = re.compile(r"^(?:\d{1,5}: )?\s{1,12}Train ([\w/]{1,80}): ([-+\w.]{1,40})\s*$")


def composer_log(source: LogSource, name: str) -> TrainerLog | None:
    """Read Composer and llm-foundry: `[batch=10/120]:` with lines of figures below, as the console logger writes them.

    Rates are means over SpeedMonitor's window without evaluation (composer/callbacks/speed_monitor.py).
    """
    entries: list[tuple[int, dict[str, str]]] = []
    for line in source.lines(name):
        if found := _BATCH.match(line):
            entries.append((int(found[1]), {}))
        elif entries and (found := _COMPOSER_FIGURE.match(line)):
            entries[-1][1].setdefault(found[1], found[2])
    spans: list[LogSpan] = []
    losses: list[float] = []
    batches: set[int] = set()
    micro = None
    for place, (step, figures) in enumerate(entries):
        if "loss/train/total" in figures:
            losses.append(number_or_nan(figures["loss/train/total"]))
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


_TORCHTUNE_STEP = re.compile(r"(?:^|\s)Step (\d{1,9}) \| (.{1,2000})$")
_TORCHTUNE_FIGURE = re.compile(r"(\w{1,60}):([-+\w.]{1,40})")


def torchtune_log(source: LogSource, name: str) -> TrainerLog | None:
    """Read torchtune: `Step 12 | loss:1.2 lr:2e-05 tokens_per_second_per_gpu:8123.4 ...` (metric_logging.py).

    A line's rate counts only that step's tokens with a label, which may be fewer than the computed ones.
    """
    spans: list[LogSpan] = []
    losses: list[float] = []
    for line in source.lines(name):
        if not (found := _TORCHTUNE_STEP.search(line[:LONGEST_LINE])):
            continue
        step, figures = int(found[1]), dict(_TORCHTUNE_FIGURE.findall(found[2]))
        rate = positive(figures.get("tokens_per_second_per_gpu"))
        if rate is None:
            continue
        spans.append(LogSpan(step - 1, step, 1 / rate, 1.0))
        losses.append(number_or_nan(figures.get("loss")))
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


_TIME = re.compile(r"^(.{0,80}?)(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) - \S{1,60} - [A-Z]{4,8} - ")
_TORCHTITAN_STEP = re.compile(
    r"- step:\s{1,9}(\d{1,9})\s{1,9}loss:\s{0,9}([-+\w.]{1,20}).{0,200}?(?:tps|wps):\s{0,9}([\d,]{1,15})"
)
"""Line of a step. The rate was called `wps` until 2024."""
_START = re.compile(
    r"local batch size (\d{1,9}), global batch size (\d{1,9}), gradient accumulation steps (\d{1,9}), "
    r"sequence length (\d{1,9})"
)
_OTHER_WORK = {"validate step:": OtherWork.EVALUATION, "Saving the checkpoint": OtherWork.CHECKPOINT,
           "Finished saving the checkpoint": OtherWork.CHECKPOINT}  # fmt: skip
_RECOMPUTED = re.compile(r"Applied (selective|full)(?:AC)? activation checkpointing", re.IGNORECASE)


def torchtitan_log(source: LogSource, name: str) -> TrainerLog | None:
    """Read torchtitan: `[titan] 2026-01-01 12:00:00,123 - root - INFO - step: 10 loss: ... tps: 7,500 ...`.

    The lines' own times time the steps; `tps` is tokens/s of one accelerator (torchtitan/components/metrics.py). If
    several ranks write, the lines of the first that shows a step count.
    """
    points: list[tuple[int, float]] = []
    rates: dict[int, float] = {}
    other_work: list[tuple[int, OtherWork]] = []
    losses: list[float] = []
    start: tuple[int | None, ...] = (None,) * 4
    compiled, recomputed = None, None
    rank = None
    for line in source.lines(name):
        stamp = _TIME.search(line[:LONGEST_LINE])
        if stamp is None:
            continue
        if found := _TORCHTITAN_STEP.search(line[:LONGEST_LINE]):
            rank = stamp[1] if rank is None else rank
            clock = moment_s(stamp[2])
            if clock is not None and rank == stamp[1] and not (points and points[-1][0] == int(found[1])):
                points.append((int(found[1]), clock))
                rates[int(found[1])] = positive(found[3]) or 0.0
                losses.append(number_or_nan(found[2]))
        elif found := _START.search(line):
            start = tuple(count(part) for part in found.groups())
        elif found := _RECOMPUTED.search(line):
            recomputed = found[1].casefold()
        elif "with torch.compile" in line:
            compiled = True
        elif points:
            other_work += [(points[-1][0], what) for words, what in _OTHER_WORK.items() if words in line]
    if not rates:
        return None
    spans, doubts = spans_between(points, other_work=other_work)
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


_FAIRSEQ_FIGURE = re.compile(r"""[ ,{]"?(loss|wps|wpb|bsz|num_updates|wall)"?[=:] ?"?([-+\w.]{1,30})""")
_VALID = re.compile(r"valid on '|begin validation|\| valid \|")
_WORLD = re.compile(r"(?:training on|distributed_world_size[=:]) ?(\d{1,6})\b")


def fairseq_log(source: LogSource, name: str) -> TrainerLog | None:
    """Read fairseq and metaseq: `epoch 001: 100 / 8223 loss=..., wps=..., wpb=..., num_updates=100, ..., wall=83`, or
    JSON.

    `wall` is the whole seconds since the start, including validation. `wpb` is the target tokens of an update. Releases
    before 2019 have only rates (fairseq/logging/progress_bar.py, trainer.py).
    """
    points: list[tuple[int, float]] = []
    words: dict[int, float] = {}
    rates: list[LogSpan] = []
    other_work: list[tuple[int, OtherWork]] = []
    losses: list[float] = []
    world = None
    for whole in source.lines(name):
        line = whole[:LONGEST_LINE]
        if "wps" not in line or "wpb" not in line:
            if points and _VALID.search(line):
                other_work.append((points[-1][0], OtherWork.EVALUATION))
            elif found := _WORLD.search(line):
                world = count(found[1]) or world
            continue
        figures = dict(_FAIRSEQ_FIGURE.findall(line))
        rate, batch = positive(figures.get("wps")), positive(figures.get("wpb"))
        if rate is None or batch is None or "valid" in line:
            continue
        losses.append(number_or_nan(figures.get("loss")))
        rates.append(LogSpan(len(rates), len(rates) + 1, batch / rate, batch))
        step, wall = count(figures.get("num_updates")), number(figures.get("wall"))
        if step is not None and wall:
            points.append((step, wall))
            words[step] = batch
    spans, doubts = spans_between(points, other_work=other_work)
    if not spans and not rates:
        return None
    counted = [replace(span, tokens=words[span.end] * span.steps) for span in spans]
    return TrainerLog(
        format="fairseq", framework="fairseq fairscale", spans=tuple(counted or rates),
        resolution_s=1.0 if counted else 0.0, rates_alone=not counted,
        facts=Facts(devices=world, padded=False), losses=tuple(losses),
        doubts=tuple(doubts if counted else [RATES_ALONE]), files=(name,),
    )  # fmt: skip
