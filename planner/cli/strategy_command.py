"""`planner strategies`: ranks tensor, pipeline and context parallelism and ZeRO stages."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, ClassVar

import typer

from planner.cli.output import HomeOption, LongTableOptions, check_positive, print_lines, screen_width
from planner.cli.registration import command, command_app
from planner.cli.streams import say
from planner.cli.workload_options import FrameworkOption, MethodOptions, TrainerOptions, WorkloadOptions
from planner.decide.options.display_name import machine_name
from planner.errors import EXIT_DONE, EXIT_NOTHING_FEASIBLE, InputError
from planner.model.catalog import Catalog
from planner.model.network.trainer_memory import TrainerSettings
from planner.present.strategies_screen import strategies_lines
from planner.scenario.cluster import Cluster
from planner.scenario.training_setup import TrainingSetup
from planner.use_cases import catalogs, networks
from planner.use_cases.cluster_names import cluster_named
from planner.use_cases.strategies import find_strategies

app = command_app()


@dataclass(frozen=True, kw_only=True)
class MachineOptions:
    """Number of machines, and the network between them."""

    heading: ClassVar = "Machines"

    nodes: Annotated[int | None, typer.Option(help="Number of machines; default: 1")] = None
    accelerators: Annotated[int | None, typer.Option(help="Accelerators used per machine; default: all")] = None
    network_gbit_per_s: Annotated[float | None, typer.Option(help="Network of each machine; default: catalog's")] = None


@command(app, example="planner strategies qwen3-0.6b --on aws/p5e.48xlarge --nodes 4")
def strategies(
    workload: WorkloadOptions,
    on: Annotated[str, typer.Option("--on", metavar="MACHINE", help="E.g. aws/p5.48xlarge, 8xRTX-5090, 4x8xH100-SXM")],
    trainer: TrainerOptions,
    method: MethodOptions,
    machines: MachineOptions,
    *,
    global_batch: Annotated[int | None, typer.Option(help="Samples per optimizer step; default: a usual value")] = None,
    framework: FrameworkOption = None,
    output: LongTableOptions,
    home: HomeOption = None,
) -> int:
    """Rank the parallel strategies that fit a machine.

    A strategy is a ZeRO stage with tensor, pipeline and context parallelism, a micro-batch and checkpointing.
    """
    for value, name in (
        (machines.nodes, "--nodes"),
        (machines.accelerators, "--accelerators"),
        (global_batch, "--global-batch"),
        (workload.seq_len, "--seq-len"),
        (machines.network_gbit_per_s, "--network-gbit-per-s"),
    ):
        check_positive(value, name)
    catalog = catalogs.open_catalog(home)
    network = networks.find_architecture(workload.workload, catalog)
    cluster = _cluster(on, machines, catalog)
    asked = TrainingSetup(
        workload=workload.workload,
        seq_len=workload.seq_len,
        precision=workload.precision,
        global_batch=global_batch,
        objective=method.objective,
        adapters=method.adapters(network),
        framework=framework,
        settings=TrainerSettings.model_validate(trainer.stated),
    )
    ranking = find_strategies(network, on, cluster, asked, catalog)
    if output.json:
        print(json.dumps(ranking, indent=1))
    elif output.table:
        print_lines(strategies_lines(ranking, _machine(on, catalog, cluster), width=screen_width(), whole=output.all))
    else:
        rows = [{name: str(value) for name, value in way.items()} for way in ranking["ways"]]
        output.print_rows(rows, title="Strategies")
        if not rows:
            say(ranking["note"])
    return EXIT_DONE if ranking["ways"] else EXIT_NOTHING_FEASIBLE


def _cluster(on: str, machines: MachineOptions, catalog: Catalog) -> Cluster:
    """Return the machines that `--on` names, with the stated numbers of nodes and accelerators."""
    named = cluster_named(on, catalog)
    if machines.nodes is not None and named.nodes > 1:
        raise InputError(f"--on {on}: states {named.nodes} nodes, and so does --nodes.", fix="State them once.")
    per_node = machines.accelerators or named.accelerators_per_node
    if per_node > named.accelerators_per_node:
        has = named.accelerators_per_node
        raise InputError(
            f"--accelerators: {per_node} are asked for, but {on} has {has}.",
            fix=f"Write --on {per_node}x{named.accelerator.id}, or use --nodes.",
        )
    node = named.node
    if machines.network_gbit_per_s is not None:
        node = node.with_network(machines.network_gbit_per_s)
    return Cluster(named.accelerator, node, machines.nodes or named.nodes, per_node)


def _machine(on: str, catalog: Catalog, cluster: Cluster) -> str:
    if on not in catalog.nodes:
        nodes = f"{cluster.nodes}x" if cluster.nodes > 1 else ""
        return f"{nodes}{cluster.accelerators_per_node}x {cluster.accelerator.id}"
    return machine_name(
        on,
        catalog.providers,
        accelerator=cluster.accelerator.id,
        accelerators=cluster.accelerators_per_node,
        nodes=cluster.nodes,
    )
