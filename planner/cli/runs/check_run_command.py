"""`planner check-run PATH|ID`: is this run normal?"""

from __future__ import annotations

from typing import Annotated

import typer

from planner import clock
from planner.adapters.stored_prices.price_filter import NOTHING
from planner.cli.output import DetailsFlag, HomeOption, JsonFlag, print_lines, screen_width
from planner.cli.registration import command, command_app
from planner.cli.runs.import_command import FactOptions
from planner.cli.streams import print_document
from planner.present.run_check_screen import run_check_lines
from planner.use_cases import answer_ids, catalogs
from planner.use_cases.importing.check_run import check_run
from planner.use_cases.importing.imported_runs import run_named

app = command_app()


@command(app, "check-run", example="planner check-run out/ --workload llama3-8b --accelerator RTX-3090 --gpus 2")
def check(
    run: Annotated[str, typer.Argument(metavar="PATH|ID", help="A log, a result, or a run's id")],
    facts: FactOptions,
    *,
    details: DetailsFlag = False,
    as_json: JsonFlag = False,
    home: HomeOption = None,
) -> None:
    """Check whether a run is as fast as it should be, and why not.

    Compares it with published runs; names what may hold it back, what each fix gives, and the cheapest test.
    """
    catalog = catalogs.audited(catalogs.open_catalog(home, wanted=NOTHING))
    document = check_run(run_named(run, facts.stated(), catalog), catalog)
    answer_ids.keep(document, today=clock.today())
    if as_json:
        print_document(document)
    else:
        print_lines(run_check_lines(document, width=screen_width(), details=details))
