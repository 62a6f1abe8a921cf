"""`planner launch WORKLOAD --on TARGET`: shows the bill, then runs the benchmark on other machines."""

from __future__ import annotations

import sys
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import Annotated

import typer

from planner.adapters.stored_prices.price_filter import NOTHING
from planner.cli.launching.bench_options import (
    BenchTrainingOptions,
    BenchWorkloadOptions,
    MeasurementOptions,
    read_settings,
)
from planner.cli.launching.launch_options import AnswerOption, LaunchLimitOptions, TargetOptions, read_terms
from planner.cli.launching.launch_screen import planned_lines
from planner.cli.launching.launch_view import conclude, watched
from planner.cli.launching.task_command import app
from planner.cli.output import DetailsFlag, HomeOption, JsonFlag, screen_width
from planner.cli.registration import command
from planner.cli.streams import lasting_output, print_document, say
from planner.errors import InputError, RefusedError
from planner.launcher.documents import LaunchDocument, PlannedLaunch
from planner.launcher.plan.guard import LaunchLimits, worst_total_usd
from planner.use_cases import catalogs
from planner.use_cases.launching.launch_documents import planned_document, state_of
from planner.use_cases.launching.launch_plan import Planned, plan_launches
from planner.use_cases.launching.launches import Launches
from planner.use_cases.runs import probe_settings


@dataclass(frozen=True, kw_only=True)
class LaunchWorkloadOptions(BenchWorkloadOptions):
    """Choice of the measurement: the training of a network, or kernels one by one."""

    workload: Annotated[
        str,
        typer.Argument(metavar="[WORKLOAD]", help="Network (gpt-305m), config.json or own file", show_default=False),
    ] = ""
    probe: Annotated[bool, typer.Option("--probe", help="Measure kernels one by one instead of a network")] = False

    def check(self) -> None:
        """Refuse counts below one, and a command with both or neither of a network and --probe."""
        super().check()
        if self.probe == bool(self.workload):
            raise InputError(
                f"WORKLOAD {self.workload} and --probe exclude each other."
                if self.probe
                else "neither WORKLOAD nor --probe is given, so there is nothing to measure.",
                fix="Name a network, e.g. gpt-305m, or give --probe alone.",
            )


@dataclass(frozen=True, kw_only=True)
class TermOptions:
    """Price, restarts, and the answer that suggested the launch."""

    usd_per_hour: Annotated[
        float | None, typer.Option(metavar="X", help="Price of a node-hour; default: the catalog's")
    ] = None
    managed: Annotated[
        bool, typer.Option("--managed", help="Run as a managed SkyPilot job, which restarts preempted nodes")
    ] = False
    answer: AnswerOption = None


@dataclass(frozen=True, kw_only=True)
class BillOptions:
    """Output options of the bill."""

    as_json: JsonFlag = False
    details: DetailsFlag = False


@command(app, example="planner launch gpt-305m --on aws/p4d.24xlarge --dry-run --json")
def launch(
    workload: LaunchWorkloadOptions,
    on: Annotated[
        list[str], typer.Option("--on", metavar="TARGET", help="Target, e.g. aws/p4d.24xlarge; may be repeated")
    ],
    target: TargetOptions,
    training: BenchTrainingOptions,
    measurement: MeasurementOptions,
    limits: LaunchLimitOptions,
    terms: TermOptions,
    output: BillOptions,
    home: HomeOption = None,
) -> None:
    """Run the benchmark on other machines, after showing the bill.

    Nothing is spent without --yes. The results come back as run records.

    With --probe, kernels are measured one by one in two minutes (docs/probe.md).

    Targets: aws/TYPE, lambda/TYPE, k8s/CONTEXT, ssh/POOL, slurm/CLUSTER, host/NAME, local.
    """
    if limits.dry_run and limits.yes:
        raise InputError("--dry-run and --yes contradict each other.", fix="Give one of them.")
    launch_terms = read_terms(target, usd_per_hour=terms.usd_per_hour, managed=terms.managed, answer=terms.answer)
    settings = read_settings(workload, training, measurement, here=False)
    workload.check()
    if workload.probe:
        settings = probe_settings(folder=measurement.data, busy_device=measurement.busy_device)
    planned = plan_launches(
        workload.workload,
        on,
        launch_terms,
        settings,
        layers=workload.layers,
        seq_len=workload.seq_len,
        home=home,
        now=datetime.now(tz=UTC),
    )
    launch_limits = limits.limits()
    with lasting_output(), closing(Launches(home, tell=say)) as launches:
        _check(launches, planned, launch_limits, home=home, quiet=output.as_json)
        checks = [launches.check_target(launch_plan.launch) if limits.check else () for launch_plan in planned]
        documents = [planned_document(launch_plan, check) for launch_plan, check in zip(planned, checks, strict=True)]
        document = LaunchDocument(
            dry_run=True, worst_case_usd=_worst_usd(planned), max_usd=limits.max_usd, launches=tuple(documents)
        )
        if limits.yes:
            say(_screen(documents, document.worst_case_usd, home, details=output.details))
        elif not output.as_json:
            print(_screen(documents, document.worst_case_usd, home, details=output.details))
        confirm = not (limits.yes or limits.dry_run or output.as_json or limits.check) and _can_answer()
        if limits.yes or (confirm and _user_confirms(document.worst_case_usd)):
            _start(launches, planned, launch_limits, document, as_json=output.as_json)
            return
        if output.as_json:
            print_document(document)
        _say_how_to_launch(planned)


def _check(launches: Launches, planned: list[Planned], limits: LaunchLimits, *, home: str | None, quiet: bool) -> None:
    """Raise RefusedError if the limits forbid the launches, after showing the bills."""
    try:
        launches.check(planned, limits)
    except RefusedError:
        if not quiet:
            say(_screen([planned_document(launch_plan) for launch_plan in planned], _worst_usd(planned), home))
        raise


def _start(
    launches: Launches, planned: list[Planned], limits: LaunchLimits, answer: LaunchDocument, *, as_json: bool
) -> None:
    """Launch, follow until the end, and print the outcome."""
    run_ids = [launch_plan.launch.run_id for launch_plan in planned]
    entries = watched(launches, run_ids, lambda view: launches.start(planned, limits, tick=view))
    if as_json:
        results = tuple(state_of(entry) for entry in entries)
        print_document(answer.model_copy(update={"dry_run": False, "results": results}))
    conclude(launches, entries)


def _screen(documents: list[PlannedLaunch], worst_usd: float | None, home: str | None, *, details: bool = False) -> str:
    providers = catalogs.open_catalog(home, wanted=NOTHING).providers
    lines = planned_lines(documents, providers, worst_usd=worst_usd, width=screen_width(), details=details)
    return "\n".join(lines)


def _worst_usd(planned: list[Planned]) -> float | None:
    """Return the worst case of all launches; None if no price is known."""
    bills = [launch_plan.launch.bill for launch_plan in planned]
    return worst_total_usd(bills) if any(bill.worst_case_usd is not None for bill in bills) else None


def _can_answer() -> bool:
    """Return whether a user can answer questions. A process may be started without any stdin."""
    return sys.stdin is not None and sys.stdin.isatty()


def _user_confirms(worst_usd: float | None) -> bool:
    cost = "at an unknown price" if worst_usd is None else f"for {worst_usd:,.2f} USD at worst"
    return typer.confirm(f"Launch {cost}?", default=False, err=True)


def _say_how_to_launch(planned: list[Planned]) -> None:
    say("Nothing was launched. To launch, add --yes.")
    if any(launch_plan.launch.target.through_sky for launch_plan in planned) and find_spec("sky") is None:
        say("This launch needs SkyPilot; install it with: pip install 'training-planner[launch]'")
