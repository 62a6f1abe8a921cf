"""Complete bill of a rented option, line by line (docs/bill.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from planner.cost.cloud.bill_lines import (
    UnroundedLine,
    as_bill,
    at_assumed_rates,
    hours_entry,
    kept_and_moved,
)
from planner.cost.cloud.bill_rates import BillRates
from planner.cost.cloud.billing_terms import BillingTerms, usable_hours
from planner.cost.cloud.bought_hours import (
    after_term_line,
    beyond_window_line,
    bought_usd,
    dearer_hours,
    sold_range,
    unused_line,
)
from planner.model.answer.bill import Bill
from planner.model.quantity import Quantity, Unit
from planner.quantity.cents import to_cents
from planner.quantity.conversion import derived, interval
from planner.quantity.formula import named
from planner.quantity.interval import Interval, sum_of, sum_of_ends
from planner.quantity.time_units import HOURS_PER_DAY

PRACTICE = "practice: beyond benchmark speed"
COMPUTE, LOST = "compute", "stalls, checkpoints, interruptions"
OF_THE_WORK = frozenset({COMPUTE, LOST, PRACTICE})
"""Hours of a training that grow with its work."""
COMMITMENT = "commitment already bought"
NOT_COUNTED = ("waiting for capacity", "taxes", "requests to storage")


@dataclass(frozen=True)
class BilledTrainings:
    """Number of trainings, of which `at_once` run side by side, each on its own machines."""

    trainings: int = 1
    at_once: int = 1
    longer: float = 1.0
    """Factor on the likely hours that the work may take. Blocks are bought long enough to hold it."""
    shares: tuple[tuple[int, float], ...] = ()
    """Trainings of each group, and their work as a share of the mean training's; empty if all are alike."""

    @property
    def sets(self) -> int:
        """Sets of machines in use."""
        return min(self.trainings, self.at_once)

    @property
    def waves(self) -> int:
        """Trainings that one set runs one after another, for the set with most of them."""
        return math.ceil(self.trainings / self.at_once)

    @property
    def by_set(self) -> dict[int, int]:
        """Number of sets by the number of trainings that they run. The counts differ by at most one."""
        least, more = divmod(self.trainings, self.sets)
        return {runs: sets for runs, sets in ((least + 1, more), (least, self.sets - more)) if sets}


@dataclass(frozen=True)
class Rent:
    """Cost of renting the machines, and the part that the trainings do not use."""

    entries: list[UnroundedLine]
    usd: Interval
    usd_of_hours: Interval
    """Cost of all hours used, including those paid for already."""
    bought: Quantity | None = None
    usable_hours: float | None = None
    """Hours that the set with most trainings can be used, if blocks are bought ahead or a window is stated; fewer if
    another set's block holds less for its share of the trainings.
    """


@dataclass(frozen=True)
class Billed:
    """A bill, with its amounts before rounding."""

    bill: Bill
    usd: Quantity
    """Amount that the trainings add to the bills."""
    worth: Quantity
    """Amount that includes the hours of a commitment that is paid for already."""
    bought: Quantity | None = None
    """Whole rent, if a term is bought for more hours than are used."""


def rented_bill(
    training: Quantity,
    rates: BillRates,
    work: BilledTrainings,
    *,
    lost: Quantity | None = None,
    practice: Quantity | None = None,
) -> Billed:
    """Bill trainings on rented machines. `training` holds the hours of the steps, `lost` those of interruptions.

    `practice` holds the hours beyond benchmark speed.

    total = compute + stalls, checkpoints, interruptions + practice + set-up + data to the nodes + idle tail
    + failed launches + unused (minimum, rounding or term) + storage + checkpoints + upload + egress + support
    """
    training = _as_doubtful(training, practice)
    rent = _rent(training, rates, work, lost, practice)
    wall = sum_of([interval(part, Unit.HOURS) for part in (training, lost, practice) if part is not None])
    wall = named("hours_of_a_training", wall, "h")
    days = wall.scaled(work.waves / HOURS_PER_DAY)
    ancillary = kept_and_moved(rates, trainings=work.trainings, sets=work.sets, campaign_days=days)
    entries = [*rent.entries, *ancillary]
    usd = sum_of([rent.usd, *(entry.usd for entry in ancillary)])
    if rates.support_fraction.value > 0:
        entries.append(support_entry(entries, usd, rates.support_fraction, currency=rates.price_currency))
        usd = usd.scaled(1 + rates.support_fraction.value)
    bill, total = as_bill(
        entries,
        usd,
        trainings=work.trainings,
        currency=rates.currency,
        no_price=(*rates.volumes.unknown, *rates.unknown),
        unsupported=NOT_COUNTED,
        assumed=at_assumed_rates(rates, ancillary),
    )
    ahead = rent.usd.value * rates.terms.upfront_fraction if rates.terms.once and not rates.committed else 0.0
    if ahead > 0:
        bill = bill.model_copy(update={"usd_upfront": float(to_cents(ahead))})
    if rent.usable_hours is not None:  # its length is a decision, so only the price is uncertain
        basis = {"basis": rates.price.basis}
        total, of_bill = total.model_copy(update=basis), bill.usd_total.model_copy(update=basis)
        bill = bill.model_copy(update={"usd_total": of_bill, "usable_hours": rent.usable_hours})
    worth = total
    if rates.committed:
        value = sum_of([interval(total, Unit.USD), rent.usd_of_hours])
        worth = derived(value, Unit.USD, total, rates.price, source=f"{total.source} + {COMMITMENT}")
    return Billed(bill, total, worth, rent.bought)


def _as_doubtful(training: Quantity, practice: Quantity | None) -> Quantity:
    """Return the hours of the steps with the range of a whole training: both err together, and their ends add up."""
    if practice is None or practice.value <= 0:
        return training
    times = training.value / practice.value
    return training.model_copy(update={"low": practice.low * times, "high": practice.high * times})


def support_entry(
    entries: list[UnroundedLine], usd: Interval, fraction: Quantity, *, currency: str = "USD"
) -> UnroundedLine:
    """Bill a provider's support as a share of everything above."""
    value = sum(entry.usd.value for entry in entries)
    rate = interval(fraction, Unit.RATIO, name="support_fraction").value
    share = Interval(value, min(value, usd.low), max(value, usd.high)).scaled(rate)
    source = f"{fraction.value:g} of everything above; {fraction.source}"
    return UnroundedLine("support", share, fraction.value, "of the rest", None, (fraction,), source, currency=currency)


def _rent(
    training: Quantity, rates: BillRates, work: BilledTrainings, lost: Quantity | None, practice: Quantity | None
) -> Rent:
    """Bill every launch by itself, or buy one term or block for all of them.

    billed hours = training + lost + practice + set-up + data to the nodes + idle tail
    by launch:     trainings x nodes x (sold(billed hours) + failed share x set-up) x price
    one term:      sum over sets of nodes x priced(its trainings x (billed hours + failed share x set-up)) x price
    blocks:        the same, at the hours that the work takes at most (`BilledTrainings.longer`)
    a window:      sets x nodes x its hours x price, whatever of it is used
    """
    used = _parts_of_a_run(training, rates, lost, practice)
    billed_hours, failed = sum_of([hours for _, hours, _ in used[:-1]]), used[-1][1]
    entries = [
        hours_entry(what, each, parts, rates=rates, trainings=work.trainings)
        for what, each, parts in used
        if each.value > 0
    ]
    if rates.committed:
        return _committed(entries, rates)
    price, terms = interval(rates.price, Unit.USD_PER_HOUR), rates.terms
    of_sets: dict[int, Interval] = {}
    dearer = Interval.exact(0.0)
    if terms.once:
        for runs in work.by_set:
            needed = sum_of([billed_hours, failed]).scaled(runs)
            needed = Interval.exact(needed.value * work.longer) if terms.blocks else needed
            of_sets[runs] = sold_range(needed, terms)
            dearer = sum_of([dearer, dearer_hours(needed, terms).scaled(work.by_set[runs] * rates.nodes)])
        bought = sum_of([hours.scaled(work.by_set[runs] * rates.nodes) for runs, hours in of_sets.items()])
    else:
        bought = _by_launch(used, work, terms).scaled(rates.nodes)
    bought = named("bought_node_hours", bought, "node-h")
    used_node_hours = named("used_node_hours", sum(entry.quantity for entry in entries), "node-h")
    unused = bought.value - used_node_hours
    rent = (sum_of([bought, dearer]) if dearer.high > 0 else bought).times(price)
    whole = usable = None
    if unused > 1e-9 * bought.value:
        entries.append(unused_line(unused, rates, bought_hours=bought.value))
        counted = [(work.by_set[runs] * rates.nodes, hours.value) for runs, hours in of_sets.items()]
        whole = bought_usd(rent, training, rates, counted) if counted else None
    if dearer.value > 0:
        entries.append(after_term_line(dearer.value, rates))
    if terms.ends and unused < -1e-9 * bought.value:
        entries.append(beyond_window_line(-unused, rates))
    if terms.ends:
        usable = min(usable_hours(hours.value) * work.waves / runs for runs, hours in of_sets.items())
    return Rent(entries, rent, rent, whole, usable)


def _by_launch(
    parts: list[tuple[str, Interval, tuple[Quantity, ...]]], work: BilledTrainings, terms: BillingTerms
) -> Interval:
    """Return the hours that are sold launch by launch, with those of failed launches: unlike runs are each rounded up.

    hours = sum over groups of trainings x (sold(hours that grow with the work x share + the others) + failed)
    """
    failed, totals = parts[-1][1], []
    for trainings, share in work.shares or ((work.trainings, 1.0),):
        hours = [each.scaled(share) if what in OF_THE_WORK else each for what, each, _ in parts[:-1]]
        totals.append(sum_of([sold_range(sum_of(hours), terms), failed]).scaled(trainings))
    if len(totals) == 1:
        return totals[0]
    return sum_of_ends(totals)


def hours_of_a_run(
    training: Quantity, rates: BillRates, *, lost: Quantity | None = None, practice: Quantity | None = None
) -> Interval:
    """Return the hours of one training that count against a term, a block or an allocation.

    hours = training + lost + practice + set-up + data to the nodes + idle tail + failed share x set-up
    """
    parts = _parts_of_a_run(_as_doubtful(training, practice), rates, lost, practice)
    return sum_of([hours for _, hours, _ in parts])


def _parts_of_a_run(
    training: Quantity, rates: BillRates, lost: Quantity | None, practice: Quantity | None
) -> list[tuple[str, Interval, tuple[Quantity, ...]]]:
    """Return the parts of one training's hours, each with its figures; failed launches come last."""
    setup = interval(rates.setup_hours, Unit.HOURS, name="setup_hours")
    failed = setup.times(interval(rates.failed_launch_fraction, Unit.RATIO, name="failed_launch_fraction"))
    failed = named("failed_launch_hours", failed, "h")
    idle_tail = interval(rates.idle_tail_hours, Unit.HOURS, name="idle_tail_hours")

    def known(what: str, hours: Quantity | None) -> list[tuple[str, Interval, tuple[Quantity, ...]]]:
        return [] if hours is None else [(what, interval(hours, Unit.HOURS), (hours,))]

    return [
        *known(COMPUTE, training),
        *known(LOST, lost),
        *known(PRACTICE, practice),
        ("provisioning and set-up", setup, (rates.setup_hours,)),
        *known("data to the nodes", rates.staging_hours),
        ("idle tail", idle_tail, (rates.idle_tail_hours,)),
        ("failed launches", failed, (rates.setup_hours, rates.failed_launch_fraction)),
    ]


def _committed(entries: list[UnroundedLine], rates: BillRates) -> Rent:
    """Subtract the hours whose term is paid for already, because they add nothing to the bills."""
    used = sum_of([entry.usd for entry in entries])
    off = Interval(-used.value, -used.high, -used.low)
    hours = sum(entry.quantity for entry in entries)
    source = f"the plan: commitment_bought; the hours above are worth {used.value:,.2f} USD at its rate"
    credit = UnroundedLine(
        COMMITMENT, off, hours, "node-h", None, (rates.price,), source, currency=rates.price_currency
    )  # currency of the hours that it subtracts
    return Rent([*entries, credit], Interval.exact(0.0), used)
