"""Reads the files of one training together: each by its format, with all statements joined."""

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
from planner.adapters.training_files import hf_trainers, launchers, own_loop_trainers
from planner.adapters.training_files.commands import Command, command_of, launched
from planner.adapters.training_files.keys import Keys, offload_of_file_name, put, strategy_of_file_name
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


FORMATS = (
    MappingFormat("SkyPilot task", launchers.is_skypilot, launchers.skypilot_facts),
    MappingFormat("verl", own_loop_trainers.is_verl, own_loop_trainers.verl_facts),
    MappingFormat("torchtitan", own_loop_trainers.is_torchtitan, own_loop_trainers.torchtitan_facts),
    MappingFormat("torchtune", own_loop_trainers.is_torchtune, own_loop_trainers.torchtune_facts),
    MappingFormat("axolotl", hf_trainers.is_axolotl, hf_trainers.axolotl_facts),
    MappingFormat("accelerate", launchers.is_accelerate, launchers.accelerate_facts),
    MappingFormat("DeepSpeed", launchers.is_deepspeed, launchers.deepspeed_facts),
    MappingFormat("ms-swift", hf_trainers.is_ms_swift, hf_trainers.ms_swift_facts),
    MappingFormat("LLaMA-Factory", hf_trainers.is_llama_factory, hf_trainers.llama_factory_facts),
    MappingFormat("HF Trainer", hf_trainers.is_hf_trainer, hf_trainers.hf_trainer_facts),
    MappingFormat("Megatron-LM", own_loop_trainers.is_megatron, own_loop_trainers.megatron_facts),
)
"""Formats in order: specific ones before those whose keys others share."""


OF_LAUNCHERS = ("accelerate", "DeepSpeed", "SkyPilot task")
LAUNCHERS_OPTIONS = ("num_processes", "num_machines", "mixed_precision")
"""Options of a command that replace the values in the file of `accelerate config`."""


class NamedFile(NamedTuple):
    """A file, and the arguments of the command that names it, which override the file."""

    path: Path
    arguments: Mapping[str, Any] = {}

    def changed(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a file's mapping with the command's arguments applied. A dot steps into a nested mapping."""
        found = format_of(data)
        if found is None or found.name in ("DeepSpeed", "SkyPilot task"):
            return data
        only = LAUNCHERS_OPTIONS if found.name in OF_LAUNCHERS else self.arguments
        changed: dict[str, Any] = dict(data)
        for name in (name for name in self.arguments if name in only):
            put(changed, name, self.arguments[name])
        return changed

    def is_of_trainer(self) -> bool:
        """Return whether the file describes how to train, not only the hardware."""
        if not self.path.is_file() or self.path.suffix.lower() not in MAPPINGS:
            return False
        found = format_of(_mapping(self.path))
        return found is not None and found.name not in OF_LAUNCHERS


def format_of(data: Mapping[str, Any]) -> MappingFormat | None:
    """Return the format of a mapping; None if it does not describe a training."""
    return next((known_format for known_format in FORMATS if known_format.reads(data)), None)


def is_training_file(path: Path) -> bool:
    """Return whether a path may be a training's file or folder, judged by its name and its beginning."""
    if path.is_dir():
        return any(_may_be(child) for child in sorted(path.iterdir())[:200])
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
    """Return the statements of one training's files. InputError if two contradict each other, or none is known."""
    said = Statements()
    waiting = [
        NamedFile(file_path) for path in paths for file_path in (_files_of_folder(path) if path.is_dir() else [path])
    ]
    # commands first: they override the files that they name
    waiting.sort(key=lambda file: file.path.suffix.lower() not in SCRIPTS)
    read: set[Path] = set()
    while waiting and len(read) < MOST_FILES:
        file = waiting.pop(0)
        if file.path.resolve() in read or not file.path.is_file():
            continue
        read.add(file.path.resolve())
        waiting = [*_add(said, file), *waiting]
    if not said.said:
        raise InputError(f"{paths[0]}: is not a training file of a known kind.", fix=FIX)
    for wrong in said.contradictions():
        raise InputError(f"{paths[0]}: its files contradict each other on {wrong.text}.", fix="Correct one of them.")
    return said


def _files_of_folder(folder: Path) -> list[Path]:
    return [child for child in sorted(folder.iterdir()) if _may_be(child)][:MOST_FILES]


def _mapping(path: Path) -> Mapping[str, Any]:
    text = read_text(path, limit_bytes=PLAN_LIMIT_BYTES, fix=FIX)
    if path.suffix.lower() != ".toml":
        return parse_mapping(text, where=str(path), fix=FIX, foreign=True)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: is not TOML: {error}.", fix=FIX) from error


def _add(said: Statements, file: NamedFile) -> list[NamedFile]:
    """Add the statements of a file, and return the files beside it that it names."""
    path = file.path
    if path.suffix.lower() in SCRIPTS:
        text = read_text(path, limit_bytes=PLAN_LIMIT_BYTES, fix=FIX)
        asked = launchers.sbatch_facts(text) if launchers.is_sbatch(text) else Facts()
        said.add(asked, path.name)
        return _add_command(said, command_of(text, launchers.sbatch_variables(asked)), path)
    data = file.changed(_mapping(path))
    found = format_of(data)
    if found is None:
        raise InputError(f"{path}: is not a training file of a known kind.", fix=FIX)
    said.add(found.facts(data), path.name)
    if found.name == "SkyPilot task":
        return _add_command(said, command_of(str(data.get("run")), launchers.skypilot_variables(data)), path)
    named = Keys(data).text("deepspeed", "deepspeed_config.deepspeed_config_file")
    return [NamedFile(_named_path(path, named))] if named else []


def _add_command(said: Statements, command: Command | None, path: Path) -> list[NamedFile]:
    """Add the arguments of a command. For files that it names and that are missing, add what their names tell."""
    if command is None:
        return []
    facts = launched(command)
    if said.first("devices") is None:
        said.add(facts, path.name)
    said.add(Facts(objective=command.objective), path.name)
    files = [NamedFile(_named_path(path, name), command.arguments) for name in command.files]
    found = format_of(command.arguments)
    read = hf_trainers.ms_swift_facts if command.is_of_swift else found and found.facts
    if read is not None and not any(file.is_of_trainer() for file in files):
        trained = read(command.arguments)
        counted = facts.devices is not None  # by the launcher
        said.add(replace(trained, devices=None) if counted else trained, path.name)
    for missing in (file.path.name for file in files if not file.path.is_file()):
        if strategy := strategy_of_file_name(missing):
            of_name = Facts(strategy=strategy, offload=offload_of_file_name(missing))
            said.add(of_name, f"the name of {missing}")
    return files


def _named_path(path: Path, name: str) -> Path:
    """Return the path of a file that another file names, relative to that. If its folder is missing, look beside it."""
    named = path.parent / name
    return named if named.is_file() else path.parent / Path(name).name
