"""Reads a network from a file: a Hugging Face config.json, an architecture, or a whole workload of the planner."""

from __future__ import annotations

import os
from pathlib import Path

from planner.adapters.documents import PLAN_LIMIT_BYTES, parse_model, read_text
from planner.adapters.mapping_text import Json, parse_mapping
from planner.adapters.model_config.reader import architecture_of, is_model_config, text_part_of
from planner.adapters.user_text import name_without_secrets, without_secrets
from planner.errors import InputError, NotModelledError
from planner.model.network.architecture import ARCHITECTURE_CLASSES, usual_seq_len
from planner.model.network.work import WorkloadChoice
from planner.model.network.workload import ArchitectureFile, BenchWorkload, Preset, TextPart
from planner.model.plan.plan import Plan

CONFIG = "config.json"
PAGE_FIX = "Download the file itself: on a model's page the address with /resolve/ in place of /blob/."


def network_file(path: Path) -> Path:
    """Return the file itself, or the config.json of a model's folder."""
    return path / CONFIG if (path / CONFIG).is_file() else path


LFS_POINTER = "version https://git-lfs"
"""Beginning of the file that Git LFS leaves in place of a large one."""


def read_network_file(path: Path, *, fix: str) -> tuple[Json, str]:
    """Return the mapping in a file, and its text. Refuses a pipe, a web page or too large a file."""
    text = read_text(path, limit_bytes=PLAN_LIMIT_BYTES, fix=fix)
    begins = text.lstrip()[:200].casefold()
    if begins.startswith("<"):
        raise InputError(f"{path}: is a web page, not a description of a network.", fix=PAGE_FIX)
    if begins.startswith(LFS_POINTER):
        raise InputError(f"{path}: is a pointer of Git LFS, not the file.", fix="Fetch it with: git lfs pull")
    data = parse_mapping(text, where=str(path), fix=fix, foreign=True)
    return without_secrets(data, text=text, where=str(path)), text


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
        named = f"{name} without its {part.left_out} part"
        return TextPart(name=named, architecture=architecture, seq_len=length, left_out=part.left_out)
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
        raise NotModelledError(f"{where}: its {network.left_out} part is not modelled.", fix=fix)


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
