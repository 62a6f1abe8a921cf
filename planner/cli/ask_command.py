"""`planner ask`: answers one question on the command line, as `compare` answers a plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from planner import clock
from planner.adapters.documents import parse_model
from planner.adapters.files import write_text
from planner.cli.number_arguments import short_number
from planner.cli.output import HomeOption, check_positive
from planner.cli.plan_commands import WRITE_A_PLAN, AnswerOptions, print_answer
from planner.cli.registration import command, command_app
from planner.cli.runs.import_command import may_ask
from planner.cli.streams import say
from planner.cli.workload_options import MethodOptions, NetworkOption, TrainingOptions
from planner.errors import EXIT_NOTHING_FEASIBLE, InputError
from planner.model.plan.find_filters import FindFilters
from planner.text.number_text import read_number
from planner.use_cases import answer_ids, catalogs
from planner.use_cases.asking.ask import answer_of, plan_of_question
from planner.use_cases.asking.question import MissingAnswerError, QuestionPlan, TrainingQuestion
from planner.use_cases.asking.stated_files import run_of_log
from planner.use_cases.catalogs import country_code
from planner.use_cases.find import plan_text
from planner.use_cases.plans import assumed_lines

app = command_app()
WRITTEN = "# Written by planner ask"
"""First line of a plan file that the next question may replace."""
MOST_QUESTIONS = 5


@dataclass(frozen=True, kw_only=True)
class WorkOptions:
    """Amount and form of what is trained."""

    heading: ClassVar = "Training"

    data: Annotated[
        str | None, typer.Option(metavar="NxM", help="Samples x mean tokens (50000x700), or samples alone")
    ] = None
    tokens: Annotated[
        float | None,
        typer.Option(parser=short_number, metavar="N", help="Tokens of the training (50B), instead of --data"),
    ] = None
    epochs: Annotated[float | None, typer.Option(help="Times over the data; default: 1")] = None
    seq_len: Annotated[int | None, typer.Option(help="Tokens per sequence; default: by the data, at most usual")] = None
    log: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Trainer's log: network, batch and speed on --own")
    ] = None


@dataclass(frozen=True, kw_only=True)
class LimitOptions:
    """Machines, deadline and budget."""

    heading: ClassVar = "Machines and limits"

    own: Annotated[
        list[str] | None, typer.Option(metavar="NxCARD", help="What you have: 2xRTX-3090, 4x8xH100, or a site")
    ] = None
    on: Annotated[
        list[str] | None, typer.Option(metavar="OFFER", help="Offer (aws/p5.48xlarge, p4d); default: the best dozen")
    ] = None
    network: NetworkOption = None
    budget: Annotated[float | None, typer.Option(metavar="USD", help="Budget for all of it")] = None
    by: Annotated[str | None, typer.Option(metavar="DATE", help="Done by 2027-06-30, 2027-06, or in 3w")] = None
    runs: Annotated[int | None, typer.Option(help="Trainings; default: 1")] = None
    kwh: Annotated[float | None, typer.Option(metavar="USD", help="Price of a kWh; default: by --country")] = None
    country: Annotated[
        str | None, typer.Option(metavar="CC", help="Where your machines stand: DE, KR; default: not known")
    ] = None


@command(app, example="planner ask llama3-8b --method lora --data 50000x700 --epochs 3 --own 2xRTX-3090 --budget 300")
def ask(
    workload: Annotated[
        str | None,
        typer.Argument(metavar="WORKLOAD", help="Network (llama3-8b), config.json, trainer's file, or a run's id"),
    ] = None,
    *,
    work: WorkOptions,
    training: TrainingOptions,
    method: MethodOptions,
    limits: LimitOptions,
    write: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the question as a plan, to go on from")
    ] = None,
    output: AnswerOptions,
    home: HomeOption = None,
) -> int:
    """Answer one question: which machines, how long, what cost.

    Answers as `planner compare` does, and says what it assumed and which option changes it. On a terminal it asks for
    what is missing. The exit code is 3 where no option meets the limits.
    """
    for value, name in ((work.tokens, "--tokens"), (work.seq_len, "--seq-len"), (limits.runs, "--runs")):
        check_positive(value, name)
    if limits.budget is not None and limits.budget < 0:
        raise InputError(f"--budget {limits.budget:g} is below 0.", fix="Write USD, as --budget 300.")
    if limits.kwh is not None and limits.kwh < 0:
        raise InputError(f"--kwh {limits.kwh:g} is below 0.", fix="Write USD, as --kwh 0.17.")
    if write is not None:
        _check_place(write)
    catalog = catalogs.audited(catalogs.open_catalog(home))
    question = TrainingQuestion(
        workload=workload,
        data=work.data,
        tokens=work.tokens,
        epochs=work.epochs,
        seq_len=work.seq_len,
        training=training.training,
        objective=method.objective,
        adapters=method.adapters,
        own=tuple(limits.own or ()),
        on=tuple(limits.on or ()),
        filters=parse_model(FindFilters, {"network_gbit_per_s": limits.network}, where="planner ask"),
        budget=limits.budget,
        by=limits.by,
        runs=limits.runs,
        kwh=limits.kwh,
        country=country_code(limits.country, catalog),
    )
    if work.log is not None:
        question = replace(question, log=run_of_log(work.log, question, catalog))
    asked = _completed_question(
        question, lambda asked_question: plan_of_question(asked_question, catalog, today=clock.today())
    )
    document, answered = answer_of(asked, catalog, now=clock.now())
    if write is not None:
        write_text(write, f"{WRITTEN}; answer it with: planner compare {write}\n{plan_text(asked.plan)}")
    given = None if write is None else str(write)
    answer_ids.keep(document, today=answered.today, plan=answered.plan, plan_words=given, assumed=answered.assumed)
    print_answer(document, output, plan_words=given)
    if question.log is not None:
        say(f"Read: {question.log.throughput.source}.")
    for line in assumed_lines(answered.assumed):
        say(line)
    say(WRITE_A_PLAN if write is None else f"Wrote {write}.")
    return 0 if document.feasible else EXIT_NOTHING_FEASIBLE


def _completed_question(question: TrainingQuestion, answer: Callable[[TrainingQuestion], QuestionPlan]) -> QuestionPlan:
    """Ask on a terminal for what is missing, at most five times. Elsewhere the error names the option."""
    if not may_ask():
        return answer(question)
    question = _with_limits(question)
    for _ in range(MOST_QUESTIONS - len(LIMITS)):
        try:
            return answer(question)
        except MissingAnswerError as missing:
            shown = missing.example.removeprefix("planner ask ").partition(", or --")[0]
            given = typer.prompt(f"{missing.what.capitalize()}? ({shown})", err=True)
            name = "data" if missing.flag == "--data" else "workload"
            question = replace(question, **{name: given})
    return answer(question)


LIMITS = (
    "Which cards do you have? (2xRTX-3090; empty: none)",
    "How many USD may it cost? (empty: no limit)",
    "Until when? (2027-06-30; empty: no deadline)",
)


def _with_limits(question: TrainingQuestion) -> TrainingQuestion:
    """Ask for the limits if only a name was given."""
    if question.own or question.on or question.budget is not None or question.by or question.data or question.tokens:
        return question
    own, budget, by = (typer.prompt(text, default="", show_default=False, err=True).strip() for text in LIMITS)
    return replace(question, own=(own,) if own else (), budget=_usd(budget) if budget else None, by=by or None)


def _usd(text: str) -> float:
    try:
        return read_number(text)
    except ValueError:
        raise InputError(f"'{text}' is not an amount of USD.", fix="Write 300.") from None


def _check_place(path: Path) -> None:
    """Refuse to replace a file that was not written by an earlier question."""
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: is not an ordinary file.", fix="Name another with --write.")
    if path.is_file():
        with path.open("rb") as file:
            if not file.read(len(WRITTEN)).decode("utf-8", "replace").startswith(WRITTEN):
                raise InputError(
                    f"{path}: is not a plan of planner ask; nothing was changed.", fix="Name another: --write"
                )
