"""Answers `planner find`, for a plan file or for a workload alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from planner.adapters.documents import parse_model
from planner.adapters.files import write_text
from planner.adapters.stored_prices.price_filter import NOTHING
from planner.adapters.yaml_scalars import CoreDumper
from planner.errors import InputError
from planner.model.answer.documents import ComparisonDocument
from planner.model.catalog import Catalog
from planner.model.network.adapters import Adapters
from planner.model.network.training_method import NEXT_TOKEN, MethodSettings
from planner.model.network.workload import ArchitectureFile, StatedTraining
from planner.model.plan.find_filters import FindFilters
from planner.model.plan.plan import Plan, Training
from planner.use_cases import catalogs, plans
from planner.use_cases.asking.stated_files import training_of
from planner.use_cases.network_files import read_network_file, with_config
from planner.use_cases.networks import find_architecture, is_name
from planner.use_cases.plans import DatedPlan, dated, parse_plan
from planner.use_cases.suggestions import with_suggestions

PLAN_ENDINGS = (".yaml", ".yml", ".json")
TOKENS, IMAGES = 1e9, 1_281_167
"""Work of a training if none is stated: a billion tokens, or ImageNet once. Hours and dollars scale with it."""


@dataclass(frozen=True)
class FoundMachines:
    """The plan with the best dozen of all machines, and its answer."""

    plan: Plan
    document: ComparisonDocument
    of_file: bool
    """True if the question is a plan file, which other commands can read too."""
    answered: DatedPlan
    """The plan as it was answered."""


def find_machines(
    workload: str, filters: FindFilters, *, tokens: float | None, seq_len: int | None, training: Training,
    adapters: Callable[[ArchitectureFile], Adapters | None] | None, home: str | None, now: datetime,
    objective: MethodSettings = NEXT_TOKEN,
) -> FoundMachines:  # fmt: skip
    """Compare the best dozen of all offers and own machines for a workload, or for the work of a plan file.

    Without `adapters`, those of the workload's file count.
    """
    catalog = catalogs.audited(catalogs.open_catalog(home, wanted=NOTHING))
    plan = read_plan_of(workload)
    of_file = plan is not None
    if plan is None:
        plan = plan_of(
            workload, catalog, filters, tokens=tokens, seq_len=seq_len, training=training,
            adapters=adapters or (lambda network: network.adapters), objective=objective,
        )  # fmt: skip
    elif tokens is not None or seq_len is not None or training != Training() or adapters is not None:
        raise InputError(f"{workload} is a plan: it says what is trained and how.", fix="Change it there.")
    else:
        plan = among_all(plan, filters)
    catalog = catalogs.with_found_prices(plan, catalog, home)
    asked, today, assumed = dated(plan, now=now)
    listed, paced = plans.find_options(asked, catalog, today=today)
    estimated = plans.estimates_of(listed, catalog, today=today, paced=paced)
    document = plans.compare(listed, catalog, today=today, estimated=estimated)
    document = with_suggestions(document, asked, catalog, today=today)
    written = listed.model_copy(update={"campaign": plan.campaign})
    return FoundMachines(written, document, of_file, DatedPlan(listed, today, assumed))


def read_plan_of(name: str) -> Plan | None:
    """Return the plan that a path names; None for a workload."""
    path = Path(name)
    if path.suffix.lower() not in PLAN_ENDINGS or not path.is_file():
        return None
    data, text = read_network_file(path, fix="Name a plan or a workload.")
    return with_config(parse_plan(text, where=name), folder=path.parent) if "work" in data else None


def among_all(plan: Plan, filters: FindFilters) -> Plan:
    """Return the plan with all offers instead of its options. Its own filters and `filters` both count."""
    kept = {} if plan.find is None else plan.find.model_dump(exclude_defaults=True)
    return plan.model_copy(
        update={"options": (), "find": FindFilters(**(kept | filters.model_dump(exclude_defaults=True)))}
    )


def write_plan(plan: Plan, path: Path) -> None:
    """Write a plan as YAML. Raises InputError if the file exists."""
    if path.exists():
        raise InputError(f"{path} exists already.", fix="Name another file.")
    write_text(path, plan_text(plan))


def plan_text(plan: Plan) -> str:
    """Return a plan as YAML."""
    import yaml

    content = plan.model_dump(mode="json", exclude_defaults=True)
    return yaml.dump(content, Dumper=CoreDumper, sort_keys=False, allow_unicode=True)


def plan_of(
    workload: str,
    catalog: Catalog,
    filters: FindFilters,
    *,
    tokens: float | None,
    seq_len: int | None,
    training: Training,
    adapters: Callable[[ArchitectureFile], Adapters | None],
    objective: MethodSettings = NEXT_TOKEN,
) -> Plan:
    """Return a plan that trains a workload once on a number of tokens, or once on all images of ImageNet."""
    network = find_architecture(workload, catalog)
    images = network.architecture.sample == "image"
    if images and tokens is not None:
        raise InputError(f"--tokens: a sample of {workload} is an image.", fix="Leave it out, or write a plan.")
    if isinstance(network, StatedTraining):
        training = training_of(network, training, frozenset(filters.gpus or ()), where="planner find")
    amount = TOKENS if tokens is None else tokens
    work = {"samples": IMAGES} if images else {"tokens": amount}
    own = {"architecture": network.architecture, "seq_len": None if images else seq_len or network.seq_len}
    data = {
        "schema_version": 1,
        "name": f"{network.name or workload}, {'ImageNet once' if images else f'{amount / 1e6:,g} million tokens'}",
        "workload": {"ref": workload, "seq_len": seq_len} if is_name(workload, catalog) else own,
        "work": work,
        "training": training.model_dump(exclude_defaults=True)
        | (objective if objective.method else network.objective).model_dump(exclude_defaults=True)
        | {"precision": training.precision or network.precision, "adapters": adapters(network)},
        "options": [],
        "find": filters,
    }
    return parse_model(Plan, data, where="planner find", fix="See: planner find --help")
