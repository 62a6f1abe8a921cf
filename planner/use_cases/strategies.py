"""Ways to spread a training over a machine, ranked."""

from __future__ import annotations

from typing import Any

from planner.errors import InputError, NotFoundError
from planner.model.catalog import Catalog
from planner.model.network.adapters import Adapters
from planner.model.network.architecture import TextModel
from planner.model.network.trainer_memory import NOTHING_STATED, Offload, TrainerSettings
from planner.model.network.workload import ArchitectureFile, Precision
from planner.scenario.cluster import Cluster
from planner.scenario.frameworks import other_maker
from planner.scenario.job import checked_adapters, checked_settings, known_framework
from planner.scenario.machine import accelerator_of
from planner.scenario.parallel_config import ParallelConfig
from planner.scenario.training_setup import TrainingSetup
from planner.speed.physics.planned_trainer import OFFLOADED_WEIGHTS
from planner.speed.throughput.node_network import is_stated
from planner.speed.throughput.strategy_search import StrategyQuestion, search

MODELLED = (
    "Modelled; the range is 90 % for one way by itself. Ways on one machine share most of their error, so their order "
    "is surer than their speed."
)


def find_strategies(
    workload: str,
    network: ArchitectureFile,
    machine: str,
    catalog: Catalog,
    *,
    nodes: int,
    accelerators: int | None,
    global_batch: int | None,
    seq_len: int | None,
    precision: Precision | None,
    adapters: Adapters | None = None,
    framework: str | None = None,
    settings: TrainerSettings = NOTHING_STATED,
    network_gbit_per_s: float | None = None,
) -> dict[str, Any]:
    """Return the ways that fit, the fastest first, as the document of `planner strategies --json`."""
    node = catalog.nodes.get(machine)
    if node is None:
        raise NotFoundError("machine", machine, catalog.nodes, fix="See catalogs/hardware/nodes.csv")
    if not isinstance(network.architecture, TextModel):
        raise InputError(f"{workload}: splits are searched for decoders only.", fix="Name a decoder.")
    accelerator = accelerator_of(node, catalog)
    if accelerator.hbm_gib is None or accelerator.no_training_reason is not None or catalog.calibration is None:
        reason = accelerator.no_training_reason or "its memory is not known"
        raise InputError(f"{accelerator.id} cannot be searched: {reason}.", fix="Name another machine.")
    per_node = accelerators or node.accelerators
    if per_node > node.accelerators:
        raise InputError(
            f"--accelerators: {per_node} are asked for, but {machine} has {node.accelerators}.", fix="Use --nodes."
        )
    if network_gbit_per_s is not None:
        node = node.model_copy(update={"network_gbit_per_s": network_gbit_per_s})
    if not is_stated(node, accelerator, nodes=nodes, per_node=per_node):
        raise InputError(
            f"--nodes: the network between nodes of {machine} is not known.",
            fix="State it with --network-gbit-per-s, of one node with all its ports.",
        )
    length = seq_len or network.seq_len
    trainer = known_framework(
        network.framework if framework is None else framework,
        network.architecture,
        catalog,
        where=workload if framework is None else "--framework",
    )
    if (refused := other_maker(trainer, accelerator)) is not None:
        raise InputError(f"{workload if framework is None else '--framework'}: {refused}.", fix="Name another machine.")
    assert length is not None, "a decoder has samples of a length"
    stated = checked_settings(
        settings.over(network), network.architecture, precision=precision or network.precision, where=workload
    )
    if stated.offload is Offload.ALL:
        raise InputError(f"{workload}: {OFFLOADED_WEIGHTS}.", fix="Leave offload out, or write optimizer.")
    name = network.name or workload
    setup = TrainingSetup(
        workload=name,
        network=network.architecture,
        seq_len=length,
        precision=precision or network.precision,
        global_batch=global_batch,
        adapters=checked_adapters(
            adapters, network.architecture, precision=precision or network.precision, where=workload
        ),
        framework=trainer,
        settings=stated,
    )
    question = StrategyQuestion(setup, Cluster(accelerator, node, nodes, per_node))
    ways = search(question, catalog.calibration)
    nothing = (
        f"No way to spread {name} over {question.devices}x {accelerator.id} fits: take more or larger "
        "accelerators, shorter samples, or another global batch."
    )
    return {
        "schema_version": 1,
        "kind": "strategies",
        "workload": name,
        "machine": machine,
        "accelerators": question.devices,
        "ways": [_row(way, ways[0], question) for way in ways],
        "note": MODELLED if ways else nothing,
    }


def _row(way: ParallelConfig, best: ParallelConfig, question: StrategyQuestion) -> dict[str, Any]:
    return {
        "strategy": way.strategy.value,
        "tensor": way.split.tensor,
        "pipeline": way.split.pipeline,
        "context": way.split.context,
        "experts": way.split.experts,
        "shards": way.split.shards or question.devices // (way.split.tensor * way.split.pipeline),
        "micro_batch": way.micro_batch,
        "accumulation": way.accumulation,
        "checkpointing": way.checkpointing.value,
        "hbm_gib": round(way.hbm_gib, 1),
        "samples_per_s": float(f"{way.samples_per_s:.4g}"),
        "low": float(f"{way.low:.4g}"),
        "high": float(f"{way.high:.4g}"),
        "against_best": round(way.samples_per_s / best.samples_per_s, 3),
    }
