"""`planner estimate|campaign|compare|report PLAN`."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from planner import clock
from planner.adapters.files import refuse_input
from planner.cli.output import HomeOption, ScreenOptions, print_lines, screen_width
from planner.cli.registration import command, command_app
from planner.cli.streams import print_document, say
from planner.errors import EXIT_NOTHING_FEASIBLE, InputError
from planner.model.answer.documents import CampaignDocument, ComparisonDocument, EstimateDocument
from planner.model.catalog import Catalog
from planner.model.plan.plan import Plan
from planner.present.answer_screen import (
    Screen,
    campaign_screen,
    comparison_screen,
    details_lines,
    estimate_screen,
    screen_lines,
)
from planner.present.columns.entry import OptionsDocument, entries_of
from planner.present.columns.registry import asked_columns, not_known, option_rows
from planner.present.page.words import LANGUAGES, Words
from planner.present.report.markdown_file import as_markdown
from planner.use_cases import answer_ids, catalogs, locks, plans, price_books, reports
from planner.use_cases.locks import LockedAnswer
from planner.use_cases.plans import DatedPlan, assumed_lines, dated
from planner.use_cases.version import planner_version

app = command_app()

PlanPath = Annotated[Path, typer.Argument(metavar="PLAN", help="Plan file, YAML or JSON")]
ColumnsOption = Annotated[
    str | None, typer.Option("--columns", metavar="+NAME,...", help="Show more columns, as +co2,+energy_kwh")
]
LockedFlag = Annotated[bool, typer.Option("--locked", help="Answer from PLAN.lock.json, as it was frozen")]

WRITE_A_PLAN = "To go on from this answer, write it as a plan: add --write plan.yaml"


@dataclass(frozen=True, kw_only=True)
class AnswerOptions(ScreenOptions):
    """Output options of an answer that is a table of options."""

    columns: ColumnsOption = None

    def __post_init__(self) -> None:
        """Refuse an unknown column before anything is computed."""
        asked_columns(self.columns)

    @property
    def more(self) -> tuple[str, ...]:
        """Keys of the columns beside the usual ones."""
        return asked_columns(self.columns)


@dataclass(frozen=True, kw_only=True)
class PlanOptions:
    """The plan to answer, and the prices to use."""

    plan: PlanPath
    with_price_book: Annotated[
        bool, typer.Option("--with-price-book", help="Use your own net prices, which then stand in the answer")
    ] = False
    home: HomeOption = None

    @property
    def words(self) -> str:
        """The plan with these options, as they are given to another command."""
        home = () if self.home is None else ("--home", self.home)
        book = ("--with-price-book",) if self.with_price_book else ()
        return shlex.join((str(self.plan), *home, *book))

    def read(self) -> DatedPlan:
        """Read the plan as it is answered now, and say from when work is counted if noon of today has passed."""
        dated_plan = dated(plans.read_plan(self.plan), now=clock.now())
        for line in assumed_lines(dated_plan.assumed):
            say(line)
        return dated_plan

    def catalog(self, plan: Plan) -> Catalog:
        """Return the catalog for the plan, at the user's own prices if they are wanted."""
        catalog = catalogs.catalog_for(plan, self.home)
        return price_books.booked(catalog, self.home, today=clock.today()) if self.with_price_book else catalog


@command(app, example="planner estimate plan.yaml --json")
def estimate(
    question: PlanOptions,
    *,
    freeze: Annotated[bool, typer.Option("--freeze", help="Write inputs and answer to PLAN.lock.json")] = False,
    locked: LockedFlag = False,
    output: AnswerOptions,
) -> None:
    """Estimate time, cost and energy of one training per option.

    Each number has a range and says whether it was measured, quoted, modelled or assumed.
    """
    if freeze and locked:
        raise InputError(
            "--freeze and --locked contradict each other.",
            fix="Give one of them: --freeze writes the lock, --locked reads it.",
        )
    plan_words = question.words + (" --locked" if locked else "")
    if locked:
        document = _locked_answer(question).lock.estimate
        answer_ids.keep(document, today=clock.today(), plan_words=plan_words)
    else:
        plan, today, assumed = question.read()
        if freeze:
            document, where = locks.freeze(question.plan, question.catalog(plan), now=clock.now())
            say(f"Froze the plan in {where}.")
        else:
            document = plans.estimate(plan, question.catalog(plan), today=today)
        answer_ids.keep(document, today=today, plan=plan, plan_words=plan_words, assumed=assumed)
    print_answer(document, output, plan_words=plan_words)


@command(app, example="planner campaign plan.yaml")
def campaign(
    question: PlanOptions,
    output: AnswerOptions,
    objective: Annotated[
        str | None, typer.Option(metavar="cost|time|front", help="What the plan is best in; default: campaign.prefer")
    ] = None,
) -> None:
    """Plan which trainings run where and when.

    The exit code is 3 where no plan keeps the limits.
    """
    if objective not in (None, "cost", "time", "front"):
        raise InputError(f"--objective {objective} is not known.", fix="Write cost, time or front.")
    plan, today, assumed = question.read()
    document = plans.campaign(plan, question.catalog(plan), today=today, objective=objective)
    answer_ids.keep(document, today=today, plan=plan, plan_words=question.words, assumed=assumed)
    print_answer(document, output, plan_words=question.words)
    if document.feasible is False:
        raise typer.Exit(EXIT_NOTHING_FEASIBLE)


@command(app, example="planner compare plan.yaml")
def compare(question: PlanOptions, output: AnswerOptions, locked: LockedFlag = False) -> None:
    """Rank the options of a plan and recommend one, or a mix of them.

    Every other option says why it was not recommended. The exit code is 3 where nothing meets the limits.
    """
    document = _comparison(question, locked=locked)
    print_answer(document, output, plan_words=question.words)
    if not document.feasible:
        raise typer.Exit(EXIT_NOTHING_FEASIBLE)


@command(app, example="planner report plan.yaml --out report.html")
def report(
    question: PlanOptions,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File: .html, .pdf, .md, .xlsx, .csv or .json; default: Markdown on stdout"),
    ] = None,
    locked: LockedFlag = False,
    columns: ColumnsOption = None,
    lang: Annotated[str, typer.Option(metavar="en|ko", help="Language of what people read")] = "en",
    appendix: Annotated[
        bool, typer.Option("--appendix", help="Open the appendix: a .pdf, or what is printed, has it too")
    ] = False,
) -> None:
    """Write two pages to sign: the answer, and what it rests on.

    Everything else is an appendix. Workbook, CSV and JSON hold every number with range, basis, source and date.
    """
    if lang not in LANGUAGES:
        raise InputError(f"--lang {lang} is not known.", fix=f"Write {' or '.join(LANGUAGES)}.")
    if out is not None:
        reports.check_ending(out)
    words, more = Words(lang), asked_columns(columns)
    if locked:
        frozen = _locked_answer(question)
        _refuse_input(out)
        made = reports.locked_report(question.plan, frozen, words, plan_words=question.words)
    else:
        plan, today, assumed = question.read()
        _refuse_input(out)
        made = reports.report_of(plan, question.catalog(plan), words, today=today, plan_words=question.words)
        answer_ids.keep(made.document, today=today, plan=plan, plan_words=question.words, assumed=assumed)
    made = replace(made, more=more)
    for line in not_known(entries_of(made.document), more):
        say(line)
    if out is None:
        print(as_markdown(made))
        return
    say(f"Wrote {reports.write_report(made, out, unfolded=appendix)}.")


def _refuse_input(out: Path | None) -> None:
    """Refuse to write a report over its plan or lock as soon as that is read: the advice takes seconds."""
    if out is not None:
        refuse_input(out)


def print_answer(document: OptionsDocument, output: AnswerOptions, *, plan_words: str | None) -> None:
    """Print an answer in the chosen form. `plan_words` names the plan in further commands."""
    if output.json:
        print_document(document)
        return
    if output.table:
        width = screen_width()
        screen = replace(_screen(document, plan_words), more=output.more)
        print_lines(screen_lines(screen, width=width, whole=output.all))
        if output.details:
            print_lines(details_lines(document, width=width))
    else:
        output.print_rows(option_rows(document, output.more), title=document.plan)
    for line in not_known(entries_of(document), output.more):
        say(line)


def _screen(document: OptionsDocument, plan_words: str | None) -> Screen:
    if isinstance(document, EstimateDocument):
        return estimate_screen(document, plan=plan_words)
    if isinstance(document, CampaignDocument):
        return campaign_screen(document, plan=plan_words)
    return comparison_screen(document, plan=plan_words)


def _comparison(question: PlanOptions, *, locked: bool) -> ComparisonDocument:
    if locked:
        document = _locked_answer(question).lock.comparison
        answer_ids.keep(document, today=clock.today(), plan_words=question.words)
        return document
    plan, today, assumed = question.read()
    document = plans.compare(plan, question.catalog(plan), today=today)
    answer_ids.keep(document, today=today, plan=plan, plan_words=question.words, assumed=assumed)
    return document


def _locked_answer(question: PlanOptions) -> LockedAnswer:
    """Return the frozen answer. Differences in this planner's computation are reported, and do not count."""
    if question.with_price_book:
        raise InputError(
            "--locked answers at the prices in the lock; --with-price-book would change them.",
            fix="Take one, or freeze again with: planner estimate PLAN --freeze --with-price-book",
        )
    answer = locks.locked_answer(question.plan)
    if answer.by_new_rules:
        say(
            f"Planner {answer.lock.planner_version} froze these inputs on {answer.lock.frozen_on}; "
            "they are ranked by today's rules."
        )
    elif answer.differs:
        say(
            f"The frozen numbers are shown. This planner ({planner_version()}) computes {len(answer.differs)} "
            f"numbers otherwise than {answer.lock.planner_version} did on {answer.lock.frozen_on}. "
            f"The first: {answer.differs[0]}."
        )
    return answer
