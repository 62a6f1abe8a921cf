"""Tells what a trainer optimizes from the figures that it logs, by the names of TRL and of trainers built on it."""

from __future__ import annotations

from collections.abc import Set

_LOGGED_BY = (
    ("log_odds_ratio", "orpo"),
    ("kl", "kto"),
    ("rewards/margins", "dpo"),
    ("min_reward", "rm"),
)
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
