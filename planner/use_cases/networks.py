"""Finds the network that a word on the command line means: a name, a configuration file, an architecture or a plan.

A file may be a Hugging Face config.json, an architecture, or a whole workload of the planner.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from planner.adapters.documents import PLAN_LIMIT_BYTES, parse_model, read_text
from planner.adapters.mapping_text import Json, parse_mapping
from planner.adapters.model_config.reader import architecture_of, is_model_config, text_part_of
from planner.adapters.user_text import name_without_secrets, without_secrets
from planner.errors import InputError, NotModelledError
from planner.model.catalog import Catalog
from planner.model.network.adapters import AdapterKind, Adapters
from planner.model.network.architecture import ARCHITECTURE_CLASSES, is_same_network, usual_seq_len
from planner.model.network.text_part import TextPart
from planner.model.network.work import WorkloadChoice
from planner.model.network.workload import (
    QUICK_WINDOW,
    STANDARD_WINDOW,
    ArchitectureFile,
    BenchWorkload,
    Precision,
    Preset,
)
from planner.model.plan.plan import Plan
from planner.scenario.job import checked_adapters, known_framework, resolve_job
from planner.use_cases.plans import parse_plan
from planner.use_cases.training_files import read_stated_training, training_paths

NAMES_FIX = "Name a network (docs/cli.md lists them), a model's config.json or an architecture file (mine.yaml)."
LONGEST_OWN_NAME = 60
"""Most characters in the name of an own workload, which is part of a record's id."""


def find_architecture(workload: str, catalog: Catalog) -> ArchitectureFile:
    """Return a network by name, or from a file: a configuration, an architecture, a workload or a plan."""
    network = _find_workload(workload, catalog)
    return _of_preset(network) if isinstance(network, BenchWorkload) else network


def is_name(workload: str, catalog: Catalog) -> bool:
    """Return True if a word means a network's name, known or not, and not a file."""
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
            f"{workload}: the benchmark has decoders, resnets and vision transformers, and this is an encoder.",
            fix="Measure a decoder of its sizes (kind: decoder); estimates and memory know encoders.",
        )
    if isinstance(network, ArchitectureFile) and network.objective.method is not None:
        raise InputError(
            f"{workload}: the benchmark trains on the next token, and this is {network.objective.method.value}.",
            fix="Measure its network: planner bench with the network's name; a log of your trainer measures the rest.",
        )
    adapters = None if isinstance(network, BenchWorkload) else network.adapters
    if adapters is not None and adapters.kind is not AdapterKind.LORA:
        raise InputError(
            f"{workload}: the benchmark trains LoRA's adapters alone, and these are {adapters.kind.value}.",
            fix="Write kind: lora to measure; `planner estimate` tells the kinds apart.",
        )
    if adapters is not None and not lora:
        raise InputError(
            f"{workload}: adapters alone are trained there, and all weights would be here.",
            fix=f"Add --method lora --lora-rank {adapters.rank} --lora-targets {','.join(adapters.targets)}.",
        )
    whole = network if isinstance(network, BenchWorkload) else _own_workload(network, Path(workload), catalog)
    if seq_len is not None:
        whole = whole.model_copy(update={"seq_len": seq_len})
    return whole if layers is None else whole.cut(layers=layers)


def trained_alone(
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
        return _of_plan(with_config(parse_plan(text, where=workload), folder=path.parent), catalog, where=workload)
    return network_of(data, path, text=text)


def _own_workload(network: ArchitectureFile, path: Path, catalog: Catalog) -> BenchWorkload:
    """Return a workload named after the network's file. Raises InputError if a different preset has this name."""
    given = network.name or name_without_secrets(path.stem)
    name = re.sub(r"[^A-Za-z0-9._]+", "-", given).strip("-._")[:LONGEST_OWN_NAME]
    if not name:
        raise InputError(f"{path}: name: '{given}' has no letter or digit of ASCII.", fix="Write name: my-model.")
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


def _of_preset(preset: BenchWorkload) -> ArchitectureFile:
    return ArchitectureFile(
        name=preset.name,
        architecture=preset.architecture,
        seq_len=preset.seq_len,
        micro_batch=preset.micro_batch,
        precision=preset.precision,
    )


def _of_plan(plan: Plan, catalog: Catalog, *, where: str) -> ArchitectureFile:
    job = resolve_job(plan, catalog)
    if job.setup.network is None or (job.setup.seq_len is None and job.setup.sample == "tokens"):
        raise InputError(
            f"{where}: the network of its measured run is not known, so its memory cannot be counted.",
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


ARCHITECTURE_FIX = (
    "Give a model's config.json, or write architecture (layers, hidden, heads, ...) and seq_len, as in "
    "catalogs/workloads/*.yaml."
)
ARCHITECTURE_KEYS = {key for kind in ARCHITECTURE_CLASSES for key in kind.model_fields}
SAID_OF_PRESETS = set(Preset.model_fields) - set(BenchWorkload.model_fields)
"""Keys of a bundled workload that describe its source."""
OPTIONAL = {name for name, field in Preset.model_fields.items() if not field.is_required()}
OF_THE_BENCHMARK = set(BenchWorkload.model_fields) - set(ArchitectureFile.model_fields)
ENDINGS = (".yaml", ".yml", ".json")


def is_network_file(name: str) -> bool:
    """Return True if a word names a file or the folder of a model, not a network."""
    path = Path(name)
    return path.suffix.lower() in ENDINGS or (path / CONFIG).is_file()


def network_of(data: Json, path: Path, *, text: str) -> BenchWorkload | ArchitectureFile:
    """Return the workload of a file with a measuring window, else its network."""
    where = str(path)
    if is_model_config(data):
        part = text_part_of(data)
        architecture = architecture_of(data if part is None else part.data, where=where)
        name = name_without_secrets(path.absolute().parent.name if path.name == CONFIG else path.stem) or "config"
        length = usual_seq_len(architecture)
        if part is None:
            return ArchitectureFile(name=name, architecture=architecture, seq_len=length)
        named = f"{name} without its {part.beside} part"
        return TextPart(name=named, architecture=architecture, seq_len=length, beside=part.beside)
    if "window" in data:
        if Preset.model_fields.keys() >= data.keys() >= SAID_OF_PRESETS - OPTIONAL:
            return parse_model(Preset, data, where=where, text=text, fix=ARCHITECTURE_FIX)
        workload = {key: value for key, value in data.items() if key not in SAID_OF_PRESETS}
        return parse_model(BenchWorkload, workload, where=where, text=text, fix=ARCHITECTURE_FIX)
    if "architecture" not in data:  # the architecture's keys may be at the top level
        own = {key: value for key, value in data.items() if key in ARCHITECTURE_KEYS}
        data = {key: value for key, value in data.items() if key not in own} | {"architecture": own}
    kept = {key: value for key, value in data.items() if key not in SAID_OF_PRESETS | OF_THE_BENCHMARK}
    if "schema_version" in data:
        kept["schema_version"] = data["schema_version"]
    return parse_model(ArchitectureFile, kept, where=where, text=text, fix=ARCHITECTURE_FIX)


def whole_network(network: BenchWorkload | ArchitectureFile, *, where: str, fix: str) -> None:
    """Refuse the text part of a combined network, because the answer would not show that other parts are missing."""
    if isinstance(network, TextPart):
        raise NotModelledError(f"{where}: its {network.beside} part is not modelled.", fix=fix)


def with_config(plan: Plan, *, folder: Path) -> Plan:
    """Add the network that `workload.config` names, relative to `folder`, to a plan. Other plans stay as they are."""
    choice = plan.workload
    if choice.config is None or choice.architecture is not None:
        return plan
    path = network_file(Path(os.path.normpath(folder / choice.config)))
    data, text = read_network_file(path, fix=ARCHITECTURE_FIX)
    if "options" in data:
        raise InputError(f"{path}: is a plan, not a network.", fix=ARCHITECTURE_FIX)
    network = network_of(data, path, text=text)
    whole_network(
        network, where=str(path), fix="Its text part alone can be planned: planner ask FILE --write plan.yaml"
    )
    if choice.seq_len is not None and network.architecture.sample == "image":
        raise InputError(f"workload.seq_len: a sample of {choice.config} is an image.", fix="Leave seq_len out.")
    read = WorkloadChoice(
        config=choice.config, architecture=network.architecture, seq_len=choice.seq_len or network.seq_len
    )
    return plan.model_copy(update={"workload": read})


CONFIG = "config.json"
PAGE_FIX = "Download the file itself: on a model's page the address with /resolve/ in place of /blob/."


def network_file(path: Path) -> Path:
    """Return the file itself, or the config.json of a model's folder."""
    return path / CONFIG if (path / CONFIG).is_file() else path


def read_network_file(path: Path, *, fix: str) -> tuple[Json, str]:
    """Return the mapping in a file, and its text. Refuses a pipe, a web page or too large a file."""
    text = read_text(path, limit_bytes=PLAN_LIMIT_BYTES, fix=fix)
    begins = text.lstrip()[:200].casefold()
    if begins.startswith("<"):
        raise InputError(f"{path}: is a web page, not a description of a network.", fix=PAGE_FIX)
    if begins.startswith("version https://git-lfs"):
        raise InputError(f"{path}: is a pointer of Git LFS, not the file.", fix="Fetch it with: git lfs pull")
    data = parse_mapping(text, where=str(path), fix=fix, foreign=True)
    return without_secrets(data, text=text, where=str(path)), text
