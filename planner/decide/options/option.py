"""Estimate one option: join speed, time, money and energy, with the source of each number."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date

from planner.cost.cloud.allocation import allocation_reasons, first_day
from planner.cost.cloud.availability import availability, availability_reasons
from planner.cost.cloud.bill_rates import BillRates, bill_rates, startup_hours
from planner.cost.cloud.credits import with_credits
from planner.cost.cloud.hosted_bill import HostedRates
from planner.cost.cloud.price import list_price_of, mean_price, node_hour_price, open_quote_of
from planner.cost.cloud.price_age import dated
from planner.cost.ownership.resolved_site import ResolvedSite
from planner.cost.power.electricity import cloud_pue, paid_in, pue
from planner.cost.power.node_power import rated_power, training_power
from planner.decide.limits import MachineTerms, below_least_cluster, forbidden
from planner.decide.options import option_money
from planner.decide.options.error_causes import error_causes
from planner.decide.options.local_disk import local_disk_note
from planner.decide.options.one_training import carbon_of, energy_of, hours_of, throughput_of
from planner.decide.options.option_facts import (
    is_refreshed,
    machine_name,
    machine_notes,
    missing_figures,
    network_of,
    price_kind_of,
    region_of,
)
from planner.decide.options.option_money import Usage, assumed_rates, unpriced
from planner.duration.calendar import Calendar
from planner.duration.training_time import SteadyState, Timed, training_time
from planner.model.answer.option_estimate import OptionEstimate
from planner.model.answer.reason import OVERLOADS, Reason, codes_of, text_of
from planner.model.answer.rollout_estimate import RolloutEstimate
from planner.model.answer.training_time import TrainingTime
from planner.model.catalog import Catalog
from planner.model.currency import Currency
from planner.model.network.workload import WHOLE
from planner.model.owning.acquisition import Hold
from planner.model.plan.plan import Plan
from planner.model.plan.plan_option import USED_NOT_RENTED
from planner.model.prices.offer import Price, PriceKind
from planner.model.quantity import Quantity, Unit
from planner.quantity.conversion import derived, interval
from planner.quantity.time_units import HOURS_PER_DAY
from planner.scenario.allowed_offers import is_firm, offer_reasons, provider_of
from planner.scenario.candidate import Candidate
from planner.scenario.job import Job
from planner.scenario.places import reasons_not_allowed
from planner.speed.estimator.shared_causes import Causes
from planner.speed.throughput.fastest_strategy import fastest
from planner.speed.throughput.speed import Speed


@dataclass(frozen=True)
class EstimatedOption:
    """Estimate of an option, with the rates for the bill of a whole campaign."""

    option: OptionEstimate
    rates: BillRates | None
    """Rates of a rented option; None if it is owned, or its price is unknown."""
    currency: Currency | None
    tariff_currency: str
    """Code of the currency in which an owned machine's electricity is paid."""
    limit_reasons: tuple[Reason, ...] = ()
    """Reasons why the plan's limits exclude it."""
    price: Price | None = None
    """Row whose price counts; None if it is owned, or the plan states its own price."""
    hosted: HostedRates | None = None
    """Rates of a service that trains by the token."""
    candidate: Candidate | None = None
    """Machine of the option; None for a service, whose machines are unknown."""
    speed: Speed | None = None
    resolved: ResolvedSite | None = None
    """Cost of owning, if known."""
    price_changes: tuple[float, ...] = ()
    """Hours from the campaign's start until each of its price's `later` prices begins."""
    power_from_rated_share: bool = False
    """True if its cost or carbon uses the default share of rated power; a rented machine's cost never does."""


def begun_after(estimated: EstimatedOption, hours: float) -> EstimatedOption:
    """Return the option with the changes of its price counted from its own start, hours after the campaign's."""
    return replace(estimated, price_changes=tuple(max(0.0, each - hours) for each in estimated.price_changes))


def estimate_option(
    plan: Plan,
    job: Job,
    candidate: Candidate,
    catalog: Catalog,
    *,
    today: date | None = None,
    speed: Speed | None = None,
) -> EstimatedOption:
    """Estimate one training of the job on one candidate; `speed`: its speed, if known already."""
    if speed is None:
        candidate, speed = fastest(job, candidate, catalog)
    site, price = candidate.site, node_hour_price(candidate, catalog, today=today)
    throughput = throughput_of(speed)
    training = hours_of(throughput, job, epochs=job.epochs)
    timed = _timed(plan, job, candidate, catalog, throughput=throughput, training=training, speed=speed)
    power = training_power(candidate, speed.run_ids, catalog)
    energy = energy_of(timed.time.wall_hours if timed.time else None, power.kw, candidate)
    usage = Usage(
        epoch=hours_of(throughput, job, epochs=1.0),
        training=None if timed.reason else training,  # it never ends, whatever its steps would take
        time=timed.time,
        energy=energy,
        power=power.kw,
    )
    doubts = (*speed.doubts, *_found_wrong(speed, catalog))
    building, tariff = pue(site, plan, catalog) if site else cloud_pue(plan, catalog), paid_in(site, plan, catalog)
    row = None if site is not None or candidate.has_own_price else candidate.price
    changes = _price_changes(plan, row, today=today)
    causes, rates = error_causes(candidate, speed, timed.time, plan.practice), None
    if site is None and price is not None:
        rates = bill_rates(plan, job, candidate, price, catalog)
    if site is not None:
        money = option_money.owned(plan, candidate, catalog, usage, paid_in=tariff)
    else:
        once = rates
        blocks, longer = rates is not None and rates.terms.blocks, 1.0
        if blocks and timed.time is not None:
            longer = _longer(candidate.id, timed.time, causes, plan.campaign.confidence, doubtful=bool(doubts))
        if rates is not None and timed.time is not None:
            hours = timed.time.wall_hours.value
            mean = mean_price(row, rates.price, nodes=candidate.nodes, hours=hours, changes=changes)
            once = replace(rates, price=mean)
        money = option_money.rented(candidate, catalog, once, usage, longer=longer)
    reasons = missing_figures(candidate, speed, timed, money.missing, usage)
    limit_reasons = (
        *offer_reasons(candidate.option, plan.limits),
        *reasons_not_allowed(candidate, plan.limits),
        *availability_reasons(row, today=today),
        *forbidden(MachineTerms.of_candidate(candidate, plan.limits), machines=candidate.nodes),
        *below_least_cluster(candidate),
    )
    estimate = OptionEstimate(
        id=candidate.id,
        name=machine_name(candidate),
        offer=candidate.option.offer,
        site=site.id if site else None,
        region=region_of(candidate),
        price_kind=price_kind_of(candidate),
        nodes=candidate.nodes,
        accelerators=candidate.accelerators,
        accelerator=candidate.accelerator.id,
        fits=False if OVERLOADS.intersection(codes_of(reasons)) else speed.fit.fits,
        fit_chance=speed.fit.chance,
        chunked_loss=speed.fit.chunked_loss,
        network=network_of(candidate),
        rollout=_rollout(speed, job, money.usd_total),
        strategy=speed.strategy,
        split=None if candidate.split == WHOLE else candidate.split,
        trainers=speed.trainers,
        whole_hours=hours_of(throughput_of(speed.whole[1]), job, epochs=job.epochs) if speed.whole else None,
        micro_batch=speed.fit.micro_batch,
        checkpointing=speed.fit.checkpointing,
        error_causes=causes,
        throughput=throughput,
        epoch_hours=usage.epoch,
        training_hours=usage.training,
        time=timed.time,
        usd_per_hour=price,
        list_usd_per_hour=list_price_of(candidate),
        open_quote=open_quote_of(candidate),
        usd_per_epoch=money.usd_per_epoch,
        usd_total=money.usd_total,
        usd_marginal=money.usd_marginal,
        smallest_purchase_usd=money.smallest_purchase_usd,
        bill=money.bill,
        unpriced=unpriced(money.bill),
        assumed_rates=assumed_rates(money.bill),
        firm=is_firm(candidate.option),
        observations=len(row.seen_usd_per_hour) or None if row is not None else None,
        availability=None if site is not None else availability(row, today=today),
        not_allowed=text_of(limit_reasons),
        not_allowed_reasons=limit_reasons,
        energy_kwh=energy,
        carbon_kg=carbon_of(energy, building, plan),
        power_kw=power.kw,
        rated_kw=rated_power(candidate),
        known_from=speed.known_from,
        price_refreshed=is_refreshed(candidate, catalog),
        runs=speed.run_ids,
        doubts=doubts,
        runs_not_counted=speed.not_counted,
        notes=(
            *speed.notes,
            *(run.text for run in speed.not_counted),
            *([job.samples_note] if job.samples_note else []),
            *timed.notes,
            *money.notes,
            *machine_notes(candidate),
            *filter(None, [local_disk_note(plan, job, candidate, catalog)]),
        ),
        hold=candidate.hold,
        why_not=text_of(reasons),
        why_not_codes=codes_of(reasons),
        reasons=reasons,
    )
    return EstimatedOption(
        estimate if today is None else on_day(estimate, plan, catalog, today=today, price=row),
        rates,
        plan.currency,
        tariff,
        limit_reasons=limit_reasons,
        price=row,
        candidate=candidate,
        speed=speed,
        resolved=money.resolved,
        price_changes=changes,
        power_from_rated_share=power.from_rated_share and (site is not None or estimate.carbon_kg is not None),
    )


def _rollout(speed: Speed, job: Job, usd: Quantity | None) -> RolloutEstimate | None:
    """Return one step with rollouts, with what 1,000 prompts cost: USD of a training / prompts x 1,000."""
    if speed.rollout is None or usd is None:
        return speed.rollout
    prompts = job.samples_per_epoch * job.epochs
    each = interval(usd, Unit.USD).scaled(1000 / prompts)
    source = f"{usd.value:.6g} USD / {prompts:,.0f} prompts x 1,000; {usd.source}"
    return speed.rollout.model_copy(update={"usd_per_1000_prompts": derived(each, Unit.USD, usd, source=source)})


def _found_wrong(speed: Speed, catalog: Catalog) -> list[str]:
    """Name the doubtful runs that a speed was scaled from, because no other evidence exists."""
    doubtful = [run for run in speed.run_ids if run in catalog.doubtful_runs]
    return [f"{run}: the audit finds it doubtful: planner audit {run}" for run in doubtful]


def _price_changes(plan: Plan, price: Price | None, *, today: date | None) -> tuple[float, ...]:
    """Return the hours of the campaign until each of a price's later prices begins.

    Without a stated first day, work is counted from the end of today.
    """
    if price is None or today is None:
        return ()
    first, stated = plan.campaign.start or today, plan.campaign.start is not None
    return tuple(max(0.0, ((change.after - first).days + stated) * HOURS_PER_DAY) for change in price.later)


def on_day(
    estimate: OptionEstimate, plan: Plan, catalog: Catalog, *, today: date, price: Price | None = None
) -> OptionEstimate:
    """Return the estimate with the facts that depend on a day: age of its price, credits, allocation.

    The training starts on the campaign's first day, or today if the plan names none.
    """
    if estimate.bill is not None and estimate.offer is not None and estimate.wall_hours is not None:
        calendar = Calendar.of(plan.campaign, today=today)
        begin, wall, longer = calendar.begin_of(first_day(price, today=today)), estimate.wall_hours.value, 1.0
        granted = price is not None and price.price_kind is PriceKind.GRANT
        if estimate.time is not None and price is not None and (granted or price.node_hours_limit is not None):
            longer = _longer(
                estimate.id, estimate.time, estimate.error_causes, plan.campaign.confidence,
                doubtful=bool(estimate.doubts),
            )  # fmt: skip
        finish, ended = calendar.last_day(begin + wall), calendar.last_day(begin + wall * longer)
        provider = provider_of(estimate.offer)
        bill = with_credits(estimate.bill, catalog.credits, provider=provider, finish=finish)
        of_allocation = allocation_reasons(price, bill=bill, finish=ended, longer=longer)
        reasons = (*estimate.not_allowed_reasons, *of_allocation)
        on_its_days = {"bill": bill, "not_allowed": text_of(reasons), "not_allowed_reasons": reasons}
        estimate = estimate.model_copy(update=on_its_days)
    committed = (
        estimate.hold is Hold.USE and estimate.price_kind not in USED_NOT_RENTED
    )  # its price is paid, however old it is
    return estimate if committed else dated(estimate, today=today, row=price)


def _longer(option: str, time: TrainingTime, causes: Causes, confidence: float, *, doubtful: bool) -> float:
    from planner.decide.outcomes.option_outcomes import TimedOption  # with numpy: few options are paid ahead

    return TimedOption(option, time, doubtful, causes).longer(confidence)


def _timed(
    plan: Plan, job: Job, candidate: Candidate, catalog: Catalog, *,
    throughput: Quantity | None, training: Quantity | None, speed: Speed,
) -> Timed:  # fmt: skip
    """Return the parts of the training's time; nothing without a speed."""
    if throughput is None or training is None:
        return Timed(None)
    startup = startup_hours(plan, job, catalog) if candidate.site is None else None
    return training_time(
        plan,
        job,
        candidate,
        catalog,
        SteadyState(throughput, training, speed.strategy),
        startup=startup,
        own_logs=sum(catalog.runs[run_id].log is not None for run_id in speed.run_ids if run_id in catalog.runs),
    )
