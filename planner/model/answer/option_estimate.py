"""One option of an answer: its estimate for one training, for the whole campaign, and its rank."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import Field

from planner.model.answer.between_turns import BetweenTurns
from planner.model.answer.bill import Bill
from planner.model.answer.cost_by_hours import CostByHours
from planner.model.answer.node_network import NodeNetwork
from planner.model.answer.reason import Reason, ReasonCode
from planner.model.answer.rollout_estimate import RolloutEstimate
from planner.model.answer.training_time import TrainingTime
from planner.model.base import Frozen
from planner.model.network.workload import Checkpointing, Split, Strategy
from planner.model.owning.hold import Hold
from planner.model.plan.option_times import Queue, Tries
from planner.model.plan.plan import Owning
from planner.model.prices.offer import PriceKind
from planner.model.quantity import Quantity


class RunNotCounted(Frozen):
    """A run of this training on this machine that is no measurement for the option, and why."""

    run: str
    why: str
    believed: bool
    """Whether its speed can be true. Such a run is another owner's; one that cannot be true decides nothing."""

    @property
    def text(self) -> str:
        """The line for people."""
        return f"run {self.run} {self.why}" if self.believed else f"run {self.run} decides nothing: {self.why}"


class OptionEstimate(Frozen):
    """Time, money and energy of one training on one option; a null quantity has its reason in `why_not`.

    `usd_total` is all that a rented machine's training costs, or an owned machine's full cost for as long as the
    training keeps it busy (null where its site does not say enough). `usd_marginal` is what the training adds to the
    bills: an owned machine's electricity, or what is rented, less than `usd_total` where a commitment is paid for
    already. `bill` adds up to it.
    """

    id: str
    name: str
    offer: str | None
    site: str | None
    region: str | None
    price_kind: PriceKind | None
    nodes: int | None
    """This and the next two: null of a service that trains by the token, as its machines are its own affair."""
    accelerators: int | None
    accelerator: str | None
    rollout: RolloutEstimate | None = None
    """One step of a training on its own completions; null of any other training."""
    fits: bool | None
    fit_chance: float | None = None
    """That the training fits the device, with a smaller micro-batch where that is open; null: nothing was computed."""
    chunked_loss: bool = False
    """It fits only where the loss is computed in chunks; the plan states no loss."""
    network: NodeNetwork | None = None
    """Between its nodes; null: it is one node, or nobody states it."""
    strategy: Strategy | None
    split: Split | None = None
    """Where `strategy: auto` divides the network; null: it is whole on every accelerator, but for what ZeRO shards."""
    trainers: tuple[str, ...] = ()
    """Which run this split, where the plan names no `framework`."""
    whole_hours: Quantity | None = None
    """`training_hours` of the fastest layout that leaves the network whole, as any trainer runs it, beside such a
    split; null where none fits."""
    micro_batch: int | None
    checkpointing: Checkpointing | None
    error_causes: tuple[tuple[str, float], ...] = Field(default=(), exclude=True)
    """Independent causes of the error of its hours, each with the standard deviation that it adds to their logarithm.
    Options share a cause of the same name; JSON leaves them out."""
    throughput: Quantity | None
    epoch_hours: Quantity | None
    training_hours: Quantity | None
    """Of the steps alone, at full speed; with a `goodput_fraction` in the plan, all of the wall-clock time. Null where
    interruptions never let it end."""
    time: TrainingTime | None = None
    """Where the hours go, and the wall-clock time that money, energy and campaign count."""
    usd_per_hour: Quantity | None
    """Per node; only of rented machines."""
    usd_per_million_tokens: Quantity | None = None
    """Only of a service that trains by the token."""
    price_age_days: int | None = None
    """Null where the price has no date, as the plan's own has none."""
    price_stale: bool | None = None
    """Older than its kind allows: spot and marketplace a day, others 30 days."""
    price_refreshed: bool | None = None
    """Whether `planner prices refresh` can renew it; else one asks the provider for a quote. Null: it is not rented."""
    list_usd_per_hour: float | None = None
    """Where `usd_per_hour` is net, by the price book that was asked for: the list price."""
    list_usd_per_million_tokens: float | None = None
    """The same of `usd_per_million_tokens`."""
    usd_per_epoch: Quantity | None
    usd_total: Quantity | None
    usd_marginal: Quantity | None
    smallest_purchase_usd: Quantity | None
    """Where the price has a term longer than this training: the rent that must be bought, which `usd_total` holds."""
    bill: Bill | None = None
    """Of one training; of the whole campaign in the documents of `campaign` and `compare`."""
    unpriced: tuple[str, ...] = ()
    """What would be on the bill if its price or size were known: a total without it is too low."""
    assumed_rates: tuple[str, ...] = ()
    """What is on the bill at an assumed rate, as nobody states the provider's, and may come to 5 % of it or more."""
    firm: bool | None = None
    """Whether nobody takes the machine away, or raises its price, while it is rented; null: it is owned."""
    observations: int | None = None
    """Of a spot or marketplace price: how many days of it the price is the median of."""
    availability: Literal["yes", "no", "unknown"] | None = None
    """Whether it is to be had, by a price that is not stale; null: it is owned."""
    not_allowed: str | None = None
    """Why the plan's `limits` rule this option out, or its allocation (a grant's node-hours and window) the work, or
    why it cannot be had."""
    not_allowed_reasons: tuple[Reason, ...] = Field(default=(), exclude=True)
    """Of `not_allowed`; JSON leaves them out, so a stored answer has none."""
    energy_kwh: Quantity | None
    """At the node, before PUE, of the whole training."""
    carbon_kg: Quantity | None
    """Of that energy with PUE, in kg of CO2 equivalent; null where the plan gives no carbon intensity."""
    power_kw: Quantity | None
    """Of one node, as the energy was computed."""
    rated_kw: Quantity | None
    """Of one node, from its data sheet, to stand beside."""
    runs: tuple[str, ...]
    """Ids of the measured runs that the answer rests on."""
    doubts: tuple[str, ...]
    """What was found wrong with those runs, in plain words."""
    runs_not_counted: tuple[RunNotCounted, ...] = ()
    """Runs of the same training on the same machine that are no measurement of it. `notes` has them in words."""
    notes: tuple[str, ...]
    display_name: str = ""
    """What a person calls it: "Lambda, 8x H100"; unlike within an answer, and empty in one stored before 0.2.0."""
    hold: Hold | None = None
    """How its machine is held; null in an answer stored before 0.2.0."""
    known_from: str | None = None
    """What the speed rests on, in a line: "measured (your run X)", "estimated from 3,315 published runs, 552 on H100";
    null where it is not known, and in an answer stored before 0.2.0."""
    why_not: str | None
    why_not_codes: tuple[ReasonCode, ...] = ()
    """In the order of the reasons in `why_not`."""
    reasons: tuple[Reason, ...] = ()
    """The same with their figures; empty in an answer that was stored before 0.1.0."""

    @property
    def price(self) -> Quantity | None:
        """What is paid to others, per node-hour or per million tokens; None of an owned machine, or where unknown."""
        return self.usd_per_hour or self.usd_per_million_tokens

    @property
    def list_price(self) -> float | None:
        """The list price beside a net `price`."""
        return self.list_usd_per_hour or self.list_usd_per_million_tokens

    @property
    def wall_hours(self) -> Quantity | None:
        """From the first step to the last, with everything that stops the training."""
        return self.time.wall_hours if self.time is not None else self.training_hours

    @property
    def blocking_reasons(self) -> tuple[Reason, ...]:
        """What stands against the option: all but that owning in full is not known, as usd_marginal stands anyhow."""
        return tuple(reason for reason in self.reasons if reason.code is not ReasonCode.OWNING_NOT_KNOWN)


class CampaignOption(OptionEstimate):
    """An option, running the whole campaign alone."""

    @property
    def payable_usd(self) -> Quantity | None:
        """What remains to pay; of an answer stored before 0.2.0 its `campaign_usd`."""
        return self.to_pay_usd or self.campaign_usd

    at_once: int
    """Trainings at the same time; an owned site runs no more than it has nodes for."""
    campaign_hours: Quantity | None
    between_turns: BetweenTurns | None = None
    """Where others take turns with its machines (`taken`): when they are free, from which its hours and their chance
    follow; null of all others."""
    owning: Owning | None
    """Of an owned machine always `marginal`, as `full_usd` stands beside; null: it is rented."""
    campaign_usd: Quantity | None
    """What the campaign adds to the bills: the total of `bill`, before its cents are rounded. Of an owned machine that
    is its electricity, and of one that is bought or leased for the campaign what keeping it costs meanwhile."""
    finish: date | None
    meets_deadline: bool | None
    within_budget: bool | None
    full_usd: Quantity | None = None
    """Of an owned machine: the full cost of owning it for the campaign's hours. It ranks nothing."""
    pay_now_usd: Quantity | None = None
    """Of a machine to be bought: its purchase and installation; null of all others."""
    cash_usd: Quantity | None = None
    """What is paid or irrevocably owed by the campaign's end: `campaign_usd`, of a purchase with `pay_now_usd` and the
    bills of keeping it."""
    to_pay_usd: Quantity | None = None
    """`cash_usd` less what credits pay: the budget is held against this."""
    left_usd: Quantity | None = None
    """Of a machine to be bought: what it fetches on the campaign's last day, less the cost of selling it."""
    taken_off_usd: Quantity | None = None
    """What of a purchase does not count when options are ranked: what is left with `sell_after`, others' share with
    `other_use`."""
    ready_on: date | None = None
    """The day on which the campaign can start there."""
    wait_hours: float = 0.0
    """From the campaign's first day until the machine is ready: of one to be bought, its lead time."""
    earliest_start_hours: Quantity | None = None
    """In the answer of `campaign`: from the campaign's start until the machine can be had, how that is known, and its
    range; null: nobody knows."""
    paid_ahead_hours: float | None = None
    """Of a block or an allocation: the hours for which each set of machines can be used; null of all others."""
    cost_by_hours: CostByHours | None = Field(default=None, exclude=True)
    """Of a term, and of what credits pay: the cost at other hours than the likely ones; JSON leaves it out."""
    queued: Queue | Tries | None = Field(default=None, exclude=True)
    """From what the plan says its wait is drawn, in place of the range of `lead_days`; JSON leaves it out."""
    quota: int | None = None
    """In the answer of `campaign`: nodes that may be used at the same time; null: the plan states none."""
    lead_days: Quantity | None = None
    """How long a machine that is ordered today takes to come; null of one that is there, or whose day the plan says."""
    done_by: date | None = None
    """The last day by the most likely values, as `finish`; at the answer's confidence `done_by_confident`."""
    done_by_confident: date | None = None
    usd_apart: tuple[float, float] | None = None
    """90 % range of what remains to pay, in USD, without the error that all options share; null where they share none,
    and in an older answer."""
    hours_confident: float | None = None
    """Hours from the campaign's first until it is done with the answer's confidence, waiting for machines included."""
    usd_confident: float | None = None
    """The cost that the option stays under with the answer's confidence: options are ranked by it."""
    local_confident: float | None = None
    """The same in the plan's own currency, with the doubt of its rate; null without one, and in an older answer."""
    waiting_usd: float = 0.0
    """What waiting for its end is worth: `campaign.waiting_usd_per_hour` x hours at the confidence. It is no cost."""
    chance_deadline: float | None = None
    """That it ends in time; null without a deadline."""
    chance_budget: float | None = None
    """That it stays in the budget; null without one."""
    chance_both: float | None = None
    """That it keeps all of these together, within what is paid ahead; null without limits."""
    keeps_both: bool | None = None
    """Whether that is as sure as the plan asks for; null without limits, and in an older answer."""


class SwitchingRate(Frozen):
    """The exchange rate at which another option becomes the cheaper one, all else as it is."""

    code: str
    per_usd: float
    today_per_usd: float
    option: str
    """That takes the recommended one's place, above the rate or below it."""
    side: Literal["above", "below"]


class RankedOption(CampaignOption):
    """An option in the comparison. Here `why_not` says why it is not the recommended one."""

    rank: int | None
    pareto: bool
    quote_request: str | None = None
    """Where a quote must be asked for: the text of the request."""
