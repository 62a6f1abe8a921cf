"""Compare an owned machine with one rented option for the same work: break-even, present value, payback."""

from __future__ import annotations

from collections.abc import Callable

from planner.cost.ownership.break_even import break_even_utilisation
from planner.cost.ownership.cash_flow import npv_usd, payback_months
from planner.cost.ownership.owned_cost import OwnedInputs
from planner.cost.ownership.resolved_site import ResolvedSite
from planner.model.answer.option_estimate import OptionEstimate
from planner.model.answer.own_or_rent import RentalOption
from planner.model.answer.reason import Reason, ReasonCode, codes_of, text_of
from planner.model.quantity import Basis, Quantity, Unit, weakest
from planner.quantity.conversion import derived, interval, to_quantity
from planner.quantity.interval import Interval
from planner.quantity.spread import Swing, combined

NEVER = 10.0
"""Value of a break-even that does not exist, as an end of a range."""


def rental_alternative(
    resolved: ResolvedSite, owned: OptionEstimate, rented: OptionEstimate, *, same_hardware: bool
) -> RentalOption:
    """Return the comparison of the plan's work on an owned machine and on one rented option."""
    price, ratio = _usd_per_gpu_hour(rented), _speed_ratio(owned, rented, same_hardware=same_hardware)
    rent = _usd_per_owned_gpu_hour(price, ratio)
    reasons = list(rented.reasons) if rent is None else []
    break_even = npv = after_tax = payback = None
    if price is not None and rent is None:
        text = "relative speed: the speed of one of both is not known, so their work cannot be compared"
        reasons.append(Reason(code=ReasonCode.SPEED_RATIO_NOT_KNOWN, text=text))
    if rent is not None:
        break_even, never = _break_even(resolved, rent)
        npv = _npv(resolved, rent, after_tax=False)
        after_tax = _npv(resolved, rent, after_tax=True) if resolved.tax is not None else None
        payback, no_payback = _payback(resolved, rent)
        reasons += [reason for reason in (never, no_payback) if reason]
        if after_tax is None:
            reasons.append(Reason(code=ReasonCode.NO_TAX, text="NPV after tax: the site names no tax"))
    return RentalOption(
        id=rented.id,
        name=rented.name,
        display_name=rented.display_name,
        price_kind=rented.price_kind,
        usd_per_gpu_hour=price,
        speed_ratio=ratio,
        usd_per_owned_gpu_hour=rent,
        usd_per_training=rented.usd_total,
        break_even_utilisation=break_even,
        npv_usd=npv,
        npv_after_tax_usd=after_tax,
        payback_months=payback,
        why_not=text_of(reasons),
        why_not_codes=codes_of(reasons),
    )


def _usd_per_gpu_hour(rented: OptionEstimate) -> Quantity | None:
    """Return the rent of one accelerator: USD of a node-hour x nodes / accelerators at work."""
    price, nodes, accelerators = rented.usd_per_hour, rented.nodes, rented.accelerators
    if price is None or nodes is None or accelerators is None:
        return None
    each = interval(price, Unit.USD_PER_HOUR).scaled(nodes / accelerators)
    source = f"{price.value:g} USD/h a node x {nodes} / {accelerators}; {price.source}"
    return derived(each, Unit.USD_PER_GPU_HOUR, price, source=source)


def _speed_ratio(owned: OptionEstimate, rented: OptionEstimate, *, same_hardware: bool) -> Quantity | None:
    """Return the speed of an owned accelerator over that of a rented one, from the samples/s of this plan's work.

    It is exactly 1 for the same hardware, unless both speeds are measured.
    """
    own, other = owned.throughput, rented.throughput
    measured = all(speed is not None and speed.basis is Basis.MEASURED for speed in (own, other))
    if same_hardware and not measured:
        same = f"the same accelerators in the same number: {owned.accelerators}x {owned.accelerator}"
        return to_quantity(Interval.exact(1.0), Unit.RATIO, Basis.QUOTED, same)
    ours, theirs = owned.accelerators, rented.accelerators
    if own is None or other is None or ours is None or theirs is None:
        return None
    own_each = interval(own, Unit.SAMPLES_PER_S).scaled(1 / ours)
    other_each = interval(other, Unit.SAMPLES_PER_S).scaled(1 / theirs)
    source = (
        f"({own.value:.5g} samples/s / {ours}) / ({other.value:.5g} samples/s / {theirs}); {own.source}; {other.source}"
    )
    return derived(own_each.times(other_each.inverse()), Unit.RATIO, own, other, source=source)


def _usd_per_owned_gpu_hour(price: Quantity | None, ratio: Quantity | None) -> Quantity | None:
    """Return the rent of the work that one owned accelerator does in an hour."""
    if price is None or ratio is None:
        return None
    value = interval(price, Unit.USD_PER_GPU_HOUR).times(interval(ratio, Unit.RATIO))
    source = f"{price.value:.4g} USD/GPU-h x {ratio.value:.4g} speed; {price.source}; {ratio.source}"
    return derived(value, Unit.USD_PER_GPU_HOUR, price, ratio, source=source)


def _range(
    resolved: ResolvedSite, rent: Quantity, answer: Callable[[OwnedInputs, float], float], *, without: str | None = None
) -> Interval:  # fmt: skip
    """Return an answer of the site's inputs and the rent, with its range from all of them but one."""
    swings = resolved.swings(lambda inputs: answer(inputs, rent.value))
    swings.append(Swing("rent", answer(resolved.inputs, rent.low), answer(resolved.inputs, rent.high)))
    return combined(answer(resolved.inputs, rent.value), [swing for swing in swings if swing.name != without])


def _modelled(band: Interval, unit: Unit, resolved: ResolvedSite, rent: Quantity, source: str) -> Quantity:
    """Return an answer as a quantity that is as old as the older of its inputs."""
    as_of = min((day for day in (resolved.as_of, rent.as_of) if day), default=None)
    return to_quantity(band, unit, weakest(Basis.MODELLED, resolved.basis, rent.basis), source, as_of)


def _break_even(resolved: ResolvedSite, rent: Quantity) -> tuple[Quantity | None, Reason | None]:
    def share(inputs: OwnedInputs, usd: float) -> float:
        busy = break_even_utilisation(inputs, rent_usd_per_gpu_hour=usd)
        return NEVER if busy is None else busy

    value = share(resolved.inputs, rent.value)
    if value > 1:
        why = "its power alone costs more" if value == NEVER else f"it would need {100 * value:.0f} % of the hours"
        figures = {} if value == NEVER else {"needed_fraction": value}
        return None, Reason(code=ReasonCode.NEVER_BREAKS_EVEN, text=f"break-even: never, {why}", figures=figures)
    band = _range(resolved, rent, share, without="busy_fraction")
    past = ", and the range reaches past all hours: it may never break even" if band.high > 1 else ""
    source = f"cost of a year idle / (rent of a year busy - what busy adds){past}; {rent.source}"
    return _modelled(Interval(band.value, band.low, min(band.high, 1.0)), Unit.RATIO, resolved, rent, source), None


def _npv(resolved: ResolvedSite, rent: Quantity, *, after_tax: bool) -> Quantity:
    inputs, nodes = resolved.inputs, resolved.site.nodes
    tax = resolved.tax if after_tax else None
    band = _range(
        resolved,
        rent,
        lambda inputs, usd: nodes * npv_usd(inputs, rent_usd_per_gpu_hour=usd, tax=tax, after_tax=after_tax),
    )
    source = (
        f"{nodes} node(s) over {inputs.years:.3g} years at {inputs.discount_rate_per_year:g} a year, "
        f"{'after' if after_tax else 'before'} tax; saves {rent.value:.4g} USD per busy GPU-hour; {rent.source}"
    )
    return _modelled(band, Unit.USD, resolved, rent, source)


def _payback(resolved: ResolvedSite, rent: Quantity) -> tuple[Quantity | None, Reason | None]:
    if payback_months(resolved.inputs, rent_usd_per_gpu_hour=rent.value) is None:
        return None, Reason(code=ReasonCode.NEVER_PAYS_BACK, text="payback: not before the machine's end")
    longest = resolved.inputs.lead_time_months + 12 * resolved.inputs.years

    def months(inputs: OwnedInputs, usd: float) -> float:
        paid_back = payback_months(inputs, rent_usd_per_gpu_hour=usd)
        return longest if paid_back is None else paid_back

    band = _range(resolved, rent, months)
    past = "; the high end is the end of its life: it may not pay back" if band.high >= longest else ""
    source = f"lead time + capex / (rent saved - running cost a month), undiscounted{past}; {rent.source}"
    band = Interval(band.value, band.low, max(band.value, min(band.high, longest)))
    return _modelled(band, Unit.MONTHS, resolved, rent, source), None
