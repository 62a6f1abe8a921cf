"""`planner estimate|campaign|compare|report PLAN`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from planner import clock
from planner.cli.output import Format, FormatOption, HomeOption, JsonFlag, print_document, print_rows, say
from planner.errors import EXIT_NOTHING_FEASIBLE, InputError
from planner.model.answer.documents import Assumption, ComparisonDocument
from planner.model.catalog import Catalog
from planner.model.lock import Lock
from planner.model.plan.plan import Plan
from planner.present.table import campaign_rows, comparison_rows, estimate_rows, quantity_text
from planner.use_cases import catalogs, locks, plans, price_books

BookFlag = Annotated[
    bool, typer.Option("--with-price-book", help="At your own net prices (private: they then stand in the answer).")
]
LockedFlag = Annotated[
    bool, typer.Option("--locked", help="Answer from PLAN.lock.json: the numbers of the day it was frozen.")
]
PlanPath = Annotated[Path, typer.Argument(metavar="PLAN", help="A plan file, YAML or JSON.", show_default=False)]


def register(app: typer.Typer) -> None:
    """Add the commands that answer a plan."""
    app.command(epilog="Example: planner estimate plan.yaml --json")(estimate)
    app.command(epilog="Example: planner campaign plan.yaml")(campaign)
    app.command(epilog="Example: planner compare plan.yaml")(compare)
    app.command(epilog="Example: planner report plan.yaml --out report.html")(report)


def estimate(
    plan: PlanPath,
    with_price_book: BookFlag = False,
    as_json: JsonFlag = False,
    form: FormatOption = None,
    home: HomeOption = None,
    freeze: Annotated[
        bool, typer.Option("--freeze", help="Write PLAN.lock.json beside the plan: all inputs and the answer.")
    ] = False,
    locked: LockedFlag = False,
) -> None:
    """One training on each option: time, cost, energy, each with its range and basis."""
    if freeze and locked:
        raise InputError("--freeze and --locked contradict each other.", fix="Take one: --freeze writes the lock.")
    if locked:
        document = _locked(plan, with_price_book=with_price_book).estimate
    elif freeze:
        catalog = _catalog(plans.read_plan(plan), home, with_price_book=with_price_book)
        document, where = locks.freeze(plan, catalog, today=clock.today())
        say(f"Froze the plan in {where}.")
    else:
        asked = plans.read_plan(plan)
        document = plans.estimate(asked, _catalog(asked, home, with_price_book=with_price_book), today=clock.today())
    if as_json or form is Format.JSON:
        print_document(document)
        return
    print_rows(estimate_rows(document.options), form, title=document.plan)
    _say_assumptions(document.assumptions)


def campaign(
    plan: PlanPath,
    with_price_book: BookFlag = False,
    as_json: JsonFlag = False,
    form: FormatOption = None,
    home: HomeOption = None,
) -> None:
    """The plan's whole campaign on each option alone."""
    asked = plans.read_plan(plan)
    document = plans.campaign(asked, _catalog(asked, home, with_price_book=with_price_book), today=clock.today())
    if as_json or form is Format.JSON:
        print_document(document)
        return
    print_rows(campaign_rows(document.options), form, title=f"{document.plan}: {document.runs} training(s)")
    _say_assumptions(document.assumptions)


def compare(
    plan: PlanPath,
    with_price_book: BookFlag = False,
    as_json: JsonFlag = False,
    form: FormatOption = None,
    home: HomeOption = None,
    locked: LockedFlag = False,
) -> None:
    """Which option to take, and for every other one why not. Exit code 3 where none meets the limits."""
    document = _answer(plan, home, with_price_book=with_price_book, locked=locked)
    if as_json or form is Format.JSON:
        print_document(document)
    else:
        print_rows(comparison_rows(document.options), form, title=f"{document.plan}: {document.runs} training(s)")
        _say_assumptions(document.assumptions)
        say(f"\n{document.sentence}")
    if document.recommended is None:
        raise typer.Exit(EXIT_NOTHING_FEASIBLE)


def report(
    plan: PlanPath,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="report.html, report.md or report.csv.", show_default=False)
    ] = None,
    with_price_book: BookFlag = False,
    home: HomeOption = None,
    locked: LockedFlag = False,
) -> None:
    """Write the whole answer: every number with range, basis, formula, source and date."""
    document = _answer(plan, home, with_price_book=with_price_book, locked=locked)
    if out is None:
        from planner.present.report import as_markdown

        print(as_markdown(document))
        return
    say(f"Wrote {plans.write_report(document, out)}.")


def _answer(plan: Path, home: str | None, *, with_price_book: bool, locked: bool) -> ComparisonDocument:
    if locked:
        return _locked(plan, with_price_book=with_price_book).comparison
    asked = plans.read_plan(plan)
    return plans.compare(asked, _catalog(asked, home, with_price_book=with_price_book), today=clock.today())


def _catalog(plan: Plan, home: str | None, *, with_price_book: bool) -> Catalog:
    catalog = catalogs.catalog_for(plan, home)
    return price_books.booked(catalog, home, today=clock.today()) if with_price_book else catalog


def _locked(plan: Path, *, with_price_book: bool) -> Lock:
    """Return the frozen answer; what this planner computes otherwise is said, and does not count."""
    if with_price_book:
        raise InputError(
            "--locked answers at the prices in the lock; --with-price-book would change them.",
            fix="Take one, or freeze again with: planner estimate PLAN --freeze --with-price-book",
        )
    answer = locks.locked_answer(plan)
    if answer.differs:
        say(
            f"This planner ({locks.planner_version()}) computes {len(answer.differs)} numbers otherwise than "
            f"{answer.lock.planner_version} did on {answer.lock.frozen_on}; the frozen ones stand. "
            f"The first: {answer.differs[0]}."
        )
    return answer.lock


def _say_assumptions(assumptions: tuple[Assumption, ...]) -> None:
    for assumption in assumptions:
        say(f"{assumption.name}: {quantity_text(assumption.quantity)}; {assumption.quantity.source}")
