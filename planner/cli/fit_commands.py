"""`planner memory` and `planner strategies`: whether a training fits a device, and how to divide it over devices."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, ClassVar

import typer

from planner import clock
from planner.cli.output import (
    DetailsFlag,
    HomeOption,
    LongTableOptions,
    TableOptions,
    check_positive,
    print_lines,
    screen_width,
)
from planner.cli.registration import command, command_app
from planner.cli.streams import print_document, say
from planner.cli.workload_options import FrameworkOption, MethodOptions, TrainerOptions, WorkloadOptions
from planner.decide.options.display_name import machine_name
from planner.errors import EXIT_DONE, EXIT_NOTHING_FEASIBLE, InputError
from planner.model.answer.memory_answer import MemoryDocument
from planner.model.catalog import Catalog
from planner.model.network.trainer_memory import TrainerSettings
from planner.model.network.workload import Checkpointing, Method, Strategy
from planner.present.memory_screen import memory_lines, parts_of, strategies_lines
from planner.present.table import NOT_KNOWN, Row, quantity_text
from planner.scenario.cluster import Cluster
from planner.scenario.training_setup import TrainingSetup
from planner.use_cases import answer_ids, catalogs, networks
from planner.use_cases.cluster_names import cluster_named
from planner.use_cases.memory import MemoryRequest, estimate_memory
from planner.use_cases.strategies import find_strategies

app = command_app()


@dataclass(frozen=True, kw_only=True)
class StepOptions:
    """Distribution and storage of the training on the accelerators."""

    heading: ClassVar = "Training"

    strategy: Annotated[Strategy | None, typer.Option(help="Parallel strategy; default: the file's, else ddp")] = None
    micro_batch: Annotated[int | None, typer.Option(help="Samples per device; default: the workload's, else 1")] = None
    checkpointing: Annotated[
        Checkpointing | None, typer.Option(help="Activations to recompute; default: as few as fit")
    ] = None
    framework: FrameworkOption = None
    tensor: Annotated[int, typer.Option(metavar="N", help="Tensor-parallel slices of each layer")] = 1
    pipeline: Annotated[int, typer.Option(metavar="N", help="Pipeline stages")] = 1
    context: Annotated[int, typer.Option(metavar="N", help="Parts of a sequence (context parallelism)")] = 1


@command(app, example="planner memory llama3-8b --on H100-SXM --gpus 8 --strategy fsdp2")
def memory(
    workload: WorkloadOptions,
    on: Annotated[str, typer.Option("--on", metavar="ACCELERATOR", help="E.g. H100-SXM, 8xRTX-5090, aws/p5.48xlarge")],
    step: StepOptions,
    trainer: TrainerOptions,
    method: MethodOptions,
    *,
    gpus: Annotated[int | None, typer.Option(help="Accelerators of one training; default: as --on says")] = None,
    trace: Annotated[
        bool, typer.Option("--trace", help="Trace what a layer saves instead of using the formula")
    ] = False,
    details: DetailsFlag = False,
    output: TableOptions,
    home: HomeOption = None,
) -> None:
    """Check whether a training fits a device, and how large a batch.

    Shows states, activations, logits and buffers on one device. --trace needs the extra `bench`.
    """
    for value, name in (
        (gpus, "--gpus"),
        (step.micro_batch, "--micro-batch"),
        (workload.seq_len, "--seq-len"),
        (step.tensor, "--tensor"),
        (step.pipeline, "--pipeline"),
        (step.context, "--context"),
    ):
        check_positive(value, name)
    catalog = catalogs.open_catalog(home)
    adapters = method.adapters(networks.find_architecture(workload.workload, catalog))
    request = MemoryRequest(
        workload=workload.workload,
        on=on,
        gpus=gpus,
        strategy=step.strategy,
        micro_batch=step.micro_batch,
        seq_len=workload.seq_len,
        precision=workload.precision,
        checkpointing=step.checkpointing,
        framework=step.framework,
        tensor=step.tensor,
        pipeline=step.pipeline,
        context=step.context,
        **trainer.stated,
        objective=method.objective,
        method=Method.FULL if adapters is None else Method.LORA,
        adapters=adapters,
        trace=trace,
    )
    document = estimate_memory(request, catalog)
    answer_ids.keep(document, today=clock.today())
    print_memory(document, output, details=details)


def print_memory(document: MemoryDocument, output: TableOptions, *, details: bool) -> None:
    """Print the memory of one device in the chosen form."""
    if output.json:
        print_document(document)
        return
    if output.table:
        print_lines(memory_lines(document, width=screen_width(), details=details))
    else:
        output.print_rows(_rows(document), title=document.workload)


def _rows(document: MemoryDocument) -> list[Row]:
    return [
        {"part": name, "on one device": quantity_text(part), "how": part.source if part else NOT_KNOWN}
        for name, part in parts_of(document).items()
    ]


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
