"""Answers of `planner recommend` and `planner report`: the advice, how firm it is, and what would change it."""

from __future__ import annotations

from datetime import date
from typing import Literal

from planner.model.answer.campaign import SimulatedCampaign
from planner.model.answer.documents import ComparisonDocument
from planner.model.answer.reason import ReasonCode
from planner.model.base import Frozen
from planner.model.currency import Currency
from planner.model.quantity import Quantity


class PlannedRuns(Frozen):
    """Runs that one option does."""

    option: str
    display_name: str
    runs: int
    nodes: int | None
    """Number of nodes; null for a service that trains by the token."""
    start: date
    end: date
    """End of the last run, at the most likely values."""
    usd: Quantity
    """Amount to pay; for a purchase the whole price."""


class Alternative(Frozen):
    """An option that is not recommended, and why."""

    option: str
    display_name: str
    runner_up: bool
    """True if it may be recommended and is among the next three."""
    feasible: bool
    """True if it keeps the limits and is available."""
    done_by: date | None
    usd_confident: float | None
    local_confident: float | None = None
    """`usd_confident` in the plan's own currency; null without one, and in an older answer."""
    after_sale_usd: float | None = None
    """`usd_confident` less what is taken off for a purchase that is sold; null for other options."""
    done_by_confident: date | None
    why_not: str | None
    why_not_codes: tuple[ReasonCode, ...]


class AtConfidence(Frozen):
    """Recommendation at another chance to keep the limits."""

    confidence: float
    recommended: str | None
    """Recommended option; null if no option reaches the chance, or a mix is recommended."""
    options: tuple[str, ...] = ()
    """Options that take part: one, several in a mix, none if no plan reaches the chance."""
    display_name: str | None
    usd: float | None
    """Cost that it stays under with that confidence."""
    more_usd: float | None
    """Extra cost over the plan's own confidence: the price of that certainty."""
    done_by: date | None


class InputSwing(Frozen):
    """The answer at both ends of one input, with everything else unchanged."""

    input: str
    option: str | None
    """Option whose input it is; null for the plan's."""
    unit: str
    value: float
    low: float
    high: float
    usd_at_low: float | None
    """Cost of the recommended option at the plan's confidence; null if unknown there."""
    usd_at_high: float | None
    decision_at_low: str | None
    """Option that is recommended, or nearest, at that end."""
    decision_at_high: str | None


class TurningPoint(Frozen):
    """Value of one input at which another option replaces the recommended one, with everything else unchanged."""

    input: str
    option: str | None
    """Option whose input it is; null for the plan's."""
    unit: str
    today: float
    at: float
    side: Literal["above", "below"]
    then: str | None
    """Option that is then recommended; null if none keeps the limits."""
    sentence: str


class SuggestedMeasurement(Frozen):
    """One run of twenty minutes, and the value of its result for the decision before it is known."""

    option: str
    display_name: str
    usd: float
    """Cost of the run, with set-up and the idle tail."""
    worth_usd: float
    """Amount by which it lowers the expected regret of the decision."""
    chance_to_change: float
    """Chance that another option is chosen after it."""
    instead: str | None
    """Option that is then chosen most often."""
    command: str | None = None
    """Command that makes the run; null if the launcher cannot: rent the machine by hand, and run `planner bench` there.
    """
    sentence: str = ""
    probe_usd: float | None = None
    """Cost of a two-minute probe on one node instead of the run; null if a probe cannot inform the option."""
    probe_worth_usd: float | None = None
    """Amount by which the probe lowers the expected regret."""


class RecommendationDocument(Frozen):
    """Document of `planner recommend --json`. The headline is that of `compare`."""

    schema_version: Literal[1] = 1
    kind: Literal["recommendation"] = "recommendation"
    answer_id: str | None = None
    """Hash of plan, catalog, version and day. `planner show ID` prints the answer again. Null in an older answer."""
    plan: str
    currency: Currency | None
    runs: int
    deadline: date | None
    budget_usd: float | None
    confidence: float
    recommended: str | None
    """Best single option, even if a mix of several is better: `placements` then has several."""
    nearest: str | None
    headline: tuple[str, ...]
    sentence: str
    placements: tuple[PlannedRuns, ...]
    """Runs of the recommended option or mix; of the nearest option if none is recommended."""
    chance_both: float | None = None
    """Chance that the plan keeps its limits, as in the headline; null without limits, and in an older answer."""
    simulated: SimulatedCampaign | None
    """Result of a second method, whose figures the headline uses only for mixes. Null if time or cost is unknown."""
    regret_usd: float | None
    """Expected regret of the current decision: how much cheaper the best option would be if everything were known."""
    measurements: tuple[SuggestedMeasurement, ...]
    """Measurements that are worth more than they cost, the best first; the nearest option's come first if none is
    recommended.
    """
    turning_points: tuple[TurningPoint, ...]
    """Turning points, the nearest first."""
    swings: tuple[InputSwing, ...]
    """Swings, the widest first."""
    at_confidence: tuple[AtConfidence, ...]
    alternatives: tuple[Alternative, ...]
    notes: tuple[str, ...] = ()

    @property
    def feasible(self) -> bool:
        """Return whether an option or a mix keeps the limits with the confidence."""
        is_sure = self.chance_both is None or self.chance_both >= self.confidence
        return self.recommended is not None or (len(self.placements) > 1 and is_sure)


class ReportDocument(Frozen):
    """Both answers to one plan."""

    schema_version: Literal[1] = 1
    kind: Literal["report"] = "report"
    written_on: date
    """Day from which prices and dates are counted."""
    comparison: ComparisonDocument
    recommendation: RecommendationDocument | None
    """Recommendation; null for a frozen answer that this version computes differently."""
