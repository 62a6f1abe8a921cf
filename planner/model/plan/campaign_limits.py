"""Trainings of a campaign, its deadline and budget: a number of equal runs, or groups of runs that differ."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field, model_validator

from planner.model.base import Count, Day, Flag, Fraction, Frozen, Text
from planner.model.network.work import Work

Money = Annotated[float, Field(strict=True, ge=0, le=1e15)]


MOST_RUNS = 10**6
"""Largest number of runs of a group."""
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
    """Smallest number of nodes of one run. Options with fewer do not count for it."""
    max_nodes: Count | None = None
    """Largest number of nodes of one run. Options with more do not count for it."""
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


class Prefer(StrEnum):
    """Criterion between options that meet the limits."""

    COST = "cost"
    TIME = "time"


def is_timezone(name: str) -> bool:
    """Return whether a time zone has this name."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


class CampaignLimits(Frozen):
    """Number of trainings, deadline and budget."""

    runs: Runs = 1
    """Number of trainings."""
    runs_per_year: Runs | None = None
    """Number of such trainings a year, for `planner own-or-rent`.

    Default: `runs` are one year's work, or are spread over the years to a deadline that is more than one away.
    """
    at_once: Count | None = None
    """Trainings side by side on each option, each on its own machines.

    Default: one, or as many as the option's `quota` allows.
    """
    groups: Annotated[tuple[RunGroup, ...], Field(min_length=1, max_length=MOST_GROUPS)] | None = None
    """Groups of different runs, instead of `runs`."""
    successive_halving: SuccessiveHalving | None = None
    """A search that stops early, instead of `runs`."""
    timezone: Text | None = None
    """Time zone of the days, as the IANA data base names it ("Asia/Seoul"). Default: UTC."""
    waiting_usd_per_hour: Money | None = None
    """Value to you of an hour until the last run's end. Cost and time are weighed with it. It is not a cost."""
    mix: Literal["allowed", "never"] = "allowed"
    """Mixing of options: whether the runs may be divided over several. never makes `compare` recommend a single one."""
    start: Day | None = None
    """First day, from its beginning. Default: today from noon, after noon the next day."""
    deadline: Day | None = None
    """Last day."""
    budget_usd: Money | None = None
    """Highest cost of all runs together, in USD."""
    budget_local: Money | None = None
    """Highest cost in the plan's `currency`."""
    prefer: Prefer | None = None
    """Criterion between options. Default: cost."""
    confidence: Annotated[float, Field(strict=True, ge=0.5, le=0.99)] = 0.8
    """Chance that an option must have to keep the deadline and the budget. Its cost is ranked at this confidence."""

    @model_validator(mode="before")
    @classmethod
    def _sum_of_runs(cls, data: Any) -> Any:
        return with_runs(data)

    @model_validator(mode="after")
    def _one_way_to_say_how_many(self) -> Self:
        if self.groups is not None and self.successive_halving is not None:
            raise ValueError("groups and successive_halving both say what runs: keep one")
        counted = with_runs({"groups": self.groups, "successive_halving": self.successive_halving}).get("runs")
        if counted is not None and counted != self.runs:
            raise ValueError(f"runs is {self.runs}, but its groups have {counted}: leave runs out")
        names = [group.name for group in self.groups or ()]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"groups: '{twice}' is the name of two")
        if self.timezone is not None and not is_timezone(self.timezone):
            raise ValueError(f"timezone '{self.timezone}' is not known; write one such as Europe/Berlin, or UTC")
        return self

    @property
    def side_by_side(self) -> int:
        """Trainings side by side on an option without a quota."""
        return self.at_once or 1

    @model_validator(mode="after")
    def _one_window_and_budget(self) -> Self:
        if self.start is not None and self.deadline is not None and self.deadline < self.start:
            raise ValueError(f"deadline {self.deadline} is before start {self.start}")
        if self.budget_usd is not None and self.budget_local is not None:
            raise ValueError("budget_usd and budget_local are two budgets: keep one")
        return self
