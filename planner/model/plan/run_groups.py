"""Trainings of a campaign that differ: groups of runs, and searches that stop early."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from planner.model.base import Count, Flag, Fraction, Frozen, Text
from planner.model.network.work import Work

MOST_RUNS = 10**6
"""Most runs of a group."""
MOST_GROUPS = 100
Runs = Annotated[Count, Field(le=MOST_GROUPS * MOST_RUNS)]
"""Number of runs of a campaign. The solver does not finish with more."""


class RunGroup(Frozen):
    """Equal runs of the plan's workload."""

    name: Text
    """Name of the group, different from all others."""
    runs: Annotated[Count, Field(le=MOST_RUNS)]
    """Number of runs."""
    work: Work | None = None
    """Work of each run. Default: the plan's `work`."""
    min_nodes: Count | None = None
    """Fewest nodes of one run. Options with fewer do not count for it."""
    max_nodes: Count | None = None
    """Most nodes of one run. Options with more do not count for it."""
    priority: Annotated[int, Field(strict=True, ge=-1000, le=1000)] = 0
    """Priority. On each machine runs of a higher priority come first."""

    @model_validator(mode="after")
    def _some_number_of_nodes(self) -> Self:
        if self.min_nodes is not None and self.max_nodes is not None and self.max_nodes < self.min_nodes:
            raise ValueError(f"max_nodes {self.max_nodes} is below min_nodes {self.min_nodes}")
        return self


class SuccessiveHalving(Frozen):
    """A search that gives many trials a little work, and the best ones more: successive halving, or ASHA.

    Rung i, from 0: trials / factor^i runs, each up to first_fraction x factor^i of the plan's `work`, at most all of
    it, from its checkpoint. Source: Jamieson and Talwalkar, AISTATS 2016; asynchronous: Li and others, MLSys 2020.
    """

    trials: Annotated[Count, Field(le=MOST_RUNS)]
    """Trials of the first rung."""
    factor: Annotated[int, Field(strict=True, ge=2, le=100)] = 3
    """Factor: one in this many runs advances to the next rung."""
    first_fraction: Fraction
    """Share of the plan's `work` for each trial before the first are stopped."""
    asynchronous: Flag = False
    """True if runs of a rung begin as soon as one is promoted (ASHA), not when the whole previous rung has ended."""


def rungs(search: SuccessiveHalving) -> list[tuple[int, float]]:
    """Return runs and added work of each rung, as a share of the plan's work."""
    found: list[tuple[int, float]] = []
    runs, done = search.trials, 0.0
    reached = search.first_fraction
    while runs >= 1 and done < 1:
        found.append((runs, min(1.0, reached) - done))
        done, reached, runs = min(1.0, reached), reached * search.factor, runs // search.factor
    return found


def with_runs(data: Any) -> Any:
    """Set `runs` of a campaign to the sum over its groups, or over the rungs of its search."""
    if not isinstance(data, dict) or data.get("runs") is not None:
        return data
    groups, search = data.get("groups"), data.get("successive_halving")
    if isinstance(groups, list | tuple):
        counts = [group.get("runs") if isinstance(group, dict) else getattr(group, "runs", None) for group in groups]
        return data | {"runs": sum(count for count in counts if type(count) is int and count > 0) or 1}
    if isinstance(search, dict):
        try:
            search = SuccessiveHalving.model_validate(search)
        except ValueError:
            return data  # its own error says what is wrong
    return data | {"runs": sum(runs for runs, _ in rungs(search))} if isinstance(search, SuccessiveHalving) else data
