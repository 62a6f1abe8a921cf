"""Console output of trainers for clusters: Megatron-LM and its relatives, DeepSpeed, verl."""

from __future__ import annotations

import re
from collections.abc import Mapping
from statistics import fmean

from planner.adapters.trainer_logs.log_source import LONGEST_LINE, LogSource
from planner.adapters.trainer_logs.numbers_in_text import count, moment_s, number_or_nan, positive
from planner.adapters.trainer_logs.rollout_figures import rollouts_of
from planner.adapters.trainer_logs.trainer_log import Facts, LogSpan, OtherWork, TrainerLog, spans_between

_MEGATRON_LINE = re.compile(r"(.{0,200}?)iteration:?\s{1,12}(\d{1,12})\s?/\s{0,12}(\d{1,12}) \|(.{1,2000})")
_FIELD = re.compile(r"\s{0,9}([^:|]{1,60}):\s{0,20}([^|\s]{1,30})\s{0,9}(?:\||$)")
_MEGATRON_ARGUMENT = re.compile(r"(?:^|\s)(\w{2,60}) \.{3,60} (\S{1,200})\s*$")
MS = "elapsed time per iteration (ms)"
SAMPLES_PER_S = ("samples/sec", "samples per second")
MEGATRON_PRECISIONS = ("bf16", "fp16")


def megatron_log(source: LogSource, name: str) -> TrainerLog | None:
    """Read Megatron-LM and its relatives: `iteration 10/ 5000 | ...

    | elapsed time per iteration (ms): 12936.1 | ...`.

    GPT-NeoX puts `samples/sec: 2.7 |` in front, Megatron-DeepSpeed writes `samples per second`; nanotron writes
    `iteration: 10 / 5000 | ... | elapsed_time_per_iteration_ms: 11.5K | ...`, in three digits.

    A figure may be followed by its mean over the run (`1000.4/1080.0`), which is passed over.

    A line holds the mean of the iterations since the line before, without evaluation (megatron/training
    `training_log`); the arguments at the start (`seq_length ........ 2048`) say the rest.
    """
    spans: list[LogSpan] = []
    losses: list[float] = []
    said: dict[str, str] = {}
    batch, before, skipped, planned = None, 0, 0, 0
    framework = "Megatron-LM"
    for line in source.lines(name):
        if " ..." in line and (found := _MEGATRON_ARGUMENT.search(line[:400])):
            said.setdefault(found[1], found[2])
        if "elapsed" not in line or not (found := _MEGATRON_LINE.search(line[:LONGEST_LINE])):
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
        spans.append(LogSpan(step - steps, step, ms / 1e3 * steps, other_work=None if before else OtherWork.COMPILE))
        batch, before = count(fields.get("global batch size")) or _batch(fields, ms) or batch, step
        if "lm loss" in fields:
            losses.append(number_or_nan(fields["lm loss"]))
    if not spans:
        return None
    return TrainerLog(
        format="megatron", framework=framework, spans=tuple(spans), facts=_megatron_facts(said, batch, planned),
        losses=tuple(losses), used_lines=len(spans), skipped_lines=skipped, files=(name,),
    )  # fmt: skip


def _batch(fields: dict[str, str], ms: float) -> int | None:
    """Return samples/s x seconds, if a line has samples/s and no batch."""
    rate = next((rate for name in SAMPLES_PER_S if (rate := positive(fields.get(name)))), None)
    return count(round(rate * ms / 1e3)) if rate else None


def _megatron_facts(said: dict[str, str], batch: int | None, planned: int) -> Facts:
    recompute = said.get("recompute_granularity", "").casefold()
    return Facts(
        devices=count(said.get("world_size")),
        micro_batch=count(said.get("micro_batch_size")),
        global_batch=batch or count(said.get("global_batch_size")),
        seq_len=count(said.get("seq_length")),
        precision=next((name for name in MEGATRON_PRECISIONS if said.get(name) == "True"), None),
        checkpointing=recompute if recompute in ("full", "selective") else None,
        strategy="zero1" if said.get("use_distributed_optimizer") == "True" else None,
        planned_steps=planned or None,
        padded=False,
    )


_STAMP = r"\[(?:INFO )?(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:,\d{3})?)\].{0,200}?"
_DEEPSPEED_LINE = re.compile(
    _STAMP + r"(?:micro_step=(\d{1,12})/global_step=|\b\d{1,9}/)(\d{1,12}), (?:RunningAvg)?SamplesPerSec=([\d.]{1,25})"
)
_DEEPSPEED_STEP = re.compile(_STAMP + r"\bstep=(\d{1,12}), skipped=\d")
"""Line of an optimizer step. Releases before 0.8 count passes in the throughput line instead."""
_DEEPSPEED_ARGUMENT = re.compile(r"print\]\s{1,4}(\w{2,60}) \.{0,60} (\S{1,200})\s*$")

PASSES = (
    "this release counts passes and not optimizer steps, so that --global-batch must be that of a pass; import a log "
    "with its lines 'step=..., skipped=...', or a later release's"
)
DEEPSPEED_PRECISIONS = {"bfloat16_enabled": "bf16", "fp16_enabled": "fp16", "float16_enabled": "fp16"}


def deepspeed_log(source: LogSource, name: str) -> TrainerLog | None:
    """Read DeepSpeed's throughput lines: `[time] ... global_step=450, RunningAvgSamplesPerSec=25.7, ...`.

    If `step=450, skipped=0, lr=...` is logged too, it counts the steps. Steps are timed by the lines' own times,
    because the rates exclude input time (deepspeed/utils/timer.py). The configuration at the start (`train_batch_size
    ........ 16`) has the other facts.
    """
    points: list[tuple[int, float]] = []
    steps: list[tuple[int, float]] = []
    other_work: list[tuple[int, OtherWork]] = []
    said: dict[str, str] = {}
    accumulation, counts_steps = None, False
    for line in source.lines(name):
        if "print]" in line and (found := _DEEPSPEED_ARGUMENT.search(line[:400])):
            said.setdefault(found[1], found[2])
        elif "skipped=" in line and (found := _DEEPSPEED_STEP.search(line[:LONGEST_LINE])):
            if (clock := moment_s(found[1])) is not None:
                steps.append((int(found[2]), clock))
        elif "SamplesPerSec=" in line and (found := _DEEPSPEED_LINE.search(line[:LONGEST_LINE])):
            step, clock = int(found[3]), moment_s(found[1])
            if clock is not None and positive(found[4]):
                points.append((step, clock))
                counts_steps = counts_steps or found[2] is not None
                accumulation = count(round(int(found[2]) / step)) if found[2] and step else accumulation
        elif (points or steps) and "Saving model checkpoint" in line:
            other_work.append(((steps or points)[-1][0], OtherWork.CHECKPOINT))
    if len(steps) > 1 and not counts_steps:
        points = steps
    if len(points) < 2:
        return None
    spans, doubts = spans_between(points, other_work=other_work)
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
            precision=next((new for old, new in DEEPSPEED_PRECISIONS.items() if said.get(old) == "True"), None),
            padded=True,
        ),
        doubts=tuple(doubts),
        files=(name,),
    )


_VERL_STEP = re.compile(r"(?:^|\s)step:(\d{1,9}) - (.{1,30000})$")
_FIGURE = re.compile(r"([\w@./-]{1,80}):(?:np\.float\d{2}\()?([-+\w.]{1,40})\)?(?: - |\s*$)")
LONGEST_FIGURES_LINE = 40_000
"""Largest number of characters of a line, which has a mean, minimum and maximum of every figure."""
OTHER_WORK = {"timing_s/testing": OtherWork.EVALUATION, "timing_s/save_checkpoint": OtherWork.CHECKPOINT}
NEAR_A_WHOLE = 0.02


def verl_log(source: LogSource, name: str) -> TrainerLog | None:
    """Read verl: `step:12 - actor/kl_loss:0.001 - timing_s/gen:74.0 - timing_s/step:96.6 - ...`, one line a step.

    Its console logger writes it (verl/utils/logger/aggregate_logger.py), with or without the prefix of a Ray worker. A
    step's samples are completions: tokens of the step / (mean prompt + mean completion).
    """
    steps: list[tuple[int, dict[str, str]]] = []
    for line in source.lines(name):
        if "timing_s/" not in line or not (found := _VERL_STEP.search(line[:LONGEST_FIGURES_LINE].rstrip())):
            continue
        steps.append((int(found[1]), dict(_FIGURE.findall(found[2]))))
    timed = [(step, figures) for step, figures in steps if positive(figures.get("timing_s/step"))]
    if not timed:
        return None
    figures = [step_figures for _, step_figures in timed]
    rollouts = rollouts_of(figures)
    return TrainerLog(
        format="verl",
        framework="PyTorch",
        spans=tuple(_span(step, step_figures) for step, step_figures in timed),
        facts=_verl_facts(figures),
        used_lines=len(timed),
        skipped_lines=len(steps) - len(timed),
        rollouts=rollouts,
        files=(name,),
    )


def _span(step: int, figures: Mapping[str, str]) -> LogSpan:
    seconds = positive(figures.get("timing_s/step"))
    assert seconds is not None, "steps without a time were left out"
    other_work = next((what for name, what in OTHER_WORK.items() if positive(figures.get(name))), None)
    return LogSpan(step - 1, step, seconds, positive(figures.get("perf/total_num_tokens")), other_work)


def _verl_facts(figures: list[dict[str, str]]) -> Facts:
    """Return completions and devices of a step, and the mean length, computed from the steps' counts.

    devices = tokens / (seconds x tokens per second and device)
    """
    lengths, completions, devices = [], [], []
    for step_figures in figures:
        tokens, seconds = (
            positive(step_figures.get("perf/total_num_tokens")),
            positive(step_figures.get("timing_s/step")),
        )
        prompt, answer = (
            positive(step_figures.get("prompt_length/mean")),
            positive(step_figures.get("response_length/mean")),
        )
        if prompt and answer:
            lengths.append(prompt + answer)
            if tokens:
                completions.append(tokens / (prompt + answer))
        if (rate := positive(step_figures.get("perf/throughput"))) and tokens and seconds:
            devices.append(tokens / (seconds * rate))
    critic = any("timing_s/update_critic" in step_figures for step_figures in figures)
    return Facts(
        global_batch=_nearly_whole(completions),
        devices=_nearly_whole(devices),
        seq_len=round(fmean(lengths)) if lengths else None,
        padded=False,
        objective="ppo" if critic else "grpo",
    )


def _nearly_whole(values: list[float]) -> int | None:
    """Return the mean if it is nearly a whole number."""
    mean = fmean(values) if values else 0.0
    return round(mean) if mean >= 1 and abs(mean - round(mean)) < max(NEAR_A_WHOLE, 0.001 * mean) else None
