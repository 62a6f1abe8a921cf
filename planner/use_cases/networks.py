"""Finds a network by a word of the command line: a name, or the path of a configuration, an architecture or a plan."""

from __future__ import annotations

import re
from pathlib import Path

from planner.adapters.user_text import name_without_secrets
from planner.errors import InputError
from planner.model.catalog import Catalog
from planner.model.network.adapters import AdapterKind, Adapters
from planner.model.network.architecture import is_same_network
from planner.model.network.workload import QUICK_WINDOW, STANDARD_WINDOW, ArchitectureFile, BenchWorkload, Precision
from planner.model.plan.plan import Plan
from planner.scenario.job import checked_adapters, known_framework, resolve_job
from planner.use_cases.network_files import (
    ARCHITECTURE_FIX,
    is_network_file,
    network_file,
    network_of,
    read_network_file,
    with_config,
)
from planner.use_cases.plans import parse_plan
from planner.use_cases.training_files import read_stated_training, training_paths

NAMES_FIX = "Name a network (docs/cli.md lists them), a model's config.json or an architecture file (mine.yaml)."
LONGEST_NAME = 60
"""Largest number of characters in the name of a user's workload. The name is part of a record's id."""


def find_architecture(workload: str, catalog: Catalog) -> ArchitectureFile:
    """Return a network by name, or from a file: a configuration, an architecture, a workload or a plan."""
    network = _find_workload(workload, catalog)
    return _preset_architecture(network) if isinstance(network, BenchWorkload) else network


def is_name(workload: str, catalog: Catalog) -> bool:
    """Return whether a word is the name of a network, known or not, and not a file's path."""
    return workload in catalog.presets or not (is_network_file(workload) or training_paths(workload))


def bench_workload(
    workload: str, catalog: Catalog, *, lora: bool, layers: int | None = None, seq_len: int | None = None
) -> BenchWorkload:
    """Return a workload for the benchmark: a preset by name or a file's network, cut to `layers` if given.

    Raises InputError for a network or method that the benchmark does not have, and for a file with adapters if `lora`
    is False.
    """
    network = _find_workload(workload, catalog)
    if not network.architecture.has_benchmark:
        raise InputError(
            f"{workload}: this is an encoder; the benchmark has only decoders, resnets and vision transformers.",
            fix="Measure a decoder of its sizes (kind: decoder). `planner estimate` and `memory` take encoders.",
        )
    if isinstance(network, ArchitectureFile) and network.objective.method is not None:
        raise InputError(
            f"{workload}: this is {network.objective.method.value} training; the benchmark trains on the next token.",
            fix="Benchmark its network by name; to measure the whole training, import a log of your trainer.",
        )
    adapters = None if isinstance(network, BenchWorkload) else network.adapters
    if adapters is not None and adapters.kind is not AdapterKind.LORA:
        raise InputError(
            f"{workload}: its adapters are {adapters.kind.value}; the benchmark has only LoRA.",
            fix="Write kind: lora to measure; `planner estimate` knows the difference between the kinds.",
        )
    if adapters is not None and not lora:
        raise InputError(
            f"{workload}: the file trains only adapters, but this benchmark would train all weights.",
            fix=f"Add --method lora --lora-rank {adapters.rank} --lora-targets {','.join(adapters.targets)}.",
        )
    benchmark = network if isinstance(network, BenchWorkload) else _workload_of_file(network, Path(workload), catalog)
    if seq_len is not None:
        benchmark = benchmark.model_copy(update={"seq_len": seq_len})
    return benchmark if layers is None else benchmark.cut(layers=layers)


def checked_adapters_of(
    adapters: Adapters | None, network: ArchitectureFile, catalog: Catalog, *, precision: Precision, where: str
) -> Adapters | None:
    """Return adapters with the format of their frozen weights. Raises InputError for impossible adapters."""
    known_framework(network.framework, network.architecture, catalog, where=where)
    return checked_adapters(adapters, network.architecture, precision=precision, where=where)


def _find_workload(workload: str, catalog: Catalog) -> BenchWorkload | ArchitectureFile:
    if paths := training_paths(workload):
        return read_stated_training(paths, catalog)
    if is_name(workload, catalog):
        return catalog.find_preset(workload, fix=NAMES_FIX)
    path = network_file(Path(workload))
    data, text = read_network_file(path, fix=ARCHITECTURE_FIX)
    if "options" in data:
        plan = with_config(parse_plan(text, where=workload), folder=path.parent)
        return _plan_architecture(plan, catalog, where=workload)
    return network_of(data, path, text=text)


def _workload_of_file(network: ArchitectureFile, path: Path, catalog: Catalog) -> BenchWorkload:
    """Return a workload named after the network's file. Raises InputError if a different preset has this name."""
    stated_name = network.name or name_without_secrets(path.stem)
    name = re.sub(r"[^A-Za-z0-9._]+", "-", stated_name).strip("-._")[:LONGEST_NAME]
    if not name:
        raise InputError(f"{path}: name: '{stated_name}' has no ASCII letter or digit.", fix="Write name: my-model.")
    preset = catalog.presets.get(name)
    if preset is not None and not is_same_network(preset.architecture, network.architecture):
        raise InputError(
            f"{path}: name: '{name}' is a preset with another architecture.", fix="Give the network another name."
        )
    return BenchWorkload(
        name=name,
        architecture=network.architecture,
        seq_len=network.seq_len,
        micro_batch=network.micro_batch,
        precision=network.precision,
        window=preset.window if preset else STANDARD_WINDOW,
        quick_window=preset.quick_window if preset else QUICK_WINDOW,
    )


def _preset_architecture(preset: BenchWorkload) -> ArchitectureFile:
    return ArchitectureFile(
        name=preset.name,
        architecture=preset.architecture,
        seq_len=preset.seq_len,
        micro_batch=preset.micro_batch,
        precision=preset.precision,
    )


def _plan_architecture(plan: Plan, catalog: Catalog, *, where: str) -> ArchitectureFile:
    job = resolve_job(plan, catalog)
    if job.setup.network is None or (job.setup.seq_len is None and job.setup.sample == "tokens"):
        raise InputError(
            f"{where}: the network of the plan's measured run is not known, so its memory cannot be computed.",
            fix=ARCHITECTURE_FIX,
        )
    return ArchitectureFile(
        name=plan.name,
        architecture=job.setup.network,
        seq_len=job.setup.seq_len,
        micro_batch=job.setup.micro_batch or 1,
        precision=job.setup.precision or Precision.BF16,
        adapters=plan.training.adapters,
        objective=job.setup.objective,
        framework=job.setup.framework,
        **job.setup.settings.stated,
    )
