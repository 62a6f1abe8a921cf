"""`planner launch WORKLOAD --on TARGET` and `planner task`: the benchmark on any machine, the bill first."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from planner.cli.output import HomeOption, JsonFlag, check_positive, print_document, say
from planner.errors import InputError, RefusedError
from planner.model.workload import Checkpointing, Precision, Strategy
from planner.use_cases import catalogs, networks

if TYPE_CHECKING:
    from planner.use_cases.launch_plan import Planned
    from planner.use_cases.launch_target import Terms

WorkloadArgument = Annotated[
    str, typer.Argument(metavar="WORKLOAD", help="A preset (cpu-smoke, gpt-305m, ...) or an architecture file.")
]
OnOption = Annotated[
    list[str],
    typer.Option(
        "--on",
        metavar="TARGET",
        help="aws/TYPE, lambda/TYPE, k8s/CONTEXT, ssh/POOL, slurm/CLUSTER, host/NAME, local. Repeat for several.",
    ),
]
NodesOption = Annotated[int | None, typer.Option(help="Nodes of each target; default 1.", show_default=False)]
GpusOption = Annotated[
    str | None,
    typer.Option(
        metavar="[NAME:]COUNT",
        help="Processes on each node; k8s, ssh and slurm need the accelerator's name, e.g. H100:8.",
        show_default=False,
    ),
]
StrategyOption = Annotated[Strategy, typer.Option(help="How states and work are spread.")]
PrecisionOption = Annotated[Precision | None, typer.Option(help="Default: the workload's own.", show_default=False)]
MicroBatchOption = Annotated[
    int | None, typer.Option(help="Samples per device; default the workload's own.", show_default=False)
]
CheckpointingOption = Annotated[Checkpointing, typer.Option(help="Which activations are recomputed.")]
RepeatsOption = Annotated[int, typer.Option(help="Fresh starts; the median counts, the range is kept.")]
QuickFlag = Annotated[bool, typer.Option("--quick", help="Measure for seconds: a demonstration, not evidence.")]
SpotFlag = Annotated[bool, typer.Option("--spot", help="Cheaper, and the provider may take it away.")]
ReservationOption = Annotated[
    str | None, typer.Option(metavar="ID", help="An On-Demand Capacity Reservation, cr-...", show_default=False)
]
BlockOption = Annotated[
    str | None, typer.Option(metavar="ID", help="A Capacity Block that you bought, cr-...", show_default=False)
]
RateOption = Annotated[
    float | None,
    typer.Option(metavar="X", help="What a node costs an hour; default the catalog's.", show_default=False),
]
RegionOption = Annotated[str | None, typer.Option(help="Default: the cheapest.", show_default=False)]
TierOption = Annotated[str | None, typer.Option(metavar="standard|best", help="best: EFA on AWS.", show_default=False)]
ImageOption = Annotated[str | None, typer.Option(help="A container image or machine image.", show_default=False)]
ManagedFlag = Annotated[
    bool, typer.Option("--managed", help="As a SkyPilot managed job, which restarts preempted nodes.")
]
MinutesOption = Annotated[
    float | None, typer.Option(metavar="M", help="Of the job on the node; default by its window.", show_default=False)
]
StoreOption = Annotated[
    str | None,
    typer.Option(metavar="s3://...", help="Nodes push steps and results there meanwhile.", show_default=False),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(epilog="Example: planner launch gpt-305m --on aws/p4d.24xlarge --dry-run --json")(launch)
    app.command(epilog="Example: planner task gpt-305m --on aws/p4d.24xlarge > task.yaml")(task)


def launch(
    workload: WorkloadArgument,
    on: OnOption,
    nodes: NodesOption = None,
    gpus: GpusOption = None,
    strategy: StrategyOption = Strategy.DDP,
    precision: PrecisionOption = None,
    micro_batch: MicroBatchOption = None,
    checkpointing: CheckpointingOption = Checkpointing.NONE,
    repeats: RepeatsOption = 1,
    quick: QuickFlag = False,
    max_usd: Annotated[
        float | None, typer.Option(metavar="X", help="Of all targets together, at worst.", show_default=False)
    ] = None,
    max_minutes: MinutesOption = None,
    deadline: Annotated[
        str | None, typer.Option(metavar="TIME", help="Over by then: 2026-12-01T18:00, UTC.", show_default=False)
    ] = None,
    spot: SpotFlag = False,
    reservation: ReservationOption = None,
    capacity_block: BlockOption = None,
    usd_per_hour: RateOption = None,
    region: RegionOption = None,
    network_tier: TierOption = None,
    image: ImageOption = None,
    managed: ManagedFlag = False,
    store: StoreOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show bill and task; the default without --yes.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Let SkyPilot or the host try it, without spending.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Launch: spend up to the worst case.")] = False,
    as_json: JsonFlag = False,
    home: HomeOption = None,
) -> None:
    """Run the benchmark on other machines and bring the records home. Shows the bill; spends only with --yes."""
    if dry_run and yes:
        raise InputError("--dry-run and --yes contradict each other.", fix="Give one of them.")
    terms = _terms(
        nodes=nodes,
        gpus=gpus,
        spot=spot,
        reservation=reservation,
        capacity_block=capacity_block,
        usd_per_hour=usd_per_hour,
        region=region,
        network_tier=network_tier,
        image=image,
        managed=managed,
        max_minutes=max_minutes,
        starts=repeats,
        store=store,
    )
    planned = _plan(workload, on, terms, strategy, precision, micro_batch, checkpointing, quick=quick, home=home)

    from launcher.answer import LaunchDocument
    from launcher.guard import Limits, worst_total_usd
    from planner.cli.launch_view import bill_lines
    from planner.cli.launch_watch import conclude, watched
    from planner.use_cases.launches import Launches, planned_document, state_of

    limits = Limits(max_usd=_not_negative(max_usd, "--max-usd"), deadline_at=_time(deadline))
    launches = Launches(home)
    try:
        bills = [one.launch.bill for one in planned]
        try:
            launches.check(planned, limits)
        except RefusedError:
            if not as_json:
                for one in planned:
                    say("\n".join(bill_lines(planned_document(one))))
            raise
        checks = [launches.try_out(one.launch) if check else () for one in planned]
        documents = [planned_document(one, seen) for one, seen in zip(planned, checks, strict=True)]
        known = [bill for bill in bills if bill.worst_case_usd is not None]
        worst = worst_total_usd(bills) if known else None
        for_people = "\n".join(line for document in documents for line in bill_lines(document))
        if not yes:
            if not as_json:
                print(for_people)
            if dry_run or as_json or check or not sys.stdin.isatty() or not _agrees(worst):
                if as_json:
                    print_document(
                        LaunchDocument(dry_run=True, worst_case_usd=worst, max_usd=max_usd, launches=tuple(documents))
                    )
                _say_how_to_launch(planned)
                return
        else:
            say(for_people)
        run_ids = [one.launch.run_id for one in planned]
        entries = watched(launches, run_ids, lambda view: launches.start(planned, limits, tick=view))
        states = tuple(state_of(entry) for entry in entries)
        if as_json:
            print_document(
                LaunchDocument(
                    dry_run=False, worst_case_usd=worst, max_usd=max_usd, launches=tuple(documents), results=states
                )
            )
        conclude(launches, entries)
    finally:
        launches.close()


def task(
    workload: WorkloadArgument,
    on: Annotated[str, typer.Option("--on", metavar="TARGET", help="One target, as for planner launch.")],
    nodes: NodesOption = None,
    gpus: GpusOption = None,
    strategy: StrategyOption = Strategy.DDP,
    precision: PrecisionOption = None,
    micro_batch: MicroBatchOption = None,
    checkpointing: CheckpointingOption = Checkpointing.NONE,
    repeats: RepeatsOption = 1,
    quick: QuickFlag = False,
    max_minutes: MinutesOption = None,
    spot: SpotFlag = False,
    reservation: ReservationOption = None,
    capacity_block: BlockOption = None,
    region: RegionOption = None,
    network_tier: TierOption = None,
    image: ImageOption = None,
    store: StoreOption = None,
    home: HomeOption = None,
) -> None:
    """Print the SkyPilot task of a launch, which also runs by hand: sky launch task.yaml."""
    from launcher.task import task_yaml
    from planner.use_cases.launch_tasks import by_hand

    terms = _terms(
        nodes=nodes,
        gpus=gpus,
        spot=spot,
        reservation=reservation,
        capacity_block=capacity_block,
        usd_per_hour=None,
        region=region,
        network_tier=network_tier,
        image=image,
        managed=False,
        max_minutes=max_minutes,
        starts=repeats,
        store=store,
    )
    (planned,) = _plan(workload, [on], terms, strategy, precision, micro_batch, checkpointing, quick=quick, home=home)
    document, header = by_hand(planned.launch)
    sys.stdout.write(task_yaml(document, header=header))


def _plan(
    workload: str,
    on: list[str],
    terms: Terms,
    strategy: Strategy,
    precision: Precision | None,
    micro_batch: int | None,
    checkpointing: Checkpointing,
    *,
    quick: bool,
    home: str | None,
) -> list[Planned]:
    from planner.use_cases.launch_plan import plan_launch
    from planner.use_cases.launch_target import read_hosts
    from planner.use_cases.launch_tasks import spec_for

    check_positive(micro_batch, "--micro-batch")
    catalog = catalogs.open_catalog(home)
    target = networks.bench_workload(workload, catalog)
    window = target.quick_window if quick else target.window
    spec = spec_for(
        target,
        strategy=strategy,
        precision=precision,
        micro_batch=micro_batch,
        checkpointing=checkpointing,
        quick=quick,
    )
    if len(set(on)) != len(on):
        raise InputError("--on: a target stands there twice.", fix="Name each once; --repeats measures it again.")
    for value, name in ((terms.usd_per_hour, "--usd-per-hour"), (terms.reservation, terms.reservation)):
        if value is not None and len(on) > 1:
            raise InputError(f"{name}: is of one machine, and {len(on)} targets are named.", fix="Launch it alone.")
    hosts, now = read_hosts(home), datetime.now(tz=UTC)
    return [plan_launch(text, target, spec, window, terms, catalog=catalog, hosts=hosts, now=now) for text in on]


def _terms(
    *,
    spot: bool,
    reservation: str | None,
    capacity_block: str | None,
    network_tier: str | None,
    nodes: int | None,
    starts: int,
    max_minutes: float | None,
    usd_per_hour: float | None,
    gpus: str | None,
    region: str | None,
    image: str | None,
    managed: bool,
    store: str | None,
) -> Terms:
    from planner.use_cases.launch_target import Terms

    given = [
        name
        for name, value in (
            ("--spot", spot or None),
            ("--reservation", reservation),
            ("--capacity-block", capacity_block),
        )
        if value is not None
    ]
    if len(given) > 1:
        raise InputError(f"{' and '.join(given)}: a machine is bought in one way.", fix="Give one of them.")
    check_positive(nodes, "--nodes")
    check_positive(starts, "--repeats")
    if max_minutes is not None and not 0 < max_minutes <= 7 * 24 * 60:
        raise InputError(f"--max-minutes {max_minutes:g}: must be over 0 and at most a week.")
    tier: Literal["standard", "best"] | None = None
    if network_tier in ("standard", "best"):
        tier = network_tier  # type: ignore[assignment]
    elif network_tier is not None:
        raise InputError(f"--network-tier {network_tier}: is neither standard nor best.")
    if store is not None and not store.startswith("s3://"):
        raise InputError(f"--store {store}: is no S3 address.", fix="Write s3://bucket/prefix.")
    purchase = {"--spot": "spot", "--reservation": "reservation", "--capacity-block": "capacity_block"}
    return Terms(
        nodes=nodes,
        gpus=gpus,
        purchase=purchase[given[0]] if given else "on_demand",  # type: ignore[arg-type]
        reservation=reservation or capacity_block,
        region=region,
        network_tier=tier,
        image=image,
        managed=managed,
        usd_per_hour=_not_negative(usd_per_hour, "--usd-per-hour"),
        max_minutes=max_minutes,
        starts=starts,
        store=store.rstrip("/") if store else None,
    )


def _not_negative(value: float | None, name: str) -> float | None:
    if value is not None and not 0 <= value < float("inf"):
        raise InputError(f"{name} {value:g}: must be 0 or more.")
    return value


def _time(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise InputError(f"--deadline {text}: is no time.", fix="Write e.g. 2026-12-01T18:00, in UTC.") from None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def _agrees(worst: float | None) -> bool:
    cost = "at a price that is not known" if worst is None else f"for {worst:,.2f} USD at worst"
    return typer.confirm(f"Launch {cost}?", default=False, err=True)


def _say_how_to_launch(planned: list[Planned]) -> None:
    say("Nothing was launched. To launch, add --yes.")
    if any(one.launch.target.through_sky for one in planned) and find_spec("sky") is None:
        say("SkyPilot carries this launch; install it with: pip install 'training-planner[launch]'")
