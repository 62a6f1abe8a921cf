"""JSON lines: the history of a run in Weights & Biases (`run.scan_history()`), LLaMA-Factory's `trainer_log.jsonl`.

Columns are those of `csv_columns.py`. CSV exports are read as tables.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace

from planner.adapters.trainer_logs.config_keys import AXOLOTL, facts_of_config, statements_of, with_whole_batch
from planner.adapters.trainer_logs.csv_columns import MOST_ROWS, is_known, log_of_rows
from planner.adapters.trainer_logs.log_source import LogSource, base
from planner.adapters.trainer_logs.numbers_in_text import count
from planner.adapters.trainer_logs.statements import Statements
from planner.adapters.trainer_logs.trainer_log import Facts, TrainerLog, merged
from planner.errors import InputError

MOST_OF_ONE = 20_000_000
"""Largest number of characters of a single JSON value. Parsing takes up to fifteen times as much memory."""
LLAMA_FACTORY = "trainer_log.jsonl"
SWIFT = "global_step/max_steps"
"""Step counter in ms-swift's `logging.jsonl`."""
PLANNED = ("total_steps", "max_steps", SWIFT)
"""Keys with the number of steps of the whole training."""
OWN_COLUMNS = ("_step", "_runtime", "_timestamp")


def read(source: LogSource) -> list[TrainerLog]:
    """Return one training for each history."""
    logs = []
    names = r".{1,200}\.json" if source.lone else r".{0,60}history.{0,60}\.json"
    for name in source.named(r".{1,200}\.(?:jsonl|ndjson)", names):
        rows = rows_of(source, name)
        is_wandb = any(column in row for row in rows[:100] for column in OWN_COLUMNS)
        is_factory = base(name) == LLAMA_FACTORY
        if is_factory and not trains(rows):
            continue
        said = Statements().add(Facts(planned_steps=_planned(rows)), name)
        is_of_trainer = is_factory or any(SWIFT in row for row in rows[:100])
        if is_of_trainer:
            said = statements_of(source, name, said, passed_over=AXOLOTL)
        else:
            said.add(_facts(source, name), name)
        facts = with_whole_batch(said.facts())
        form, framework = ("hf-trainer", "HF Trainer") if is_of_trainer else ("wandb" if is_wandb else "jsonl", None)
        log = log_of_rows(rows, form, framework, (name,), facts=facts)
        if log is not None and is_of_trainer:
            log = replace(log, resolution_s=1.0, facts=merged(log.facts, Facts(padded=True)))
        if log is not None:
            logs.append(replace(log, contradictions=said.contradictions()))
    return logs


def trains(rows: Iterable[Mapping[str, object]]) -> bool:
    """Return whether rows of LLaMA-Factory belong to a training. Those of a prediction have no loss."""
    return any(row.get("loss") is not None for row in rows)


def _planned(rows: Iterable[Mapping[str, object]]) -> int | None:
    """Return the steps of the whole training, if all rows agree on them."""
    found = {value for row in rows for key in PLANNED if (value := _planned_in(row.get(key))) is not None}
    return found.pop() if len(found) == 1 else None


def _planned_in(value: object) -> int | None:
    return count(value.partition("/")[2] if isinstance(value, str) and "/" in value else value)


def rows_of(source: LogSource, name: str) -> list[Mapping[str, object]]:
    """Return the rows of a file of JSON lines, or of one JSON value. InputError if it is neither."""
    text = source.text(name)
    rows: list[Mapping[str, object]] = []
    try:
        if text.lstrip().startswith(("[", "{\n")) or "\n" not in text.strip():
            return _rows_of_one(text, source.where(name))
        for number, line in enumerate(text.splitlines()):
            if number >= MOST_ROWS:
                raise InputError(f"{source.where(name)}: has over {MOST_ROWS:,} rows.", fix="Keep some hours.")
            try:
                row = json.loads(line) if line.strip() else None
            except ValueError:
                continue  # cut within a line
            if isinstance(row, dict):
                rows.append({name: value for name, value in row.items() if is_known(name) or name in PLANNED})
    except (RecursionError, ValueError) as error:
        raise InputError(f"{source.where(name)}: is not JSON, or nested too deeply.", fix="Export it again.") from error
    return rows


def _rows_of_one(text: str, where: str) -> list[Mapping[str, object]]:
    """Return the entries of a list, or of MLflow's metrics/get-history: rows, or TensorBoard's triples."""
    if len(text) > MOST_OF_ONE:
        raise InputError(f"{where}: is one JSON value of over {MOST_OF_ONE / 1e6:g} MB.", fix="Export it as CSV.")
    whole = json.loads(text)
    found = whole.get("metrics") if isinstance(whole, dict) else whole
    if not isinstance(found, list):
        return []
    if len(found) > MOST_ROWS:
        raise InputError(f"{where}: has over {MOST_ROWS:,} rows.", fix="Keep some hours.")
    of_tensorboard = [row for row in found if isinstance(row, list) and len(row) == 3]
    if len(of_tensorboard) == len(found):
        return [dict(zip(("wall_time", "step", "value"), row, strict=True)) for row in of_tensorboard]
    return [row for row in found if isinstance(row, dict)]


def _facts(source: LogSource, name: str) -> Facts:
    """Return the facts in the run's config and its description of the machine. Hosts, users and paths are skipped."""
    facts = Facts()
    for neighbour in source.in_folder_of(name, "config.yaml", "wandb-metadata.json"):
        facts = merged(facts, facts_of_config(source.json(neighbour)))
    return facts
