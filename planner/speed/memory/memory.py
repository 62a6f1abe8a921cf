"""What one device must hold while it trains: states, activations, logits, buffers."""

from __future__ import annotations

from dataclasses import dataclass

from planner.model.network.adapters import AdapterKind, Adapters, FrozenFormat
from planner.model.network.architecture import Architecture, Decoder, ImageModel, MoeDecoder, Resnet, TextModel, Vit
from planner.model.network.workload import Checkpointing, Loss, Precision, Strategy
from planner.network.activations import activation_bytes_per_sample, bytes_per_number
from planner.network.flops import all_matmul_parameters, layer_maps, parameters
from planner.network.lora_memory import SHARDS_WEIGHTS, adapted, lora_state_bytes, trained_parameters
from planner.speed.physics.number_format import uses_autocast

GIB = 2**30
CONTEXT_GIB = 1.0
"""CUDA context and NCCL channels. Published runs show 1 to 3 GiB, with what the allocator cannot use."""
USABLE_FRACTION = 0.95
"""A device filled further retries allocations (docs/accuracy.md)."""
RANGE_FRACTION = 0.15
"""Published peaks lie within 9 % of estimates made this way (docs/accuracy.md); kernels and versions add to it."""
DEEPSPEED_BUCKET = 5e8
"""Gradients that DeepSpeed reduces at once: the default of `reduce_bucket_size`."""
STATE_BYTES = 16
"""Of a trained parameter: 16-bit weight and gradient 2 + 2, fp32 weight and two moments 12."""
REPLICATED_BYTES = {Strategy.DDP: 16, Strategy.ZERO1: 4, Strategy.ZERO2: 2, Strategy.ZERO3: 0, Strategy.FSDP2: 0}
"""Of these, what every device holds; the rest is shared out."""


@dataclass(frozen=True)
class Memory:
    """GiB on each device, at one micro-batch."""

    states_gib: float
    activations_gib: float
    logits_gib: float
    buffers_gib: float
    """Communication, copies of weights and those that adapters materialise, and the context."""

    @property
    def total_gib(self) -> float:
        """Sum of the parts; true within about `RANGE_FRACTION`.

        A sum and not the peak over the phases of a step: what the allocator reserved for one layer's forward pass
        is in pieces too small for the logits. The peak of phases would lie 11 % under torchtitan's eager figure.
        """
        return self.states_gib + self.activations_gib + self.logits_gib + self.buffers_gib

    @property
    def low_gib(self) -> float:
        """Nine in ten runs need more."""
        return self.total_gib * (1 - RANGE_FRACTION)

    @property
    def high_gib(self) -> float:
        """Nine in ten runs need less."""
        return self.total_gib * (1 + RANGE_FRACTION)


def device_memory(
    architecture: Architecture,
    *,
    seq_len: int | None,
    micro_batch: int,
    strategy: Strategy,
    precision: Precision,
    devices: int,
    checkpointing: Checkpointing,
    loss: Loss = Loss.EAGER,
    traced_layer_bytes: float | None = None,
    adapters: Adapters | None = None,
) -> Memory:
    """Estimate one device's memory with Adam. The parts are the functions below.

    `adapters`: only these are trained, beside the frozen network. Frozen weights are gathered and copied all the same,
    unless they are kept at 16 bit or less.
    """
    activations = activation_bytes_per_sample(
        architecture,
        seq_len=seq_len,
        precision=precision,
        checkpointing=checkpointing,
        autocast=uses_autocast(strategy, precision=precision, adapters=adapters),
        traced_layer_bytes=traced_layer_bytes,
        adapters=adapters,
    )
    logits = (seq_len or 1) * micro_batch * head_outputs(architecture)
    buffers = buffer_bytes(
        architecture, strategy=strategy, precision=precision, adapters=adapters, checkpointing=checkpointing
    )
    return Memory(
        states_gib=state_bytes(architecture, strategy=strategy, devices=devices, adapters=adapters) / GIB,
        activations_gib=activations * micro_batch / GIB,
        logits_gib=logit_bytes(loss, precision=precision) * logits / GIB,
        buffers_gib=buffers / GIB + CONTEXT_GIB,
    )


def materialised_bytes(
    decoder: TextModel, adapters: Adapters, *, precision: Precision, checkpointing: Checkpointing
) -> float:
    """Bytes of the dense weights that LoHa materialises and the backward pass multiplies by: of all layers, or of one.

    Of one where layers are computed again (full). Other kinds keep none.
    """
    if adapters.kind is not AdapterKind.LOHA:
        return 0.0
    at_once = 1 / decoder.layers if checkpointing is Checkpointing.FULL else 1.0
    return bytes_per_number(precision) * adapted(decoder, adapters).weights * at_once


def state_bytes(
    architecture: Architecture, *, strategy: Strategy, devices: int, adapters: Adapters | None = None
) -> float:
    """Return the bytes of weights, gradients and Adam's moments on one device."""
    per_trained = state_bytes_per_parameter(strategy, devices=devices)
    if adapters is None:
        return per_trained * parameters(architecture)
    assert not isinstance(architecture, ImageModel), "only decoders have adapters"
    return lora_state_bytes(
        architecture, adapters, strategy=strategy, devices=devices, trained_bytes_per_parameter=per_trained
    )


def head_outputs(architecture: Architecture) -> int:
    """Return how many scores the head gives: the vocabulary, or the classes."""
    return architecture.classes if isinstance(architecture, ImageModel) else architecture.vocab


def state_bytes_per_parameter(strategy: Strategy, *, devices: int) -> float:
    """Bytes of weights, gradients and Adam states per parameter on one device of n.

    ddp 16; zero1 4 + 12/n; zero2 2 + 14/n; zero3 and fsdp2 16/n.
    fp32 training holds the same 16: weights 4, gradients 4, two moments 8.
    Source: Rajbhandari et al. 2020 (ZeRO), section 3.
    """
    everywhere = REPLICATED_BYTES[strategy]
    return everywhere + (STATE_BYTES - everywhere) / devices


def logit_bytes(loss: Loss, *, precision: Precision) -> int:
    """Bytes per token and vocabulary entry at the loss.

    eager: three fp32 tensors at once (log-softmax, its gradient, the logits' gradient), 12.
    fused: logits and their gradient in the type of the products, 4 at 16 bit; what a compiled or a fused
    cross-entropy needs. Source: torch's cross_entropy; between published torchtitan runs, compiling the loss
    saved 15.8 and 16.6 GiB where 12 against 4 says 15.7 (docs/accuracy.md).
    """
    return 12 if loss is Loss.EAGER else 2 * bytes_per_number(precision)


def buffer_bytes(
    architecture: Architecture,
    *,
    strategy: Strategy,
    precision: Precision,
    adapters: Adapters | None = None,
    checkpointing: Checkpointing = Checkpointing.NONE,
) -> float:
    """Bytes of weights and gradients that stand there a second time, for communication or as 16-bit copies.

    fsdp2, zero3: two gathered layers (one computes, one is fetched), embedding and head; of a resnet, all of it.
    zero1, zero2: one bucket of gradients. ddp: autocast's 16-bit copies of the weights, which the backward pass needs;
    gradients live in their buckets, so those cost nothing more. Frozen weights that are kept at 16 bit need no copy;
    at 4 bits, one layer is expanded while another is on its way, wherever they lie. A bucket holds no more than what is
    trained. Weights that adapters materialise come on top.
    """
    b, materialised = bytes_per_number(precision), 0.0
    if adapters is not None:
        assert isinstance(architecture, TextModel), "only decoders have adapters"
        materialised = materialised_bytes(architecture, adapters, precision=precision, checkpointing=checkpointing)
    if strategy in SHARDS_WEIGHTS:
        gathered = architecture if isinstance(architecture, Resnet) else _two_layers(architecture)
        return float(b * parameters(gathered)) + materialised
    bucket = 0.0 if strategy is Strategy.DDP else min(DEEPSPEED_BUCKET, trained_parameters(architecture, adapters))
    copies = _matmul_weights(architecture) if uses_autocast(strategy, precision=precision, adapters=adapters) else 0
    expanded = 0
    if adapters is not None and adapters.frozen is FrozenFormat.NF4:
        assert isinstance(architecture, TextModel), "only decoders have adapters"
        two = _two_layers(architecture)
        assert isinstance(two, TextModel)
        expanded = layer_maps(two)
    return float(b * (bucket + copies + expanded)) + materialised


def _two_layers(architecture: Decoder | MoeDecoder | Vit) -> Architecture:
    """Return the same network with two layers; of a mixture two sparse ones, which are the larger."""
    layers = min(2, architecture.layers)
    if isinstance(architecture, MoeDecoder):
        sparse = min(2, architecture.sparse_layers)
        return architecture.model_copy(update={"layers": sparse, "dense_layers": (), "ffn_hidden": None})
    return architecture.cut(layers)


def _matmul_weights(architecture: Architecture) -> int:
    return parameters(architecture) if isinstance(architecture, ImageModel) else all_matmul_parameters(architecture)
