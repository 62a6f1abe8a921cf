"""Figures that only some methods log: those of a step with rollouts, and those that tell the objective."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from statistics import fmean

from planner.adapters.trainer_logs.numbers_in_text import number
from planner.model.evidence.imported_log import RolloutLog

PHASES = {
    "timing_s/gen": "generation", "timing_s/reward": "reward", "timing_s/old_log_prob": "old_policy",
    "timing_s/ref": "reference", "timing_s/values": "values", "timing_s/update_actor": "training",
    "timing_s/update_critic": "critic", "timing_s/update_weights": "weights",
}  # fmt: skip
"""Phases by verl's timers (trainer/ppo/metric_utils.py, ray_trainer.py)."""
FIGURES = {
    "timing_s/step": "step_seconds", "step_time": "step_seconds",
    "prompt_length/mean": "prompt_tokens",
    "response_length/mean": "completion_tokens", "completions/mean_length": "completion_tokens",
    "completion_length": "completion_tokens",
    "response_length/max": "longest_completion", "completions/max_length": "longest_completion",
    "response_length/clip_ratio": "stopped_share", "completions/clipped_ratio": "stopped_share",
    "actor/kl_loss": "divergence", "actor/ppo_kl": "divergence", "kl": "divergence",
}  # fmt: skip
"""Figures of verl and TRL (GRPOTrainer, RLOOTrainer). The first name that a step has counts."""
OF_ROLLOUTS = ("timing_s/gen", "completions/mean_length", "completion_length")
"""Names of which every step of a training with rollouts has one."""


def rollouts_of(steps: Iterable[Mapping[str, object]]) -> RolloutLog | None:
    """Return the means of the steps' figures; None if none of them has rollouts."""
    found: dict[str, list[float]] = {}
    phases: dict[str, list[float]] = {}
    for figures in steps:
        if not any(name in figures for name in OF_ROLLOUTS):
            continue
        for name, phase in PHASES.items():
            if (seconds := number(figures.get(name))) is not None and seconds >= 0:
                phases.setdefault(phase, []).append(seconds)
        taken = set()
        for name, key in FIGURES.items():
            if key not in taken and (value := number(figures.get(name))) is not None:
                taken.add(key)
                found.setdefault(key, []).append(value)
    if not found and not phases:
        return None
    means = {key: fmean(values) for key, values in found.items()}
    kept = {key: value for key, value in means.items() if value > 0 or key in ("stopped_share", "divergence")}
    return RolloutLog.model_validate(kept | {"phase_seconds": {name: fmean(each) for name, each in phases.items()}})


_LOGGED_BY = (("log_odds_ratio", "orpo"), ("kl", "kto"), ("rewards/margins", "dpo"), ("min_reward", "rm"))
"""Figures in order of priority: ORPO logs margins too, and only KTO logs the Kullback-Leibler term as `kl`."""
REWARDS = "rewards/chosen"
"""Figure that every method on pairs or judged answers logs, except reward models."""


def objective_of_figures(names: Set[str]) -> str | None:
    """Return the objective that logs such figures, as the trainer calls it; None for next-token training or if unknown.

    CPO and SimPO log the same as DPO. A configuration beside the log tells them apart.
    """
    if REWARDS not in names and "min_reward" not in names:
        return None
    return next((objective for figure, objective in _LOGGED_BY if figure in names), None)
