"""Parquet tables with the columns of `csv_columns.py`, as W&B's history artifacts hold them."""

from __future__ import annotations

import io
from typing import Any

from planner.adapters.trainer_logs.csv_columns import CSV_FIX, MOST_ROWS, columns_of, log_of_rows
from planner.adapters.trainer_logs.log_source import LogSource
from planner.adapters.trainer_logs.trainer_log import TrainerLog
from planner.errors import InputError

MOST_COLUMN_BYTES = 200_000_000
"""Limit of the unpacked columns that are read."""


def read(source: LogSource) -> list[TrainerLog]:
    """Return one training for each table that has the columns."""
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
