"""Files of experiment trackers: MLflow's file store, W&B's summary, Parquet tables of metrics."""

from __future__ import annotations

import io
from typing import Any

from planner.adapters.trainer_logs.config_keys import facts_of_config
from planner.adapters.trainer_logs.csv_columns import CSV_FIX, MOST_ROWS, columns_of, log_of_rows
from planner.adapters.trainer_logs.log_source import LogSource
from planner.adapters.trainer_logs.numbers_in_text import count, moment_s, number, number_or_nan, positive
from planner.adapters.trainer_logs.statements import Statements
from planner.adapters.trainer_logs.trainer_log import ONLY_TOTALS, Facts, Total, TrainerLog, spans_between
from planner.errors import InputError

MOST_PARAMS = 500


def read_mlflow(source: LogSource) -> list[TrainerLog]:
    """Read MLflow's file store: a folder with `metrics/NAME` (lines `milliseconds value step`) and `params/NAME`.

    Returns one training for each run, timed by the training metric with the most entries.
    """
    logs = []
    for root in sorted({name.rpartition("metrics/")[0] for name in source.names if "metrics/" in name}):
        metrics = [name for name in source.names if name.startswith(f"{root}metrics/") and _trains(name)]
        timed = [(points, name) for name in metrics if len(points := _points(source, name)) > 1]
        if not timed:
            logs += _without_history(source, root, metrics)
            continue
        points, name = max(timed, key=lambda pair: (len(pair[0]), "loss" in pair[1]))
        spans, doubts = spans_between([(step, clock) for step, clock, _ in points])
        losses = tuple(value for _, _, value in points) if "loss" in name else ()
        logs.append(
            TrainerLog(
                format="mlflow", framework=None, spans=tuple(spans), resolution_s=0.001, facts=_params(source, root),
                losses=losses, doubts=tuple(doubts), files=(name,),
            )
        )  # fmt: skip
    return logs


def _without_history(source: LogSource, root: str, metrics: list[str]) -> list[TrainerLog]:
    """Return the training of a run whose metrics have one entry each: its steps, and seconds if a metric has them."""
    single = {name.rpartition("/")[2].casefold(): points[0] for name in metrics if (points := _points(source, name))}
    steps = max((step for step, _, _ in single.values()), default=0)
    if not steps:
        return []
    runtime = next((value for name, (_, _, value) in single.items() if name == "train_runtime" and value > 0), None)
    total = Total(float(steps), runtime) if runtime else None
    return [
        TrainerLog(
            format="mlflow", framework=None, total=total, untimed_steps=None if total else steps,
            facts=_params(source, root), doubts=(ONLY_TOTALS,) if total else (), files=tuple(metrics),
        )
    ]  # fmt: skip


def _trains(name: str) -> bool:
    metric = name.partition("metrics/")[2].casefold()
    return not any(word in metric for word in ("eval", "val", "test", "system/"))


def _points(source: LogSource, name: str) -> list[tuple[int, float, float]]:
    points = []
    for line in source.lines(name):
        parts = line.split()
        if len(parts) != 3:
            continue
        clock, step = moment_s(parts[0]), number(parts[2])
        if clock is not None and step is not None:
            points.append((int(step), clock, number_or_nan(parts[1])))
    return points


def _params(source: LogSource, root: str) -> Facts:
    names = [name for name in source.names if name.startswith(f"{root}params/")][:MOST_PARAMS]
    return facts_of_config({name.rpartition("/")[2]: source.text(name).strip()[:200] for name in names})


SUMMARY = r"(?:wandb-)?summary\.json"
STEPS = ("train/global_step", "trainer/global_step", "global_step", "_step")
"""Step metrics, the most reliable first. W&B's own `_step` counts logged rows."""
SECONDS = ("train_runtime", "train/train_runtime", "train/runtime")
RUNTIME = "_runtime"
"""Metric with the seconds of the whole process, including start and end."""


def read_wandb_summary(source: LogSource) -> list[TrainerLog]:
    """Read W&B's `wandb-summary.json`: the last value of each metric, the run's seconds and its steps."""
    logs = []
    for name in source.named(SUMMARY):
        data = source.json(name)
        steps = next((found for key in STEPS if (found := count(data.get(key)))), None)
        if steps is None:
            continue
        seconds = next((time for key in (*SECONDS, RUNTIME) if (time := positive(data.get(key)))), None)
        said = Statements()
        for neighbour in source.in_folder_of(name, "config.yaml", "wandb-metadata.json"):
            said.add(facts_of_config(source.json(neighbour)), neighbour)
        loss = number(data.get("train/loss", data.get("loss")))
        logs.append(
            TrainerLog(
                format="wandb",
                framework=None,
                total=Total(float(steps), seconds) if seconds else None,
                untimed_steps=None if seconds else steps,
                facts=said.facts(),
                losses=() if loss is None else (loss,),
                doubts=(ONLY_TOTALS,) if seconds else (),
                contradictions=said.contradictions(),
                files=(name,),
            )
        )
    return logs


MOST_COLUMN_BYTES = 200_000_000
"""Limit of the unpacked columns that are read."""


def read_parquet(source: LogSource) -> list[TrainerLog]:
    """Read Parquet tables with the columns of `csv_columns.py`, as W&B's history artifacts hold them."""
    logs = []
    for name in source.named(r".{1,200}\.parquet"):
        log = log_of_rows(_rows(source.data(name), source.where(name)), "parquet", None, (name,))
        if log is not None:
            logs.append(log)
        elif source.lone:
            raise InputError(f"{source.where(name)}: its columns say no step with its time.", fix=CSV_FIX)
    return logs


def _rows(data: bytes, where: str) -> list[dict[str, Any]]:
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise InputError(
            f"{where}: Parquet needs pyarrow, which is not installed.", fix="pip install 'training-planner[app]'"
        ) from error
    try:
        file = ParquetFile(io.BytesIO(data))
        if file.metadata.num_rows > MOST_ROWS:
            raise InputError(f"{where}: has over {MOST_ROWS:,} rows.", fix="Keep the steps of some hours.")
        named = list(columns_of([dict.fromkeys(file.schema_arrow.names)]).values())
        size = sum(
            file.metadata.row_group(group).column(place).total_uncompressed_size
            for group in range(file.metadata.num_row_groups)
            for place in range(file.metadata.num_columns)
            if file.metadata.schema.column(place).name in named
        )
        if size > MOST_COLUMN_BYTES:
            raise InputError(f"{where}: unpacks to {size / 1e6:,.0f} MB.", fix="Keep the steps of some hours.")
        rows: list[dict[str, Any]] = file.read(columns=named).to_pylist() if named else []
        return rows
    except (ArrowException, OSError, ValueError, OverflowError) as error:
        raise InputError(f"{where}: is no Parquet file that can be read.", fix="Export it again.") from error
