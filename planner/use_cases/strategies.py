"""Ranks the ways to spread a training over a machine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from planner.errors import InputError
from planner.model.catalog import Catalog
from planner.model.network.workload import ArchitectureFile, StatedTraining
from planner.scenario.cluster import Cluster
from planner.scenario.frameworks import other_maker
from planner.scenario.job import checked_adapters, checked_length, checked_objective, checked_settings, known_framework
from planner.scenario.parallel_config import ParallelConfig
from planner.scenario.training_setup import TrainingSetup
from planner.speed.throughput.node_network import is_stated
from planner.speed.throughput.strategy_search import search
from planner.speed.throughput.strategy_space import StrategyQuestion

MODELLED = (
    "Modelled; the range is 90 % for one way by itself. Ways on one machine share most of their error, so their order "
    "is surer than their speed."
)


def find_strategies(
    network: ArchitectureFile, machine: str, cluster: Cluster, asked: TrainingSetup, catalog: Catalog
) -> dict[str, Any]:
    """Return the ways that fit, fastest first, as the document of `planner strategies --json`.

    `asked` holds the settings of the command, and its `workload` names the network in messages. Open settings come from
    the network's file.
    """
    workload, accelerator = asked.workload, cluster.accelerator
    if network.architecture.sample != "tokens":
        raise InputError(f"{workload}: splits are searched for decoders only.", fix="Name a decoder.")
    if accelerator.hbm_gib is None or accelerator.no_training_reason is not None or catalog.calibration is None:
        reason = accelerator.no_training_reason or "its memory is not known"
        raise InputError(f"{accelerator.id} cannot be searched: {reason}.", fix="Name another machine.")
    joined = is_stated(cluster.node, accelerator, nodes=cluster.nodes, per_node=cluster.accelerators_per_node)
    within = cluster.node.network_range if cluster.nodes > 1 else None
    if not joined or within is not None:  # the order of the splits may depend on the speed in a range of networks
        known = "" if within is None else f", only that it is {within[0]:g} to {within[1]:g} Gbit/s"
        raise InputError(
            f"--nodes: the network between nodes of {machine} is not known{known}.",
            fix="State it with --network-gbit-per-s, of one node with all its ports.",
        )
    length, precision = asked.seq_len or network.seq_len, asked.precision or network.precision
    framework_from = workload if asked.framework is None else "--framework"
    framework = network.framework if asked.framework is None else asked.framework
    trainer = known_framework(framework, network.architecture, catalog, where=framework_from)
    if (refused := other_maker(trainer, accelerator)) is not None:
        raise InputError(f"{framework_from}: {refused}.", fix="Name another machine.")
    assert length is not None, "a decoder has samples of a length"
    checked_length(network.architecture, length, where=workload)
    settings = asked.settings.over(network)
    stated = checked_settings(settings, network.architecture, precision=precision, where=workload)
    name = network.name or workload
    of_files = network.global_batch_on(cluster.accelerators) if isinstance(network, StatedTraining) else None
    setup = replace(
        asked,
        workload=name,
        global_batch=asked.global_batch or of_files,
        network=network.architecture,
        seq_len=length,
        precision=precision,
        objective=checked_objective(
            asked.objective if asked.objective.method else network.objective,
            network.architecture,
            adapters=asked.adapters,
            where=workload,
        ),
        adapters=checked_adapters(asked.adapters, network.architecture, precision=precision, where=workload),
        framework=trainer,
        settings=stated,
    )
    question = StrategyQuestion(setup, cluster)
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
