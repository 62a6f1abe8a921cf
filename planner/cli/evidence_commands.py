"""`planner evidence`, `planner accuracy` and `planner audit`: the estimator's data, its errors, and claims."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from planner import clock
from planner.adapters.stored_prices.price_filter import EVERYTHING, NOTHING
from planner.cli.output import DetailsFlag, HomeOption, JsonFlag, TableOptions, print_lines, screen_width
from planner.cli.registration import command, command_app, command_group
from planner.cli.streams import print_document, say
from planner.present.run_check_screen import audit_lines
from planner.present.score_table import score_facts, score_rows
from planner.use_cases import catalogs
from planner.use_cases.audit import audit
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


@command(app, "audit", example="planner audit seed-004-p5e-h200 seed-004-onprem-a100")
def audit_(
    runs: Annotated[list[str] | None, typer.Argument(metavar="RUN...", help="Ids of runs, records, results")] = None,
    *,
    claim: Annotated[Path | None, typer.Option(metavar="FILE", help="YAML file of a document's claims")] = None,
    measurements: Annotated[
        Path | None, typer.Option(metavar="FILE", help="CSV table of published measurements, every row a run")
    ] = None,
    as_json: JsonFlag = False,
    details: DetailsFlag = False,
    home: HomeOption = None,
) -> None:
    """Check whether measurements and claims can be true.

    Holds them against physics, memory, catalog and evidence, and several runs against each other. What is impossible
    comes with every explanation and the cheapest run that tells. The exit code is 0 whatever the verdict.
    """
    catalog = catalogs.open_catalog(home, wanted=NOTHING if claim is None else EVERYTHING)
    document = audit(runs or [], claim=claim, measurements=measurements, catalog=catalog)
    if as_json:
        print_document(document)
    else:
        print_lines(audit_lines(document, width=screen_width(), details=details))
