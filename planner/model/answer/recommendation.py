"""What `planner recommend` answers: what to do, by how much it is preferred, and what would change it."""

from __future__ import annotations

from datetime import date
from typing import Literal

from planner.model.answer.reason import ReasonCode
from planner.model.answer.simulated import SimulatedCampaign
from planner.model.base import Frozen
from planner.model.currency import Currency
from planner.model.quantity import Quantity


class PlannedRuns(Frozen):
    """Runs that one option does."""

    option: str
    display_name: str
    runs: int
    nodes: int | None
    """Null of a service that trains by the token."""
    start: date
    end: date
    """Of the last run, by the most likely values."""
    usd: Quantity
    """To be paid; of a purchase all of it."""


class Alternative(Frozen):
    """An option that is not recommended, and why."""

    option: str
    display_name: str
    runner_up: bool
    """It may be recommended, and is among the next three."""
    feasible: bool
    """It keeps the limits, and can be had and kept."""
    done_by: date | None
    usd_confident: float | None
    done_by_confident: date | None
    why_not: str | None
    why_not_codes: tuple[ReasonCode, ...]


class AtConfidence(Frozen):
    """What would be recommended if another chance to keep the limits were asked for."""

    confidence: float
    recommended: str | None
    """Null: no option reaches it, or a mix is recommended."""
    options: tuple[str, ...] = ()
    """Those that take part: one, several in a mix, none where no plan reaches it."""
    display_name: str | None
    usd: float | None
    """The cost that it stays under with that confidence."""
    more_usd: float | None
    """Than at the plan's own confidence: the price of being so sure."""
    done_by: date | None


class InputSwing(Frozen):
    """What the answer becomes at both ends of one input, all else as it is."""

    input: str
    option: str | None
    """Whose input it is; null: of the plan."""
    unit: str
    value: float
    low: float
    high: float
    usd_at_low: float | None
    """Cost of the recommended option at the plan's confidence; null where it is not known there."""
    usd_at_high: float | None
    decision_at_low: str | None
    """The option that is recommended, or nearest, at that end."""
    decision_at_high: str | None


class TurningPoint(Frozen):
    """The value of one input at which another option takes the recommended one's place, all else as it is."""

    input: str
    option: str | None
    """Whose input it is; null: of the plan."""
    unit: str
    today: float
    at: float
    side: Literal["above", "below"]
    then: str | None
    """The option that is then recommended; null: none keeps the limits."""
    sentence: str


class SuggestedMeasurement(Frozen):
    """One run of twenty minutes, and what its result is worth to the decision before anybody knows it."""

    option: str
    display_name: str
    usd: float
    """Of the run, with set-up and the idle tail."""
    worth_usd: float
    """By how much it lowers the expected regret of the decision."""
    chance_to_change: float
    """That another option is chosen after it."""
    instead: str | None
    """The option that most often is."""
    command: str | None = None
    """That makes the run; null where the launcher cannot: rent it by hand, and run `planner bench` there."""
    sentence: str = ""
    probe_usd: float | None = None
    """Of a probe of two minutes on one node in place of the run; null where a probe says nothing of the option."""
    probe_worth_usd: float | None = None
    """By how much the probe lowers the expected regret."""


class RecommendationDocument(Frozen):
    """`planner recommend --json`. The headline is that of `compare`."""

    schema_version: Literal[1] = 1
    kind: Literal["recommendation"] = "recommendation"
    answer_id: str | None = None
    """Of plan, catalog, version and day; `planner show ID` prints the answer again. Null in an older answer."""
    plan: str
    currency: Currency | None
    runs: int
    deadline: date | None
    budget_usd: float | None
    confidence: float
    recommended: str | None
    """The best option alone, also where a mix of several is better: `placements` then has several."""
    nearest: str | None
    headline: tuple[str, ...]
    sentence: str
    placements: tuple[PlannedRuns, ...]
    """Of the nearest option where none is recommended."""
    chance_both: float | None = None
    """That the plan keeps its limits, as the headline counts it; null without limits, and in an older answer."""
    simulated: SimulatedCampaign | None
    """A second method, of which the headline takes the figures of mixes alone. Null where time or cost is not known."""
    regret_usd: float | None
    """Expected, of the decision as it stands: by how much the best option, if all were known, would be cheaper."""
    measurements: tuple[SuggestedMeasurement, ...]
    """That are worth more than they cost, the best first; where no option is recommended, the nearest one's before."""
    turning_points: tuple[TurningPoint, ...]
    """Nearest first."""
    swings: tuple[InputSwing, ...]
    """Widest first."""
    at_confidence: tuple[AtConfidence, ...]
    alternatives: tuple[Alternative, ...]
    notes: tuple[str, ...] = ()

    @property
    def feasible(self) -> bool:
        """Return whether an option or a mix keeps the limits."""
        return self.recommended is not None or len(self.placements) > 1
