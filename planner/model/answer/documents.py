"""What `planner estimate`, `campaign` and `compare` answer, for every option. These are the `--json` documents."""

from __future__ import annotations

from datetime import date
from typing import Literal

from planner.model.answer.horizons import Horizons
from planner.model.answer.option_estimate import CampaignOption, OptionEstimate, RankedOption, SwitchingRate
from planner.model.answer.simulated import SimulatedCampaign
from planner.model.base import Frozen
from planner.model.currency import Currency
from planner.model.quantity import Quantity


class Assumption(Frozen):
    """A value that the answer took, with where it came from."""

    name: str
    quantity: Quantity


class EstimateDocument(Frozen):
    """`planner estimate --json`."""

    schema_version: Literal[1] = 1
    kind: Literal["estimate"] = "estimate"
    answer_id: str | None = None
    """Of plan, catalog, version and day; `planner show ID` prints the answer again. Null in an older answer."""
    plan: str
    currency: Currency | None = None
    assumptions: tuple[Assumption, ...]
    notes: tuple[str, ...] = ()
    """What the reader should know of all options alike, such as how samples were counted."""
    options: tuple[OptionEstimate, ...]


class PlacedRuns(Frozen):
    """Runs that one option does; times carry their zone."""

    option: str
    name: str
    runs: int
    nodes: int
    """At the same time."""
    start: str
    end: str
    """Of the last run, by the middle values."""
    usd: float
    groups: dict[str, int]
    """Runs by the name of their group."""
    earliest_start_hours: Quantity | None
    """From the campaign's start until its machines can be had; null: nobody knows, and no wait is counted."""


class FeasiblePlan(Frozen):
    """A plan: a mix of options, a point of the Pareto front, or one that keeps fewer limits than were asked for."""

    campaign_usd: Quantity
    campaign_hours: Quantity
    chance_deadline: float | None
    """Simulated: that every run ends by the deadline, and before its machines are taken away."""
    chance_budget: float | None
    chance_both: float | None = None
    """That it keeps deadline and budget together, and every run ends before its machines are taken away; null where
    there is none of these limits."""
    chance_windows: float | None = None
    """That every run ends before its machines are taken away (a block's end, others' turn); null where none are."""
    usd_confident: float | None = None
    """What remains to pay, which it stays under with the plan's confidence."""
    local_confident: float | None = None
    """The same in the plan's own currency, with the doubt of its rate; null without one, and in an older answer."""
    credits_usd: float = 0.0
    """What credits of the price book pay of `campaign_usd`, by the middle values; `usd_confident` is after them."""
    done_by_confident: date | None = None
    simulated: SimulatedCampaign | None = None
    optimality_gap_pct: float
    placements: tuple[PlacedRuns, ...]


class CampaignDocument(Frozen):
    """`planner campaign --json`: what runs where and when, and each option alone.

    The fields of the plan are null, or empty, where no plan keeps the limits.
    """

    schema_version: Literal[1] = 1
    kind: Literal["campaign"] = "campaign"
    answer_id: str | None = None
    """Of plan, catalog, version and day; `planner show ID` prints the answer again. Null in an older answer."""
    plan: str
    currency: Currency | None = None
    assumptions: tuple[Assumption, ...]
    notes: tuple[str, ...] = ()
    """What the reader should know of all options alike, such as how samples were counted."""
    runs: int
    feasible: bool | None = None
    """Null in an answer stored before 0.2.0."""
    objective: Literal["cost", "time", "front"] | None = None
    confidence: float | None = None
    """The chance with which the plan keeps the limits and its cost; null in an older answer."""
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
    """Where nothing is feasible: deadline, budget, confidence, or what keeps every option from any run."""
    nearest_feasible: FeasiblePlan | None = None
    """Where nothing is feasible: the plan without the binding limit."""
    front: tuple[FeasiblePlan, ...] = ()
    """With the objective `front`: plans of which none is better in both, the cheapest first."""
    options: tuple[CampaignOption, ...]


class ComparisonDocument(Frozen):
    """`planner compare --json`. `recommended` is null where no option meets the limits; `sentence` says which binds."""

    schema_version: Literal[1] = 1
    kind: Literal["comparison"] = "comparison"
    answer_id: str | None = None
    """Of plan, catalog, version and day; `planner show ID` prints the answer again. Null in an older answer."""
    plan: str
    currency: Currency | None = None
    assumptions: tuple[Assumption, ...]
    notes: tuple[str, ...] = ()
    """What the reader should know of all options alike, such as how samples were counted."""
    runs: int
    deadline: date | None
    deadline_hours: float | None
    """From the campaign's start to the end of the deadline's day; null without a deadline."""
    budget_usd: float | None
    recommended: str | None
    nearest: str | None
    """Where nothing is feasible: the option that misses the limits by least."""
    sentence: str
    headline: tuple[str, ...] = ()
    """The sentences of `sentence`, what to do first; clauses in an answer that was stored before 0.2.0."""
    confidence: float | None = None
    """The chance with which options keep the limits and their cost; null in an answer stored before 0.2.0."""
    fastest: str | None = None
    """The fastest option that meets the limits, where it is not the recommended one."""
    runner_up_firm: str | None = None
    """The best option at a firm price, where the recommended one is spot."""
    runner_up_measured: str | None = None
    """The best option that was measured, where the recommended one was not."""
    next_best: str | None = None
    """What to take if the recommended one, rented, is sold out: another machine, or of another provider."""
    mix: FeasiblePlan | None = None
    """Runs divided over several options, where that beats every option alone: the headline is then the mix's, and
    `recommended` the best option alone."""
    horizons: Horizons | None = None
    """This campaign and a year of such work, where the plan names a machine to own; its text is the first note."""
    switching_rates: tuple[SwitchingRate, ...] = ()
    """Nearest first; empty where no rate turns the answer, or the plan has no currency of its own."""
    options: tuple[RankedOption, ...]

    @property
    def feasible(self) -> bool:
        """Return whether an option or a mix keeps the limits."""
        return self.recommended is not None or self.mix is not None
