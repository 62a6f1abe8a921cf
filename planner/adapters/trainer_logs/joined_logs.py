"""Joins logs of one training: files of one folder complete each other, and none is a run of its own."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from planner.adapters.trainer_logs.statements import Statements
from planner.adapters.trainer_logs.trainer_log import Total, TrainerLog

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
    return [log for group in folders.values() for log in _of_folder(group)]


def _folder(name: str) -> str:
    folder = name.rpartition("/")[0]
    for inner in (_CHECKPOINT, BELOW):
        folder = inner.sub("", folder)
    return folder


def _of_folder(group: list[TrainerLog]) -> list[TrainerLog]:
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
    counted = [span for span in log.spans if span.beside is None]
    return Total(sum(span.steps for span in counted), sum(span.seconds for span in counted)) if counted else None
