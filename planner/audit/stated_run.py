"""Facts of a run record or a published row, in the terms of the rules, with the FLOPs of its samples.

No rule reads an id.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from planner.model.catalog import Catalog
from planner.model.evidence.measurement import Measurement
from planner.model.evidence.run import RunRecord
from planner.model.hardware.accelerator_name import accelerator_named
from planner.model.hardware.machines import Accelerator, Node
from planner.model.network.architecture import Architecture
from planner.model.network.image_network import ImageNetwork
from planner.model.network.workload import Checkpointing, Precision
from planner.model.plan.plan import FlopsConvention
from planner.network.flops import flops_per_sample, matmul_parameters
from planner.network.image_operators import operators_of, training_macs
from planner.speed.evidence.measured_batches import length_of
from planner.speed.evidence.measured_image_config import find_network, is_of_images
from planner.speed.evidence.measured_network import network_of
from planner.speed.evidence.measured_text_config import format_of_row, measured_tokens, other_training
from planner.speed.evidence.measured_training import training_of

IN_PRODUCTS = 0.75
"""Smallest share of parameters in products.

Embeddings that are only looked up are 7 % of Llama 3 8B and 13 % of Pythia 410M.
"""


@dataclass(frozen=True)
class StatedWork:
    """FLOPs of a sample: least = tokens x token_flops + pair x attention x tokens^2.

    `pair` is 6 if tokens see only earlier ones, otherwise 12. `attention` is layers x heads x head size.
    `layer_forward` is FLOPs per token of a forward pass through the layers. `of_an_image` is FLOPs of a sample without
    length.
    """

    token_flops: float = 0.0
    layer_forward: float = 0.0
    attention: float = 0.0
    causal: bool = True
    of_an_image: float | None = None

    def least(self, tokens: float) -> float:
        """Return the fewest FLOPs: no recomputation, half of the attention if it is causal."""
        return self._of(tokens, 6.0 if self.causal else 12.0)

    def headline(self, tokens: float) -> float:
        """Return FLOPs with full attention, as publications count them."""
        return self._of(tokens, 12.0)

    def recomputed(self, tokens: float) -> float:
        """Return FLOPs of a second forward pass through the layers."""
        if self.of_an_image is not None:
            return self.of_an_image / 3
        return tokens * self.layer_forward + (2.0 if self.causal else 4.0) * self.attention * tokens**2

    def tokens_within(self, flops: float) -> float:
        """Return the longest sample whose fewest FLOPs are within a budget: the root of a quadratic."""
        square = (6.0 if self.causal else 12.0) * self.attention
        if square == 0:
            return flops / self.token_flops
        return (math.sqrt(self.token_flops**2 + 4 * square * flops) - self.token_flops) / (2 * square)

    def _of(self, tokens: float, pair: float) -> float:
        if self.of_an_image is not None:
            return self.of_an_image
        return tokens * self.token_flops + pair * self.attention * tokens**2


def work_of(architecture: Architecture, *, adapters: bool) -> StatedWork:
    """Count a network: 6 FLOPs per parameter in a product and token, 4 if only adapters are trained."""
    if architecture.sample == "image":
        convention = FlopsConvention.FULL_ATTENTION
        return StatedWork(of_an_image=flops_per_sample(architecture, seq_len=None, convention=convention))
    met = matmul_parameters(architecture)
    return StatedWork(
        token_flops=(4.0 if adapters else 6.0) * met,
        layer_forward=2.0 * (met - architecture.vocab * architecture.hidden),
        attention=float(architecture.layers * architecture.heads * architecture.head_dim),
        causal=architecture.is_causal,
    )


def work_of_parameters(met: float, *, adapters: bool) -> StatedWork:
    """Count a network of which only the parameters are known: three quarters of them are certainly in products.

    The rest may be embeddings, which are looked up; attention is left out.
    """
    return StatedWork(token_flops=(4.0 if adapters else 6.0) * IN_PRODUCTS * met, layer_forward=2.0 * IN_PRODUCTS * met)


FORMATS = {
    Precision.FP32: "fp32", Precision.TF32: "tf32", Precision.BF16: "bf16", Precision.FP16: "16bit",
    Precision.FLOAT8: "fp8",
}  # fmt: skip
MIXTURE = re.compile(r"moe|mixture|mixtral|x\d+b|a\d+(\.\d+)?b", re.IGNORECASE)
FULL = re.compile(r"(full|pre-?train|sft|$)", re.IGNORECASE)
RECOMPUTE = {Checkpointing.NONE: 0.0, Checkpointing.SELECTIVE: 0.0, Checkpointing.FULL: 1.0}
"""Share of the forward pass that is certainly computed twice.

The cost of selective choices is not counted against a run.
"""


@dataclass(frozen=True)
class StatedRun:
    """One run as it is stated; None means not stated."""

    id: str
    accelerator_name: str
    accelerator: Accelerator | None
    devices: int
    samples_per_s: float | None
    """Rate of all devices; for rows in tokens/s, samples of `tokens`."""
    tokens: float | None
    work: StatedWork | None
    number_format: str | None
    recompute: float = 0.0
    record: RunRecord | None = None
    row: Measurement | None = None
    by_parameters: bool = False
    """True if the work was counted only from the number of parameters."""
    node: Node | None = None
    """Machine that a record names, if a catalog knows it."""

    def rate(self, flops: float) -> float:
        """Return the FLOP/s of one device for samples of this many FLOPs."""
        return flops * (self.samples_per_s or 0.0) / self.devices

    @property
    def length(self) -> float:
        """Tokens of a sample; 1 for images."""
        return self.tokens or 1.0

    @property
    def counted_by_us(self) -> bool:
        """True if our own benchmark counted devices, tokens and parameters."""
        return self.record is not None and self.record.method_version is not None


def stated_by_record(record: RunRecord, catalog: Catalog) -> StatedRun:
    """Read a run record."""
    name = record.hardware.accelerator
    work, by_parameters = None, False
    if record.architecture is not None:
        work = work_of(record.architecture, adapters=record.method == "lora")
        if work.of_an_image is None and record.seq_len is None:
            work = None
    elif record.parameters is not None and record.seq_len is not None and not MIXTURE.search(record.workload):
        work, by_parameters = work_of_parameters(record.parameters, adapters=record.method == "lora"), True
    return StatedRun(
        id=record.id,
        accelerator_name=name,
        accelerator=accelerator_named(name, catalog.accelerators, catalog.aliases),
        devices=record.hardware.accelerators,
        samples_per_s=record.throughput.value,
        tokens=record.seq_len,
        work=work,
        number_format=None if record.precision is None else FORMATS[record.precision],
        recompute=RECOMPUTE[record.checkpointing] if record.checkpointing else 0.0,
        record=record,
        by_parameters=by_parameters,
        node=catalog.nodes.get(record.hardware.node or ""),
    )


def stated_by_row(row: Measurement, catalog: Catalog, networks: Mapping[str, ImageNetwork]) -> StatedRun:
    """Read a row of a table of published measurements."""
    accelerator = accelerator_named(row.gpu, catalog.accelerators, catalog.aliases)
    work, tokens, samples, number_format, recompute, by_parameters = None, None, None, None, 0.0, False
    if row.metric != "time_to_train" and accelerator is not None:
        number_format = format_of_row(row.precision) if row.precision else None
        if is_of_images(row, networks):
            network = find_network(row.model, networks)
            samples = row.throughput_total
            work = StatedWork(of_an_image=2 * training_macs(operators_of(network))) if network and samples else None
        elif row.n_layers and row.hidden and other_training(row) is None:
            tokens, rate = length_of(row), measured_tokens(row)
            if rate is not None:
                samples = rate * row.num_gpus / (tokens or 1.0)
                work, recompute = _work_of_row(row, accelerator, number_format or "16bit")
        elif (met := _parameters_met(row)) is not None and other_training(row) is None:
            tokens, rate = length_of(row), measured_tokens(row)
            if rate is not None:
                samples, by_parameters = rate * row.num_gpus / (tokens or 1.0), True
                work = work_of_parameters(met, adapters="lora" in row.method.casefold())
    return StatedRun(
        id=row.id,
        accelerator_name=row.gpu,
        accelerator=accelerator,
        devices=row.num_gpus,
        samples_per_s=samples,
        tokens=tokens,
        work=work,
        number_format=number_format,
        recompute=recompute,
        row=row,
        by_parameters=by_parameters,
    )


def trains_all(row: Measurement) -> bool:
    """Return whether a row trains all weights in 16 bits or more, on the accelerators alone."""
    offloads = row.offload.casefold() not in ("", "no", "none", "false")
    return not offloads and not row.quantization and row.lora_rank is None and bool(FULL.match(row.method))


def _parameters_met(row: Measurement) -> float | None:
    """Return the parameters that a token uses, if stated; None for a mixture that states only the total."""
    if row.params_active is not None:
        return row.params_active
    return None if MIXTURE.search(f"{row.model_family} {row.model}") else row.params_total


def _work_of_row(row: Measurement, accelerator: Accelerator, number_format: str) -> tuple[StatedWork, float]:
    network = network_of(row)
    training = training_of(row, network, number_format, accelerator)
    maps = 2 * network["hidden"] * (network["q_dim"] + network["kv_dim"])
    maps += network["mlp_matrices"] * network["hidden"] * network["ffn_hidden"] * network["active_experts"]
    layers, head = network["layers"] * maps, network["vocab"] * network["hidden"] * network["head_share"]
    work = StatedWork(
        token_flops=(4.0 if training["adapters"] else 6.0) * (layers + head),
        layer_forward=2.0 * layers,
        attention=network["layers"] * network["q_dim"],
        causal=bool(network["causal"]),
    )
    return work, 1.0 if training["recompute"] >= 1 else 0.0
