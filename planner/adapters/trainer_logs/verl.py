"""verl: `step:12 - actor/kl_loss:0.001 - timing_s/gen:74.0 - timing_s/step:96.6 - ...`, one line a step.

Its console logger writes it (verl/utils/logger/aggregate_logger.py), with or without the prefix of a Ray worker. A
step's samples are completions: tokens of the step / (mean prompt + mean completion).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from statistics import fmean

from planner.adapters.trainer_logs.log_source import LogSource
from planner.adapters.trainer_logs.numbers_in_text import positive
from planner.adapters.trainer_logs.rollout_figures import rollouts_of
from planner.adapters.trainer_logs.trainer_log import Beside, Facts, LogSpan, TrainerLog

_STEP = re.compile(r"(?:^|\s)step:(\d{1,9}) - (.{1,30000})$")
_FIGURE = re.compile(r"([\w@./-]{1,80}):(?:np\.float\d{2}\()?([-+\w.]{1,40})\)?(?: - |\s*$)")
LONGEST_FIGURES_LINE = 40_000
"""Most characters of a line, which has a mean, minimum and maximum of every figure."""
BESIDE = {"timing_s/testing": Beside.EVALUATION, "timing_s/save_checkpoint": Beside.CHECKPOINT}
NEAR_A_WHOLE = 0.02


def read(source: LogSource) -> list[TrainerLog]:
    """Return one training for each console's output."""
    return source.each_console(_log)


def _log(source: LogSource, name: str) -> TrainerLog | None:
    steps: list[tuple[int, dict[str, str]]] = []
    for line in source.lines(name):
        if "timing_s/" not in line or not (found := _STEP.search(line[:LONGEST_FIGURES_LINE].rstrip())):
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
        facts=_facts(figures),
        used_lines=len(timed),
        skipped_lines=len(steps) - len(timed),
        rollouts=rollouts,
        files=(name,),
    )


def _span(step: int, figures: Mapping[str, str]) -> LogSpan:
    seconds = positive(figures.get("timing_s/step"))
    assert seconds is not None, "steps without a time were left out"
    beside = next((what for name, what in BESIDE.items() if positive(figures.get(name))), None)
    return LogSpan(step - 1, step, seconds, positive(figures.get("perf/total_num_tokens")), beside)


def _facts(figures: list[dict[str, str]]) -> Facts:
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
        global_batch=_whole(completions),
        devices=_whole(devices),
        seq_len=round(fmean(lengths)) if lengths else None,
        padded=False,
        objective="ppo" if critic else "grpo",
    )


def _whole(values: list[float]) -> int | None:
    """Return the mean if it is nearly a whole number."""
    mean = fmean(values) if values else 0.0
    return round(mean) if mean >= 1 and abs(mean - round(mean)) < max(NEAR_A_WHOLE, 0.001 * mean) else None
