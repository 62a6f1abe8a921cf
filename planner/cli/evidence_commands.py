"""`planner evidence` and `planner accuracy`: the estimator's data, and how well it predicts."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from planner import clock
from planner.cli.output import HomeOption, JsonFlag, TableOptions
from planner.cli.registration import command, command_app, command_group
from planner.cli.streams import say
from planner.present.score_table import score_facts, score_rows
from planner.use_cases import catalogs
from planner.use_cases.published import evidence as published_evidence
from planner.use_cases.published.accuracy import accuracy as score

app = command_app()
evidence = command_group(app, "evidence", "List, check and add published measurements.")

TableFile = Annotated[Path, typer.Argument(metavar="FILE", help="CSV table of measurements")]
MOST_ANCHORS = 1000


class EvidenceSplit(StrEnum):
    """Groups that are left out of the evidence while their rows are predicted."""

    SOURCE = "source"
    FAMILY = "family"
    MODEL = "model"
    SCALE = "scale"
    PRECISION = "precision"


@command(evidence, "list", example="planner evidence list")
def list_evidence(output: TableOptions, home: HomeOption = None) -> None:
    """List the tables of measurements with their usable rows."""
    listed = published_evidence.evidence_list(catalogs.open_catalog(home), home)
    if output.json:
        print(json.dumps(listed, indent=1))
        return
    rows = [{name: str(value) for name, value in table.items()} for table in listed["tables"]]
    output.print_rows(rows, title="Evidence")
    say(f"Calibrated on {listed['calibrated_on']} from {listed['calibrated_rows']} measurements.")


@command(evidence, "check", example="planner evidence check mine.csv")
def check_evidence(file: TableFile, as_json: JsonFlag = False, home: HomeOption = None) -> None:
    """Check which rows of a table can be used, and why not the others."""
    checked = published_evidence.evidence_check(file, catalogs.open_catalog(home))
    if as_json:
        print(json.dumps(checked, indent=1))
        return
    codes = ", ".join(f"{count} {code}" for code, count in checked["excluded"].items())
    print(
        f"{checked['usable']} of {checked['rows']} rows can be fitted"
        + (f"; only predicted: {codes}." if codes else ".")
    )
    for reason, count in checked["refused"].items():
        print(f"{count}: {reason}")


@command(evidence, "add", example="planner evidence add mine.csv")
def add_evidence(file: TableFile, home: HomeOption = None) -> None:
    """Copy a table to the workspace, where accuracy uses it."""
    say(f"Added {published_evidence.evidence_add(file, catalogs.open_catalog(home), home)}.")


@command(app, example="planner accuracy --measurements mine.csv --anchors 3")
def accuracy(
    *,
    measurements: Annotated[
        Path | None, typer.Option(metavar="FILE", help="CSV table to predict; default: the bundled evidence")
    ] = None,
    anchors: Annotated[
        int,
        typer.Option(
            min=0,
            max=MOST_ANCHORS,
            help="Most informative runs fitted per setup",
        ),
    ] = 0,
    leave_out: Annotated[EvidenceSplit | None, typer.Option(help="Predict each group from the rows outside it")] = None,
    output: TableOptions,
    home: HomeOption = None,
) -> None:
    """Score predictions against measurements that were held out.

    Simple methods are scored beside them. Without --leave-out, no row of FILE is fitted; of the bundled evidence, one
    source after the other is left out. --anchors also fits the most informative runs of each machine and framework.
    """
    scores = score(
        measurements,
        catalogs.open_catalog(home),
        anchors=anchors,
        leave_out=None if leave_out is None else leave_out.value,
        today=clock.today(),
        home=home,
    )
    if output.json:
        print(json.dumps(scores, indent=1))
        return
    output.print_rows(score_rows(scores), title="Accuracy")
    for fact in score_facts(scores):
        say(fact)
