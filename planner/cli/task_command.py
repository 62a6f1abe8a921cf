"""`planner task WORKLOAD --on TARGET`: the SkyPilot task of a launch, as a file to run by hand."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Annotated

import typer

from planner.cli.launch_arguments import (
    BlockOption,
    GpusOption,
    ImageOption,
    MinutesOption,
    NodesOption,
    RegionOption,
    ReservationOption,
    SpotFlag,
    StoreOption,
    TierOption,
    read_terms,
)
from planner.cli.output import HomeOption, check_positive
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
from planner.model.network.workload import BenchMode, Checkpointing, Method, Strategy


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: planner task gpt-305m --on aws/p4d.24xlarge > task.yaml")(task)


def task(
    workload: WorkloadArgument,
    on: Annotated[str, typer.Option("--on", metavar="TARGET", help="One target, as for planner launch.")],
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
    from launcher.plan.task import task_yaml
    from planner.use_cases.launch_plan import plan_launches
    from planner.use_cases.launch_tasks import by_hand

    terms = read_terms(
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
    (planned,) = plan_launches(
        workload, [on], terms, settings, layers=layers, seq_len=seq_len, home=home, now=datetime.now(tz=UTC)
    )
    document, header = by_hand(planned.launch)
    sys.stdout.write(task_yaml(document, header=header))
