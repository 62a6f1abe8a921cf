"""Audits runs, tables of measurements and claims. A claim or row that cannot be read becomes a finding."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from planner.adapters.bundled_tables import read_image_networks
from planner.adapters.documents import PLAN_LIMIT_BYTES, parse_model, read_text
from planner.adapters.evidence import read_measurements
from planner.adapters.mapping_text import line_of, parse_mapping
from planner.adapters.user_text import without_secrets
from planner.audit.claims.claim_audit import audit_claim
from planner.audit.findings import unknown
from planner.audit.link_rules import scaling_findings, setup_of_row
from planner.audit.run_audit import audit_run
from planner.audit.stated_run import stated_by_row
from planner.errors import InputError
from planner.model.answer.audit import AuditDocument, ClaimAudit, RunAudit, verdict_of
from planner.model.catalog import Catalog
from planner.model.evidence.claims import Claim, ClaimFile
from planner.model.hardware.machines import MatmulCeiling
from planner.use_cases.audited_records import audit_facts, audit_records
from planner.use_cases.importing.imported_runs import run_named
from planner.use_cases.importing.run_facts import Stated


def audit(
    runs: Sequence[str], *, claim: Path | None = None, measurements: Path | None, catalog: Catalog
) -> AuditDocument:
    """Audit runs by id or file, a file of claims, and a table of measurements. Raises InputError if none is named."""
    if not runs and measurements is None and claim is None:
        raise InputError("nothing to audit was named.", fix="Name runs, --claim FILE or --measurements FILE.csv.")
    catalog, ceilings = audit_facts(catalog)
    audited, comparison = audit_records([run_named(name, Stated(), catalog) for name in runs], catalog, ceilings)
    rows = [] if measurements is None else audit_table(measurements, catalog, ceilings)
    return AuditDocument(
        runs=(*audited, *rows),
        comparison=comparison,
        claims=() if claim is None else tuple(audit_claims(claim, catalog, ceilings)),
    )


def audit_claims(path: Path, catalog: Catalog, ceilings: Sequence[MatmulCeiling]) -> list[ClaimAudit]:
    """Audit every claim of a file. A claim that cannot be read becomes a finding."""
    audited = []
    for name, claim in read_claims(path):
        if isinstance(claim, InputError):
            finding = unknown("row_not_readable", claim.message, fix=claim.fix)
            audited.append(ClaimAudit(id=name, verdict=verdict_of([finding]), findings=(finding,)))
        else:
            audited.append(audit_claim(claim, catalog, ceilings))
    return audited


def audit_table(path: Path, catalog: Catalog, ceilings: Sequence[MatmulCeiling]) -> list[RunAudit]:
    """Audit every row of a table. A row that cannot be read becomes a finding."""
    unreadable: list[InputError] = []
    rows, networks = read_measurements(path, unreadable), read_image_networks()
    if unreadable and not rows:
        raise unreadable[0]
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
    scaling = scaling_findings(runs, setups, rates, slower=False)
    audited = [audit_run(run, ceilings, scaling.get(place, ())) for place, run in enumerate(runs)]
    return audited + [_unreadable(f"row-{number}", error) for number, error in enumerate(unreadable, start=1)]


def _unreadable(name: str, error: InputError) -> RunAudit:
    finding = unknown("row_not_readable", error.message, fix=error.fix)
    return RunAudit(id=name, verdict=verdict_of([finding]), findings=(finding,))


CLAIMS_FIX = "Its kinds and keys: docs/audit.md; examples stand in examples/claims."


def read_claims(path: Path) -> list[tuple[str, Claim | InputError]]:
    """Return every claim of a file by its id, or why it cannot be read. InputError if none can be read."""
    text = read_text(path, limit_bytes=PLAN_LIMIT_BYTES, fix=CLAIMS_FIX)
    data = without_secrets(parse_mapping(text, where=str(path), fix=CLAIMS_FIX), text=text, where=str(path))
    try:
        whole = parse_model(ClaimFile, data, where=str(path), text=text, fix=CLAIMS_FIX)
        return [(claim.id, claim) for claim in whole.claims]
    except InputError as error:
        entries = data.get("claims")
        if not isinstance(entries, list):
            raise
        read = [(_name(entry, place), _parsed_entry(data, place, path, text)) for place, entry in enumerate(entries)]
        if all(isinstance(claim, InputError) for _, claim in read):
            raise error from None
        return read


def _parsed_entry(data: dict[str, object], place: int, path: Path, text: str) -> Claim | InputError:
    entries = data["claims"]
    assert isinstance(entries, list)
    where = f"{path}:{line_of(text, ('claims', place)) or 1}"
    try:
        return parse_model(ClaimFile, {**data, "claims": [entries[place]]}, where=where, fix=CLAIMS_FIX).claims[0]
    except InputError as error:
        return InputError(error.message.replace(" claims.0", f" claims.{place}"), fix=error.fix)


def _name(entry: object, place: int) -> str:
    named = isinstance(entry, dict) and isinstance(entry.get("id"), str | int) and entry["id"] != ""
    return str(entry["id"]) if isinstance(entry, dict) and named else f"claim-{place + 1}"
