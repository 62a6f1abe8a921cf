"""One option of an answer: its estimate for one training, for the whole campaign, and its rank."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import Field

from planner.model.answer.bill import Bill
from planner.model.answer.campaign import BetweenTurns, CostByHours
from planner.model.answer.reason import Reason, ReasonCode
from planner.model.answer.rollout_estimate import RolloutEstimate
from planner.model.answer.training_time import TrainingTime
from planner.model.base import Frozen
from planner.model.hardware.machines import NodeNetwork
from planner.model.network.workload import Checkpointing, Split, Strategy
from planner.model.owning.acquisition import Hold
from planner.model.plan.option_times import Queue, Tries
from planner.model.plan.plan import Owning
from planner.model.prices.offer import OpenQuote, PriceKind
from planner.model.quantity import Quantity


class RunNotCounted(Frozen):
    """A run of this training on this machine that does not count as a measurement of the option, and why."""

    run: str
    why: str
    believed: bool
    """True if its speed is plausible: such a run belongs to another owner. An impossible run decides nothing."""

    @property
    def text(self) -> str:
        """Line for people."""
        return f"run {self.run} {self.why}" if self.believed else f"run {self.run} decides nothing: {self.why}"


class OptionEstimate(Frozen):
    """Time, money and energy of one training on one option. A null quantity has its reason in `why_not`.

    `usd_total` is the whole cost of a training on a rented machine, or the full cost of an owned machine while the
    training uses it (null if its site states too little). `usd_marginal` is what the training adds to the bills: an
    owned machine's electricity, or the rent, which is less than `usd_total` if a commitment is paid for already. `bill`
    adds up to it.
    """

    id: str
    name: str
    offer: str | None
    site: str | None
    region: str | None
    price_kind: PriceKind | None
    nodes: int | None
    """Number of nodes. This and the next two are null for a service that trains by the token on machines of its own."""
    accelerators: int | None
    accelerator: str | None
    rollout: RolloutEstimate | None = None
    """One step of a training on its own completions; null for other trainings."""
    fits: bool | None
    fit_chance: float | None = None
    """Chance that the training fits the device, with a smaller micro-batch if that is open; null if nothing was
    computed.
    """
    chunked_loss: bool = False
    """True if it fits only with the loss computed in chunks, and the plan states no loss."""
    network: NodeNetwork | None = None
    """Network between its nodes; null for one node, or if not stated."""
    strategy: Strategy | None
    split: Split | None = None
    """Division of the network by `strategy: auto`; null if it is whole on every accelerator, except for what ZeRO
    shards.
    """
    trainers: tuple[str, ...] = ()
    """Trainers that run this split, if the plan names no `framework`."""
    whole_hours: Quantity | None = None
    """`training_hours` of the fastest layout that keeps the network whole, as any trainer runs it, beside such a split;
    null if none fits.
    """
    micro_batch: int | None
    checkpointing: Checkpointing | None
    error_causes: tuple[tuple[str, float], ...] = Field(default=(), exclude=True)
    """Independent causes of the error of its hours, each with the standard deviation that it adds to their logarithm.
    Options share a cause of the same name; JSON leaves them out."""
    throughput: Quantity | None
    epoch_hours: Quantity | None
    training_hours: Quantity | None
    """Hours of the steps alone, at full speed; with a `goodput_fraction` in the plan, all of the wall-clock time.

    Null if interruptions never let it end.
    """
    time: TrainingTime | None = None
    """Split of the hours, and the wall-clock time that money, energy and campaign count."""
    usd_per_hour: Quantity | None
    """Price per node; only for rented machines."""
    usd_per_million_tokens: Quantity | None = None
    """Price of a service that trains by the token; null for machines."""
    price_age_days: int | None = None
    """Age of the price; null if it has no date, such as the plan's own price."""
    price_stale: bool | None = None
    """True if the price is older than its kind allows: a day for spot and marketplace, 30 days for others."""
    price_refreshed: bool | None = None
    """True if `planner prices refresh` can renew it, false if the provider must be asked for a quote; null if it is not
    rented.
    """
    list_usd_per_hour: float | None = None
    """List price, if `usd_per_hour` is a net price by the price book."""
    open_quote: OpenQuote | None = None
    """Quote behind `usd_per_hour` that has to be accepted by a last day, with the price of an hour without it."""
    list_usd_per_million_tokens: float | None = None
    """List price, if `usd_per_million_tokens` is a net price by the price book."""
    usd_per_epoch: Quantity | None
    usd_total: Quantity | None
    usd_marginal: Quantity | None
    smallest_purchase_usd: Quantity | None
    """Rent that must be bought if the price has a term longer than this training. `usd_total` includes it."""
    bill: Bill | None = None
    """Bill of one training; of the whole campaign in the documents of `campaign` and `compare`."""
    unpriced: tuple[str, ...] = ()
    """Items that the bill lacks because their price or size is unknown, so the total is too low."""
    assumed_rates: tuple[str, ...] = ()
    """Items billed at an assumed rate, because the provider states none, that may reach 5 % of the bill."""
    firm: bool | None = None
    """True if the machine is not taken away, and its price does not rise, while it is rented; null if owned."""
    observations: int | None = None
    """Number of days whose median the spot or marketplace price is."""
    availability: Literal["yes", "no", "unknown"] | None = None
    """Availability, by a price that is not stale; null if owned."""
    not_allowed: str | None = None
    """Reason why the plan's `limits` rule this option out, why its allocation (a grant's node-hours and window) does
    not hold the work, or why it is unavailable.
    """
    not_allowed_reasons: tuple[Reason, ...] = Field(default=(), exclude=True)
    """Reasons in `not_allowed`. JSON omits them, so a stored answer has none."""
    energy_kwh: Quantity | None
    """Energy of the whole training at the node, before PUE."""
    carbon_kg: Quantity | None
    """Emissions of that energy with PUE, in kg of CO2 equivalent; null if the plan gives no carbon intensity."""
    power_kw: Quantity | None
    """Power of one node, as the energy was computed."""
    rated_kw: Quantity | None
    """Rated power of one node from its data sheet, for comparison."""
    runs: tuple[str, ...]
    """Ids of the measured runs behind the answer."""
    doubts: tuple[str, ...]
    """Problems found in those runs, in plain words."""
    runs_not_counted: tuple[RunNotCounted, ...] = ()
    """Runs of this training on this machine that do not count as measurements of it. `notes` has them in words."""
    notes: tuple[str, ...]
    display_name: str = ""
    """Name for people, "Lambda, 8x H100"; unique within an answer, and empty in one stored before 0.2.0."""
    hold: Hold | None = None
    """Way in which its machine is held; null in an answer stored before 0.2.0."""
    known_from: str | None = None
    """Source of the speed in one line: "measured (your run X)", "estimated from 3,315 published runs, 552 on H100";
    null if unknown, and in an answer stored before 0.2.0.
    """
    why_not: str | None
    why_not_codes: tuple[ReasonCode, ...] = ()
    """Codes of the reasons in `why_not`, in order."""
    reasons: tuple[Reason, ...] = ()
    """Reasons in `why_not` with their figures; empty in an answer stored before 0.1.0."""

    @property
    def price(self) -> Quantity | None:
        """Payment to others, per node-hour or per million tokens; None for an owned machine, or if unknown."""
        return self.usd_per_hour or self.usd_per_million_tokens

    @property
    def list_price(self) -> float | None:
        """List price of an option whose `price` is a net price."""
        return self.list_usd_per_hour or self.list_usd_per_million_tokens

    @property
    def wall_hours(self) -> Quantity | None:
        """Hours from the first step to the last, with everything that stops the training."""
        return self.time.wall_hours if self.time is not None else self.training_hours

    @property
    def blocking_reasons(self) -> tuple[Reason, ...]:
        """Reasons against the option, except that owning in full is unknown, because usd_marginal is known anyway."""
        return tuple(reason for reason in self.reasons if reason.code is not ReasonCode.OWNING_NOT_KNOWN)


class CampaignOption(OptionEstimate):
    """An option that runs the whole campaign alone."""

    @property
    def payable_usd(self) -> Quantity | None:
        """Remaining payment; in an answer stored before 0.2.0 its `campaign_usd`."""
        return self.to_pay_usd or self.campaign_usd

    @property
    def owed_usd(self) -> Quantity | None:
        """Amount that is paid or owed by the campaign's end, before credits; in an older answer its `campaign_usd`."""
        return self.cash_usd or self.campaign_usd

    at_once: int
    """Trainings at the same time; an owned site runs no more than it has nodes for."""
    campaign_hours: Quantity | None
    between_turns: BetweenTurns | None = None
    """Free times of its machines if others use them in turns (`taken`), from which its hours and their chance follow;
    null for all others.
    """
    owning: Owning | None
    """Counting of an owned machine's cost, always `marginal`, as `full_usd` is given too; null if rented."""
    campaign_usd: Quantity | None
    """Amount that the campaign adds to the bills: the total of `bill` before rounding.

    For an owned machine that is its electricity, and for one bought or leased for the campaign also the cost of keeping
    it.
    """
    finish: date | None
    meets_deadline: bool | None
    within_budget: bool | None
    full_usd: Quantity | None = None
    """Full cost of owning an owned machine for the campaign's hours. It does not affect the ranking."""
    pay_now_usd: Quantity | None = None
    """Purchase and installation of a machine to be bought; null for all others."""
    cash_usd: Quantity | None = None
    """Amount paid or irrevocably owed by the campaign's end:

    `campaign_usd`, for a purchase with `pay_now_usd` and the bills of keeping it.
    """
    to_pay_usd: Quantity | None = None
    """`cash_usd` minus payments by credits. The budget is compared with this."""
    left_usd: Quantity | None = None
    """Sale value of a machine to be bought on the campaign's last day, minus the cost of selling it."""
    taken_off_usd: Quantity | None = None
    """Part of a purchase that does not count in the ranking: the sale value with `sell_after`, others' share with
    `other_use`.
    """
    ready_on: date | None = None
    """First day on which the campaign can start there."""
    wait_hours: float = 0.0
    """Hours from the campaign's first day until the machine is ready; the lead time of one to be bought."""
    earliest_start_hours: Quantity | None = None
    """Hours from the campaign's start until the machine is available, with source and range, in the answer of
    `campaign`; null if unknown.
    """
    paid_ahead_hours: float | None = None
    """Hours for which each set of machines can be used in a block, a lease, a paid term or an allocation; else null."""
    end_hours: float | None = Field(default=None, exclude=True)
    """Likely hours from the campaign's start to its end behind a queue: the samples' median. JSON omits it."""
    closes_hours: float | None = Field(default=None, exclude=True)
    """Hours from the campaign's start until a window or a grant ends; None for others. JSON omits it."""
    cost_by_hours: CostByHours | None = Field(default=None, exclude=True)
    """Cost at other hours than the likely ones, for a term and for credits. JSON omits it."""
    queued: Queue | Tries | None = Field(default=None, exclude=True)
    """Queue or tries from which its wait is drawn, instead of the range of `lead_days`. JSON omits it."""
    quota: int | None = None
    """Nodes that may be used at the same time, in the answer of `campaign`; null if the plan states no limit."""
    lead_days: Quantity | None = None
    """Delivery time of a machine ordered today; null for one that exists, or whose day the plan states."""
    done_by: date | None = None
    """Last day at the most likely values, as `finish`; at the answer's confidence `done_by_confident`."""
    done_by_confident: date | None = None
    usd_apart: tuple[float, float] | None = None
    """90 % range of what remains to pay, in USD, without the error that all options share; null where they share none,
    and in an older answer."""
    hours_confident: float | None = None
    """Hours from the campaign's first until it is done with the answer's confidence, waiting for machines included."""
    usd_confident: float | None = None
    """Cost that the option stays under with the answer's confidence. Options are ranked by it."""
    local_confident: float | None = None
    """`usd_confident` in the plan's own currency, with the uncertainty of its rate; null without one, and in an older
    answer.
    """
    waiting_usd: float = 0.0
    """Value of waiting for its end: `campaign.waiting_usd_per_hour` x hours at the confidence. It is not a cost."""
    chance_deadline: float | None = None
    """Chance that it ends in time; null without a deadline."""
    chance_budget: float | None = None
    """Chance that it stays in the budget; null without one."""
    chance_both: float | None = None
    """Chance that it keeps all of these together, within what is paid ahead; null without limits."""
    keeps_both: bool | None = None
    """True if that chance reaches the plan's confidence; null without limits, and in an older answer."""


class SwitchingRate(Frozen):
    """Exchange rate at which another option becomes the cheaper one, with everything else unchanged."""

    code: str
    per_usd: float
    today_per_usd: float
    option: str
    """Option that replaces the recommended one above or below the rate."""
    side: Literal["above", "below"]


class RankedOption(CampaignOption):
    """An option in the comparison. Its `why_not` says why it is not the recommended one."""

    rank: int | None
    pareto: bool
    quote_request: str | None = None
    """Text of the request for a quote, if one is needed."""
