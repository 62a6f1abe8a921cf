"""Tell what a trainer optimizes from the figures that it logs, by the names of TRL and of trainers built on it."""

from __future__ import annotations

from collections.abc import Set

_LOGGED_BY = (
    ("log_odds_ratio", "orpo"),
    ("kl", "kto"),
    ("rewards/margins", "dpo"),
    ("min_reward", "rm"),
)
"""The first that is there: ORPO logs margins too; the Kullback-Leibler term is `kl` in KTO's lines alone."""
REWARDS = "rewards/chosen"
"""What every method on pairs or judged answers logs, besides reward models."""


def objective_of_figures(names: Set[str]) -> str | None:
    """Return the objective that logs such figures, as the trainer calls it; None: the next token, or not known.

    CPO and SimPO log as DPO does; a configuration beside the log tells them apart.
    """
    if REWARDS not in names and "min_reward" not in names:
        return None
    return next((objective for figure, objective in _LOGGED_BY if figure in names), None)
