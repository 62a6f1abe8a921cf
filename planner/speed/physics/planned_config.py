"""Planned trainings and the user's runs in the physics' terms, for networks on text and on images."""

from __future__ import annotations

import math
from dataclasses import replace

from planner.model.answer.reason import Reason
from planner.model.catalog import Catalog
from planner.model.evidence.run import RunRecord
from planner.model.evidence.run_rates import training_passes
from planner.model.hardware.machines import Accelerator, Node
from planner.model.network.trainer_memory import NOTHING_STATED
from planner.model.network.workload import Checkpointing, Strategy
from planner.network.families.known_families import family_of
from planner.network.image_operators import training_macs
from planner.network.lora_memory import adapters_of
from planner.scenario.cluster import Cluster
from planner.scenario.recorded_setup import setup_of_run
from planner.scenario.training_setup import TrainingSetup
from planner.speed.physics.accelerator_facts import SIXTEEN_BITS, accelerator_facts, peak_flops
from planner.speed.physics.image_config_arrays import Described
from planner.speed.physics.observation import Observation
from planner.speed.physics.planned_text_config import (
    RECOMPUTED,
    ZERO_STAGE,
    labels_of,
    link_facts,
    not_known,
    number_format,
    planned_text_config,
    tokens_of_a_sample,
)

FIELDS_OF_OTHERS = {
    "tp": 1.0, "pp": 1.0, "cp": 1.0, "adapters": 0.0, "seq_len": 1.0, "host_scale": 1.0, "device_scale": 1.0,
}  # fmt: skip
"""Facts that scores read from every observation, with their values for images; and those before effects of labels."""


def planned_image_config(
    setup: TrainingSetup, cluster: Cluster, *, micro_batch: float, micro_batches: float
) -> Described | Reason:
    """Return a planned image training as the physics takes it, or the reason why the physics cannot answer.

    `micro_batch`: images of a forward pass on one accelerator. `micro_batches`: forward passes of one optimizer step.
    The default strategy is `ddp`, and convolutions are in channels-last order by default. Images are assumed to be on
    the device already.
    """
    assert setup.network is not None, "the physics needs a network"
    accelerator = cluster.accelerator
    chosen = number_format(setup.precision, accelerator)
    if accelerator.hbm_gb_per_s is None:
        return not_known("memory bandwidth", accelerator)
    if peak_flops(accelerator, chosen) is None:
        return not_known("peak", accelerator)
    strategy = setup.strategy or Strategy.DDP
    zero = ZERO_STAGE[strategy]
    facts = link_facts(cluster) | format_facts(accelerator, chosen)
    facts |= FIELDS_OF_OTHERS | {
        "micro_batch": micro_batch,
        "micro_batches": micro_batches,
        "recompute": RECOMPUTED[setup.checkpointing or Checkpointing.NONE],
        "channels_last": float(setup.network.is_convolutional if setup.channels_last is None else setup.channels_last),
        "fused": float(bool(setup.compiled)),
        "flash": 1.0,
        "gradient_bytes": 4.0 if zero == 0 or chosen not in SIXTEEN_BITS else 2.0,
        "zero": float(zero),
        "one_process": 0.0,
        "loader": 0.0,
        "dp": float(cluster.accelerators),
    }
    operators = family_of(setup.network).operators()
    return Described(operators, facts | {"flops": 2 * training_macs(operators)})


def format_facts(accelerator: Accelerator, chosen: str) -> dict[str, float]:
    """Return the fields of `ImageConfigs` for an accelerator. Convolutions have no 8-bit format and stay at 16 bit."""
    facts = accelerator_facts(accelerator, "16bit" if chosen == "fp8" else chosen)
    named = {name: facts[name] for name in ("peak", "peak16", "vector_rate", "hbm", "generation", "number_bytes")}
    return named | {"peak_vector": peak_flops(accelerator, "fp32") or facts["peak"]}


def planned_config(
    setup: TrainingSetup,
    cluster: Cluster,
    *,
    micro_batch: float,
    micro_batches: float,
    paged: float = 0.0,
    epochs: float = math.inf,
) -> Described | Reason:
    """Return a planned training as the physics takes it, or the reason why the physics cannot answer.

    `micro_batch`: samples of a forward pass on one accelerator. `micro_batches`: forward passes of one optimizer step.
    `paged`: share of a paged optimizer's moments in host memory. `epochs`: epochs of the whole training.
    """
    if setup.sample == "image":
        return planned_image_config(setup, cluster, micro_batch=micro_batch, micro_batches=micro_batches)
    numbers = planned_text_config(
        setup, cluster, micro_batch=micro_batch, micro_batches=micro_batches, paged=paged, epochs=epochs
    )
    return numbers if isinstance(numbers, Reason) else Described((), numbers)


def units_of_a_sample(described: Described, setup: TrainingSetup) -> float:
    """Return the tokens of one sample with padding, both sequences of a pair included; 1 for an image."""
    return 1.0 if setup.sample == "image" else tokens_of_a_sample(described.facts, setup)


def observed_run(run: RunRecord, catalog: Catalog, node: Node) -> Observation | None:
    """Return a user's run in the physics' terms, or the training passes of a run with rollouts.

    Returns None if the record states too little.
    """
    passes = training_passes(run)
    if passes is None:
        return None
    run, hardware = passes, passes.hardware
    accelerator, setup = catalog.accelerators.get(hardware.accelerator), observed_setup(run)
    if accelerator is None or run.micro_batch is None or setup.network is None:
        return None
    if setup.sample == "tokens" and run.seq_len is None:
        return None
    described = planned_config(
        setup,
        Cluster(accelerator, node, hardware.nodes, hardware.accelerators_per_node),
        micro_batch=run.micro_batch,
        micro_batches=max(1.0, (run.global_batch or 0) / run.micro_batch / hardware.accelerators),
    )
    if isinstance(described, Reason):
        return None
    rate = run.throughput.value * units_of_a_sample(described, setup) / hardware.accelerators
    framework = setup.framework if setup.sample == "tokens" else None  # image runs all count as the benchmark's
    labels = labels_of(accelerator, run.workload, framework)
    return Observation(run.id, dict(described.facts), labels, rate, 1.0, described.operators)


def observed_setup(run: RunRecord) -> TrainingSetup:
    """Return the setup of a run as the physics takes it.

    The planner's own benchmark has no framework, so its kernels follow from `compiled`. If a run does not record its
    adapters, common ones are assumed.
    """
    setup = setup_of_run(run)
    adapters = setup.adapters
    if run.method == "lora" and run.architecture is not None:
        adapters = run.adapters or adapters_of(run.architecture, run.trained_parameters)
    framework = run.log.framework if run.log else None
    settings = NOTHING_STATED.model_copy(update={"attention": setup.settings.attention})
    return replace(setup, adapters=adapters, framework=framework, settings=settings)
