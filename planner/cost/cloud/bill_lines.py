"""Lines of a bill: hours of machines, gigabytes kept and moved, rounded to cents that add up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from planner.cost.cloud.bill_rates import BillRates
from planner.cost.cloud.cloud_cost import rent_usd
from planner.model.answer.bill import AssumedRate, Bill, BillLine, Coverage, Uncounted
from planner.model.currency import Currency, LocalAmount
from planner.model.quantity import Quantity, Unit
from planner.quantity.cents import in_cents, in_local, to_cents, to_local
from planner.quantity.conversion import MATERIAL_FRACTION, derived, interval, to_quantity
from planner.quantity.formula import largest, named
from planner.quantity.interval import Interval, sum_of
from planner.quantity.time_units import DAYS_PER_MONTH, SECONDS_PER_HOUR

MBIT_PER_GB = 8000.0
USD = "USD"


@dataclass(frozen=True)
class UnroundedLine:
    """A line before its amount is rounded."""

    what: str
    usd: Interval
    quantity: float
    unit: str
    usd_per_unit: float | None
    parts: tuple[Quantity, ...]
    """Inputs of the amount. Its basis is the weakest of theirs, its date the oldest."""
    source: str
    hours: float | None = None
    currency: str = USD


def hours_entry(
    what: str, hours: Interval, parts: tuple[Quantity, ...], *, rates: BillRates, trainings: int
) -> UnroundedLine:
    """Bill hours of machines: USD = trainings x nodes x hours x USD per node-hour."""
    times = trainings * rates.nodes
    usd = rent_usd(
        hours=hours, nodes=rates.nodes, usd_per_node_hour=interval(rates.price, Unit.USD_PER_HOUR), trainings=trainings
    )
    counts = [f"{trainings} trainings"] if trainings > 1 else []
    counts += [f"{rates.nodes} nodes"] if rates.nodes > 1 else []
    product = " x ".join([*counts, f"{hours.value:.5g} h", f"{rates.price.value:g} USD/h"])
    source = "; ".join([product, rates.price.source, *(part.source for part in parts)])
    return UnroundedLine(
        what, named(what, usd, USD), hours.value * times, "node-h", rates.price.value, (*parts, rates.price), source,
        currency=rates.price_currency,
    )  # fmt: skip


def kept_and_moved(rates: BillRates, *, trainings: int, sets: int, campaign_days: Interval) -> list[UnroundedLine]:
    """Bill storage, upload and egress, as far as sizes and rates are known.

    storage     = GB x (campaign days + days kept after) / 30.4375 days a month x USD/GB-month
    checkpoints = the same for GB of one x kept of each x sets of machines
    upload      = GB x USD/GB, in GB x 8000 / (Mbit/s) / 3600 hours
    egress      = max(0, GB - free GB) x USD/GB        Source: definitions; the first price tier is taken throughout.
    """
    sizes, entries = rates.volumes, []
    months = sum_of([campaign_days, interval(rates.keep_days, Unit.DAYS, name="keep_days")]).scaled(1 / DAYS_PER_MONTH)
    months = named("months_kept", months, "months", "campaign and days kept after")
    if sizes.dataset is not None and not rates.already_there:
        entries += _kept(
            "data set in storage", interval(sizes.dataset, Unit.GB, name="dataset_gb"), months, (sizes.dataset,), rates
        )
        entries += _upload(sizes.dataset, rates)
    if sizes.checkpoint is not None:
        each = interval(sizes.checkpoint, Unit.GB, name="checkpoint_gb")
        kept = each.times(interval(rates.checkpoints_kept, Unit.RATIO, name="checkpoints_kept")).scaled(sets)
        entries += _kept("checkpoints in storage", kept, months, (sizes.checkpoint, rates.checkpoints_kept), rates)
    if sizes.egress is not None:
        entries += _egress(sizes.egress, rates, times=1 if sizes.egress_is_of_campaign else trainings)
    return entries


def at_assumed_rates(rates: BillRates, entries: Sequence[UnroundedLine]) -> tuple[AssumedRate, ...]:
    """Return the amounts of the lines whose rate is assumed, by service."""
    found = []
    for rate, lacking in rates.assumed:
        usd = [entry.usd for entry in entries if any(part is rate for part in entry.parts)]
        if usd:
            spread = f"{rate.value:.3g} {rate.unit} ({rate.low:.3g} to {rate.high:.3g})"
            reason = f"{spread}, {rate.source}: {lacking.reason}"
            total = sum_of(usd)
            found.append(AssumedRate(what=lacking.what, usd=total.value, high_usd=total.high, reason=reason))
    return tuple(found)


def as_bill(
    entries: Sequence[UnroundedLine],
    usd: Interval,
    *,
    trainings: int,
    currency: Currency | None,
    no_price: tuple[Uncounted, ...],
    unsupported: tuple[str, ...],
    assumed: tuple[AssumedRate, ...] = (),
) -> tuple[Bill, Quantity]:
    """Round the lines to cents that add up to the total. Return the bill, and the total before rounding.

    `usd` carries the total's range; its value is the sum of the lines. The total's basis and date are the weakest and
    oldest of the lines that make up `MATERIAL_FRACTION` of it or more. Amounts in the plan's currency are converted
    exactly at its rate, in its smallest unit, and not from the rounded cents: 30 h at 60,000 KRW are 1,800,000 KRW.
    """
    exact = named("bill_usd", sum(named(entry.what, entry.usd.value, USD) for entry in entries), USD, "all lines")
    usd = Interval(exact, min(exact, usd.low), max(exact, usd.high))
    cents, total = in_cents([entry.usd.value for entry in entries])
    local = in_local([entry.usd.value for entry in entries], currency) if currency else [None] * len(cents)
    lines = tuple(
        _line(entry, float(rounded_usd), own) for entry, rounded_usd, own in zip(entries, cents, local, strict=True)
    )
    source = " + ".join(f"{line.what} {line.usd.value:,.2f}" for line in lines)
    heavy = [entry for entry in entries if abs(entry.usd.value) >= MATERIAL_FRACTION * abs(exact)]
    unrounded = derived(usd, Unit.USD, *(part for entry in heavy for part in entry.parts), source=source)
    rounded = float(total)
    total_usd = _in_cents(unrounded, rounded)
    bill = Bill(
        trainings=trainings,
        lines=lines,
        usd_total=total_usd,
        local_total=_total_of([amount for amount in local if amount is not None], local_amount(unrounded, currency)),
        coverage=Coverage(
            priced=tuple(dict.fromkeys(entry.what for entry in entries)),
            no_price=no_price,
            unsupported=unsupported,
            assumed=assumed,
        ),
    )
    return bill, unrounded


def local_amount(usd: Quantity, currency: Currency | None) -> LocalAmount | None:
    """Return an amount in the plan's currency: USD x rate, in its smallest unit."""
    if currency is None:
        return None
    value, low, high = (float(to_local(part, currency)) for part in (usd.value, usd.low, usd.high))
    return LocalAmount(code=currency.code, value=value, low=low, high=high)


def _total_of(lines: Sequence[Decimal], amount: LocalAmount | None) -> LocalAmount | None:
    """Return the decimal sum of the rounded lines, with the amount's range."""
    if amount is None:
        return None
    value = float(sum(lines, Decimal(0)))
    return LocalAmount(code=amount.code, value=value, low=min(value, amount.low), high=max(value, amount.high))


def _kept(
    what: str, size: Interval, months: Interval, parts: tuple[Quantity, ...], rates: BillRates
) -> list[UnroundedLine]:
    if rates.storage is None or size.value == 0:
        return []
    gigabyte_months = size.times(months)
    usd = gigabyte_months.times(interval(rates.storage, Unit.USD_PER_GB_MONTH))
    source = (
        f"{size.value:,.4g} GB x {months.value:.4g} months x {rates.storage.value:.4g} USD/GB-month; "
        f"{rates.storage.source}; " + "; ".join(part.source for part in parts) + f"; {rates.keep_days.source}"
    )
    used = (*parts, rates.keep_days, rates.storage)
    return [UnroundedLine(what, usd, gigabyte_months.value, "GB-month", rates.storage.value, used, source)]


def _upload(dataset: Quantity, rates: BillRates) -> list[UnroundedLine]:
    if rates.ingress is None or dataset.value == 0:
        return []
    usd = interval(dataset, Unit.GB, name="dataset_gb").times(interval(rates.ingress, Unit.USD_PER_GB))
    hours = dataset.value * MBIT_PER_GB / rates.upload_mbit_per_s.value / SECONDS_PER_HOUR
    source = (
        f"{dataset.value:,.4g} GB x {rates.ingress.value:g} USD/GB, in {hours:.3g} h at "
        f"{rates.upload_mbit_per_s.value:g} Mbit/s; {rates.ingress.source}; {rates.upload_mbit_per_s.source}"
    )
    return [
        UnroundedLine(
            "upload", usd, dataset.value, "GB", rates.ingress.value, (dataset, rates.ingress), source, hours=hours
        )
    ]


def _egress(each: Quantity, rates: BillRates, *, times: int) -> list[UnroundedLine]:
    if rates.egress is None or each.value == 0:
        return []
    size = Interval(
        *(largest(0.0, part * times - rates.free_egress_gb) for part in interval(each, Unit.GB, name="egress_gb"))
    )
    rate = interval(rates.egress, Unit.USD_PER_GB)
    usd = Interval(size.value * rate.value, size.low * rate.low, size.high * rate.high)
    free = f" less {rates.free_egress_gb:g} free" if rates.free_egress_gb else ""
    source = f"{each.value * times:,.4g} GB{free} x {rate.value:g} USD/GB; {rates.egress.source}; {each.source}"
    return [UnroundedLine("egress", usd, size.value, "GB", rate.value, (each, rates.egress), source)]


def _line(entry: UnroundedLine, usd: float, local: Decimal | None) -> BillLine:
    exact = derived(entry.usd, Unit.USD, *entry.parts, source=entry.source)
    return BillLine(
        what=entry.what,
        usd=_in_cents(exact, usd),
        quantity=entry.quantity,
        quantity_unit=entry.unit,
        usd_per_unit=entry.usd_per_unit,
        hours=entry.hours,
        currency=entry.currency,
        local=None if local is None else float(local),
    )


def _in_cents(exact: Quantity, usd: float) -> Quantity:
    """Put the rounded value in, and round the range; the value stays inside it."""
    low, high = float(to_cents(exact.low)), float(to_cents(exact.high))
    return to_quantity(Interval(usd, min(usd, low), max(usd, high)), Unit.USD, exact.basis, exact.source, exact.as_of)
