"""Weights & Biases: a run's history as JSON lines or JSON (`run.history()`, `run.scan_history()`), its config beside.

CSV exports are read as tables (`csv_columns.py`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from planner.adapters.trainer_logs.config_keys import facts_of_config
from planner.adapters.trainer_logs.csv_columns import log_of_rows
from planner.adapters.trainer_logs.log_source import LogSource
from planner.adapters.trainer_logs.trainer_log import Facts, TrainerLog, merged
from planner.errors import InputError

MOST_ROWS = 500_000
OWN_COLUMNS = ("_step", "_runtime", "_timestamp")


def read(source: LogSource) -> list[TrainerLog]:
    """Return one training of each history."""
    logs = []
    for name in source.named(r".{1,200}\.(?:jsonl|ndjson)", r".{0,60}history.{0,60}\.json"):
        rows = _rows(source, name)
        if not any(column in row for row in rows[:100] for column in OWN_COLUMNS):
            continue
        log = log_of_rows(rows, "wandb", None, (name,), facts=_facts(source, name))
        if log is not None:
            logs.append(log)
    return logs


def _rows(source: LogSource, name: str) -> list[Mapping[str, object]]:
    text = source.text(name)
    rows: list[Mapping[str, object]] = []
    try:
        if text.lstrip().startswith("["):
            found = json.loads(text)
            return [row for row in found[:MOST_ROWS] if isinstance(row, dict)]
        for number, line in enumerate(text.splitlines()):
            if number >= MOST_ROWS:
                raise InputError(f"{source.file(name)}: has over {MOST_ROWS:,} rows.", fix="Keep some hours.")
            try:
                row = json.loads(line) if line.strip() else None
            except ValueError:
                continue  # cut within a line
            if isinstance(row, dict):
                rows.append(row)
    except (RecursionError, ValueError) as error:
        raise InputError(f"{source.file(name)}: is not JSON, or nested too deeply.", fix="Export it again.") from error
    return rows


def _facts(source: LogSource, name: str) -> Facts:
    """Return what the run's config and its description of the machine say; hosts, users and paths are passed over."""
    facts = Facts()
    for beside in source.beside(name, "config.yaml", "wandb-metadata.json"):
        facts = merged(facts, facts_of_config(source.json(beside)))
    return facts
