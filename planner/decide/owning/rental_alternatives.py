"""An owned machine against one rented option, for the same work: break-even, present value, payback."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

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
"""Stands for a break-even that does not exist, where an end of a range has none."""


@dataclass(frozen=True)
class OwnVsRent:
    """One owned and one rented option with what the latter's work costs."""

    resolved: ResolvedSite
    owned: OptionEstimate
    rented: OptionEstimate
    same_hardware: bool

    @property
    def usd_per_gpu_hour(self) -> Quantity | None:
        """The rent of one accelerator: USD of a node-hour x nodes / accelerators at work."""
        price, nodes, accelerators = self.rented.usd_per_hour, self.rented.nodes, self.rented.accelerators
        if price is None or nodes is None or accelerators is None:
            return None
        each = interval(price, Unit.USD_PER_HOUR).scaled(nodes / accelerators)
        source = f"{price.value:g} USD/h a node x {nodes} / {accelerators}; {price.source}"
        return derived(each, Unit.USD_PER_GPU_HOUR, price, source=source)

    @property
    def speed_ratio(self) -> Quantity | None:
        """Speed of an owned accelerator over a rented one's, from measured or predicted samples/s of this plan's work.

        Exactly 1 where both are the same hardware and nobody measured both.
        """
        own, other = self.owned.throughput, self.rented.throughput
        measured = all(speed is not None and speed.basis is Basis.MEASURED for speed in (own, other))
        if self.same_hardware and not measured:
            same = f"the same accelerators in the same number: {self.owned.accelerators}x {self.owned.accelerator}"
            return to_quantity(Interval.exact(1.0), Unit.RATIO, Basis.QUOTED, same)
        ours, rented = self.owned.accelerators, self.rented.accelerators
        if own is None or other is None or ours is None or rented is None:
            return None
        each = interval(own, Unit.SAMPLES_PER_S).scaled(1 / ours)
        theirs = interval(other, Unit.SAMPLES_PER_S).scaled(1 / rented)
        source = (
            f"({own.value:.5g} samples/s / {ours}) / ({other.value:.5g} samples/s / {rented}); "
            f"{own.source}; {other.source}"
        )
        return derived(each.times(theirs.inverse()), Unit.RATIO, own, other, source=source)

    @property
    def usd_per_owned_gpu_hour(self) -> Quantity | None:
        """The rent of the work that one owned accelerator does in an hour."""
        price, ratio = self.usd_per_gpu_hour, self.speed_ratio
        if price is None or ratio is None:
            return None
        value = interval(price, Unit.USD_PER_GPU_HOUR).times(interval(ratio, Unit.RATIO))
        source = f"{price.value:.4g} USD/GPU-h x {ratio.value:.4g} speed; {price.source}; {ratio.source}"
        return derived(value, Unit.USD_PER_GPU_HOUR, price, ratio, source=source)


def rental_alternative(comparison: OwnVsRent) -> RentalOption:
    """Return everything that the comparison with one rented option says."""
    rent, nodes = comparison.usd_per_owned_gpu_hour, comparison.resolved.site.nodes
    reasons = list(comparison.rented.reasons) if rent is None else []
    break_even = npv = after_tax = payback = None
    if comparison.usd_per_gpu_hour is not None and rent is None:
        text = "relative speed: the speed of one of both is not known, so their work cannot be compared"
        reasons.append(Reason(code=ReasonCode.SPEED_RATIO_NOT_KNOWN, text=text))
    if rent is not None:
        break_even, never = _break_even(comparison, rent)
        npv = _npv(comparison, rent, nodes, after_tax=False)
        after_tax = _npv(comparison, rent, nodes, after_tax=True) if comparison.resolved.tax is not None else None
        payback, no_payback = _payback(comparison, rent)
        reasons += [reason for reason in (never, no_payback) if reason]
        if after_tax is None:
            reasons.append(Reason(code=ReasonCode.NO_TAX, text="NPV after tax: the site names no tax"))
    option = comparison.rented
    return RentalOption(
        id=option.id,
        name=option.name,
        display_name=option.display_name,
        price_kind=option.price_kind,
        usd_per_gpu_hour=comparison.usd_per_gpu_hour,
        speed_ratio=comparison.speed_ratio,
        usd_per_owned_gpu_hour=rent,
        usd_per_training=option.usd_total,
        break_even_utilisation=break_even,
        npv_usd=npv,
        npv_after_tax_usd=after_tax,
        payback_months=payback,
        why_not=text_of(reasons),
        why_not_codes=codes_of(reasons),
    )


Answer = Callable[[OwnedInputs, float], float]
"""Of the inputs and the rent of an owned accelerator's hour of work."""


def range_against(resolved: ResolvedSite, rent: Quantity, answer: Answer, *, without: tuple[str, ...] = ()) -> Interval:
    """Return an answer that hangs on the site's inputs and on a rent, with its range."""
    swings = resolved.swings(lambda inputs: answer(inputs, rent.value))
    swings.append(Swing("rent", answer(resolved.inputs, rent.low), answer(resolved.inputs, rent.high)))
    return combined(answer(resolved.inputs, rent.value), [swing for swing in swings if swing.name not in without])


def _break_even(comparison: OwnVsRent, rent: Quantity) -> tuple[Quantity | None, Reason | None]:
    def share(inputs: OwnedInputs, usd: float) -> float:
        busy = break_even_utilisation(inputs, rent_usd_per_gpu_hour=usd)
        return NEVER if busy is None else busy

    value = share(comparison.resolved.inputs, rent.value)
    if value > 1:
        why = "its power alone costs more" if value == NEVER else f"it would need {100 * value:.0f} % of the hours"
        figures = {} if value == NEVER else {"needed_fraction": value}
        text = f"break-even: never, {why}"
        return None, Reason(code=ReasonCode.NEVER_BREAKS_EVEN, text=text, figures=figures)
    band = range_against(comparison.resolved, rent, share, without=("busy_fraction",))
    past = ", and the range reaches past all hours: it may never break even" if band.high > 1 else ""
    source = f"cost of a year idle / (rent of a year busy - what busy adds){past}; {rent.source}"
    band = Interval(band.value, band.low, min(band.high, 1.0))
    basis = weakest(Basis.MODELLED, comparison.resolved.basis, rent.basis)
    return to_quantity(band, Unit.RATIO, basis, source, _oldest(comparison, rent)), None


def _npv(comparison: OwnVsRent, rent: Quantity, nodes: int, *, after_tax: bool) -> Quantity:
    tax = comparison.resolved.tax if after_tax else None
    value = range_against(
        comparison.resolved,
        rent,
        lambda inputs, usd: nodes * npv_usd(inputs, rent_usd_per_gpu_hour=usd, tax=tax, after_tax=after_tax),
    )
    inputs = comparison.resolved.inputs
    source = (
        f"{nodes} node(s) over {inputs.years:.3g} years at {inputs.discount_rate_per_year:g} a year, "
        f"{'after' if after_tax else 'before'} tax; saves {rent.value:.4g} USD per busy GPU-hour; {rent.source}"
    )
    return to_quantity(
        value,
        Unit.USD,
        weakest(Basis.MODELLED, comparison.resolved.basis, rent.basis),
        source,
        _oldest(comparison, rent),
    )


def _payback(comparison: OwnVsRent, rent: Quantity) -> tuple[Quantity | None, Reason | None]:
    resolved = comparison.resolved
    value = payback_months(resolved.inputs, rent_usd_per_gpu_hour=rent.value)
    if value is None:
        return None, Reason(code=ReasonCode.NEVER_PAYS_BACK, text="payback: not before the machine's end")
    longest = resolved.inputs.lead_time_months + 12 * resolved.inputs.years

    def months(inputs: OwnedInputs, usd: float) -> float:
        paid_back = payback_months(inputs, rent_usd_per_gpu_hour=usd)
        return longest if paid_back is None else paid_back

    band = range_against(resolved, rent, months)
    past = "; the high end is the end of its life: it may not pay back" if band.high >= longest else ""
    source = f"lead time + capex / (rent saved - running cost a month), undiscounted{past}; {rent.source}"
    band = Interval(band.value, band.low, max(band.value, min(band.high, longest)))
    basis = weakest(Basis.MODELLED, resolved.basis, rent.basis)
    return to_quantity(band, Unit.MONTHS, basis, source, _oldest(comparison, rent)), None


def _oldest(comparison: OwnVsRent, rent: Quantity) -> date | None:
    return min((day for day in (comparison.resolved.as_of, rent.as_of) if day), default=None)
