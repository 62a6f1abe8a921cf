"""Inputs of a rented option's bill: price, terms, hours of a launch, gigabytes and their rates."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from planner.cost.cloud.billing_terms import BillingTerms, terms_of
from planner.cost.cloud.service_rates import assumed_rate, find_rate, no_rate_reason, rate_quantity
from planner.duration.data_volumes import Volumes, data_volumes
from planner.model.answer.bill import Uncounted
from planner.model.answer.documents import Assumption
from planner.model.catalog import Catalog
from planner.model.currency import Currency
from planner.model.defaults import BillDefaults
from planner.model.plan.plan import Assumptions, Data, Plan
from planner.model.prices.offer import PriceKind
from planner.model.prices.service import Service
from planner.model.quantity import Basis, Quantity, Unit
from planner.quantity.conversion import derived, interval, to_quantity
from planner.quantity.formula import named
from planner.quantity.interval import Interval, sum_of
from planner.quantity.time_units import SECONDS_PER_HOUR
from planner.scenario.allowed_offers import provider_of
from planner.scenario.candidate import Candidate
from planner.scenario.job import Job
from planner.scenario.price_choice import current_price


@dataclass(frozen=True)
class BillRates:
    """Inputs of one option's bill. Every quantity is per node, per launch or per gigabyte."""

    price: Quantity
    terms: BillingTerms
    committed: bool
    """True if the term has been paid already."""
    nodes: int
    price_currency: str
    currency: Currency | None
    setup_hours: Quantity
    idle_tail_hours: Quantity
    failed_launch_fraction: Quantity
    support_fraction: Quantity
    staging_hours: Quantity | None
    """None: the size of the data set is not known, or it is 0."""
    volumes: Volumes
    upload_mbit_per_s: Quantity
    already_there: bool
    checkpoints_kept: Quantity
    keep_days: Quantity
    storage: Quantity | None
    egress: Quantity | None
    ingress: Quantity | None
    free_egress_gb: float
    unknown: tuple[Uncounted, ...]
    """Services whose rate no source gives and the planner does not assume, with the reason."""
    assumed: tuple[tuple[Quantity, Uncounted], ...] = ()
    """Rates that are assumed because no source gives them, with the reason. An assumed rate may be 0."""


def bill_rates(plan: Plan, job: Job, candidate: Candidate, price: Quantity, catalog: Catalog) -> BillRates:
    """Collect the inputs of an option's bill from the plan, the defaults and the provider's rates."""
    defaults, data, assumed = catalog.bill_defaults, plan.data, plan.assumptions
    volumes = data_volumes(job, data, defaults)
    provider = provider_of(candidate.node.id)
    rows = {service: find_rate(provider, service, catalog) for service in Service}
    sourced = {service: rate_quantity(row) if row else None for service, row in rows.items()}
    is_grant = candidate.option.price is PriceKind.GRANT  # a grant mostly includes storage
    rates = {
        service: rate or (None if is_grant else assumed_rate(service, defaults)) for service, rate in sourced.items()
    }
    without_rate = {
        service: Uncounted(what=service.value, reason=no_rate_reason(provider, service, rows[service]))
        for service, rate in sourced.items()
        if rate is None and _affects_bill(service, volumes, data)
    }
    egress = rows[Service.EGRESS]
    return BillRates(
        price=price,
        terms=_priced_terms(candidate, price, catalog),
        committed=candidate.option.commitment_bought,
        nodes=candidate.nodes,
        price_currency=plan.currency.code if plan.currency and candidate.option.local_per_hour else "USD",
        currency=plan.currency,
        setup_hours=_assumption_value(assumed, "setup_hours", Unit.HOURS, defaults),
        idle_tail_hours=_assumption_value(assumed, "idle_tail_hours", Unit.HOURS, defaults),
        failed_launch_fraction=_assumption_value(assumed, "failed_launch_fraction", Unit.RATIO, defaults),
        support_fraction=support_fraction(assumed, catalog),
        staging_hours=_staging_hours(volumes.dataset, defaults.staging_gb_per_s),
        volumes=volumes,
        upload_mbit_per_s=_data_value(data, "upload_mbit_per_s", Unit.MBIT_PER_S, defaults),
        already_there=data.already_there,
        checkpoints_kept=_data_value(data, "checkpoints_kept", Unit.RATIO, defaults),
        keep_days=_data_value(data, "keep_days", Unit.DAYS, defaults),
        storage=rates[Service.STORAGE],
        egress=rates[Service.EGRESS],
        ingress=rates[Service.INGRESS],
        free_egress_gb=egress.free_gb if egress else 0.0,
        unknown=tuple(reason for service, reason in without_rate.items() if rates[service] is None),
        assumed=tuple(
            (rate, reason) for service, reason in without_rate.items() if (rate := rates[service]) is not None
        ),
    )


def _priced_terms(candidate: Candidate, price: Quantity, catalog: Catalog) -> BillingTerms:
    """Return the candidate's terms. Hours after the end of a term cost what the same machine costs on demand."""
    terms = terms_of(candidate)
    if not math.isinf(terms.after_factor) or price.value <= 0:
        return terms
    region = candidate.price.region if candidate.price is not None else candidate.option.region
    row = current_price(candidate.node.id, catalog, kind=PriceKind.ON_DEMAND, region=region)
    if row is None or row.usd_per_hour is None:
        return terms
    return replace(terms, after_factor=max(1.0, row.usd_per_hour / price.value))


def support_fraction(given: Assumptions, catalog: Catalog) -> Quantity:
    """Return the cost of a provider's support as a share of its bill: the plan's figure, else the default."""
    return _assumption_value(given, "support_fraction", Unit.RATIO, catalog.bill_defaults)


def bill_assumptions(plan: Plan, catalog: Catalog) -> list[Assumption]:
    """List the assumptions of every rented option's bill, from the plan or the defaults."""
    defaults = catalog.bill_defaults
    launch = {
        "set-up of a launch": ("setup_hours", Unit.HOURS),
        "idle tail of a launch": ("idle_tail_hours", Unit.HOURS),
        "failed launches": ("failed_launch_fraction", Unit.RATIO),
        "support": ("support_fraction", Unit.RATIO),
    }
    storage = {
        "checkpoints kept": ("checkpoints_kept", Unit.RATIO),
        "kept after the campaign": ("keep_days", Unit.DAYS),
    }
    assumptions = [
        Assumption(name=name, quantity=_assumption_value(plan.assumptions, key, unit, defaults))
        for name, (key, unit) in launch.items()
    ]
    return assumptions + [
        Assumption(name=name, quantity=_data_value(plan.data, key, unit, defaults))
        for name, (key, unit) in storage.items()
    ]


def startup_hours(plan: Plan, job: Job, catalog: Catalog) -> Quantity:
    """Return the hours from the request of a rented machine to the first step. Each failed launch repeats the set-up.

    hours = set-up x (1 + failed launches) + data to the nodes
    """
    defaults = catalog.bill_defaults
    setup = _assumption_value(plan.assumptions, "setup_hours", Unit.HOURS, defaults)
    failed = _assumption_value(plan.assumptions, "failed_launch_fraction", Unit.RATIO, defaults)
    repeated = interval(failed, Unit.RATIO, name="failed_launch_fraction")
    launches = Interval(1 + repeated.value, 1 + failed.low, 1 + failed.high)
    hours = interval(setup, Unit.HOURS, name="setup_hours").times(launches)
    parts, source = [setup, failed], f"{setup.value:g} h of set-up x {launches.value:g} launches"
    staging = _staging_hours(data_volumes(job, plan.data, defaults).dataset, defaults.staging_gb_per_s)
    if staging is not None:
        hours = sum_of([hours, interval(staging, Unit.HOURS)])
        parts.append(staging)
        source += f" + {staging.value:.3g} h of data to the nodes"
    hours = named("launch_hours", hours, "h", "from the request of a machine to the first step")
    return derived(hours, Unit.HOURS, *parts, source="; ".join([source, *(part.source for part in parts)]))


def _affects_bill(service: Service, volumes: Volumes, data: Data) -> bool:
    """Return whether a service's rate affects the bill: there are gigabytes to store or move."""
    moved = {
        Service.STORAGE: [None if data.already_there else volumes.dataset, volumes.checkpoint],
        Service.EGRESS: [volumes.egress],
        Service.INGRESS: [] if data.already_there else [volumes.dataset],
    }
    return any(volume is not None and volume.value > 0 for volume in moved[service])


def _staging_hours(dataset: Quantity | None, speed: Quantity) -> Quantity | None:
    """Return the hours in which the data set reaches the nodes: GB / (GB/s) / 3600."""
    if dataset is None or dataset.value == 0:
        return None
    hours = (
        interval(dataset, Unit.GB, name="dataset_gb")
        .times(interval(speed, Unit.GB_PER_S).inverse())
        .scaled(1 / SECONDS_PER_HOUR)
    )
    hours = named("staging_hours", hours, "h", "data to the nodes")
    source = f"{dataset.value:.4g} GB / {speed.value:g} GB/s / 3600; {dataset.source}; {speed.source}"
    return derived(hours, Unit.HOURS, dataset, speed, source=source)


def _assumption_value(given: Assumptions, name: str, unit: Unit, defaults: BillDefaults) -> Quantity:
    return _stated_or_default(getattr(given, name), f"assumptions.{name}", unit, getattr(defaults, name))


def _data_value(given: Data, name: str, unit: Unit, defaults: BillDefaults) -> Quantity:
    return _stated_or_default(getattr(given, name), f"data.{name}", unit, getattr(defaults, name))


def _stated_or_default(value: float | None, key: str, unit: Unit, default: Quantity) -> Quantity:
    if value is None:
        return default
    return to_quantity(Interval.exact(float(value)), unit, Basis.ASSUMED, f"the plan: {key}")
