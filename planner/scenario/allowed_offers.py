"""Checks which offers the plan allows by their provider. Owned machines are not affected."""

from __future__ import annotations

from planner.errors import NotFoundError
from planner.model.answer.reason import Reason, ReasonCode
from planner.model.catalog import Catalog
from planner.model.plan.plan import OptionLimits, Plan
from planner.model.plan.plan_option import PlanOption
from planner.model.prices.offer import FAST_KINDS, PriceKind


def is_firm(option: PlanOption) -> bool | None:
    """Return whether a rented machine keeps its price and is not taken away before its return; None if owned."""
    if option.offer is None:
        return None
    return (option.price or PriceKind.ON_DEMAND) not in FAST_KINDS


def offer_reasons(option: PlanOption, limits: OptionLimits) -> tuple[Reason, ...]:
    """Return why the plan's limits rule out the provider of an offer."""
    if option.offer is None:
        return ()
    provider, reasons = provider_of(option.offer), []
    allow, deny = limits.providers.allow, limits.providers.deny
    if provider in deny:
        text = f"it is of {provider}, and limits.providers.deny holds {', '.join(deny)}"
        reasons.append(Reason(code=ReasonCode.PROVIDER_NOT_ALLOWED, text=text))
    elif allow is not None and provider not in allow:
        text = f"it is of {provider}, and limits.providers.allow holds {', '.join(allow)}"
        reasons.append(Reason(code=ReasonCode.PROVIDER_NOT_ALLOWED, text=text))
    return tuple(reasons)


def check_providers(plan: Plan, catalog: Catalog) -> None:
    """Refuse a provider that neither the catalog nor the plan knows: a misspelt name would allow too much."""
    named = [("allow", name) for name in plan.limits.providers.allow or ()]
    named += [("deny", name) for name in plan.limits.providers.deny]
    if not named:
        return
    known = {*catalog.providers, *(row.provider for row in (*catalog.prices, *catalog.own_prices))}
    known |= {provider_of(option.offer) for option in plan.options if option.offer}
    for key, name in named:
        if name not in known:
            fix = f"Known: {', '.join(sorted(known))}"
            raise NotFoundError("provider", name, known, where=f"limits.providers.{key}", fix=fix)


def provider_of(offer: str) -> str:
    """Return the provider of an offer or instance: the part before the first slash."""
    return offer.partition("/")[0]
