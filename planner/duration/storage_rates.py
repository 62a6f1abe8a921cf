"""Read and write rates of a candidate's storage: the option's, the site's, the plan's, or a default."""

from __future__ import annotations

from dataclasses import dataclass

from planner.model.base import Id
from planner.model.catalog import Catalog
from planner.model.defaults import GoodputDefaults
from planner.model.hardware.storage import Scope, StorageRates
from planner.model.plan.plan import Plan
from planner.model.quantity import Quantity, Unit
from planner.quantity.conversion import interval, to_quantity
from planner.scenario.candidate import Candidate


@dataclass(frozen=True)
class Rates:
    """Total GB/s of all nodes that read or write."""

    name: str
    read: Quantity
    write: Quantity


def sample_storage(plan: Plan, candidate: Candidate, catalog: Catalog, defaults: GoodputDefaults) -> Rates:
    """Return the storage from which samples are read."""
    given = (*_of_machine(candidate), (plan.data.storage, "the plan: data.storage"))
    return _first(given, defaults.sample_storage, catalog, candidate, nodes=candidate.nodes)


def checkpoint_storage(
    plan: Plan, candidate: Candidate, catalog: Catalog, defaults: GoodputDefaults, *, writing_nodes: int
) -> Rates:
    """Return the storage for checkpoints: that of the samples, unless another one is stated."""
    given = (
        *_of_machine(candidate),
        (plan.data.checkpoint_storage, "the plan: data.checkpoint_storage"),
        (plan.data.storage, "the plan: data.storage"),
    )
    return _first(given, defaults.checkpoint_storage, catalog, candidate, nodes=writing_nodes)


Given = tuple[Id | StorageRates | None, str]


def _of_machine(candidate: Candidate) -> tuple[Given, Given]:
    site = candidate.site
    return (
        (candidate.option.storage, "the option: storage"),
        (site.storage if site else None, f"site {site.id}: storage" if site else ""),
    )


def _first(given: tuple[Given, ...], default: Id, catalog: Catalog, candidate: Candidate, *, nodes: int) -> Rates:
    storage, where = next(((value, where) for value, where in given if value is not None), (default, "default"))
    if isinstance(storage, StorageRates):
        read = storage.read_gb_per_s.quantity(Unit.GB_PER_S, where=f"{where}.read_gb_per_s")
        write = storage.write_gb_per_s.quantity(Unit.GB_PER_S, where=f"{where}.write_gb_per_s")
        name, scope = where, storage.scope
    else:
        kind = catalog.find_storage(storage, where=where)
        read, write, name, scope = kind.read, kind.write, kind.id, kind.scope
    times = {"accelerator": nodes * candidate.accelerators_per_node, "node": nodes, "training": 1}[scope]
    return Rates(name, _of_all(read, times, scope), _of_all(write, times, scope))


def _of_all(rate: Quantity, times: int, scope: Scope) -> Quantity:
    if times == 1:
        return rate
    whole = interval(rate, Unit.GB_PER_S).scaled(times)
    source = f"{times} {scope}s x {rate.value:g} GB/s; {rate.source}"
    return to_quantity(whole, Unit.GB_PER_S, rate.basis, source, rate.as_of)
