"""Many configurations at once: one array per fact of a job, its machine and its strategy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

GENERATIONS = (
    "pascal", "volta", "turing", "ampere", "ada", "hopper", "blackwell", "cdna", "gaudi", "tpu", "neuron", "xe",
    "other",
)  # fmt: skip
"""Groups of architectures that share one efficiency of large matrix products."""


@dataclass(frozen=True)
class Configs:
    """A struct of arrays, all of one length; every entry is a float, flags are 0 or 1. FLOP/s, bytes/s, tokens."""

    # The network
    layers: Array
    stage_layers: Array
    """Of the largest pipeline stage, which sets the pace: layers / stages, rounded up where they do not divide."""
    hidden: Array
    q_dim: Array
    """Heads x their size."""
    kv_dim: Array
    heads: Array
    ffn_hidden: Array
    """Of one expert, where there are several."""
    mlp_matrices: Array
    """2, or 3 with a gate."""
    experts: Array
    active_experts: Array
    """Experts' work that one token meets per layer, those included that all tokens share and layers without any."""
    routed_experts: Array
    """Experts to which one token travels per layer, on average over the layers."""
    sequential_experts: Array
    """1: experts are called one after another, each with launches (and gathers of sharded weights) of its own."""
    dispatched: Array
    """1: kernels of their own send tokens to experts, once to a device however many of its experts they meet (DeepEP,
    HybridEP); 0: a plain all-to-all sends a copy for each expert."""
    vocab: Array
    head_share: Array
    """Share of the tokens whose logits are computed: 1 for decoders, the masked 15 % for encoders."""
    unaligned: Array
    """1: the vocabulary is no multiple of eight, so that its product misses the tensor cores' alignment."""
    causal: Array
    attended: Array
    """Pairs of tokens that attention computes, against those of the whole sample: less than 1 with windows."""
    parameters: Array
    """All that are stored; with experts, all of them."""
    # The samples
    seq_len: Array
    micro_batch: Array
    micro_batches: Array
    """Per optimizer step and pipeline: the gradient accumulation."""
    variable_length: Array
    """1: samples of different lengths that are not packed, so that devices wait for the one with the longest."""
    # How it is trained
    adapters: Array
    """1: low-rank adapters beside frozen weights."""
    adapted: Array
    """Inputs and outputs of one layer's maps that have adapters, summed: the numbers that pass through adapters."""
    adapted_maps: Array
    """How many maps of one layer have adapters."""
    adapted_weights: Array
    """Weights of one layer's maps that have adapters."""
    rank: Array
    """Width of an adapter; of both its pairs in LoHa."""
    materialised: Array
    """1: a weight of the map's size is materialised from the adapter in every pass; 0 in LoRA."""
    dense: Array
    """Products of a map's whole size that its adapter costs each pass besides those of its rank."""
    dense_trained: Array
    """Of these, how many have weights that get gradients."""
    rotation_flops: Array
    """Of one layer and pass: products of weights with weights by which orthogonal adapters materialise theirs. They
    run in fp32; here they are FLOPs that take as long at 16 bit; 0 in a plan, which asks for none of these kinds."""
    adapters_fused: Array
    """1: kernels join adapters to their maps."""
    separate_gathers: Array
    """1: each adapter is gathered by itself where weights are sharded, as PEFT wraps them, unless fused; 0: with its
    layer."""
    quantized: Array
    """1: frozen weights of 4 bits, expanded before each product."""
    outliers: Array
    """1: frozen weights of 8 bits, whose outliers are multiplied separately (Dettmers et al. 2022)."""
    recompute: Array
    """Share of the forward pass that is computed twice."""
    forward_only: Array
    """Forward passes without gradients for each training pass, as through the reference of DPO."""
    flash: Array
    """1: a kernel that never writes the attention matrix; between 0 and 1 where it may or may not be one."""
    early: Array
    """1: a fused kernel of the first kind: FlashAttention 1, Triton, xformers."""
    native: Array
    """1: an attention kernel written for this generation (FlashAttention 3, cuDNN), not for the one before."""
    fused: Array
    """0: one kernel per operator, 1: compiled or fused by hand."""
    compiled: Array
    """1: launches are few, because whole blocks are compiled or captured; fusing by hand leaves most of them."""
    autocast: Array
    """1: weights of 32 bits, which autocast turns into 16 for the products, and back for norms and the loss."""
    number_bytes: Array
    """Of activations: 2 or 4."""
    gradient_bytes: Array
    """Of a gradient on the wire."""
    zero: Array
    """0 plain data parallelism, 1 and 2 as in ZeRO, 3 also for fully sharded data parallelism."""
    deepspeed: Array
    """1: DeepSpeed's engine does ZeRO, by hooks on the host at every module and gradient."""
    shards: Array
    """Devices over which weights are sharded: all replicas, or those of one node (hybrid sharding)."""
    optimizer_offload: Array
    """1: the optimizer steps on the host, which keeps its states."""
    optimizer_scale: Array
    """Bytes that its step moves for a parameter, against Adam's in fp32."""
    paged_bytes: Array
    """Of its states, for each parameter of a device: what crosses to the host and back, where the device is short."""
    # The accelerator
    peak: Array
    """Dense FLOP/s of the layers' matrix products in their number format."""
    peak16: Array
    """Dense FLOP/s of attention and head, which stay at 16 bit (or above)."""
    format_step: Array
    """0: 16 bit, tf32, fp32; 1: 8 bit; 2: 4 bit."""
    vector_rate: Array
    """1: products run on ordinary cores (fp32 without tensor cores)."""
    power: Array
    """Watts per FLOP/s of 16-bit peak, against the usual of its generation: what clocks can be held."""
    hbm: Array
    generation: Array
    """Index into GENERATIONS."""
    # The machine
    gpus_per_node: Array
    nvlink_domain: Array
    """Accelerators that reach each other over the fast link: a node, or a rack."""
    intra: Array
    """Bytes/s per accelerator and direction, of the link inside a domain."""
    through_host: Array
    """1: no peer-to-peer; every byte crosses the host's memory."""
    bus_sharers: Array
    """Cards behind the busiest root port of the host."""
    pcie: Array
    """1: the link inside is PCIe."""
    pcie_cards: Array
    """Cards of one machine among which PCIe is shared; 0 where none are."""
    pcie_5: Array
    """1: of the fifth generation or later."""
    inter: Array
    """Bytes/s per accelerator and direction, between domains."""
    host_scale: Array
    """Host time per kernel launched, against the usual: frameworks and processors differ."""
    attention_scale: Array
    """Time of attention, against the usual: frameworks call different kernels."""
    elementwise_scale: Array
    """Time of element-wise passes, against the usual: frameworks fuse differently."""
    device_scale: Array
    """Time of everything that the accelerator itself computes or moves in its memory, against the physics."""
    sharding_scale: Array
    """Time to gather sharded weights, against the usual: frameworks send messages of different sizes."""
    # How it is spread
    dp: Array
    tp: Array
    pp: Array
    cp: Array
    ep: Array
    chunks: Array
    """Virtual pipeline stages per device."""

    def __len__(self) -> int:
        return int(self.layers.shape[0])

    def at(self, index: Any, /) -> Configs:
        """Return the configurations at an index, mask or slice."""
        return Configs(**{field.name: getattr(self, field.name)[index] for field in fields(self)})

    def replaced(self, **changes: Array) -> Configs:
        """Return a copy with some arrays changed."""
        return Configs(**{field.name: changes.get(field.name, getattr(self, field.name)) for field in fields(self)})

    @property
    def units_per_step(self) -> Array:
        """What one optimizer step consumes: tokens."""
        return self.tokens_per_step

    @property
    def gpus(self) -> Array:
        """All accelerators of one training."""
        return self.dp * self.tp * self.pp * self.cp

    @property
    def tokens_per_step(self) -> Array:
        """Tokens that one optimizer step consumes."""
        return self.dp * self.micro_batch * self.micro_batches * self.seq_len

    @property
    def materialises_weights(self) -> Array:
        """1: its adapters materialise a weight in every pass, of the map's size or orthogonal; 0 in LoRA."""
        return ((self.materialised > 0) | (self.rotation_flops > 0)) * 1.0


def from_rows(rows: Sequence[Mapping[str, float]]) -> Configs:
    """Gather configurations that were described one by one."""
    import numpy as np

    return Configs(**{field.name: np.array([float(row[field.name]) for row in rows]) for field in fields(Configs)})
