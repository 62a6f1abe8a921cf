"""Answer of `planner own-or-rent`: the cost of owning against each rented option, and what would change it."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import Literal

from planner.model.answer.planned_year import PlannedYear
from planner.model.answer.reason import ReasonCode
from planner.model.base import Frozen
from planner.model.currency import Currency, LocalAmount
from planner.model.owning.acquisition import Acquisition, IncentiveKind
from planner.model.prices.offer import PriceKind
from planner.model.quantity import FormulaUsed, Quantity


class Horizons(Frozen):
    """Both answers to a plan that names a machine to own. All screens show `text`."""

    campaign: str
    """Sentence such as "This campaign: keep DGX Station, 4x V100."."""
    campaign_option: str | None
    """Id of the single option that `compare` recommends; null if none keeps the limits."""
    year: str
    """Sentence such as "A year of such work: buy PC, 1x RTX 4090, 87 % sure to cost less than keeping ours."."""
    year_option: str | None
    """Id of the option that `own-or-rent` recommends."""
    year_chance: float | None
    """Chance that it costs less a year than `year_against`."""
    year_against: str | None
    remark: str | None = None
    """Sentence on what counts in the campaign and not in the year; null if nothing does."""

    @property
    def text(self) -> str:
        """Return all sentences."""
        return " ".join(filter(None, (self.campaign, self.year, self.remark)))


FULL_QUESTION = (
    "Should we have this machine? Everything is counted: purchase or resale value, place, staff, power, idle hours."
)
MARGINAL_QUESTION = (
    "Where should the next training run? The machine stands there anyhow: only the electricity that it adds is counted."
)


class CostLine(Frozen):
    """One part of the yearly cost of one node. `residual` is negative because money comes back."""

    part: str
    usd_per_node_year: Quantity
    usd_per_busy_gpu_hour: float


class CurvePoint(Frozen):
    """Cost of a busy GPU-hour if the machine is busy this share of the hours."""

    busy_fraction: float
    usd_per_busy_gpu_hour: float
    low_usd_per_busy_gpu_hour: float
    high_usd_per_busy_gpu_hour: float
    marginal_usd_per_busy_gpu_hour: float


class RentalOption(Frozen):
    """One rented option, compared with the owned machine. A null field has its reason in `why_not`."""

    id: str
    name: str
    display_name: str = ""
    price_kind: PriceKind | None
    usd_per_gpu_hour: Quantity | None
    """Billed price for one of its accelerators."""
    speed_ratio: Quantity | None
    """Work of an hour of one owned accelerator, in hours of one rented one."""
    usd_per_owned_gpu_hour: Quantity | None
    """Rent of the work that one owned accelerator does in an hour: usd_per_gpu_hour x speed_ratio."""
    usd_per_training: Quantity | None
    break_even_utilisation: Quantity | None
    npv_usd: Quantity | None
    """Present value of the whole site over renting the same work, before tax; positive favours owning."""
    npv_after_tax_usd: Quantity | None
    payback_months: Quantity | None
    why_not: str | None
    why_not_codes: tuple[ReasonCode, ...] = ()


class ChoiceKind(StrEnum):
    """Possible choices."""

    KEEP = "keep"
    BUY = "buy"
    LEASE = "lease"
    ADD_NODES = "add_nodes"
    SELL_AND_BUY = "sell_and_buy"
    SELL_AND_RENT = "sell_and_rent"
    RENT = "rent"


class OwnOrRentChoice(Frozen):
    """One choice that does the same work for a year."""

    kind: ChoiceKind
    id: str
    display_name: str = ""
    nodes: int | None
    """Owned nodes afterwards; null if rented by the hour."""
    trainings_per_year: float
    usd_per_year: Quantity
    local_per_year: LocalAmount | None
    usd_per_training: Quantity
    local_per_training: LocalAmount | None
    usd_upfront: float | None
    """Amount spent at once (negative: received)."""
    why_not: str | None
    why_not_codes: tuple[ReasonCode, ...] = ()


class Sensitivity(Frozen):
    """Effect of one input on owning minus renting, in USD per busy GPU-hour; negative if owning is cheaper."""

    input: str
    unit: str
    value: float
    low: float
    high: float
    at_low_usd: float
    at_high_usd: float
    flips_at: float | None
    """Value at which both cost the same; null if none is plausible."""


class IncentiveLine(Frozen):
    """One line of public incentives for one node, and whether it counts."""

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
    """True if the site left it out."""


class OwnOrRentDocument(Frozen):
    """`planner own-or-rent --json`. Amounts are of one node unless their name says otherwise."""

    schema_version: Literal[1] = 1
    kind: Literal["own_or_rent"] = "own_or_rent"
    answer_id: str | None = None
    """Hash of this document. `planner show ID` prints the answer again. Null in an older answer."""
    plan: str
    currency: Currency | None
    """The plan's own currency. Some amounts are given in it in addition to USD."""
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
    """Cost of an allocated GPU-hour; null if the site names no allocated share."""
    usd_per_node_hour: Quantity
    """Full cost of every hour of the year, busy or not."""
    usd_per_training: Quantity | None
    marginal_question: str = MARGINAL_QUESTION
    marginal_usd_per_busy_gpu_hour: Quantity
    marginal_usd_per_training: Quantity | None
    annual: tuple[CostLine, ...]
    annual_usd_per_node: Quantity
    year_parts: tuple[CostLine, ...] = ()
    """Cost parts of one node in the compared year (`by_plan`); times the nodes they add up to its cost there."""
    against: str | None
    """First priced rented option of the plan. `npv_usd`, `payback_months` and `sensitivities` compare with it."""
    break_even_utilisation: dict[PriceKind, Quantity | None]
    """Break-even utilization by price kind, each against the plan's first rented option of that kind; null if never, or
    unknown (`rivals`).
    """
    npv_usd: Quantity | None
    npv_after_tax_usd: Quantity | None
    payback_months: Quantity | None
    curve: tuple[CurvePoint, ...]
    rivals: tuple[RentalOption, ...]
    choices: tuple[OwnOrRentChoice, ...]
    sensitivities: tuple[Sensitivity, ...]
    """The five inputs with the largest effect on the answer, widest first."""
    incentives: tuple[IncentiveLine, ...]
    fits_circuit: bool | None
    """True if the circuits and racks suffice; null if the site names no circuit_kw and no rack_kw."""
    confidence: float | None = None
    """Chance with which a purchase, or giving up an owned machine, must be cheaper to be recommended."""
    formulas: tuple[FormulaUsed, ...] = ()
    """Formulas of the year's cost on each machine, down to the numbers in files; empty in an older answer."""
    by_plan: PlannedYear | None = None
    """A year of the plan's own trainings, which the headline is about.

    All else here is at the site's own busy share.
    """
    horizons: Horizons | None = None
    """Advice of `compare` for this campaign beside the year; null in older answers."""
    headline: tuple[str, ...] = ()
    """Sentences of `sentence`, the advice first."""
    sentence: str
    site_sentence: str = ""
    """Answer at the site's own busy share: USD per busy GPU-hour and break-evens, by the price of the hour alone."""
    inputs: tuple[Input, ...]
    notes: tuple[str, ...]
    why_not: str | None
    why_not_codes: tuple[ReasonCode, ...] = ()
