"""Audits run records: one alone, as an import and `check-run` show it, or several together."""

from __future__ import annotations

from collections.abc import Sequence

from planner.adapters.bundled_tables import read_matmul_ceilings
from planner.adapters.catalog import accelerator_aliases
from planner.audit.comparison import compare_runs
from planner.audit.link_rules import link_findings, scaling_findings, setup_of_record
from planner.audit.rate_rules import with_chips
from planner.audit.run_audit import audit_run
from planner.audit.stated_run import stated_by_record
from planner.model.answer.audit import ComparisonAudit, RunAudit
from planner.model.catalog import Catalog
from planner.model.evidence.run import RunRecord
from planner.model.hardware.machines import MatmulCeiling


def audit_facts(catalog: Catalog) -> tuple[Catalog, list[MatmulCeiling]]:
    """Return the catalog with the aliases of accelerators, and the measured ceilings of matrix products."""
    ceilings = with_chips(read_matmul_ceilings(), catalog.accelerators)
    return catalog.model_copy(update={"aliases": accelerator_aliases()}), ceilings


def audit_record(record: RunRecord, catalog: Catalog) -> RunAudit:
    """Audit one record, as an import and `check-run` show it."""
    catalog, ceilings = audit_facts(catalog)
    return audit_run(stated_by_record(record, catalog), ceilings)


def audit_records(
    records: Sequence[RunRecord], catalog: Catalog, ceilings: Sequence[MatmulCeiling]
) -> tuple[list[RunAudit], ComparisonAudit | None]:
    """Audit run records, each alone and against the others."""
    runs = [stated_by_record(record, catalog) for record in records]
    setups = [setup_of_record(run) for run in runs]
    above = scaling_findings(runs, setups, [run.samples_per_s for run in runs])
    below = link_findings(runs, setups, catalog)
    audited = [
        audit_run(run, ceilings, (*above.get(place, ()), *below.get(place, ()))) for place, run in enumerate(runs)
    ]
    return audited, compare_runs(runs, audited, catalog)
