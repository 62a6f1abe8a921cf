"""The scenario on the page: an example or an uploaded plan, what the form changes in it, and uploaded runs."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from planner.adapters.documents import PLAN_LIMIT_BYTES, RECORD_LIMIT_BYTES, parse_model
from planner.adapters.mapping_text import parse_mapping
from planner.adapters.workspace import examples_dir
from planner.errors import InputError
from planner.model.catalog import Catalog
from planner.model.evidence.run import RunRecord
from planner.model.plan.plan import Plan
from planner.use_cases.plans import PLAN_FIX, parse_plan
from planner.use_cases.run_files import parse_run

FIRST_EXAMPLE = "dgx_station_v100"
RUN_FIX = "Give run records, one JSON file each; see the schema with: planner schema run"


def examples() -> dict[str, Path]:
    """Return the bundled example plans by name, the one for a first visit first."""
    paths = sorted(examples_dir().glob("*.yaml"), key=lambda path: (path.stem != FIRST_EXAMPLE, path.stem))
    return {path.stem: path for path in paths}


def plan_of_upload(name: str, data: bytes) -> Plan:
    """Read an uploaded plan, YAML or JSON."""
    return parse_plan(_text(name, data, limit_bytes=PLAN_LIMIT_BYTES, fix=PLAN_FIX), where=name)


def run_of_upload(name: str, data: bytes) -> RunRecord:
    """Read an uploaded run record."""
    text = _text(name, data, limit_bytes=RECORD_LIMIT_BYTES, fix=RUN_FIX)
    return parse_run(parse_mapping(text, where=name, fix=RUN_FIX), where=name)


def with_run(catalog: Catalog, record: RunRecord) -> Catalog:
    """Layer a run record on the catalog, for this session only; an id that is taken is an error."""
    if record.id in catalog.runs:
        raise InputError(f"there already is a run with the id '{record.id}'.", fix="Give the record another id.")
    return catalog.model_copy(update={"runs": catalog.runs | {record.id: record}})


def with_limits(
    plan: Plan,
    *,
    runs: int,
    deadline: date | None,
    budget_usd: float | None,
    electricity_usd_per_kwh: float | None,
) -> Plan:
    """Return the plan with what the form says, checked like a plan file."""
    data = plan.model_dump()
    if budget_usd is not None:
        data["campaign"].pop("budget_local", None)
    data["campaign"] |= {"runs": runs, "deadline": deadline, "budget_usd": budget_usd}
    data["assumptions"] |= {"electricity_usd_per_kwh": electricity_usd_per_kwh}
    return parse_model(Plan, data, where="the form", fix="Change the value on the left.")


def _text(name: str, data: bytes, *, limit_bytes: int, fix: str) -> str:
    if len(data) > limit_bytes:
        raise InputError(
            f"{name}: has {len(data) / 1e6:.1f} MB; at most {limit_bytes / 1e6:g} MB are read.",
            fix="Check that this is the file you meant.",
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: is not UTF-8 text (byte {error.start}).", fix=fix) from error
