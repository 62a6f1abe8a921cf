"""Arrays that describe many training configurations: one array per fact of job, machine and strategy."""

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
"""Groups of architectures; each has one efficiency of large matrix products."""


@dataclass(frozen=True)
class Configs:
    """Configurations as a struct of arrays of equal length, with one entry per configuration.

    Every entry is a float; flags are 0 or 1. Units: FLOP/s, bytes/s, bytes, tokens.
    """

    # The network
    layers: Array
    stage_layers: Array
    """Layers of the largest pipeline stage, which limits the speed: layers / stages, rounded up."""
    hidden: Array
    q_dim: Array
    """Heads x size of a head."""
    kv_dim: Array
    heads: Array
    ffn_hidden: Array
    """Width of the MLP, or of one expert."""
    mlp_matrices: Array
    """Matrices of the MLP: 2, or 3 with a gate."""
    experts: Array
    active_experts: Array
    """Experts that one token uses per layer, averaged over the layers. Shared experts and dense layers are included."""
    routed_experts: Array
    """Experts to which one token is sent per layer, averaged over the layers."""
    sequential_experts: Array
    """1: experts are called one after another, each with its own launches and its own gathers of sharded weights."""
    dispatched: Array
    """1: special kernels send each token once per device, even to several experts there (DeepEP, HybridEP). 0: a plain
    all-to-all sends one copy per expert."""
    vocab: Array
    head_share: Array
    """Share of the tokens whose logits are computed: 1 for decoders, the masked 15 % for encoders."""
    unaligned: Array
    """1: the vocabulary is not a multiple of eight, so its product does not fit the tensor cores' alignment."""
    causal: Array
    attended: Array
    """Pairs of tokens that attention computes / pairs in the whole sample; less than 1 with windows."""
    parameters: Array
    """Stored parameters, including all experts."""
    # The samples
    seq_len: Array
    micro_batch: Array
    micro_batches: Array
    """Micro-batches per optimizer step and pipeline: the gradient accumulation."""
    variable_length: Array
    """1: samples have different lengths and are not packed, so devices wait for the longest."""
    # How it is trained
    adapters: Array
    """1: low-rank adapters are trained and the network's weights are frozen."""
    adapted: Array
    """Sum of inputs and outputs of one layer's maps that have adapters."""
    adapted_maps: Array
    """Number of maps of one layer that have adapters."""
    adapted_weights: Array
    """Weights of one layer's maps that have adapters."""
    rank: Array
    """Width of an adapter; for LoHa, the width of both its pairs together."""
    materialized: Array
    """1: the adapter builds a matrix of the map's size in every pass; 0 for LoRA."""
    dense: Array
    """Products of a map's whole size that its adapter adds to each pass."""
    dense_trained: Array
    """Number of those products whose matrix gets gradients."""
    rotation_flops: Array
    """FLOPs per layer and pass of products between weights, by which orthogonal adapters build theirs.

    They run in fp32; the value is the 16-bit FLOPs that take as long. It is 0 in plans, which ask for none of these
    kinds.
    """
    adapters_fused: Array
    """1: kernels fuse adapters with their maps."""
    separate_gathers: Array
    """1: each adapter is gathered separately if weights are sharded, as PEFT wraps them, unless it is fused; 0: it is
    gathered with its layer."""
    quantized: Array
    """1: frozen weights have 4 bits and are expanded before each product."""
    outliers: Array
    """1: frozen weights have 8 bits, and outliers are multiplied separately (Dettmers et al. 2022)."""
    recompute: Array
    """Share of the forward pass that is computed twice."""
    forward_only: Array
    """Forward passes without gradients per training pass, for example through the reference of DPO."""
    flash: Array
    """1: a fused kernel never stores the attention matrix; between 0 and 1 if the evidence leaves it open."""
    early: Array
    """1: the fused kernel is one of the first: FlashAttention 1, Triton, xformers."""
    native: Array
    """1: the attention kernel is written for this generation (FlashAttention 3, cuDNN) and not for the one before."""
    fused: Array
    """0: one kernel per operator; 1: compiled or fused by hand."""
    compiled: Array
    """1: there are few launches, because whole blocks are compiled or captured; fusing by hand leaves most of them."""
    autocast: Array
    """1: weights have 32 bits, and autocast casts to 16 for products, and back for norms and the loss."""
    number_bytes: Array
    """Bytes of an activation: 2 or 4."""
    gradient_bytes: Array
    """Bytes of a gradient that is sent."""
    zero: Array
    """ZeRO stage; 0 is plain data parallelism, and 3 includes fully sharded data parallelism."""
    deepspeed: Array
    """1: DeepSpeed's engine does ZeRO, with hooks on the host at every module and gradient."""
    shards: Array
    """Devices over which weights are sharded: all replicas, or those of one node (hybrid sharding)."""
    optimizer_offload: Array
    """1: the optimizer steps on the host, which stores its states."""
    optimizer_scale: Array
    """Bytes that the optimizer's step moves per parameter / bytes of Adam in fp32."""
    paged_bytes: Array
    """Bytes of optimizer states per parameter that move to the host and back because the device lacks memory."""
    # The accelerator
    peak: Array
    """Dense FLOP/s of the layers' matrix products in their number format."""
    peak16: Array
    """Dense FLOP/s of attention and head, which stay at 16 bit or above."""
    format_step: Array
    """0: 16 bit, tf32, fp32; 1: 8 bit; 2: 4 bit."""
    vector_rate: Array
    """1: products run on ordinary cores (fp32 without tensor cores)."""
    power: Array
    """Watts per FLOP/s of 16-bit peak, over those of the generation's common card; it limits the clock."""
    hbm: Array
    generation: Array
    """Index into GENERATIONS."""
    # The machine
    gpus_per_node: Array
    nvlink_domain: Array
    """Accelerators that the fast link joins: a node, or a rack."""
    intra: Array
    """Bytes/s per accelerator and direction of the link inside a domain."""
    through_host: Array
    """1: there is no peer-to-peer; every byte passes through host memory."""
    bus_sharers: Array
    """Cards behind the busiest root port of the host."""
    pcie: Array
    """1: the link inside a domain is PCIe."""
    pcie_cards: Array
    """Cards of one machine that share PCIe; 0 if another link joins them."""
    pcie_5: Array
    """1: the PCIe slot is of the fifth generation or later."""
    inter: Array
    """Bytes/s per accelerator and direction between domains."""
    host_scale: Array
    """Host time per launched kernel / the physics' value: frameworks and processors differ."""
    attention_scale: Array
    """Time of attention / the physics' value: frameworks call different kernels."""
    elementwise_scale: Array
    """Time of element-wise passes / the physics' value: frameworks fuse differently."""
    device_scale: Array
    """Time of all computing and memory traffic on the accelerator / the physics' value."""
    sharding_scale: Array
    """Time to gather sharded weights / the physics' value: frameworks send messages of different sizes."""
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
        """Return the configurations that an index, mask or slice selects."""
        return Configs(**{field.name: getattr(self, field.name)[index] for field in fields(self)})

    def replaced(self, **changes: Array) -> Configs:
        """Return a copy with some arrays changed."""
        return Configs(**{field.name: changes.get(field.name, getattr(self, field.name)) for field in fields(self)})

    @property
    def units_per_step(self) -> Array:
        """Tokens of one optimizer step, under the name that image configurations use for images."""
        return self.tokens_per_step

    @property
    def gpus(self) -> Array:
        """Number of accelerators of each training."""
        return self.dp * self.tp * self.pp * self.cp

    @property
    def tokens_per_step(self) -> Array:
        """Tokens that one optimizer step consumes."""
        return self.dp * self.micro_batch * self.micro_batches * self.seq_len

    @property
    def materializes_weights(self) -> Array:
        """1 if the adapters build a dense or orthogonal matrix in every pass; 0 for LoRA."""
        return ((self.materialized > 0) | (self.rotation_flops > 0)) * 1.0


def from_rows(rows: Sequence[Mapping[str, float]]) -> Configs:
    """Return the arrays of configurations that are given as rows of facts."""
    import numpy as np

    return Configs(**{field.name: np.array([float(row[field.name]) for row in rows]) for field in fields(Configs)})
