"""Page "Evidence": the runs behind the answers, their predictions, and the audit's findings."""

from __future__ import annotations

from functools import lru_cache

import streamlit as st

from planner import clock
from planner.errors import InputError
from planner.present.page.evidence import CheckedRun, runs_html
from planner.ui import parts
from planner.ui.ask.question import StampedCatalog
from planner.ui.catalogs import visited_catalog
from planner.ui.state import chosen_words, current_form, remember
from planner.use_cases.audited_records import audit_facts, audit_records
from planner.use_cases.importing.check_run import check_run


def render() -> None:
    """Draw the page."""
    words, today = chosen_words(), clock.today()
    problems: list[InputError] = []
    known = visited_catalog(problems, today)
    form = current_form(problems)
    st.subheader(words("Runs, the worst misses first"))
    parts.note(
        words(
            "Measured beside what the planner would predict without the run; a run opens what the audit finds. "
            "Estimates rest on {n} published measurements besides: planner accuracy scores them.",
            n=f"{known.catalog.calibration.rows:,}" if known.catalog.calibration else "0",
        )
    )
    st.file_uploader(words("Your run records (JSON)"), type=["json"], accept_multiple_files=True, key="run_files")
    parts.problems(problems, words, stands=False)
    parts.html(runs_html(_checked(known), words))
    if not problems:
        remember(form, words)


@lru_cache(maxsize=8)
def _checked(known: StampedCatalog) -> tuple[CheckedRun, ...]:
    catalog, ceilings = audit_facts(known.catalog)
    records = list(catalog.runs.values())
    audits, _ = audit_records(records, catalog, ceilings)
    return tuple(
        CheckedRun(record, check_run(record, catalog), audit) for record, audit in zip(records, audits, strict=True)
    )
