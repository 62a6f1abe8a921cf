"""Planned trainings of text networks in the physics' terms, with the trainer's settings as facts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from planner.model.answer.reason import Reason, ReasonCode
from planner.model.hardware.machines import Accelerator, Link
from planner.model.network.adapters import Adapters
from planner.model.network.trainer_memory import (
    Attention,
    Kernels,
    Offload,
    Optimizer,
    TrainerSettings,
    WeightFormat,
)
from planner.model.network.workload import Checkpointing, Precision, Strategy
from planner.network.families.known_families import family_of
from planner.network.layer_kind import LayerKind
from planner.network.method_work import forward_only_passes, has_scalar_head, parameters_under
from planner.scenario.cluster import Cluster
from planner.scenario.frameworks import XLA, planned_family, runs_deepspeed, stack_of, unnamed_family
from planner.scenario.trainers import ExpertProducts, expert_products, habits_of
from planner.scenario.training_setup import TrainingSetup
from planner.speed.physics.accelerator_facts import (
    ALIGNED,
    SIXTEEN_BITS,
    accelerator_facts,
    chip_of,
    generation_of,
    peak_flops,
    uses_autocast,
)
from planner.speed.physics.adapter_facts import planned_adapters
from planner.speed.physics.config_arrays import UNSCALED
from planner.speed.physics.interconnect import interconnect_of
from planner.speed.physics.kernels import dispatches_tokens, kernels_of, planned_words
from planner.speed.physics.observation import Labels

GRADIENT_READS = {Optimizer.ADAFACTOR: 3.0}
"""Number of times that a step reads the gradient, if not once. Adafactor reads it for rows and columns, for the size of
the update, and for the update (Shazeer and Stern 2018, algorithm 5)."""
ADAM_BYTES = 28.0
"""Bytes per parameter of Adam's step in fp32: weight read and written, gradient read, two moments read and written."""


def planned_trainer(
    settings: TrainerSettings, *, adapters: Adapters | None, sixteen_bit: bool, paged: float
) -> dict[str, float]:
    """Return the fields of `Configs` that stated settings change.

    optimizer_scale = (2 x weight + reads x gradient + 2 x moments) / Adam's 28 bytes

    `paged` is the share of a paged optimizer's moments for which the device has no room; they move to the host and back
    in every step. Weights in host memory add no time to an offloaded optimizer, as in the evidence: they move while
    layers are computed.
    """
    narrow = settings.weights is WeightFormat.SIXTEEN_BIT and sixteen_bit and adapters is None
    optimizer = settings.optimizer or Optimizer.ADAMW
    weight = gradient = 2.0 if narrow else 4.0
    moments = optimizer.moment_bytes(narrow=narrow)
    changed = {
        "optimizer_scale": (2 * weight + GRADIENT_READS.get(optimizer, 1.0) * gradient + 2 * moments) / ADAM_BYTES,
        "optimizer_offload": float(settings.offload in (Offload.OPTIMIZER, Offload.ALL)),
        "paged_bytes": 2 * moments * paged,
    }
    if settings.kernels is not None:
        changed["fused"] = float(settings.kernels is Kernels.FUSED)
    if settings.kernels is Kernels.EAGER:
        changed["compiled"] = 0.0
    if settings.weights is WeightFormat.SIXTEEN_BIT:
        changed["autocast"] = 0.0
    if narrow:
        changed["gradient_bytes"] = 2.0
    return changed


def planned_attention(settings: TrainerSettings, framework: str | None, accelerator: Accelerator) -> dict[str, float]:
    """Return the fields `flash` and `early` of `Configs`: as stated, else the trainer's, else the card's default.

    By default a card with FlashAttention uses a fused kernel, and an older card an eager one. If torch selects a fused
    kernel on an older card, it is that of xformers, which is as fast as the first FlashAttention.
    """
    habits = None if framework is None else habits_of(framework)
    attention = settings.attention or (None if habits is None else habits.attention)
    if attention is None:
        attention = Attention.SDPA if accelerator.has_flash_attention else Attention.EAGER
    fused = attention is not Attention.EAGER
    return {"flash": float(fused), "early": float(fused and not accelerator.has_flash_attention)}


OWN_SITE = "own runs"
"""Source of the user's runs and plans; published evidence has other sources."""
ZERO_STAGE = {Strategy.DDP: 0, Strategy.ZERO1: 1, Strategy.ZERO2: 2, Strategy.ZERO3: 3, Strategy.FSDP2: 3}
DEEPSPEED_STAGES = (Strategy.ZERO1, Strategy.ZERO2, Strategy.ZERO3)
RECOMPUTED = {Checkpointing.NONE: 0.0, Checkpointing.SELECTIVE: 0.3, Checkpointing.FULL: 1.0}
"""Share of the forward pass that is computed twice; selective keeps attention and every second product."""
FORMATS = {
    None: "16bit", Precision.FP32: "fp32", Precision.TF32: "tf32", Precision.FP16: "16bit", Precision.BF16: "bf16",
}  # fmt: skip


def number_format(precision: Precision | None, accelerator: Accelerator) -> str:
    """Return the format of the products; by default the accelerator's faster 16-bit format.

    TF32 allows tensor cores but does not force them. If they lack it, or are not faster than ordinary cores in fp32,
    fp32 is used (GeForce of Ampere, L40).
    """
    if precision is Precision.TF32 and (accelerator.tf32_tflops or 0.0) <= (accelerator.fp32_tflops or 0.0):
        return FORMATS[Precision.FP32]
    return FORMATS.get(precision, "fp8")


def planned_text_config(
    setup: TrainingSetup,
    cluster: Cluster,
    *,
    micro_batch: float,
    micro_batches: float,
    paged: float = 0.0,
    epochs: float = math.inf,
) -> dict[str, float] | Reason:
    """Return the fields of `Configs` for a planned training of a text network, or the reason why it has none.

    `micro_batch`: samples of a forward pass on one accelerator. `micro_batches`: forward passes of one optimizer step.
    `paged`: share of a paged optimizer's moments in host memory. `epochs`: epochs over which the passes of a
    precomputed reference are spread. The default strategy is `ddp`.
    """
    decoder, precision, framework, split = setup.network, setup.precision, setup.framework, setup.split
    objective = setup.objective
    adapters, settings, compiled = setup.adapters, setup.settings, bool(setup.compiled)
    assert decoder is not None, "the physics needs a network"
    assert decoder.sample == "tokens", "image networks have their own physics"
    assert setup.seq_len is not None, "samples of a text network have a length"
    accelerator = cluster.accelerator
    strategy = setup.strategy or Strategy.DDP
    chosen, asked = number_format(precision, accelerator), precision or Precision.BF16
    zero = ZERO_STAGE[strategy]
    if accelerator.hbm_gb_per_s is None:
        return not_known("memory bandwidth", accelerator)
    if peak_flops(accelerator, chosen) is None:
        return not_known("peak", accelerator)
    if split.pipeline > decoder.layers:
        return _no_split(f"{split.pipeline} pipeline stages are more than the {decoder.layers} layers")
    devices = cluster.accelerators
    if devices % split.devices:
        return _no_split(
            f"{devices} accelerators do not divide into {split.tensor} x {split.pipeline} x {split.context}"
        )
    replicas = devices // (split.tensor * split.pipeline)
    kinds = family_of(decoder).layers
    experts = max(1, *(kind.experts for kind in kinds))
    if experts % split.experts or replicas % split.experts:
        return _no_split(f"{experts} experts on {replicas} devices do not divide into {split.experts}")
    if split.shards is not None and (zero < 3 or replicas % split.shards):
        return _no_split(f"weights cannot be sharded over {split.shards} of {replicas} devices with {strategy.value}")
    sixteen_bit = chosen in SIXTEEN_BITS
    stated = planned_trainer(settings, adapters=adapters, sixteen_bit=sixteen_bit, paged=paged)
    largest = kinds[-1]
    return (
        accelerator_facts(accelerator, chosen)
        | {
            "layers": decoder.layers,
            "stage_layers": split.largest_stage(decoder.layers),
            "hidden": decoder.hidden,
            "q_dim": largest.q_dim,
            "kv_dim": largest.kv_dim,
            "heads": largest.heads,
            "mlp_matrices": largest.maps_in + 1.0,
            "vocab": decoder.vocab,
            "head_share": 0.0 if has_scalar_head(objective) else 1.0,
            "unaligned": float(decoder.vocab % ALIGNED > 0),
            "causal": float(decoder.is_causal),
            "attended": _attended(kinds, setup.padded_tokens(micro_batch)),
            "parameters": parameters_under(decoder, objective),
            "seq_len": setup.padded_tokens(micro_batch),
            "micro_batch": micro_batch * objective.sequences,
            "micro_batches": micro_batches,
            "variable_length": float(objective.method is not None or setup.sequence_tokens is not None),
            "forward_only": forward_only_passes(objective, epochs=epochs),
            "recompute": RECOMPUTED[setup.checkpointing or Checkpointing.NONE],
            "gradient_bytes": 4.0 if zero == 0 or not sixteen_bit else 2.0,
            "autocast": float(framework is None and uses_autocast(strategy, precision=asked, adapters=adapters)),
            "zero": float(zero),
            "deepspeed": float(strategy in DEEPSPEED_STAGES and runs_deepspeed(framework, accelerator)),
            "shards": float(split.shards or replicas),
            "dp": devices / split.devices,
            "tp": float(split.tensor),
            "pp": float(split.pipeline),
            "cp": float(split.context),
            "ep": float(split.experts),
            "chunks": 1.0,
        }
        | planned_kernels(framework, accelerator, compiled=compiled)
        | planned_adapters(decoder, adapters, framework, compiled=compiled)
        | link_facts(cluster)
        | UNSCALED
        | _mlp(kinds, one_by_one=expert_products(framework) is ExpertProducts.ONE_BY_ONE)
        | planned_attention(settings, framework, accelerator)
        | stated
    )


def link_facts(cluster: Cluster) -> dict[str, float]:
    """Return the fields of `Configs` and `ImageConfigs` for the links of a planned cluster."""
    node, per_node = cluster.node, cluster.accelerators_per_node
    interconnect = interconnect_of(
        cluster.accelerator, per_node=per_node, slots=node.accelerators,
        link=None if node.link is Link.OTHER else node.link,
        network_gbit_per_s=node.network_gbit_per_s, lanes=node.pcie_lanes, roots=node.pcie_roots,
    )  # fmt: skip
    return interconnect.facts(per_node=per_node)


def not_known(what: str, accelerator: Accelerator) -> Reason:
    """Return the reason that a figure of an accelerator's data sheet is not known."""
    text = f"the {what} of {accelerator.id} is not known: measure the workload there"
    return Reason(code=ReasonCode.HARDWARE_NOT_KNOWN, text=text)


def _no_split(text: str) -> Reason:
    return Reason(code=ReasonCode.SPLIT_NOT_POSSIBLE, text=text)


def planned_kernels(framework: str | None, accelerator: Accelerator, *, compiled: bool) -> dict[str, float]:
    """Return the kernels' fields of `Configs` for a plan's framework, from its words or its defaults.

    Without a framework the planner's own benchmark is assumed, whose kernels follow from `compiled`; on accelerators
    that need XLA, XLA's kernels are assumed.
    """
    if framework is None and stack_of(unnamed_family(accelerator)) != XLA:
        return {"fused": float(compiled), "compiled": float(compiled), "native": 0.0, "dispatched": 0.0}
    words = planned_words(framework or XLA)
    return kernels_of(*words) | {"dispatched": float(dispatches_tokens(*words, accelerator))}


def _mlp(kinds: Sequence[LayerKind], *, one_by_one: bool) -> dict[str, float]:
    """Return the MLP's fields of `Configs`: width and number of experts, averaged over the layers.

    Dense layers count as experts of the same total width. Every time in a step is proportional to these numbers, so the
    averages give the sum over the layers.
    """
    layers, dense = sum(kind.layers for kind in kinds), [kind for kind in kinds if not kind.experts]
    dense_layers = sum(kind.layers for kind in dense)
    width = sum(kind.layers * kind.ffn_hidden for kind in dense) / dense_layers if dense else 0.0
    largest = kinds[-1]
    if not largest.experts:
        return {
            "sequential_experts": 0.0,
            "ffn_hidden": width,
            "experts": 1.0,
            "active_experts": 1.0,
            "routed_experts": 1.0,
        }
    sparse = largest.layers / layers
    as_experts = (1 - sparse) * width / largest.moe_ffn_hidden
    return {
        "sequential_experts": float(one_by_one),
        "ffn_hidden": largest.moe_ffn_hidden,
        "experts": sparse * (largest.experts + largest.shared_experts) + as_experts,
        "active_experts": sparse * (largest.experts_per_token + largest.shared_experts) + as_experts,
        "routed_experts": sparse * largest.experts_per_token,
    }


def _attended(kinds: Sequence[LayerKind], seq_len: float) -> float:
    """Return the pairs of tokens that attention computes over those without windows, averaged over the layers."""
    if all(kind.window is None for kind in kinds):
        return 1.0
    shares = (
        kind.layers * kind.pairs(seq_len, masked=True) / kind._replace(window=None).pairs(seq_len, masked=True)
        for kind in kinds
    )
    return sum(shares) / sum(kind.layers for kind in kinds)


def tokens_of_a_sample(config: Mapping[str, float], setup: TrainingSetup) -> float:
    """Return the tokens of one sample with padding in a configuration, both sequences of a pair included."""
    return config["seq_len"] * setup.objective.sequences


def labels_of(accelerator: Accelerator, workload: str, framework: str | None = None) -> Labels:
    """Return the labels of a planned training or a user's run; without a framework it is the planner's benchmark."""
    return Labels(
        accelerator=accelerator.id,
        generation=generation_of(accelerator),
        framework=unnamed_family(accelerator) if framework is None else planned_family(framework),
        source=OWN_SITE,
        workload=workload,
        chip=chip_of(accelerator),
    )
