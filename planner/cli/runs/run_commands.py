"""`planner runs add|import|list|show|scaling|ratio|export`, and `planner check-run`: is a run normal?"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from planner import clock
from planner.adapters.files import write_text
from planner.adapters.stored_prices.price_filter import NOTHING
from planner.cli.output import DetailsFlag, Format, HomeOption, JsonFlag, TableOptions, print_lines, screen_width
from planner.cli.registration import command, command_app, command_group
from planner.cli.runs.import_command import FactOptions, import_logs
from planner.cli.runs.run_summary import print_scaling
from planner.cli.streams import print_document, say
from planner.errors import InputError
from planner.model.base import SCHEMA_VERSION
from planner.model.evidence.run import RunRecord
from planner.present.run_check_screen import run_check_lines
from planner.present.table import WRITERS, origin_of, probe_rows, quantity_text, run_rows
from planner.use_cases import answer_ids, catalogs, runs
from planner.use_cases.expectations import expect_from
from planner.use_cases.importing.check_run import check_run
from planner.use_cases.importing.imported_runs import run_named
from planner.use_cases.launching.launch_plan import by_hand_record
from planner.use_cases.runs import probe_in, read_result, records_in

app = command_app()
runs_group = command_group(app, "runs", "List, add, compare and export measured runs.")


@command(runs_group, example="planner runs add result.json")
def add(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Run records, probes or benchmark results")],
    target: Annotated[
        str | None, typer.Option(metavar="T", help="Where results were measured, as in planner launch --on")
    ] = None,
    usd_per_hour: Annotated[
        float | None, typer.Option(metavar="X", help="Price of a node-hour of --target; default: the catalog's")
    ] = None,
    home: HomeOption = None,
) -> None:
    """Add runs and probes to the workspace.

    All files are checked before the first is stored.
    """
    if usd_per_hour is not None and target is None:
        raise InputError("--usd-per-hour: says nothing without --target.", fix="Add --target, e.g. aws/p4d.24xlarge.")
    records, probes = [], []
    expect = expect_from(catalogs.open_catalog(home))
    for path in files:
        probe = probe_in(path)
        if probe is not None:
            probes.append(probe)
            continue
        records += records_in(path, expect) if target is None else [_launched_by_hand(path, target, usd_per_hour, home)]
    ids = [record.id for record in records]
    twice = next((run_id for run_id in ids if ids.count(run_id) > 1), None)
    if twice is not None and any(record != records[ids.index(twice)] for record in records if record.id == twice):
        raise InputError(f"two different runs have the id '{twice}'.", fix="Give one of them another id.")
    for record, place in zip(records, runs.store_runs(records, home), strict=True):
        say(f"Added {record.id}: {place}")
    for probe in probes:
        say(f"Added {probe.id}: {runs.store_probe(probe, home)}")


def _launched_by_hand(path: Path, target: str, usd_per_hour: float | None, home: str | None) -> RunRecord:
    """Read a benchmark result and join it with the target it was measured on."""
    data = read_result(path, fix="With --target, give the result.json of a benchmark.")
    catalog = catalogs.open_catalog(home)
    today = clock.today()
    return by_hand_record(
        data, target, usd_per_hour=usd_per_hour, catalog=catalog, home=home, where=str(path), today=today
    )


command(runs_group, "import", example="planner runs import out/ --workload llama3-8b --accelerator RTX-3090 --gpus 2")(
    import_logs
)


@command(runs_group, "list", example="planner runs list --json")
def list_runs(output: TableOptions, home: HomeOption = None) -> None:
    """List every run, bundled ones included, and every probe.

    Probes stand in the table and in the JSON document.
    """
    catalog = catalogs.open_catalog(home)
    if output.json:
        records = [
            {"id": run.id, "origin": origin_of(run, catalog)} | run.model_dump(mode="json", exclude={"id"})
            for run in catalog.runs.values()
        ]
        probes = [probe.model_dump(mode="json") for probe in catalog.probes.values()]
        print(_runs_document(records, **({"probes": probes} if probes else {})))
        return
    output.print_rows(run_rows(catalog), title="Runs")
    if catalog.probes and output.table:
        output.print_rows(probe_rows(catalog), title="Probes")


@command(runs_group, example="planner runs show latest")
def show(
    run_id: Annotated[str, typer.Argument(metavar="ID", help="Id of a run or a probe, or latest")],
    home: HomeOption = None,
) -> None:
    """Print one run record, or one probe, as JSON."""
    catalog = catalogs.open_catalog(home)
    probe = catalog.probes.get(run_id)
    print_document(runs.find_run(run_id, catalog) if probe is None else probe)


@command(runs_group, example="planner runs scaling seed-003-rtx3090-ddp-x1 seed-003-rtx3090-ddp-x8")
def scaling(
    run_ids: Annotated[list[str], typer.Argument(metavar="ID...", help="Runs of one workload on several counts")],
    output: TableOptions,
    home: HomeOption = None,
) -> None:
    """Show speed-up and efficiency of runs on several counts.

    They are relative to the smallest count.
    """
    print_scaling(runs.scaling(run_ids, catalogs.open_catalog(home)), output)


@command(runs_group, example="planner runs ratio gpt-305m-cuda-x1-20261121 seed-003-rtx3090-ddp-x1")
def ratio(
    run_id: Annotated[str, typer.Argument(metavar="ID", help="Run id")],
    base_id: Annotated[str, typer.Argument(metavar="BASE_ID", help="Run to compare with")],
    as_json: JsonFlag = False,
    home: HomeOption = None,
) -> None:
    """Compare two runs' speed per accelerator.

    The ratio is meant for tuned runs of one workload.
    """
    document = runs.ratio(run_id, base_id, catalogs.open_catalog(home))
    if as_json:
        print_document(document)
    else:
        print(
            f"{document.accelerator} / {document.base_accelerator} on {document.workload}: "
            f"{quantity_text(document.ratio)}, {document.mode.value if document.mode else 'modes mixed or not stated'}"
        )
    for doubt in document.doubts:
        say(f"Doubt: {doubt}.")


@command(runs_group, example="planner runs export --out runs.json")
def export(
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="File to write; default: stdout")] = None,
    form: Annotated[
        Format, typer.Option("--format", show_default=False, help="Output format; default: json")
    ] = Format.JSON,
    home: HomeOption = None,
) -> None:
    """Write your own runs as JSON or as a table.

    `planner runs add` reads the JSON document, which is the default.
    """
    catalog = catalogs.open_catalog(home)
    own = {run_id: run for run_id, run in catalog.runs.items() if run_id not in catalog.bundled_runs}
    if form is Format.JSON:
        text = _runs_document([run.model_dump(mode="json") for run in own.values()]) + "\n"
    else:
        rows = run_rows(catalog.model_copy(update={"runs": own}))
        text = WRITERS["tsv" if form is Format.TABLE else form.value](rows)
    if out is None:
        sys.stdout.write(text)
    else:
        write_text(out, text)
        say(f"Wrote {len(own)} run(s) to {out}.")


def _runs_document(records: list[dict[str, object]], **beside: list[dict[str, object]]) -> str:
    return json.dumps({"schema_version": SCHEMA_VERSION, "kind": "runs", "runs": records, **beside}, indent=1)


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
