"""Runs, tables of measurements and claims, audited."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from planner.adapters.catalog import accelerator_aliases
from planner.adapters.documents import read_model
from planner.adapters.evidence import read_measurements
from planner.adapters.image_networks import read_image_networks
from planner.adapters.matmul_ceilings import read_matmul_ceilings
from planner.audit.ceilings import with_chips
from planner.audit.claims.claim_audit import audit_claim
from planner.audit.comparison import compare_runs
from planner.audit.run_audit import audit_run
from planner.audit.scaling_rules import scaling_findings, setup_of_record, setup_of_row
from planner.audit.stated_run import stated_by_record, stated_by_row
from planner.errors import InputError
from planner.model.answer.audit import AuditDocument, ComparisonAudit, RunAudit
from planner.model.catalog import Catalog
from planner.model.evidence.claims import ClaimFile
from planner.model.evidence.run import RunRecord
from planner.model.hardware.matmul_ceiling import MatmulCeiling
from planner.use_cases.importing.check_run import run_named
from planner.use_cases.importing.run_facts import Stated

CLAIM_FIX = "Its kinds and keys: docs/audit.md; examples stand in examples/claims."


def read_claims(path: Path) -> ClaimFile:
    """Read the claims of a document."""
    return read_model(ClaimFile, path, fix=CLAIM_FIX)


def audit(
    runs: Sequence[str], *, claim: Path | None = None, measurements: Path | None, catalog: Catalog
) -> AuditDocument:
    """Audit runs by id or file, a file of claims, and a table of measurements; InputError where nothing is named."""
    if not runs and measurements is None and claim is None:
        raise InputError("nothing to audit was named.", fix="Name runs, --claim FILE or --measurements FILE.csv.")
    ceilings = with_chips(read_matmul_ceilings(), catalog.accelerators)
    catalog = catalog.model_copy(update={"aliases": accelerator_aliases()})
    audited, comparison = audit_records([run_named(name, Stated(), catalog) for name in runs], catalog, ceilings)
    rows = [] if measurements is None else audit_table(measurements, catalog, ceilings)
    claims = () if claim is None else read_claims(claim).claims
    return AuditDocument(
        runs=(*audited, *rows),
        comparison=comparison,
        claims=tuple(audit_claim(one, catalog, ceilings) for one in claims),
    )


def audit_records(
    records: Sequence[RunRecord], catalog: Catalog, ceilings: Sequence[MatmulCeiling]
) -> tuple[list[RunAudit], ComparisonAudit | None]:
    """Audit run records, each alone and beside the others."""
    runs = [stated_by_record(record, catalog) for record in records]
    beside = scaling_findings(runs, [setup_of_record(run) for run in runs], [run.samples_per_s for run in runs])
    audited = [audit_run(run, ceilings, beside.get(place, ())) for place, run in enumerate(runs)]
    return audited, compare_runs(runs, audited)


def audit_table(path: Path, catalog: Catalog, ceilings: Sequence[MatmulCeiling]) -> list[RunAudit]:
    """Audit every row of a table."""
    rows, networks = read_measurements(path), read_image_networks()
    runs = [stated_by_row(row, catalog, networks) for row in rows]
    rates = [
        row.tokens_per_s_per_gpu * row.num_gpus
        if row.tokens_per_s_per_gpu
        else row.throughput_total
        if row.metric != "time_to_train" and row.unit not in ("s", "s/step") and "gpu" not in row.unit
        else None
        for row in rows
    ]
    setups = [setup_of_row(row, run) for row, run in zip(rows, runs, strict=True)]
    beside = scaling_findings(runs, setups, rates, slower=False)
    return [audit_run(run, ceilings, beside.get(place, ())) for place, run in enumerate(runs)]
