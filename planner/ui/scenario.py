"""Starting points of a question: forms, example plans, uploaded plans and uploaded runs."""

from __future__ import annotations

from datetime import date
from functools import lru_cache
from pathlib import Path

from planner.adapters.documents import PLAN_LIMIT_BYTES, RECORD_LIMIT_BYTES, parse_model, read_text
from planner.adapters.mapping_text import parse_mapping
from planner.adapters.user_text import text_without_secrets, without_secrets
from planner.adapters.workspace import examples_dir
from planner.errors import InputError, NotFoundError
from planner.model.catalog import Catalog
from planner.model.evidence.run import RunRecord
from planner.model.plan.plan import Plan
from planner.ui.ask.form import STARTS, Form, Start
from planner.use_cases.network_files import ARCHITECTURE_FIX, network_of, with_config
from planner.use_cases.plans import PLAN_FIX, parse_plan
from planner.use_cases.runs import parse_run

FIRST_EXAMPLE = "dgx_station_v100"
PLAN_OF_LINK = "your plan"
PLANS_KEPT = 64
"""Largest number of texts of plans whose parsed plan is cached."""
CONFIG_LIMIT_BYTES = 60_000
RUN_FIX = "Give run records, one JSON file each; see the schema with: planner schema run"


def examples() -> dict[str, Path]:
    """Return the bundled example plans by name, the example for a first visit first."""
    paths = sorted(examples_dir().glob("*.yaml"), key=lambda path: (path.stem != FIRST_EXAMPLE, path.stem))
    return {path.stem: path for path in paths}


def example_plan(path: Path) -> Plan:
    """Read an example as `read_plan` does. An unchanged text is not parsed again."""
    text = read_text(path, limit_bytes=PLAN_LIMIT_BYTES, fix=PLAN_FIX)
    return with_config(_parsed(text, str(path)), folder=path.parent)


@lru_cache(maxsize=PLANS_KEPT)
def _parsed(text: str, where: str) -> Plan:
    return parse_plan(text, where=where)


def first_form(start: Start, example: str | None, text: str | None) -> Form:
    """Return the form of a starting point. A plan's form has the plan's own limits."""
    if start is not Start.PLAN:
        return STARTS[start]
    form = Form(start=start, example=None if text else example or FIRST_EXAMPLE, plan=text)
    plan = plan_of_form(form)
    return form.changed(
        runs=plan.campaign.runs,
        deadline=plan.campaign.deadline,
        budget=plan.campaign.budget_usd,
        kwh=plan.assumptions.electricity_usd_per_kwh,
        confidence=plan.campaign.confidence,
    )


def plan_of_form(form: Form) -> Plan:
    """Return the plan that a form starts from, without the form's changes."""
    if form.plan is not None:
        return _parsed(form.plan, PLAN_OF_LINK)
    known = examples()
    if form.example not in known:
        raise NotFoundError("example", form.example or "", known, fix=f"Known: {', '.join(known)}")
    return example_plan(known[form.example])


def plan_of_upload(name: str, data: bytes) -> str:
    """Return the text of an uploaded plan (YAML or JSON). Raises InputError for another text."""
    text = _text(name, data, limit_bytes=PLAN_LIMIT_BYTES, fix=PLAN_FIX)
    text = text_without_secrets(text, where=name, fix=PLAN_FIX)
    parse_plan(text, where=name)
    return text


def config_of_upload(name: str, data: bytes) -> str:
    """Return the text of an uploaded config.json. Raises InputError if it describes no network."""
    text = _text(name, data, limit_bytes=CONFIG_LIMIT_BYTES, fix=ARCHITECTURE_FIX)
    text = text_without_secrets(text, where=name, fix=ARCHITECTURE_FIX, foreign=True)
    network_of(parse_mapping(text, where=name, fix=ARCHITECTURE_FIX, foreign=True), Path(name), text=text)
    return text


def run_of_upload(name: str, data: bytes) -> RunRecord:
    """Read an uploaded run record."""
    text = _text(name, data, limit_bytes=RECORD_LIMIT_BYTES, fix=RUN_FIX)
    return parse_run(without_secrets(parse_mapping(text, where=name, fix=RUN_FIX), text=text, where=name), where=name)


def with_run(catalog: Catalog, record: RunRecord) -> Catalog:
    """Add a run record to the catalog for this session. Raises InputError if its id is taken."""
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
    confidence: float,
) -> Plan:
    """Return the plan with the form's values, checked like a plan file."""
    data = plan.model_dump()
    if budget_usd is not None:
        data["campaign"].pop("budget_local", None)
    data["campaign"] |= {"runs": runs, "deadline": deadline, "budget_usd": budget_usd, "confidence": confidence}
    if runs == plan.campaign.runs and "runs" not in plan.campaign.model_fields_set:
        data["campaign"].pop("runs")  # own-or-rent counts a year by another rule if it is not stated
    if electricity_usd_per_kwh is not None:
        data["assumptions"] |= {"electricity_local_per_kwh": None, "tariff": None}
    data["assumptions"] |= {"electricity_usd_per_kwh": electricity_usd_per_kwh}
    return parse_model(Plan, data, where="the form", fix="Change the value in the form.")


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
