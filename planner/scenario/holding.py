"""Way in which an option's machine is held: stated by the option, otherwise by its site."""

from __future__ import annotations

from planner.errors import InputError
from planner.model.figure import Figure
from planner.model.owning.acquisition import Hold, Purchase
from planner.model.owning.site import Site
from planner.model.plan.plan_option import PURCHASE_KEYS, USED_NOT_RENTED, PlanOption
from planner.model.quantity import Basis


def hold_of(option: PlanOption, site: Site | None, *, where: str) -> Hold:
    """Return how the machine is held. What the option states must fit.

    An offer is rented, or used (a grant, a service, a commitment already bought). Otherwise the option's `hold` counts,
    then the site's. If neither states it, a `purchase` is to be bought and a `lease` to be signed, with its whole term
    owed. A machine that is already owned, measured (`run`), named as `own` or not described exists already, and so does
    a lease with `hold: have`.
    """
    if site is None:
        return Hold.USE if option.price in USED_NOT_RENTED or option.commitment_bought else Hold.RENT
    described = Hold.BUY if site.purchase is not None else Hold.RENT if site.lease is not None else Hold.HAVE
    hold = option.hold or site.hold or described
    if hold is Hold.USE:
        raise InputError(
            f"{where}.hold: use belongs to a grant or a service.", fix="Write have or buy, or leave it out."
        )
    if hold is Hold.RENT and site.lease is None:
        raise InputError(
            f"{where}.hold: {site.name} has no lease, so it cannot be rented.",
            fix="Write have or buy, describe its lease in the site, or name a cloud's offer.",
        )
    given = next((name for name in PURCHASE_KEYS if getattr(option, name) not in (None, False)), None)
    if given is not None and hold is not Hold.BUY:
        raise InputError(
            f"{where}.{given}: {site.name} is not to be bought (hold: {hold}).", fix="Write hold: buy beside it."
        )
    return hold


def to_be_bought(site: Site, option: PlanOption) -> Site:
    """Return the site with machines that must be bought: at the option's price, otherwise at its own, otherwise without
    one.
    """
    bought = site.purchase
    if option.purchase_usd is not None:
        price = Figure(value=option.purchase_usd, basis=Basis.QUOTED, source="the plan: purchase_usd")
        nothing = Figure(value=0, source="the plan's purchase_usd is of the whole machine")
        bought = Purchase(
            server_usd=price,
            network_fraction_of_capex=bought.network_fraction_of_capex if bought else nothing,
            storage_fraction_of_capex=bought.storage_fraction_of_capex if bought else nothing,
        )
    return site.model_copy(update={"purchase": bought, "lease": None, "already_owned": None})
