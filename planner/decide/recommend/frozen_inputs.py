"""The part of a catalog that a plan can reach, and how groups of its inputs are exchanged."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from planner.model.answer.difference import Cause
from planner.model.catalog import Catalog
from planner.model.evidence.run import RunRecord
from planner.model.plan.plan import Plan
from planner.model.prices.offer import Price
from planner.scenario.allowed_offers import provider_of
from planner.scenario.own_machine import find_own

FIELDS: dict[Cause, tuple[str, ...]] = {
    Cause.PRICE: ("prices", "own_prices", "credits", "services"),
    Cause.HARDWARE: ("accelerators", "aliases", "nodes", "providers", "sites", "tariffs"),
    Cause.MEASUREMENT: (
        "runs",
        "probes",
        "impossible_runs",
        "doubtful_runs",
        "bundled_runs",
        "calibration",
        "image_calibration",
    ),
}
"""Fields of a catalog by cause; every other field counts as an assumption."""
RAW = ("telemetry", "topology", "calibration", "probes")
"""Fields that a run loses if the answer does not name it: the evidence for its verdict, which is kept."""


def reachable(plan: Plan, catalog: Catalog, *, used_runs: Collection[str]) -> Catalog:
    """Return the catalog without what no option of the plan names; all runs stay, as any may be the nearest."""
    offers = {option.offer for option in plan.options if option.offer}
    providers = {provider_of(offer) for offer in offers}
    named = providers | {*(plan.limits.providers.allow or ()), *plan.limits.providers.deny}
    sites = {key: site for key, site in catalog.sites.items() if key in {option.site for option in plan.options}}
    runs = {key: run if key in used_runs else _without_raw(run) for key, run in catalog.runs.items()}
    wanted = offers | {site.node for site in sites.values()} | {run.hardware.node for run in runs.values()}
    nodes = {key: node for key, node in catalog.nodes.items() if key in wanted}
    preset = catalog.preset_named(plan.workload.ref) if plan.workload.ref else None
    carried = {node.accelerator for node in nodes.values()} | {run.hardware.accelerator for run in runs.values()}
    own = [find_own(option.own, catalog, where="options").id for option in plan.options if option.own]
    carried.update(own)
    return catalog.model_copy(
        update={
            "aliases": {name: meant for name, meant in catalog.aliases.items() if meant in own},
            "prices": _of(offers, catalog.prices),
            "unread": (),
            "own_prices": _of(offers, catalog.own_prices),
            "credits": tuple(credit for credit in catalog.credits if credit.provider in providers),
            "services": tuple(row for row in catalog.services if row.provider in providers),
            "providers": {key: value for key, value in catalog.providers.items() if key in named},
            "nodes": nodes,
            "accelerators": {key: value for key, value in catalog.accelerators.items() if key in carried},
            "sites": sites,
            "presets": {} if preset is None else {preset.name: preset},
            "runs": runs,
            "probes": {key: probe for key, probe in catalog.probes.items() if probe.hardware.accelerator in carried},
        }
    )


def exchanged(old: Catalog, new: Catalog, causes: Collection[Cause]) -> Catalog:
    """Return the old catalog with some groups of inputs from the new one.

    What the new one does not know at all (an instance, a site, a run) stays as it was, so that the old plan can still
    be answered.
    """
    update: dict[str, object] = {}
    for field in (field for cause in causes for field in FIELDS.get(cause, ())):
        if field not in Catalog.model_fields:
            continue
        before, after = getattr(old, field), getattr(new, field)
        if field in ("prices", "own_prices"):
            update[field] = _exchanged_prices(before, after, new)
        elif isinstance(before, Mapping) and isinstance(after, Mapping) and field not in ("runs", "probes"):
            update[field] = {**before, **after}
        else:
            update[field] = after
    return old.model_copy(update=update)


def _exchanged_prices(before: tuple[Price, ...], after: tuple[Price, ...], new: Catalog) -> tuple[Price, ...]:
    known = {row.node for row in (*new.prices, *new.own_prices)}
    return (*after, *(row for row in before if row.node not in known))


def _of(nodes: Collection[str], prices: tuple[Price, ...]) -> tuple[Price, ...]:
    return tuple(row for row in prices if row.node in nodes)


def _without_raw(run: RunRecord) -> RunRecord:
    return run.model_copy(update=dict.fromkeys(RAW, ()))
