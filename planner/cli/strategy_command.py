"""`planner strategies`: would tensor, pipeline, context parallelism or another ZeRO stage change it?"""

from __future__ import annotations

import json
from typing import Annotated

import typer

from planner.cli.output import HomeOption, LongTableOptions, check_positive, print_lines, screen_width
from planner.cli.registration import command, command_app
from planner.cli.workload_options import AdapterOptions, WorkloadOptions
from planner.decide.options.display_name import machine_name
from planner.errors import EXIT_DONE, EXIT_NOTHING_FEASIBLE
from planner.model.catalog import Catalog
from planner.present.strategies_screen import strategies_lines
from planner.use_cases import catalogs, networks
from planner.use_cases.strategies import find_strategies

app = command_app()


@command(app, example="planner strategies qwen3-0.6b --on aws/p5e.48xlarge --nodes 4")
def strategies(
    workload: WorkloadOptions,
    on: Annotated[str, typer.Option("--on", metavar="MACHINE", help="Machine, e.g. aws/p5.48xlarge or rtx3090-x10")],
    adapters: AdapterOptions,
    *,
    nodes: Annotated[int, typer.Option(help="Number of machines")] = 1,
    accelerators: Annotated[int | None, typer.Option(help="Accelerators used per machine; default: all")] = None,
    global_batch: Annotated[int | None, typer.Option(help="Samples per optimizer step; default: a usual value")] = None,
    framework: Annotated[
        str | None, typer.Option(help="Training framework, e.g. Megatron-LM; default: our benchmark")
    ] = None,
    network_gbit_per_s: Annotated[
        float | None, typer.Option(help="Network of each machine; default: catalog's")
    ] = None,
    output: LongTableOptions,
    home: HomeOption = None,
) -> int:
    """Rank the parallel strategies that fit a machine.

    A strategy is a ZeRO stage with tensor, pipeline and context parallelism, a micro-batch and checkpointing.
    """
    for value, name in (
        (nodes, "--nodes"),
        (accelerators, "--accelerators"),
        (global_batch, "--global-batch"),
        (workload.seq_len, "--seq-len"),
        (network_gbit_per_s, "--network-gbit-per-s"),
    ):
        check_positive(value, name)
    catalog = catalogs.open_catalog(home)
    network = networks.find_architecture(workload.workload, catalog)
    ranking = find_strategies(
        workload.workload,
        network,
        on,
        catalog,
        nodes=nodes,
        accelerators=accelerators,
        global_batch=global_batch,
        seq_len=workload.seq_len,
        precision=workload.precision,
        adapters=adapters.adapters(network),
        framework=framework,
        network_gbit_per_s=network_gbit_per_s,
    )
    if output.json:
        print(json.dumps(ranking, indent=1))
    elif output.table:
        machine = _machine(on, catalog, nodes=nodes, accelerators=accelerators)
        print_lines(strategies_lines(ranking, machine, width=screen_width(), whole=output.all))
    else:
        rows = [{name: str(value) for name, value in way.items()} for way in ranking["ways"]]
        output.print_rows(rows, title="Strategies")
    return EXIT_DONE if ranking["ways"] else EXIT_NOTHING_FEASIBLE


def _machine(on: str, catalog: Catalog, *, nodes: int, accelerators: int | None) -> str:
    node = catalog.nodes[on]
    return machine_name(
        on,
        catalog.providers,
        accelerator=node.accelerator,
        accelerators=accelerators or node.accelerators,
        nodes=nodes,
    )
