"""Writes the report of a plan in the format of the file's ending."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

from planner.adapters.files import write_bytes
from planner.adapters.pdf_printer import printed
from planner.decide.options.estimate_plan import Paced, estimate_options, paced_candidates
from planner.errors import InputError
from planner.model.answer.recommendation import RecommendationDocument, ReportDocument
from planner.model.catalog import Catalog
from planner.model.plan.plan import Plan
from planner.present.page.words import Words
from planner.present.report.markdown_file import as_markdown
from planner.present.report.report import Report, as_html
from planner.present.report.workbook import as_csv, as_workbook
from planner.use_cases.locks import LockedAnswer, frozen_answer, lock_path
from planner.use_cases.plans import compare, find_options

ENDINGS = (".html", ".htm", ".md", ".csv", ".json", ".xlsx", ".pdf")


def report_of(plan: Plan, catalog: Catalog, words: Words, *, today: date, plan_words: str) -> Report:
    """Answer a plan, and find what would change the answer. `plan_words` names the plan in further commands."""
    listed, found = find_options(plan, catalog, today=today)
    paced = paced_candidates(listed, catalog) if found is None else found
    estimated = estimate_options(listed, catalog, today=today, paced=paced)
    return Report(
        document=compare(listed, catalog, today=today, estimated=estimated),
        words=words,
        start=listed.campaign.start or today,
        written_on=today,
        advice=_advice(listed, catalog, today=today, plan_words=plan_words, paced=paced),
    )


def locked_report(path: Path, answer: LockedAnswer, words: Words, *, plan_words: str) -> Report:
    """Return the report of a frozen answer, with advice only if this version computes the same numbers."""
    side = frozen_answer(answer.lock, lock_path(path))
    day = side.frozen_on
    return Report(
        document=answer.lock.comparison,
        words=words,
        start=side.plan.campaign.start or day,
        written_on=day,
        advice=None if answer.differs else _advice(side.plan, side.catalog, today=day, plan_words=plan_words),
    )


def _advice(
    plan: Plan, catalog: Catalog, *, today: date, plan_words: str, paced: Sequence[Paced] | None = None
) -> RecommendationDocument:
    """Find what would change an answer. Imported late, because it needs numpy and `estimate` does not."""
    from planner.use_cases.recommend import recommend

    return recommend(plan, catalog, today=today, plan_words=plan_words, paced=paced)


def check_ending(path: Path) -> None:
    """Refuse a file ending without a report format, before anything is computed."""
    if path.suffix.lower() not in ENDINGS:
        raise InputError(
            f"{path}: a report is written as .html, .md, .csv, .json, .xlsx or .pdf.",
            fix="Give the file one of these endings.",
        )


def write_report(report: Report, path: Path, *, unfolded: bool = False) -> Path:
    """Write a report. `unfolded` opens the appendix, so that it is printed too."""
    check_ending(path)
    writers: dict[str, Callable[[], bytes]] = {
        ".md": lambda: as_markdown(report).encode(),
        ".csv": lambda: as_csv(report.document, report.more).encode(),
        ".json": lambda: as_json(report).encode(),
        ".xlsx": lambda: as_workbook(report),
        ".pdf": lambda: printed(as_html(report, unfolded=unfolded)),
    }
    write = writers.get(path.suffix.lower(), lambda: as_html(report, unfolded=unfolded).encode())
    write_bytes(path, write())
    return path


def as_json(report: Report) -> str:
    """Return both answers as one JSON document."""
    document = ReportDocument(written_on=report.written_on, comparison=report.document, recommendation=report.advice)
    return document.model_dump_json(indent=2) + "\n"
