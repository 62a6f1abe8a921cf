"""`planner probe`: measures this machine's kernels one by one, so that estimates for it are sharp."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from planner.adapters.answer_store import kept_answer
from planner.adapters.workspace import workspace_dir
from planner.cli.launching.launch_options import AnswerOption
from planner.cli.output import HomeOption, JsonFlag, check_positive
from planner.cli.registration import command, command_app
from planner.cli.runs.probe_summary import probe_lines
from planner.cli.stop_signals import StopSignal, stop_signals
from planner.cli.streams import print_document, say
from planner.errors import StoppedError
from planner.launcher.bench import local
from planner.model.network.workload import BusyDevice
from planner.use_cases import catalogs, runs
from planner.use_cases.runs import probe_here, probe_settings

app = command_app()


@command(app, example="planner probe --data /data/tokens")
def probe(
    gpus: Annotated[int | None, typer.Option(help="Accelerators, or processes on a CPU; default: all accelerators")] = (
        None
    ),
    data: Annotated[str | None, typer.Option(metavar="PATH", help="Data folder, to see how fast it reads")] = None,
    busy_device: Annotated[
        BusyDevice, typer.Option(help="Refuse or measure anyway if others use a device")
    ] = BusyDevice.REFUSE,
    answer: AnswerOption = None,
    as_json: JsonFlag = False,
    home: HomeOption = None,
) -> None:
    """Measure this machine's kernels one by one, in a minute or two.

    The probe goes to the workspace; estimates for this machine use it. Needs the extra `bench` (docs/probe.md).
    """
    check_positive(gpus, "--gpus")
    answer_id = None if answer is None else kept_answer(answer).id
    catalog = catalogs.open_catalog(home)
    devices = gpus or max(1, local.cuda_devices())
    settings = probe_settings(folder=data, busy_device=busy_device, devices=devices)
    work_dir = workspace_dir(home) / "bench" / f"probe-{datetime.now(tz=UTC):%Y%m%d-%H%M%S-%f}"
    say(f"Probing this machine with {devices} process(es), for a minute or two.")
    try:
        with stop_signals():
            record = probe_here(catalog, settings, work_dir=work_dir)
    except StopSignal as stop:
        raise StoppedError(
            f"stopped by {stop.number.name}; every process of the probe has ended.",
            signal_number=stop.number,
            fix="Nothing was stored. Run it again.",
        ) from stop
    record = record.model_copy(update={"answer_id": answer_id})
    path = runs.store_probe(record, home)
    for line in probe_lines(record, catalog, path):
        say(line)
    if as_json:
        print_document(record)
