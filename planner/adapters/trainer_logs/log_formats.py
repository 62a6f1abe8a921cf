"""Known formats of trainers' logs: those of the planner, then those of installed packages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import entry_points

from planner.adapters.trainer_logs import (
    composer,
    csv_columns,
    deepspeed,
    fairseq,
    hf_trainer,
    json_lines,
    lightning_console,
    litgpt,
    loops,
    megatron,
    parquet,
    progress_bar_alone,
    torchtitan,
    torchtune,
    verl,
)
from planner.adapters.trainer_logs.config_keys import facts_of_config
from planner.adapters.trainer_logs.joined_logs import joined
from planner.adapters.trainer_logs.log_source import LogSource
from planner.adapters.trainer_logs.refusals import refuse
from planner.adapters.trainer_logs.trackers import mlflow_export, wandb_summary
from planner.adapters.trainer_logs.trainer_log import Facts, TrainerLog, merged
from planner.errors import InputError

NETWORK, MACHINE = "config.json", "wandb-metadata.json"
ENTRY_POINTS = "training_planner.log_formats"
"""Entry-point group in which a package lists its formats. Each entry point is a `LogFormat`."""


@dataclass(frozen=True)
class LogFormat:
    """A format: its name, and the reader of all its logs in a source, which returns an empty list if there are none.

    `read` raises InputError if a file is surely of this format and cannot be read.
    """

    name: str
    read: Callable[[LogSource], list[TrainerLog]]


OWN_FORMATS = (
    LogFormat("hf-trainer", hf_trainer.read),
    LogFormat("verl", verl.read),
    LogFormat("torchtitan", torchtitan.read),
    LogFormat("torchtune", torchtune.read),
    LogFormat("megatron", megatron.read),
    LogFormat("composer", composer.read),
    LogFormat("litgpt", litgpt.read),
    LogFormat("fairseq", fairseq.read),
    LogFormat("lightning", lightning_console.read),
    LogFormat("loops", loops.read),
    LogFormat("deepspeed", deepspeed.read),
    LogFormat("mlflow", mlflow_export.read),
    LogFormat("json-lines", json_lines.read),
    LogFormat("parquet", parquet.read),
    LogFormat("csv", csv_columns.read),
    LogFormat("wandb", wandb_summary.read),
    LogFormat("progress-bar", progress_bar_alone.read),
)
"""Formats in order: specific ones before those that fit nearly anything.

The first that finds a log in a file gets it.
"""


def read_logs(source: LogSource) -> list[TrainerLog]:
    """Return the trainings in a file or folder. InputError if there are none."""
    logs: list[TrainerLog] = []
    taken: set[str] = set()
    for log_format in (*OWN_FORMATS, *_plugged_in()):
        rest = replace(source, names=tuple(name for name in source.names if name not in taken))
        if not rest.names:
            break
        found = log_format.read(rest)
        logs += found
        taken.update(name for log in found for name in log.files)
    if not logs:
        raise refuse(source)
    return [_with_files_beside(log, source) for log in joined(logs)]


def _with_files_beside(log: TrainerLog, source: LogSource) -> TrainerLog:
    """Add the network and the machine from files of fixed names in the log's folder, if the log lacks them."""
    facts = log.facts
    for name in source.beside(log.files[0], MACHINE):
        found = facts_of_config(source.json(name))
        facts = merged(facts, Facts(accelerator=found.accelerator, devices=found.devices))
    for name in source.beside(log.files[0], NETWORK):
        if facts.config is None and '"model_type"' in source.text(name):
            facts = replace(facts, config=name)
    return replace(log, facts=facts)


@cache
def _plugged_in() -> tuple[LogFormat, ...]:
    formats = []
    for point in entry_points(group=ENTRY_POINTS):
        try:
            loaded = point.load()
        except Exception as error:
            raise InputError(
                f"the log format '{point.name}' cannot be loaded: {type(error).__name__}: {error}.",
                fix="Mend or uninstall the package that brings it.",
            ) from error
        formats.append(_checked(loaded, point.name))
    return tuple(formats)


def _checked(loaded: object, name: str) -> LogFormat:
    if not isinstance(loaded, LogFormat):
        raise InputError(f"the log format '{name}' is no LogFormat.", fix="See docs/importing-runs.md")
    return loaded
