"""`planner strategies`: would tensor, pipeline, context parallelism or another ZeRO stage change it?"""

from __future__ import annotations

import json
from typing import Annotated

import typer

from planner.cli.bench_arguments import adapters_for
from planner.cli.output import Format, FormatOption, HomeOption, JsonFlag, check_positive, print_rows, say
from planner.cli.workload_options import (
    LoraFrozenOption,
    LoraKindOption,
    LoraRankOption,
    LoraTargetsOption,
    MethodChoice,
    PrecisionOption,
    SeqLenOption,
    WorkloadArgument,
)
from planner.errors import EXIT_DONE, EXIT_NOTHING_FEASIBLE
from planner.use_cases import catalogs, networks


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: planner strategies qwen3-0.6b --on aws/p5e.48xlarge --nodes 4")(strategies)


def strategies(
    workload: WorkloadArgument,
    on: Annotated[str, typer.Option("--on", metavar="MACHINE", help="A node: aws/p5.48xlarge, rtx3090-x10, ...")],
    nodes: Annotated[int, typer.Option(help="How many of the machine.")] = 1,
    accelerators: Annotated[
        int | None, typer.Option(help="Of each machine that are used; default all.", show_default=False)
    ] = None,
    global_batch: Annotated[
        int | None, typer.Option(help="Samples of one optimizer step; default: what is usual.", show_default=False)
    ] = None,
    seq_len: SeqLenOption = None,
    precision: PrecisionOption = None,
    method: MethodChoice = None,
    lora_kind: LoraKindOption = None,
    lora_rank: LoraRankOption = None,
    lora_targets: LoraTargetsOption = None,
    lora_frozen: LoraFrozenOption = None,
    framework: Annotated[
        str | None, typer.Option(help='What trains it: "HF Trainer, liger", Megatron-LM, ... Default our benchmark.')
    ] = None,
    as_json: JsonFlag = False,
    form: FormatOption = None,
    home: HomeOption = None,
) -> int:
    """Rank the ways to spread a training over a machine: strategy, splits, micro-batch, checkpointing that fit."""
    from planner.use_cases.strategies import find_strategies

    for value, name in (
        (nodes, "--nodes"),
        (accelerators, "--accelerators"),
        (global_batch, "--global-batch"),
        (seq_len, "--seq-len"),
    ):
        check_positive(value, name)
    catalog = catalogs.open_catalog(home)
    network = networks.find_architecture(workload, catalog)
    found = find_strategies(
        workload,
        network,
        on,
        catalog,
        nodes=nodes,
        accelerators=accelerators,
        global_batch=global_batch,
        seq_len=seq_len,
        precision=precision,
        adapters=adapters_for(network, method, lora_kind, lora_rank, lora_targets, lora_frozen),
        framework=framework,
    )
    if as_json or form is Format.JSON:
        print(json.dumps(found, indent=1))
    else:
        rows = [{name: str(value) for name, value in way.items()} for way in found["ways"]]
        print_rows(rows, form, title="Strategies")
        say(found["note"])
    return EXIT_DONE if found["ways"] else EXIT_NOTHING_FEASIBLE
