"""`planner evidence` and `planner accuracy`: what the estimator learnt from, and how well it predicts."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from planner import clock
from planner.cli.output import Format, FormatOption, HomeOption, JsonFlag, print_rows, say
from planner.use_cases import catalogs

evidence = typer.Typer(help="Published measurements that the estimator learns from.", no_args_is_help=True)

TableFile = Annotated[Path, typer.Argument(metavar="FILE", help="A CSV table of measurements.")]
MOST_ANCHORS = 1000


class Split(StrEnum):
    """What is left out of the evidence while its rows are predicted."""

    SOURCE = "source"
    FAMILY = "family"
    MODEL = "model"
    SCALE = "scale"
    PRECISION = "precision"


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(evidence, name="evidence")
    app.command(epilog="Example: planner accuracy --measurements mine.csv --anchors 3")(accuracy)


@evidence.command("list", epilog="Example: planner evidence list")
def list_evidence(as_json: JsonFlag = False, form: FormatOption = None, home: HomeOption = None) -> None:
    """Count the evidence by table and accelerator."""
    from planner.use_cases.evidence import evidence_list

    found = evidence_list(catalogs.open_catalog(home), home)
    if as_json or form is Format.JSON:
        print(json.dumps(found, indent=1))
        return
    print_rows(
        [{name: str(value) for name, value in table.items()} for table in found["tables"]], form, title="Evidence"
    )
    say(f"Calibrated on {found['calibrated_on']} from {found['calibrated_rows']} measurements.")


@evidence.command("check", epilog="Example: planner evidence check mine.csv")
def check_evidence(file: TableFile, as_json: JsonFlag = False, home: HomeOption = None) -> None:
    """Say which rows of a table can be used, and why the others cannot."""
    from planner.use_cases.evidence import evidence_check

    found = evidence_check(file, catalogs.open_catalog(home))
    if as_json:
        print(json.dumps(found, indent=1))
        return
    print(f"{found['usable']} of {found['rows']} rows can teach, {found['weak']} are weak.")
    for reason, count in found["refused"].items():
        print(f"{count}: {reason}")


@evidence.command("add", epilog="Example: planner evidence add mine.csv")
def add_evidence(file: TableFile, home: HomeOption = None) -> None:
    """Copy a table into the workspace: it is listed, and `planner accuracy` learns from it."""
    from planner.use_cases.evidence import evidence_add

    say(f"Added {evidence_add(file, catalogs.open_catalog(home), home)}.")


def accuracy(
    measurements: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A CSV table; default: the bundled evidence.", show_default=False),
    ] = None,
    anchors: Annotated[
        int,
        typer.Option(
            min=0, max=MOST_ANCHORS, help="Runs of each machine and framework that are known: the telling ones."
        ),
    ] = 0,
    leave_out: Annotated[
        Split | None, typer.Option(help="Predict rows from all rows that do not share this.", show_default=False)
    ] = None,
    as_json: JsonFlag = False,
    form: FormatOption = None,
    home: HomeOption = None,
) -> None:
    """Predict measurements that the estimator did not see, and score it beside the naive methods.

    Without --leave-out no row of FILE teaches. The default is the bundled evidence, one source left out at a time.
    """
    from planner.present.score_table import score_facts, score_rows
    from planner.use_cases.evidence import accuracy as run_accuracy

    found = run_accuracy(
        measurements,
        catalogs.open_catalog(home),
        anchors=anchors,
        leave_out=None if leave_out is None else leave_out.value,
        today=clock.today(),
        home=home,
    )
    if as_json or form is Format.JSON:
        print(json.dumps(found, indent=1))
        return
    print_rows(score_rows(found), form, title="Accuracy")
    for fact in score_facts(found):
        say(fact)
