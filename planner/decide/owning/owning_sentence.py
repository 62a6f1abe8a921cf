"""Own or rent, in one sentence: what an hour costs, against what, and how busy the machine must be."""

from __future__ import annotations

from collections.abc import Sequence

from planner.cost.ownership.owned_cost import annual_cost, busy_gpu_hours_per_year
from planner.cost.ownership.resolved_site import ResolvedSite
from planner.model.answer.own_or_rent import RentalOption
from planner.model.owning.site import Acquisition

VERBS = {
    Acquisition.PURCHASE: "Buying",
    Acquisition.LEASE: "Leasing",
    Acquisition.ALREADY_OWNED: "Keeping",
}


def sentence(resolved: ResolvedSite, rentals: Sequence[RentalOption], against: RentalOption | None) -> str:
    """Write which is cheaper against the first rented option, and where owning breaks even with each."""
    inputs = resolved.inputs
    own = annual_cost(inputs).total / busy_gpu_hours_per_year(inputs)
    start = (
        f"{VERBS[inputs.acquisition]} {resolved.site.id} costs {own:.2f} USD per busy GPU-hour in full at "
        f"{_percent(inputs.busy_fraction)} busy"
    )
    if against is None or against.usd_per_owned_gpu_hour is None:
        return f"{start}; there is no rented option to hold it against."
    rent = against.usd_per_owned_gpu_hour.value
    verdict = "cheaper than" if own < rent else "more expensive than"
    break_evens = "; ".join(_break_even(rental) for rental in rentals if rental.usd_per_owned_gpu_hour is not None)
    return f"{start}, {verdict} the same work on {against.id} ({rent:.2f} USD). It breaks even {break_evens}."


def _break_even(rental: RentalOption) -> str:
    busy = rental.break_even_utilisation
    if busy is None:
        return f"never against {rental.id}"
    return f"at {_percent(busy.value)} ({_percent(busy.low)} to {_percent(busy.high)}) busy against {rental.id}"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
