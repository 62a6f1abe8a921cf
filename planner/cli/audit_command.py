"""`planner audit [RUN ...]`: can this be true, is this comparison fair."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from planner.adapters.stored_prices.price_filter import EVERYTHING, NOTHING
from planner.cli.output import DetailsFlag, HomeOption, JsonFlag, print_lines, screen_width
from planner.cli.registration import command, command_app
from planner.cli.streams import print_document
from planner.present.audit_screen import audit_lines
from planner.use_cases import catalogs
from planner.use_cases.audit import audit

app = command_app()


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
