"""What `planner own-or-rent` answers: what owning costs, against each rented option, and what would change that."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import Literal

from planner.model.answer.formula_used import FormulaUsed
from planner.model.answer.horizons import Horizons
from planner.model.answer.planned_year import PlannedYear
from planner.model.answer.reason import ReasonCode
from planner.model.base import Frozen
from planner.model.currency import Currency, LocalAmount
from planner.model.owning.site import Acquisition, IncentiveKind
from planner.model.prices.offer import PriceKind
from planner.model.quantity import Quantity

FULL_QUESTION = (
    "Should we have this machine? Everything is counted: purchase or resale value, place, staff, power, idle hours."
)
MARGINAL_QUESTION = (
    "Where should the next training run? The machine stands there anyhow: only the electricity that it adds is counted."
)


class CostLine(Frozen):
    """One part of the yearly cost of one node; `residual` is negative: money that comes back."""

    part: str
    usd_per_node_year: Quantity
    usd_per_busy_gpu_hour: float


class CurvePoint(Frozen):
    """What a busy GPU-hour costs where the machine is busy this share of the hours."""

    busy_fraction: float
    usd_per_busy_gpu_hour: float
    low_usd_per_busy_gpu_hour: float
    high_usd_per_busy_gpu_hour: float
    marginal_usd_per_busy_gpu_hour: float


class RentalOption(Frozen):
    """One rented option beside the owned machine; what is null has its reason in `why_not`."""

    id: str
    name: str
    display_name: str = ""
    price_kind: PriceKind | None
    usd_per_gpu_hour: Quantity | None
    """As it is billed, for one of its accelerators."""
    speed_ratio: Quantity | None
    """Work of an hour of one owned accelerator, in hours of one rented one."""
    usd_per_owned_gpu_hour: Quantity | None
    """Rent of the work that one owned accelerator does in an hour: usd_per_gpu_hour x speed_ratio."""
    usd_per_training: Quantity | None
    break_even_utilisation: Quantity | None
    npv_usd: Quantity | None
    """Of the whole site over renting the same work, before tax; positive: owning wins."""
    npv_after_tax_usd: Quantity | None
    payback_months: Quantity | None
    why_not: str | None
    why_not_codes: tuple[ReasonCode, ...] = ()


class ChoiceKind(StrEnum):
    """What can be done."""

    KEEP = "keep"
    BUY = "buy"
    LEASE = "lease"
    ADD_NODES = "add_nodes"
    SELL_AND_BUY = "sell_and_buy"
    SELL_AND_RENT = "sell_and_rent"
    RENT = "rent"


class OwnOrRentChoice(Frozen):
    """One choice that gets the same work done for a year."""

    kind: ChoiceKind
    id: str
    display_name: str = ""
    nodes: int | None
    """Owned nodes afterwards; null: rented by the hour."""
    trainings_per_year: float
    usd_per_year: Quantity
    local_per_year: LocalAmount | None
    usd_per_training: Quantity
    local_per_training: LocalAmount | None
    usd_upfront: float | None
    """Spent at once (negative: received)."""
    why_not: str | None
    why_not_codes: tuple[ReasonCode, ...] = ()


class Sensitivity(Frozen):
    """How one input moves owning less renting, in USD per busy GPU-hour; negative: owning is cheaper."""

    input: str
    unit: str
    value: float
    low: float
    high: float
    at_low_usd: float
    at_high_usd: float
    flips_at: float | None
    """Where both cost the same; null: nowhere within reason."""


class IncentiveLine(Frozen):
    """One line of public money for one node, and whether it counts."""

    name: str
    kind: IncentiveKind
    counts: bool
    usd: float | None
    reason: str
    eligibility: str
    expires: date | None
    source: str


class Input(Frozen):
    """One input as it was resolved."""

    name: str
    quantity: Quantity
    default: bool
    """The site left it out."""


class OwnOrRentDocument(Frozen):
    """`planner own-or-rent --json`. Amounts are of one node where the name does not say of what."""

    schema_version: Literal[1] = 1
    kind: Literal["own_or_rent"] = "own_or_rent"
    answer_id: str | None = None
    """A hash of this document; `planner show ID` prints the answer again. Null in an older answer."""
    plan: str
    currency: Currency | None
    """The plan's own; amounts in it stand beside some of those in USD."""
    site: str
    name: str
    acquisition: Acquisition
    nodes: int
    accelerators_per_node: int
    accelerator: str
    full_question: str = FULL_QUESTION
    usd_per_busy_gpu_hour: Quantity
    local_per_busy_gpu_hour: LocalAmount | None
    usd_per_allocated_gpu_hour: Quantity | None
    """Null where the site names no allocated share."""
    usd_per_node_hour: Quantity
    """In full, for every hour of the year, busy or not."""
    usd_per_training: Quantity | None
    marginal_question: str = MARGINAL_QUESTION
    marginal_usd_per_busy_gpu_hour: Quantity
    marginal_usd_per_training: Quantity | None
    annual: tuple[CostLine, ...]
    annual_usd_per_node: Quantity
    year_parts: tuple[CostLine, ...] = ()
    """Of one node in the year that is compared (`by_plan`): times the nodes they add up to its cost there."""
    against: str | None
    """The first priced rented option of the plan; `npv_usd`, `payback_months` and `sensitivities` are against it."""
    break_even_utilisation: dict[PriceKind, Quantity | None]
    """By price kind, each against the plan's first rented option of that kind; null: never, or not known (`rivals`)."""
    npv_usd: Quantity | None
    npv_after_tax_usd: Quantity | None
    payback_months: Quantity | None
    curve: tuple[CurvePoint, ...]
    rivals: tuple[RentalOption, ...]
    choices: tuple[OwnOrRentChoice, ...]
    sensitivities: tuple[Sensitivity, ...]
    """The five inputs that move the answer most, widest first."""
    incentives: tuple[IncentiveLine, ...]
    fits_circuit: bool | None
    """Null: the site names no circuit_kw and no rack_kw."""
    confidence: float | None = None
    """The chance with which a purchase, or giving up what is owned, must be the cheaper way to be recommended."""
    formulas: tuple[FormulaUsed, ...] = ()
    """Of what the year costs on each machine, down to the numbers that files state; empty in an older answer."""
    by_plan: PlannedYear | None = None
    """A year of the plan's own trainings; the headline is of this. All else here is at the site's own busy share."""
    horizons: Horizons | None = None
    """What `compare` recommends for this campaign beside the year; null in an answer from before it was told."""
    headline: tuple[str, ...] = ()
    """The sentences of `sentence`, what to do first."""
    sentence: str
    site_sentence: str = ""
    """The same question at the site's own busy share: USD per busy GPU-hour and break-evens, by the price of the hour
    alone."""
    inputs: tuple[Input, ...]
    notes: tuple[str, ...]
    why_not: str | None
    why_not_codes: tuple[ReasonCode, ...] = ()
