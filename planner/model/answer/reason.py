"""A reason: what stands against an option, as a code that programs read, a sentence, and the figures in it.

Fields of an option that carry reasons:

    field                  set in                                   excludes the option         shown in
    reasons, of estimate   decide/options/option.py, hosted.py      if time or cost is missing  column "why not"
      and campaign
    reasons, of compare    decide/recommend/why_not.py              no: another one is better   column "why not"
    blocking_reasons       computed: `reasons` without              as `reasons`                column "why not"
                           owning_not_known
    not_allowed_reasons    scenario/places.py, allowed_offers.py,   always                      not_allowed; "notes"
                           cost/cloud/allocation.py,
                           cost/cloud/availability.py,
                           cost/ownership/life.py
    doubts (texts)         speed/throughput/, of measured runs      no                          "notes", headline

`why_not` is the sentence of `reasons`, `why_not_codes` their codes. Rented options and choices of own-or-rent have
these two alone: they name the figures that are not known, and exclude nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from pydantic import Field

from planner.model.base import Frozen


class ReasonCode(StrEnum):
    """Every reason that an answer gives. Its sentence may change; its code does not."""

    CANNOT_TRAIN = "cannot_train"
    """The accelerator is not made to train."""
    NO_FLOAT8 = "no_float8"
    """The accelerator has no known float8 matrix hardware."""
    BATCH_TOO_SMALL = "batch_too_small"
    """The global batch has fewer samples than the option has accelerators."""
    MEMORY_TOO_SMALL = "memory_too_small"
    """The training needs more device memory than the accelerator has."""
    NO_SPLIT_FITS = "no_split_fits"
    """Dividing the network over the accelerators does not make it fit either."""
    CIRCUIT_OVERLOADED = "circuit_overloaded"
    """The site's nodes draw more than its circuit carries."""
    RACK_OVERLOADED = "rack_overloaded"
    """The nodes of one rack draw more than the rack carries."""
    NEVER_ENDS = "never_ends"
    """Interruptions come faster than checkpoints."""

    CAP_NOT_MEASURED = "cap_not_measured"
    """The accelerators were never measured under this power limit."""
    NOT_MEASURED = "not_measured"
    """The network is unknown, and no run of the workload exists."""
    HARDWARE_NOT_KNOWN = "hardware_not_known"
    """The accelerator's peak or memory bandwidth is unknown."""
    NODE_NETWORK_NOT_KNOWN = "node_network_not_known"
    """The network between the nodes is stated neither in the catalog nor in the plan."""
    NETWORK_TOO_SMALL = "network_too_small"
    """Kernel launches limit a network this small, and there is no evidence for such networks."""
    SAMPLE_TOO_LONG = "sample_too_long"
    """A sample has more tokens than any evidence."""
    SPLIT_NOT_POSSIBLE = "split_not_possible"
    """The network or the accelerators cannot be divided like this."""
    FRAMEWORK_NOT_SUPPORTED = "framework_not_supported"
    """The framework compiles only for accelerators of another maker."""
    OFFLOAD_NOT_KNOWN = "offload_not_known"
    """Kept for older answers, which did not estimate weights that wait in the host's memory."""
    TIME_NOT_STATED = "time_not_stated"
    """Neither the service nor the plan states how long it takes."""

    NO_PRICE = "no_price"
    """No source states a price on these terms."""
    NO_TOKENS = "no_tokens"
    """A sample is not counted in tokens, by which the service is paid."""
    OWNING_NOT_KNOWN = "owning_not_known"
    """The site states too little for the full cost of owning. What a training adds to the bills is known anyway."""
    PURCHASE_NOT_KNOWN = "purchase_not_known"
    """The machine must be bought, and its price is not stated."""
    POWER_NOT_KNOWN = "power_not_known"
    """No source states the node's power, so its energy is unknown."""
    TIME_OR_COST_NOT_KNOWN = "time_or_cost_not_known"
    """The option cannot be compared, and no other reason is known."""

    PLACE_NOT_ALLOWED = "place_not_allowed"
    """`limits.allowed_regions` does not contain the place."""
    DATA_LEAVES_REGION = "data_leaves_region"
    """`limits.data_region` keeps the data elsewhere."""
    SPOT_NOT_ALLOWED = "spot_not_allowed"
    """`limits.spot` is never, and the price may rise or the machine be taken away."""
    PROVIDER_NOT_ALLOWED = "provider_not_allowed"
    """`limits.providers` leaves the provider out."""
    QUOTA_TOO_SMALL = "quota_too_small"
    """The option's `quota` has fewer nodes than one training."""
    CLUSTER_TOO_SMALL = "cluster_too_small"
    """The provider sells more nodes together than one training has."""
    WINDOW_TOO_SHORT = "window_too_short"
    """No window of the option is as long as one training."""
    NODES_NOT_ASKED = "nodes_not_asked"
    """No group of runs may have as many nodes as the option."""
    NOT_AVAILABLE = "not_available"
    """The provider had none, or the account's quota allows none, when the price was read."""
    NOT_LISTED = "not_listed"
    """A later complete list of its provider no longer contains the machine on these terms."""
    ALLOCATION_TOO_SMALL = "allocation_too_small"
    """The work needs more node-hours than the allocation has."""
    ALLOCATION_NOT_BEGUN = "allocation_not_begun"
    """The work starts before the allocation can be used; in answers stored before 0.2.0, as work now waits."""
    ALLOCATION_ENDED = "allocation_ended"
    """The work ends after the allocation does."""
    NEEDS_REPLACEMENT = "needs_replacement"
    """The work lasts longer than the machine, or its lease."""
    MISSES_DEADLINE = "misses_deadline"
    """The chance to end by the deadline is below the plan's confidence."""
    OVER_BUDGET = "over_budget"
    """The chance to stay in the budget is below the plan's confidence."""
    LIMITS_TOGETHER = "limits_together"
    """Each limit is kept with the confidence, but both together are not."""
    SPOT_TOO_MUCH = "spot_too_much"
    """Spot on this many nodes, or for this long, is not planned with."""
    """The speed rests on a run that cannot be true as stated (docs/audit.md)."""
    PRICE_TOO_OLD = "price_too_old"
    """The price was last seen over a year ago; one of spot or a marketplace, over 90 days ago."""
    ASK_FOR_QUOTE = "ask_for_quote"
    """It is not known whether this many nodes are available on these terms."""

    DOMINATED = "dominated"
    """Another option is no slower and no more expensive, and better in one of both."""
    FIT_NOT_CHECKED = "fit_not_checked"
    """The training may or may not fit the device, which could not be checked. Options that fit come first."""
    NOT_PREFERRED = "not_preferred"
    """The recommended option is better in what the plan prefers: cost or time."""

    NOTHING_TO_RENT = "nothing_to_rent"
    """The plan has no rented option to compare owning with."""
    NO_COMPARABLE_RENT = "no_comparable_rent"
    """No rented option has both a price and a speed."""
    SPEED_RATIO_NOT_KNOWN = "speed_ratio_not_known"
    """The speed of the owned or of the rented machine is not known."""
    TOO_SLOW_FOR_A_YEAR = "too_slow_for_a_year"
    """An existing machine cannot do a year's trainings in a year."""
    NEVER_BREAKS_EVEN = "never_breaks_even"
    """Owning costs more than renting the same work, however busy the machine is."""
    NEVER_PAYS_BACK = "never_pays_back"
    """The savings of owning do not repay the purchase before the machine's end."""
    NO_TAX = "no_tax"
    """The site names no tax, so nothing is known after tax."""


LIMITS = frozenset({ReasonCode.MISSES_DEADLINE, ReasonCode.OVER_BUDGET})
PLACES = frozenset({ReasonCode.PLACE_NOT_ALLOWED, ReasonCode.DATA_LEAVES_REGION})
OVERLOADS = frozenset({ReasonCode.CIRCUIT_OVERLOADED, ReasonCode.RACK_OVERLOADED})


class Reason(Frozen):
    """One reason. Every number of `figures` has its unit in its name, a plain plural where it counts things."""

    code: ReasonCode
    text: str
    figures: Mapping[str, float] = Field(default_factory=dict)


def text_of(reasons: Sequence[Reason]) -> str | None:
    """Return the sentence of all reasons; None where there are none."""
    missed = all(reason.code in LIMITS for reason in reasons)
    return (" and " if missed else "; ").join(reason.text for reason in reasons) or None


def codes_of(reasons: Sequence[Reason]) -> tuple[ReasonCode, ...]:
    """Return the codes in the order of the sentence."""
    return tuple(reason.code for reason in reasons)
