"""Known formats of trainers' logs: those of the planner, then those of installed packages.

Joins the files of one training, and explains why a file that may be a log was not read.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import entry_points

from planner.adapters.trainer_logs import csv_columns, hf_trainer, json_lines
from planner.adapters.trainer_logs.cluster_trainers import deepspeed_log, megatron_log, verl_log
from planner.adapters.trainer_logs.config_keys import facts_of_config
from planner.adapters.trainer_logs.json_lines import LLAMA_FACTORY, rows_of, trains
from planner.adapters.trainer_logs.lightning import lightning_log, read_litgpt
from planner.adapters.trainer_logs.log_source import FIX, LONGEST_LINE, LogSource, base
from planner.adapters.trainer_logs.loops import loop_log
from planner.adapters.trainer_logs.pytorch_libraries import composer_log, fairseq_log, torchtitan_log, torchtune_log
from planner.adapters.trainer_logs.statements import Statements
from planner.adapters.trainer_logs.trackers import read_mlflow, read_parquet, read_wandb_summary
from planner.adapters.trainer_logs.trainer_log import Facts, Total, TrainerLog, merged
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


def _console_format(name: str, read: Callable[[LogSource, str], TrainerLog | None]) -> LogFormat:
    """Return a format of console output. `read` returns the training in one file, or None."""
    return LogFormat(name, lambda source: source.each_console(read))


OWN_FORMATS = (
    LogFormat("hf-trainer", hf_trainer.read),
    _console_format("verl", verl_log),
    _console_format("torchtitan", torchtitan_log),
    _console_format("torchtune", torchtune_log),
    _console_format("megatron", megatron_log),
    _console_format("composer", composer_log),
    LogFormat("litgpt", read_litgpt),
    _console_format("fairseq", fairseq_log),
    _console_format("lightning", lightning_log),
    _console_format("loops", loop_log),
    _console_format("deepspeed", deepspeed_log),
    LogFormat("mlflow", read_mlflow),
    LogFormat("json-lines", json_lines.read),
    LogFormat("parquet", read_parquet),
    LogFormat("csv", csv_columns.read),
    LogFormat("wandb", read_wandb_summary),
    LogFormat("progress-bar", hf_trainer.read_lone_bar),
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
    for name in source.in_folder_of(log.files[0], MACHINE):
        found = facts_of_config(source.json(name))
        facts = merged(facts, Facts(accelerator=found.accelerator, devices=found.devices))
    for name in source.in_folder_of(log.files[0], NETWORK):
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


_CHECKPOINT = re.compile(r"(?:^|/)checkpoint-\d{1,9}$")
BELOW = re.compile(r"(?:^|/)(?:logs?|files)$")
"""Folders that hold a part of the output of one training."""


def joined(logs: Sequence[TrainerLog]) -> list[TrainerLog]:
    """Return the trainings: the log with steps of each folder, completed by logs with only totals or facts.

    Two logs with steps are one training if they are from one trainer and of different kinds of file, as
    `trainer_log.jsonl` and a console's output are. Otherwise each is a training.
    """
    folders: dict[str, list[TrainerLog]] = defaultdict(list)
    for log in logs:
        folders[_folder(log.files[0])].append(log)
    return [log for group in folders.values() for log in _logs_of_folder(group)]


def _folder(name: str) -> str:
    folder = name.rpartition("/")[0]
    for inner in (_CHECKPOINT, BELOW):
        folder = inner.sub("", folder)
    return folder


def _logs_of_folder(group: list[TrainerLog]) -> list[TrainerLog]:
    timed = [log for log in group if log.spans]
    consoles = [log for log in timed if _kind(log) != "jsonl"]
    if len(timed) > 1 and len(consoles) == 1 and len({log.framework for log in timed}) == 1:
        rows = [log for log in timed if log is not consoles[0]]
        timed = [_completed(consoles[0], rows)]
    if len(timed) == 1:
        return [_completed(timed[0], [log for log in group if not log.spans])]
    if timed:
        return timed
    totals = [log for log in group if log.total]
    return totals or group[:1]


def _kind(log: TrainerLog) -> str:
    return "jsonl" if log.files[0].endswith(".jsonl") else log.format


def _completed(log: TrainerLog, others: Sequence[TrainerLog]) -> TrainerLog:
    """Return a log with the facts of others of the same training, and a total to check its speed against."""
    if not others:
        return log
    said = Statements().add(log.facts, log.files[0])
    for other in others:
        said.add(other.facts, other.files[0])
    checks = [log.check, *(_total_of(other) for other in others)]
    named = dict.fromkeys(name for log_part in (log, *others) for name in log_part.files)
    return replace(
        log,
        facts=said.facts(),
        check=next((check for check in checks if check is not None), None),
        losses=log.losses or others[0].losses,
        contradictions=(*log.contradictions, *said.contradictions()),
        files=tuple(named),
    )


def _total_of(log: TrainerLog) -> Total | None:
    if log.total is not None or not log.spans:
        return log.total
    counted = [span for span in log.spans if span.other_work is None]
    return Total(sum(span.steps for span in counted), sum(span.seconds for span in counted)) if counted else None


TABLE = "Or write a CSV with the columns step and elapsed_s (seconds since the start)."
HINTS = (
    (r"\{'loss': |\{'eval_loss': ", "shows losses of Hugging Face's Trainer, and nothing that times its steps",
     "Import the output with its progress bar, or trainer_state.json or all_results.json of the output folder."),
    (r"\[batch=\d{1,9}/\d{1,9}\]:", "is of Composer, without its rates",
     f"Log with SpeedMonitor (speed_monitor). {TABLE}"),
    (r"\[step=\d{1,9}(?:/\d{1,9})?[,\]]", "is of OLMo, whose output is not read", "Export the run's history from W&B."),
    (r"Step\s{1,9}Training Loss", "is a notebook's table of losses, without times",
     "Import what trainer.train() returned (TrainOutput), or trainer_state.json of the output folder."),
    (r"\bstep\b.{0,200}\bloss\b|\biter(?:ation)?\b.{0,200}\bloss\b|\bepoch\b.{0,200}\bloss\b",
     "shows steps with losses in a form that is not known, or without their times", TABLE),
)  # fmt: skip
"""Pattern of a line, what the file then is, and the fix; the most reliable first."""
_HINTS = tuple((re.compile(pattern, re.IGNORECASE), message, fix) for pattern, message, fix in HINTS)
MOST_LINES_LOOKED_AT = 20_000


def refuse(source: LogSource) -> InputError:
    """Return the error for a source without any known log. Raises if the file itself is damaged."""
    for name in source.named(LLAMA_FACTORY):
        if not trains(rows_of(source, name)):
            return InputError(
                f"{source.where(name)}: no training: its rows have no loss, as those of a prediction.",
                fix="Name the folder of a training.",
            )
    consoles = source.consoles()
    for name in consoles[:1] or source.names[:1]:
        source.text(name)  # raises if the file is damaged
    best: tuple[int, str] | None = None
    for name in consoles[:5]:
        for number, line in enumerate(source.lines(name)):
            place = next((at for at, (hint, _, _) in enumerate(_HINTS) if hint.search(line[:LONGEST_LINE])), None)
            if place is not None and (best is None or place < best[0]):
                best = (place, name)
            if number > MOST_LINES_LOOKED_AT:
                break
    if best is None:
        return InputError(f"{source.path}: no log of a known format is there.", fix=FIX)
    _, message, fix = _HINTS[best[0]]
    where = str(source.path) if source.lone else f"{source.path}: {base(best[1])}"
    return InputError(f"{where}: {message}.", fix=fix)
