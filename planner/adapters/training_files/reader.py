"""Files of one training together: each is read by its format, and all that they state is joined."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from planner.adapters.documents import PLAN_LIMIT_BYTES, read_text
from planner.adapters.mapping_text import parse_mapping
from planner.adapters.trainer_logs.statements import Statements
from planner.adapters.trainer_logs.trainer_log import Facts
from planner.adapters.training_files import (
    accelerate,
    axolotl,
    deepspeed,
    hf_arguments,
    llama_factory,
    megatron,
    ms_swift,
    sbatch,
    skypilot,
    torchtitan,
    torchtune,
    verl,
)
from planner.adapters.training_files.commands import Command, command_of, launched
from planner.adapters.training_files.keys import Keys
from planner.adapters.training_files.spellings import offload_of_file_name, strategy_of_file_name
from planner.errors import InputError

FIX = "Name the file of a trainer: docs/workloads.md lists the formats."
MAPPINGS = (".yaml", ".yml", ".json", ".toml")
SCRIPTS = (".sh", ".sbatch", ".slurm", ".bash", ".args")
MOST_FILES = 20


class MappingFormat(NamedTuple):
    """A format whose files are mappings."""

    name: str
    reads: Callable[[Mapping[str, Any]], bool]
    facts: Callable[[Mapping[str, Any]], Facts]


FORMATS = tuple(
    MappingFormat(name, module.reads, module.facts)
    for name, module in (
        ("SkyPilot task", skypilot), ("verl", verl), ("torchtitan", torchtitan), ("torchtune", torchtune),
        ("axolotl", axolotl),
        ("accelerate", accelerate), ("DeepSpeed", deepspeed), ("ms-swift", ms_swift), ("LLaMA-Factory", llama_factory),
        ("HF Trainer", hf_arguments), ("Megatron-LM", megatron),
    )
)  # fmt: skip
"""The more telling before those whose keys others share."""


OF_LAUNCHERS = ("accelerate", "DeepSpeed", "SkyPilot task")
LAUNCHERS_OPTIONS = ("num_processes", "num_machines", "mixed_precision")
"""Options of a command that replace what the file of `accelerate config` says."""


class NamedFile(NamedTuple):
    """A file, and the arguments of the command that names it, which count before what it states."""

    path: Path
    arguments: Mapping[str, Any] = {}

    def changed(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what a file states with the command's arguments in place; a dot steps into a mapping."""
        found = format_of(data)
        if found is None or found.name in ("DeepSpeed", "SkyPilot task"):
            return data
        only = LAUNCHERS_OPTIONS if found.name in OF_LAUNCHERS else self.arguments
        changed: dict[str, Any] = dict(data)
        for name in (name for name in self.arguments if name in only):
            *folders, last = name.split(".")
            place = changed
            for folder in folders:
                inner = place.get(folder)
                place[folder] = dict(inner) if isinstance(inner, Mapping) else {}
                place = place[folder]
            place[last] = self.arguments[name]
        return changed

    def is_of_trainer(self) -> bool:
        """Whether it says how is trained, and not only on what."""
        if not self.path.is_file() or self.path.suffix.lower() not in MAPPINGS:
            return False
        found = format_of(_mapping(self.path))
        return found is not None and found.name not in OF_LAUNCHERS


def format_of(data: Mapping[str, Any]) -> MappingFormat | None:
    """Return the format of a mapping; None of one that is none of a training."""
    return next((one for one in FORMATS if one.reads(data)), None)


def is_training_file(path: Path) -> bool:
    """Whether a path may be a file, or the folder of files, of a training, by its name and its beginning."""
    if path.is_dir():
        return any(_may_be(one) for one in sorted(path.iterdir())[:200])
    return path.is_file() and _may_be(path)


def _may_be(path: Path) -> bool:
    suffix = path.suffix.lower()
    if not path.is_file() or suffix not in (*MAPPINGS, *SCRIPTS):
        return False
    if suffix in SCRIPTS:
        return True
    try:
        data = _mapping(path)
    except InputError:
        return False
    return format_of(data) is not None


def read_training(paths: list[Path]) -> Statements:
    """Return what files of one training state; InputError where two contradict each other, or none is known."""
    said = Statements()
    waiting = [NamedFile(one) for path in paths for one in (_of_folder(path) if path.is_dir() else [path])]
    # commands first: what they say of a file that they name counts before what it says
    waiting.sort(key=lambda one: one.path.suffix.lower() not in SCRIPTS)
    read: set[Path] = set()
    while waiting and len(read) < MOST_FILES:
        one = waiting.pop(0)
        if one.path.resolve() in read or not one.path.is_file():
            continue
        read.add(one.path.resolve())
        waiting = [*_add(said, one), *waiting]
    if not said.said:
        raise InputError(f"{paths[0]}: is no file of a training that is known.", fix=FIX)
    for wrong in said.contradictions():
        raise InputError(f"{paths[0]}: its files contradict each other on {wrong.text}.", fix="Correct one of them.")
    return said


def _of_folder(folder: Path) -> list[Path]:
    return [one for one in sorted(folder.iterdir()) if _may_be(one)][:MOST_FILES]


def _mapping(path: Path) -> Mapping[str, Any]:
    text = read_text(path, limit_bytes=PLAN_LIMIT_BYTES, fix=FIX)
    if path.suffix.lower() != ".toml":
        return parse_mapping(text, where=str(path), fix=FIX, foreign=True)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: is not TOML: {error}.", fix=FIX) from error


def _add(said: Statements, file: NamedFile) -> list[NamedFile]:
    """Add what a file states, and return the files beside it that it names."""
    path = file.path
    if path.suffix.lower() in SCRIPTS:
        text = read_text(path, limit_bytes=PLAN_LIMIT_BYTES, fix=FIX)
        asked = sbatch.facts(text) if sbatch.reads(text) else Facts()
        said.add(asked, path.name)
        return _add_command(said, command_of(text, sbatch.variables(asked)), path)
    data = file.changed(_mapping(path))
    found = format_of(data)
    if found is None:
        raise InputError(f"{path}: is no file of a training that is known.", fix=FIX)
    said.add(found.facts(data), path.name)
    if found.name == "SkyPilot task":
        return _add_command(said, command_of(str(data.get("run")), skypilot.variables(data)), path)
    named = Keys(data).text("deepspeed", "deepspeed_config.deepspeed_config_file")
    return [NamedFile(_beside(path, named))] if named else []


def _add_command(said: Statements, command: Command | None, path: Path) -> list[NamedFile]:
    """Add the arguments of a command; of files that it names and that are not here, what their names tell."""
    if command is None:
        return []
    facts = launched(command)
    if said.first("devices") is None:
        said.add(facts, path.name)
    said.add(Facts(objective=command.objective), path.name)
    files = [NamedFile(_beside(path, name), command.arguments) for name in command.files]
    found = ms_swift if command.is_of_swift else format_of(command.arguments)
    if found is not None and not any(one.is_of_trainer() for one in files):
        trained = found.facts(command.arguments)
        counted = facts.devices is not None  # by the launcher
        said.add(replace(trained, devices=None) if counted else trained, path.name)
    for missing in (one.path.name for one in files if not one.path.is_file()):
        if strategy := strategy_of_file_name(missing):
            of_name = Facts(strategy=strategy, offload=offload_of_file_name(missing))
            said.add(of_name, f"the name of {missing}")
    return files


def _beside(path: Path, name: str) -> Path:
    """Return a file that another names, from its own folder; one in a folder that is not here, beside it."""
    named = path.parent / name
    return named if named.is_file() else path.parent / Path(name).name
