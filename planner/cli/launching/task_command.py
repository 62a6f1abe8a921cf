"""`planner task WORKLOAD --on TARGET`: the SkyPilot task of a launch, as a file to run by hand."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Annotated

import typer

from planner.cli.launching.bench_options import (
    BenchTrainingOptions,
    BenchWorkloadOptions,
    MeasurementOptions,
    read_settings,
)
from planner.cli.launching.launch_options import TargetOptions, read_terms
from planner.cli.output import HomeOption
from planner.cli.registration import command, command_app
from planner.launcher.plan.task import task_yaml
from planner.use_cases.launching.launch_documents import by_hand
from planner.use_cases.launching.launch_plan import plan_launches

app = command_app()


@command(app, example="planner task gpt-305m --on aws/p4d.24xlarge > task.yaml")
def task(
    workload: BenchWorkloadOptions,
    on: Annotated[str, typer.Option("--on", metavar="TARGET", help="One target, as in planner launch")],
    training: BenchTrainingOptions,
    measurement: MeasurementOptions,
    target: TargetOptions,
    home: HomeOption = None,
) -> None:
    """Print the SkyPilot task of a launch, to run by hand.

    Run it with: sky launch task.yaml
    """
    terms = read_terms(target)
    settings = read_settings(workload, training, measurement, here=False)
    workload.check()
    (planned,) = plan_launches(
        workload.workload,
        [on],
        terms,
        settings,
        layers=workload.layers,
        seq_len=workload.seq_len,
        home=home,
        now=datetime.now(tz=UTC),
    )
    document, header = by_hand(planned.launch)
    sys.stdout.write(task_yaml(document, header=header))
