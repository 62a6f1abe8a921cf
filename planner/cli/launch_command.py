"""`planner launch WORKLOAD --on TARGET`: the benchmark on any machine, the bill first."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

import typer

from planner.cli.launch_arguments import (
    BlockOption,
    GpusOption,
    ImageOption,
    ManagedFlag,
    MinutesOption,
    NodesOption,
    OnOption,
    RateOption,
    RegionOption,
    ReservationOption,
    SpotFlag,
    StoreOption,
    TierOption,
    not_negative,
    read_terms,
    read_time,
)
from planner.cli.output import HomeOption, JsonFlag, check_positive, print_document, say
from planner.cli.workload_options import (
    CalibrateFlag,
    ChannelsLastFlag,
    CheckpointingOption,
    CompileFlag,
    DataDtypeOption,
    DataOption,
    GlobalBatchOption,
    LayersOption,
    LoraRankOption,
    LoraTargetsOption,
    LossChunksOption,
    MethodOption,
    MicroBatchOption,
    ModeOption,
    PrecisionOption,
    QuickFlag,
    RepeatsOption,
    SeqLenOption,
    StrategyOption,
    WorkloadArgument,
    read_settings,
)
from planner.errors import InputError, RefusedError
from planner.model.network.workload import BenchMode, Checkpointing, Method, Strategy

if TYPE_CHECKING:
    from planner.use_cases.launch_plan import Planned


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: planner launch gpt-305m --on aws/p4d.24xlarge --dry-run --json")(launch)


def launch(
    workload: WorkloadArgument,
    on: OnOption,
    nodes: NodesOption = None,
    gpus: GpusOption = None,
    strategy: StrategyOption = Strategy.DDP,
    precision: PrecisionOption = None,
    layers: LayersOption = None,
    seq_len: SeqLenOption = None,
    mode: ModeOption = BenchMode.MATCHED,
    micro_batch: MicroBatchOption = None,
    global_batch: GlobalBatchOption = None,
    checkpointing: CheckpointingOption = Checkpointing.NONE,
    compiled: CompileFlag = False,
    loss_chunks: LossChunksOption = 1,
    method: MethodOption = Method.FULL,
    lora_rank: LoraRankOption = None,
    lora_targets: LoraTargetsOption = None,
    data: DataOption = None,
    data_dtype: DataDtypeOption = None,
    calibrate: CalibrateFlag = False,
    channels_last: ChannelsLastFlag = True,
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
    from planner.use_cases.launch_plan import plan_launches

    if dry_run and yes:
        raise InputError("--dry-run and --yes contradict each other.", fix="Give one of them.")
    terms = read_terms(
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
        store=store,
    )
    settings = read_settings(
        devices=1,
        here=False,
        strategy=strategy,
        precision=precision,
        mode=mode,
        micro_batch=micro_batch,
        global_batch=global_batch,
        checkpointing=checkpointing,
        compiled=compiled,
        loss_chunks=loss_chunks,
        method=method,
        lora_rank=lora_rank,
        lora_targets=lora_targets,
        data=data,
        data_dtype=data_dtype,
        calibrate=calibrate,
        channels_last=channels_last,
        repeats=repeats,
        quick=quick,
    )
    check_positive(layers, "--layers")
    check_positive(seq_len, "--seq-len")
    planned = plan_launches(
        workload, on, terms, settings, layers=layers, seq_len=seq_len, home=home, now=datetime.now(tz=UTC)
    )

    from launcher.documents import LaunchDocument
    from launcher.plan.guard import Limits, worst_total_usd
    from planner.cli.launch_view import bill_lines
    from planner.cli.launch_watch import conclude, watched
    from planner.use_cases.launches import Launches, planned_document, state_of

    limits = Limits(max_usd=not_negative(max_usd, "--max-usd"), deadline_at=read_time(deadline))
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


def _agrees(worst: float | None) -> bool:
    cost = "at a price that is not known" if worst is None else f"for {worst:,.2f} USD at worst"
    return typer.confirm(f"Launch {cost}?", default=False, err=True)


def _say_how_to_launch(planned: list[Planned]) -> None:
    say("Nothing was launched. To launch, add --yes.")
    if any(one.launch.target.through_sky for one in planned) and find_spec("sky") is None:
        say("SkyPilot carries this launch; install it with: pip install 'training-planner[launch]'")
