"""One option of a plan: an owned site, a cloud's machine or a service that trains by the token."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from planner.model.base import Count, Day, Flag, Frozen, Id, Positive, Text
from planner.model.figure import HoursFigure
from planner.model.hardware.storage import StorageRates
from planner.model.network.workload import Strategy
from planner.model.owning.acquisition import Hold
from planner.model.plan.goodput import Goodput
from planner.model.plan.option_times import Queue, RentalWindow, Tries, Turns
from planner.model.plan.quota import Quota
from planner.model.prices.offer import PriceKind
from planner.model.quantity import Basis

Counts = Annotated[tuple[Count, ...], Field(min_length=1)]
Share = Annotated[float, Field(strict=True, ge=0, lt=1)]

OWN_LOG = "your own log"
"""Source of a step that was read from the user's own log."""


class UserStep(Frozen):
    """The user's own figure for this machine: `seconds` per optimizer step of `batch` samples."""

    batch: Count
    """Samples of one optimizer step."""
    seconds: Positive
    """Seconds of one optimizer step."""
    low_seconds: Positive | None = None
    """Low end of the 90 % range. Default: `seconds`."""
    high_seconds: Positive | None = None
    """High end of the 90 % range. Default: `seconds`."""
    basis: Basis
    """Basis of the figure."""
    source: Text | None = None
    """Source of the figure."""

    @model_validator(mode="after")
    def _range_holds_the_value(self) -> Self:
        if (self.low_seconds or self.seconds) > self.seconds or (self.high_seconds or self.seconds) < self.seconds:
            raise ValueError("seconds must lie between low_seconds and high_seconds")
        return self


OF_SERVICES = ("usd_per_million_tokens", "training_hours")
OF_MACHINES = (
    "usd_per_hour", "local_per_hour", "commitment_bought", "nodes", "accelerators", "strategy", "step", "power_kw",
    "power_cap_w", "storage", "network_gbit_per_s", "goodput", "minimum_hours", "window", "taken",
    "quota", "wait_hours", "queue", "tries",
)  # fmt: skip
"""Fields that a plan may state for machines, and not for services."""
UNCOMMITTED = (PriceKind.ON_DEMAND, PriceKind.SPOT, PriceKind.MARKETPLACE)
"""Kinds of price that end with the last hour used."""
USED_NOT_RENTED = (PriceKind.GRANT, PriceKind.HOSTED_TRAINING)
"""Kinds of price at which nothing is rented."""
WAITS = ("wait_hours", "queue", "tries", "window")
"""Fields that say when machines are available."""
PURCHASE_KEYS = ("purchase_usd", "sell_after")
"""Fields for a machine that must be bought."""
OF_HELD = (*PURCHASE_KEYS, "other_use")
"""Fields for a machine that is owned or bought."""


class PlanOption(Frozen):
    """A machine (an owned site, a cloud offer) or a service to consider. Lists stand for several options."""

    site: Id | None = None
    """A machine of your own, by the id of its site file."""
    own: Text | None = None
    """Accelerator of the catalog in a machine of your own that no site describes; `count` of them, default 1."""
    count: Annotated[int, Field(strict=True, ge=1, le=72)] | None = None
    """Number of accelerators of `own`. Default: 1."""
    hold: Hold | None = None
    """Way to hold it: have means that it exists, buy that it must be bought first.

    Default: what its site says; `own` exists.
    """
    purchase_usd: Positive | None = None
    """Price of one machine that is to be bought, instead of its site's price."""
    resale_usd: Positive | None = None
    """Sale value today of one existing machine of `own`. By default own-or-rent does not count it."""
    other_use: Share | None = None
    """Share of the machine's busy hours that others use and, for a machine to be bought, pay for."""
    sell_after: Flag = False
    """True if a bought machine is sold when the campaign ends. Its sale value is subtracted from its cost."""
    ready_on: Day | None = None
    """First day on which it can be used. Default: today, or after its lead time for a machine to be bought."""
    quota: Quota | None = None
    """Machines that may be used at the same time: an account's quota, or a team's share of machines.

    Written with its unit, `4 machines` or `192 vCPUs`. A bare number means machines, and is refused if it may mean
    vCPUs.
    """
    wait_hours: HoursFigure | None = None
    """Hours until its machines are available, or its queue lets the first run begin. It needs a range and a source."""
    queue: Queue | None = None
    """Queue of others' jobs from which the wait follows, instead of `wait_hours`."""
    tries: Tries | None = None
    """Observed availability of its machines, instead of `wait_hours`."""
    window: RentalWindow | None = None
    """Period for which it is rented and paid for as a whole: a Capacity Block. Its runs end half an hour before."""
    taken: Turns = ()
    """Times in which others use some of its nodes."""
    goodput: Goodput | None = None
    """Interruptions on this option, instead of the plan's figures: spot's preemption, the checkpoint interval."""
    minimum_hours: Annotated[float, Field(strict=True, ge=0, le=10_000)] | None = None
    """Minimum that is billed at a price of your own: up to one hour for each launch, more once for the campaign."""
    offer: Id | None = None
    """A machine to rent, or a service, by its name in the catalog, such as aws/p5.48xlarge."""
    run: Id | None = None
    """Id of a run whose machine is the option, as an owned one."""
    region: Text | None = None
    """Region of the offer. Default: the cheapest."""
    price: PriceKind | None = None
    """Kind of price of the offer. Default: on demand."""
    usd_per_hour: Positive | None = None
    """Your own price for the whole instance, instead of the list price."""
    local_per_hour: Positive | None = None
    """Your own price in the plan's `currency`."""
    usd_per_million_tokens: Positive | None = None
    """Your own price for `price: hosted_training`: a service that trains for a price per million tokens."""
    training_hours: Positive | None = None
    """Duration that the service states. Default: unknown."""
    commitment_bought: Flag = False
    """True if the term (savings plan, reservation, block) is paid for already: its hours add nothing to the bills."""
    nodes: Count | Counts | None = None
    """Nodes of one training. Default: 1, or as many as `run` had."""
    accelerators: Count | Counts | None = None
    """Number of a node's accelerators that are used. Default: all."""
    network_gbit_per_s: Positive | None = None
    """Network between nodes, for each node with all its ports.

    It overrides the catalog's; several nodes need one of the two.
    """
    strategy: Strategy | Literal["auto"] | None = None
    """Distribution of states over devices, instead of `training.strategy`."""
    step: UserStep | None = None
    """Your own figure for one optimizer step on this machine."""
    power_kw: Positive | None = None
    """Power of one node in training. It counts as assumed, because you state it."""
    storage: Id | StorageRates | None = None
    """Storage of this machine for samples and checkpoints: a kind of `catalogs/storage.csv`, or its own rates."""
    power_cap_w: Positive | None = None
    """Power limit of each accelerator. Only runs measured under it count, or a `step` of your own with `power_kw`."""

    @model_validator(mode="after")
    def _a_site_or_an_offer(self) -> Self:
        given = [name for name in ("site", "own", "offer", "run") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"needs exactly one of site, own, offer or run, has {' and '.join(given) or 'none'}")
        self._check_holding()
        if self.power_cap_w is not None and self.step is not None and self.power_kw is None:
            raise ValueError("power_cap_w with a step of your own needs power_kw: what the machine draws under the cap")
        if self.offer is None:
            for name in ("region", "price", "usd_per_hour", "local_per_hour", "usd_per_million_tokens",
                         "minimum_hours", "window"):  # fmt: skip
                if getattr(self, name) is not None:
                    raise ValueError(f"{name} belongs to a cloud offer, not to an owned machine")
        if self.commitment_bought and (self.price is None or self.price in UNCOMMITTED):
            raise ValueError("commitment_bought belongs to a price with a term; name it with price, e.g. savings_1y")
        if self.usd_per_hour is not None and self.local_per_hour is not None:
            raise ValueError("usd_per_hour and local_per_hour are two prices of one hour: keep one")
        waits = [name for name in WAITS if getattr(self, name) is not None]
        if len(waits) > 1:
            raise ValueError(f"{' and '.join(waits)} both say when its machines can be had: keep one")
        if self.minimum_hours is not None and self.usd_per_hour is None and self.local_per_hour is None:
            raise ValueError("minimum_hours belongs to a price of your own: give usd_per_hour")
        self._check_hosted()
        return self

    def _check_holding(self) -> None:
        """Check that statements on holding a machine fit the way it is held. Its site is unknown here."""
        if self.count is not None and self.own is None:
            raise ValueError("count belongs to own, as in {own: RTX-3090, count: 2}; elsewhere write accelerators")
        if self.resale_usd is not None and (self.own is None or self.hold is Hold.BUY):
            raise ValueError("resale_usd belongs to own, of a machine that stands there; a site has already_owned")
        if self.offer is not None:
            given = next((name for name in OF_HELD if getattr(self, name) not in (None, False)), None)
            if given is not None:
                raise ValueError(f"{given} belongs to a machine of your own (site, own or run), not to a cloud offer")
            held = Hold.USE if self.price in USED_NOT_RENTED else Hold.RENT
            bought = self.commitment_bought and self.hold is Hold.USE
            if self.hold not in (None, held) and not bought:
                raise ValueError(f"hold: {self.hold} does not go with this offer, which is hold: {held}; leave it out")
        elif self.hold is not None and self.hold is not Hold.BUY:
            given = next((name for name in PURCHASE_KEYS if getattr(self, name) not in (None, False)), None)
            if given is not None:
                raise ValueError(f"{given} belongs to a machine that is to be bought: write hold: buy, or leave it out")

    @property
    def hosted(self) -> bool:
        """Return whether it is a service that trains and is paid by the token."""
        return self.price is PriceKind.HOSTED_TRAINING

    def _check_hosted(self) -> None:
        """Check that a service is paid by the token without machine fields, and a machine by the hour."""
        wrong = OF_MACHINES if self.hosted else OF_SERVICES
        given = next((name for name in wrong if getattr(self, name) not in (None, False, ())), None)
        if given is not None and self.hosted:
            raise ValueError(f"{given} belongs to a machine; price: hosted_training is a service, paid by the token")
        if given is not None:
            raise ValueError(f"{given} belongs to a service: name it with price: hosted_training")
