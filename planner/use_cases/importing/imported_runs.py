"""Turns trainers' logs, with what the user states, into run records, and finds the run that a user names."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import ValidationError

from planner.adapters.settings import open_store
from planner.adapters.trainer_logs.log_formats import read_logs
from planner.adapters.trainer_logs.log_source import LogSource, opened
from planner.adapters.trainer_logs.trainer_log import TrainerLog
from planner.adapters.workspace import workspace_dir
from planner.errors import InputError
from planner.model.answer.audit import RunAudit
from planner.model.catalog import Catalog
from planner.model.evidence.run import RunRecord
from planner.use_cases.audited_records import audit_record
from planner.use_cases.expectations import expect_from
from planner.use_cases.importing.run_facts import RunFacts, Stated, known_facts
from planner.use_cases.importing.run_rate import (
    Rate,
    batch_of_tokens,
    doubts_of,
    imported_log,
    mean_length,
    quantity_of,
    rate_of,
)
from planner.use_cases.runs import find_run, read_run_file, records_in, store_runs

SHORT_S = 10.0
LONGEST_NAME = 50
MOST_LOSSES = 10


@dataclass(frozen=True)
class Imported:
    """A log's run, the place of its record, and whether it was imported before."""

    record: RunRecord
    place: str
    known_before: bool
    audit: RunAudit


def records_of(path: Path, stated: Stated, catalog: Catalog) -> list[RunRecord]:
    """Return the runs in a log or in a folder of logs. Nothing is stored."""
    with opened(path) as source:
        return [record_of_log(log, source, stated, catalog) for log in read_logs(source)]


def import_runs(paths: Sequence[Path], stated: Stated, catalog: Catalog, home: str | None = None) -> list[Imported]:
    """Store the runs of logs. All are read before the first is stored. A log that was imported before is kept."""
    records: dict[str, RunRecord] = {}
    for path in paths:
        records |= {record.id: record for record in records_of(path, stated, catalog)}
    old = [run for run in catalog.runs.values() if run.log is not None]
    kept = [known_as(record, old, store=open_store(workspace_dir(home)).where) for record in records.values()]
    new = [record for record, known in zip(records.values(), kept, strict=True) if known is None]
    places = {record.id: str(place) for record, place in zip(new, store_runs(new, home), strict=True)}
    return [
        Imported(record, places[record.id], False, audit_record(record, catalog))
        if known is None
        else Imported(known, "the workspace", True, audit_record(known, catalog))
        for record, known in zip(records.values(), kept, strict=True)
    ]


def known_as(record: RunRecord, old: Sequence[RunRecord], *, store: str) -> RunRecord | None:
    """Return the run of an earlier import of the same files; None if there is none.

    Raises InputError if the new record differs from it. Files that were imported together with others belong to the
    run of all of them.
    """
    for run in old:
        assert run.log is not None
        assert record.log is not None
        record_hashes, run_hashes = set(record.log.sha256), set(run.log.sha256)
        if record == run or record_hashes < run_hashes:
            return run
        if record_hashes & run_hashes:
            raise InputError(
                f"this log was imported before as '{run.id}', and the record would differ: {_difference(run, record)}.",
                fix=f"Say the same flags, or take that record out of {store} first.",
            )
    return None


def record_of_log(log: TrainerLog, source: LogSource, stated: Stated, catalog: Catalog) -> RunRecord:
    """Return the record of one training. An InputError names the flag of a missing fact."""
    known = known_facts(log, source, stated, catalog)
    rate = rate_of(log, known, where=str(source.path))
    known = replace(known, global_batch=known.global_batch or batch_of_tokens(known, rate))
    length = mean_length(log, known, rate)
    if length is not None:
        assert known.seq_len is not None
        longer = known.seq_len / length
        total = None if rate.total_per_s is None else rate.total_per_s * longer
        rate = replace(rate, samples=rate.samples * longer, total_per_s=total)
        known = replace(known, seq_len=length)
    sha256 = source.sha256(log.files)
    doubts = doubts_of(log, known, rate)
    try:
        return RunRecord(
            schema_version=1,
            id=_id(known, sha256),
            workload=known.workload,
            architecture=known.architecture,
            seq_len=known.seq_len,
            hardware=known.hardware,
            strategy=known.strategy,
            precision=known.precision,
            checkpointing=known.checkpointing,
            compiled=known.compiled,
            objective=known.objective.method,
            method="full" if known.adapters is None else "lora",
            adapters=known.adapters,
            micro_batch=known.micro_batch,
            grad_accumulation=known.accumulation,
            global_batch=known.global_batch,
            step_seconds=_step_seconds(known, rate),
            throughput=quantity_of(log, rate, doubtful=bool(doubts)),
            samples=(math.floor(rate.samples) or None) if rate.has_seconds else None,
            wall_seconds=rate.seconds if rate.has_seconds else None,
            losses_first10=tuple(loss if math.isfinite(loss) else None for loss in log.losses[:MOST_LOSSES]),
            short_window=rate.has_seconds and rate.seconds < SHORT_S,
            verdict=doubts,
            log=imported_log(log, known, rate, sha256),
        )
    except ValidationError as error:
        detail = error.errors(include_input=False, include_url=False)[0]
        raise InputError(
            f"{source.path}: its figures do not fit together: {'.'.join(map(str, detail['loc']))}: {detail['msg']}.",
            fix="Check the flags, or name another log of the same run.",
        ) from error


def _step_seconds(known: RunFacts, rate: Rate) -> float | None:
    """Return the seconds of a step if steps of the global batch give the rate; else None."""
    seconds = rate.seconds / rate.steps
    if not rate.has_seconds or known.global_batch is None:
        return None
    return seconds if abs(known.global_batch / seconds / rate.samples_per_s - 1) < 0.01 else None


def _id(known: RunFacts, sha256: Sequence[str]) -> str:
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", known.workload)[:LONGEST_NAME].strip("-._") or "run"
    accelerator = known.hardware.accelerator.lower()
    digest = hashlib.sha256("".join(sha256).encode()).hexdigest()
    return f"{name}-{accelerator}-x{known.hardware.accelerators}-log-{digest[:10]}"


def _difference(old: RunRecord, new: RunRecord) -> str:
    keys = [key for key in RunRecord.model_fields if getattr(old, key) != getattr(new, key)]
    main_keys = [key for key in keys if key not in ("id", "log", "throughput", "samples", "step_seconds", "verdict")]
    return ", ".join(main_keys or keys)


DOCUMENTS = (".json", ".yaml", ".yml")


def run_named(name: str, stated: Stated, catalog: Catalog) -> RunRecord:
    """Return the run that a path or an id means. Nothing is stored."""
    path = Path(name)
    if not path.exists():
        return find_run(name, catalog)
    if path.suffix in DOCUMENTS and path.is_file():
        try:
            found = records_in(path, expect_from(catalog))
        except InputError as error:
            try:
                found = records_of(path, stated, catalog)
            except InputError as other:
                raise (error if _is_a_record(path) else other) from None
    else:
        found = records_of(path, stated, catalog)
    if len(found) > 1:
        raise InputError(f"{name}: holds {len(found)} runs.", fix="Name one log.")
    return found[0]


def _is_a_record(path: Path) -> bool:
    """Return True if a file claims to be one of the planner's, so that its faults as a record are the error to show."""
    try:
        return "schema_version" in read_run_file(path)
    except InputError:
        return False
