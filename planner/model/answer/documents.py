"""Answers of `planner estimate`, `campaign` and `compare`, for every option. These are the `--json` documents."""

from __future__ import annotations

from datetime import date
from typing import Literal

from planner.model.answer.campaign import SimulatedCampaign
from planner.model.answer.option_estimate import CampaignOption, OptionEstimate, RankedOption, SwitchingRate
from planner.model.answer.own_or_rent import Horizons
from planner.model.base import Frozen
from planner.model.currency import Currency
from planner.model.quantity import Quantity


class Assumption(Frozen):
    """A value that the answer used, with its source."""

    name: str
    quantity: Quantity


class EstimateDocument(Frozen):
    """Document of `planner estimate --json`."""

    schema_version: Literal[1] = 1
    kind: Literal["estimate"] = "estimate"
    answer_id: str | None = None
    """Hash of plan, catalog, version and day. `planner show ID` prints the answer again. Null in an older answer."""
    plan: str
    currency: Currency | None = None
    assumptions: tuple[Assumption, ...]
    notes: tuple[str, ...] = ()
    """Notes on all options, such as how samples were counted."""
    options: tuple[OptionEstimate, ...]


class PlacedRuns(Frozen):
    """Runs that one option does. Times carry their zone."""

    option: str
    name: str
    runs: int
    nodes: int
    """Nodes in use at the same time."""
    start: str
    end: str
    """End of the last run, at the middle values."""
    usd: float
    groups: dict[str, int]
    """Number of runs by the name of their group."""
    earliest_start_hours: Quantity | None
    """Hours from the campaign's start until its machines are available; null if unknown, so that no wait is counted."""


class FeasiblePlan(Frozen):
    """A plan: a mix of options, a point of the Pareto front, or one that keeps only some of the limits."""

    campaign_usd: Quantity
    campaign_hours: Quantity
    chance_deadline: float | None
    """Simulated chance that every run ends by the deadline, and before its machines are taken away."""
    chance_budget: float | None
    chance_both: float | None = None
    """Chance that it keeps deadline and budget together, and every run ends before its machines are taken away; null
    without these limits.
    """
    chance_windows: float | None = None
    """Chance that every run ends before its machines are taken away (a block's end, others' turn); null if none are."""
    usd_confident: float | None = None
    """Remaining payment that it stays under with the plan's confidence."""
    local_confident: float | None = None
    """`usd_confident` in the plan's own currency, with the uncertainty of its rate; null without one, and in an older
    answer.
    """
    credits_usd: float = 0.0
    """Payment by credits of the price book towards `campaign_usd`, at the middle values.

    `usd_confident` is after them.
    """
    done_by_confident: date | None = None
    simulated: SimulatedCampaign | None = None
    optimality_gap_pct: float | None
    """Distance from the best plan at the likely values at most; 0 if it is proven, null if nothing is."""
    placements: tuple[PlacedRuns, ...]


class CampaignDocument(Frozen):
    """`planner campaign --json`: which runs are done where and when, and each option alone.

    The fields of the plan are null, or empty, if no plan keeps the limits.
    """

    schema_version: Literal[1] = 1
    kind: Literal["campaign"] = "campaign"
    answer_id: str | None = None
    """Hash of plan, catalog, version and day. `planner show ID` prints the answer again. Null in an older answer."""
    plan: str
    currency: Currency | None = None
    assumptions: tuple[Assumption, ...]
    notes: tuple[str, ...] = ()
    """Notes on all options, such as how samples were counted."""
    runs: int
    feasible: bool | None = None
    """True if a plan keeps the limits; null in an answer stored before 0.2.0."""
    objective: Literal["cost", "time", "front"] | None = None
    confidence: float | None = None
    """Chance with which the plan keeps the limits and its cost; null in an older answer."""
    optimality_gap_pct: float | None = None
    campaign_usd: Quantity | None = None
    campaign_hours: Quantity | None = None
    chance_deadline: float | None = None
    chance_budget: float | None = None
    chance_both: float | None = None
    chance_windows: float | None = None
    usd_confident: float | None = None
    local_confident: float | None = None
    credits_usd: float = 0.0
    done_by_confident: date | None = None
    simulated: SimulatedCampaign | None = None
    placements: tuple[PlacedRuns, ...] = ()
    binding_limits: tuple[str, ...] = ()
    """Limits that leave nothing feasible: deadline, budget, confidence, or the reason why no option can do any run."""
    nearest_feasible: FeasiblePlan | None = None
    """Plan without the binding limit, if nothing is feasible."""
    front: tuple[FeasiblePlan, ...] = ()
    """Plans of the objective `front`, none of which is better in both, the cheapest first."""
    options: tuple[CampaignOption, ...]


class ComparisonDocument(Frozen):
    """`planner compare --json`.

    `recommended` is null if no option meets the limits; `sentence` says which limit binds.
    """

    schema_version: Literal[1] = 1
    kind: Literal["comparison"] = "comparison"
    answer_id: str | None = None
    """Hash of plan, catalog, version and day. `planner show ID` prints the answer again. Null in an older answer."""
    plan: str
    currency: Currency | None = None
    assumptions: tuple[Assumption, ...]
    notes: tuple[str, ...] = ()
    """Notes on all options, such as how samples were counted."""
    runs: int
    deadline: date | None
    deadline_hours: float | None
    """Hours from the campaign's start to the end of the deadline's day; null without a deadline."""
    budget_usd: float | None
    recommended: str | None
    nearest: str | None
    """Option that misses the limits by least, if nothing is feasible."""
    sentence: str
    headline: tuple[str, ...] = ()
    """Sentences of `sentence`, the advice first; clauses in an answer stored before 0.2.0."""
    confidence: float | None = None
    """Chance with which options keep the limits and their cost; null in an answer stored before 0.2.0."""
    fastest: str | None = None
    """Fastest option that meets the limits, if it is not the recommended one."""
    runner_up_firm: str | None = None
    """Best option at a firm price, if the recommended one is spot."""
    runner_up_measured: str | None = None
    """Best option that was measured, if the recommended one was not."""
    next_best: str | None = None
    """Alternative if the recommended rented option is sold out: another machine, or another provider's."""
    mix: FeasiblePlan | None = None
    """Runs divided over several options, if that beats every single option.

    The headline is then the mix's, and `recommended` the best single option.
    """
    horizons: Horizons | None = None
    """Advice for this campaign and for a year of such work, if the plan names a machine to own.

    Its text is the first note.
    """
    switching_rates: tuple[SwitchingRate, ...] = ()
    """Exchange rates that change the answer, nearest first; empty if none does, or the plan has no currency of its own.
    """
    options: tuple[RankedOption, ...]

    @property
    def feasible(self) -> bool:
        """Return whether an option or a mix keeps the limits."""
        return self.recommended is not None or self.mix is not None
