"""An owned machine against one rented option, for the same work: break-even, present value, payback."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from planner.cost.ownership.break_even import break_even_utilisation
from planner.cost.ownership.cash_flow import npv_usd, payback_months
from planner.cost.ownership.owned_cost import OwnedInputs
from planner.cost.ownership.resolved_site import ResolvedSite
from planner.model.answer.documents import OptionEstimate
from planner.model.answer.own_or_rent import RentalOption
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


def rental_alternative(duel: OwnVsRent) -> RentalOption:
    """Return everything that the comparison with one rented option says."""
    rent, nodes = duel.usd_per_owned_gpu_hour, duel.resolved.site.nodes
    problems = [] if duel.rented.why_not is None or rent is not None else [duel.rented.why_not]
    break_even = npv = after_tax = payback = None
    if duel.usd_per_gpu_hour is not None and rent is None:
        problems.append("speed_ratio: the speed of one of both is not known, so their work cannot be compared")
    if rent is not None:
        break_even, problem = _break_even(duel, rent)
        npv = _npv(duel, rent, nodes, after_tax=False)
        after_tax = _npv(duel, rent, nodes, after_tax=True) if duel.resolved.tax is not None else None
        payback, no_payback = _payback(duel, rent)
        problems += [text for text in (problem, no_payback) if text]
        if after_tax is None:
            problems.append("npv_after_tax_usd: the site names no tax")
    option = duel.rented
    return RentalOption(
        id=option.id,
        name=option.name,
        price_kind=option.price_kind,
        usd_per_gpu_hour=duel.usd_per_gpu_hour,
        speed_ratio=duel.speed_ratio,
        usd_per_owned_gpu_hour=rent,
        usd_per_training=option.usd_total,
        break_even_utilisation=break_even,
        npv_usd=npv,
        npv_after_tax_usd=after_tax,
        payback_months=payback,
        why_not="; ".join(problems) or None,
    )


Answer = Callable[[OwnedInputs, float], float]
"""Of the inputs and the rent of an owned accelerator's hour of work."""


def range_against(resolved: ResolvedSite, rent: Quantity, answer: Answer, *, without: tuple[str, ...] = ()) -> Interval:
    """Return an answer that hangs on the site's inputs and on a rent, with its range."""
    found = [swing for swing in resolved.swings(lambda inputs: answer(inputs, rent.value)) if swing.name not in without]
    found.append(Swing("rent", answer(resolved.inputs, rent.low), answer(resolved.inputs, rent.high)))
    return combined(answer(resolved.inputs, rent.value), found)


def _break_even(duel: OwnVsRent, rent: Quantity) -> tuple[Quantity | None, str | None]:
    def share(inputs: OwnedInputs, usd: float) -> float:
        found = break_even_utilisation(inputs, rent_usd_per_gpu_hour=usd)
        return NEVER if found is None else found

    value = share(duel.resolved.inputs, rent.value)
    if value > 1:
        told = "its power alone costs more" if value == NEVER else f"it would need {value:.0%} of the hours"
        return None, f"break_even_utilisation: never, {told.replace('%', ' %')}"
    band = range_against(duel.resolved, rent, share, without=("busy_fraction",))
    past = ", and the range reaches past all hours: it may never break even" if band.high > 1 else ""
    source = f"cost of a year idle / (rent of a year busy - what busy adds){past}; {rent.source}"
    band = Interval(band.value, band.low, min(band.high, 1.0))
    basis = weakest(Basis.MODELLED, duel.resolved.basis, rent.basis)
    return to_quantity(band, Unit.RATIO, basis, source, _oldest(duel, rent)), None


def _npv(duel: OwnVsRent, rent: Quantity, nodes: int, *, after_tax: bool) -> Quantity:
    tax = duel.resolved.tax if after_tax else None
    value = range_against(
        duel.resolved,
        rent,
        lambda inputs, usd: nodes * npv_usd(inputs, rent_usd_per_gpu_hour=usd, tax=tax, after_tax=after_tax),
    )
    inputs = duel.resolved.inputs
    source = (
        f"{nodes} node(s) over {inputs.years:.3g} years at {inputs.discount_rate_per_year:g} a year, "
        f"{'after' if after_tax else 'before'} tax; saves {rent.value:.4g} USD per busy GPU-hour; {rent.source}"
    )
    return to_quantity(
        value, Unit.USD, weakest(Basis.MODELLED, duel.resolved.basis, rent.basis), source, _oldest(duel, rent)
    )


def _payback(duel: OwnVsRent, rent: Quantity) -> tuple[Quantity | None, str | None]:
    resolved = duel.resolved
    value = payback_months(resolved.inputs, rent_usd_per_gpu_hour=rent.value)
    if value is None:
        return None, "payback_months: not before the machine's end"
    longest = resolved.inputs.lead_time_months + 12 * resolved.inputs.years

    def months(inputs: OwnedInputs, usd: float) -> float:
        found = payback_months(inputs, rent_usd_per_gpu_hour=usd)
        return longest if found is None else found

    band = range_against(resolved, rent, months)
    past = "; the high end is the end of its life: it may not pay back" if band.high >= longest else ""
    source = f"lead time + capex / (rent saved - running cost a month), undiscounted{past}; {rent.source}"
    band = Interval(band.value, band.low, max(band.value, min(band.high, longest)))
    basis = weakest(Basis.MODELLED, resolved.basis, rent.basis)
    return to_quantity(band, Unit.MONTHS, basis, source, _oldest(duel, rent)), None


def _oldest(duel: OwnVsRent, rent: Quantity) -> date | None:
    return min((day for day in (duel.resolved.as_of, rent.as_of) if day), default=None)
