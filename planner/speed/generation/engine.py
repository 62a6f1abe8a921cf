"""The copy of a network that generates answers: its size on a device, and the constants of the engine that runs it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from planner.model.network.architecture import TextModel
from planner.model.network.training_method import Engine
from planner.network.families.known_families import family_of
from planner.network.flops import cast_weights, matmul_parameters, parameters, routed_parameters

GIB = 2**30


@dataclass(frozen=True)
class EngineConstants:
    """What an engine reaches of the hardware, and what its own work takes. Fitted by `calibration/decoding_fit.py`."""

    bandwidth: float
    """Share of the data sheet's memory bandwidth at which weights and cache are read."""
    compute: float
    """Share of the dense peak that large matrix products reach."""
    layer_us: float
    """Microseconds of a layer's launches, norms and rotations, whatever the batch."""
    sequence_us: float
    """Microseconds of a sequence in each step: scheduling, sampling, writing its token back."""
    exchange_us: float
    """Microseconds of one all-reduce between the devices of a copy, whatever its size."""
    launch_us: float = 0.0
    """Microseconds in which the host launches a layer's kernels, where no CUDA graph does. The device hides behind
    them, or they behind it."""
    most_sequences: int = 1024
    """Sequences of one copy at a time, whatever the memory."""
    refills: bool = True
    """Whether a sequence that ends makes room for the next. Else a batch lasts until its longest has ended."""
    shares_prompts: bool = True
    """Whether the completions of one prompt share its cache, so that it is computed once."""


DECODING = EngineConstants(bandwidth=0.766, compute=0.545, layer_us=22.9, sequence_us=9.36, exchange_us=18.0)
"""vLLM and SGLang, fitted to catalogs/generation/decoding.csv (benchmarks/generation_accuracy.py)."""
TRAINERS_OWN = replace(
    DECODING,
    launch_us=900.0,
    most_sequences=16,
    layer_us=0.0,
    sequence_us=0.0,
    refills=False,
    shares_prompts=False,
)
"""`generate` of transformers, eager: a static micro-batch, and a layer's launches from Python in every step. Both are
assumed; with stated micro-batches, generation of DeepSpeed-Chat agrees within a fifth (test_predict_rollouts.py)."""
CONSTANTS = {Engine.VLLM: DECODING, Engine.SGLANG: DECODING, Engine.TRAINER: TRAINERS_OWN}


@dataclass(frozen=True)
class EngineDevice:
    """What generation needs of an accelerator and its link. Rates in bytes and FLOP a second."""

    bandwidth: float
    peak: float
    """Dense, in the format of the products."""
    memory: float
    """Bytes that a process can have."""
    link: float
    """One direction to the other devices of the same copy."""


@dataclass(frozen=True)
class EngineCopy:
    """One copy of the network, divided over `tensor` devices; several copies share the prompts."""

    network: TextModel
    device: EngineDevice
    tensor: int = 1
    weight_bytes: float = 2.0
    """Of a parameter."""
    cache_bytes: float = 2.0
    """Of a number in the cache of keys and values."""

    @property
    def weights(self) -> float:
        """Bytes of the weights on each device: parameters x bytes / devices."""
        return parameters(self.network) * self.weight_bytes / self.tensor

    @cached_property
    def token_cache(self) -> float:
        """Bytes that one token keeps on each device: 2 x layers x key-value heads x head size x bytes.

        Heads are divided over the devices, and doubled where there are more devices than heads.
        """
        heads = max(self.network.kv_heads / self.tensor, 1.0)
        return 2 * self.network.layers * heads * self.network.head_dim * self.cache_bytes

    def weights_read(self, batch: float) -> float:
        """Return the bytes of weights on each device that one step of `batch` tokens reads.

        Of a mixture: experts met = E x (1 - (1 - k / E)^batch), each token choosing k of E at random. The embedding is
        looked up, not read.
        """
        always, routed = self._always_read, float(self._routed)
        if (missed := self._missed_share) is not None:
            routed *= 1 - missed**batch
        return (always + routed) * self.weight_bytes / self.tensor

    def flops(self, tokens: float) -> float:
        """Return the FLOPs on each device of a forward pass of `tokens` without attention: 2 x parameters met."""
        return 2 * self._met * tokens / self.tensor

    def attention_flops(self, tokens: float, context: float) -> float:
        """Return the FLOPs on each device of `tokens` that attend to `context` tokens each: 4 x layers x width."""
        width = self.network.heads * self.network.head_dim
        return 4 * self.network.layers * width * context * tokens / self.tensor

    def largest_batch(self, free_bytes: float, context: float) -> float:
        """Return how many sequences of `context` tokens have room in the cache at a time; 0 where none has."""
        return max(0.0, free_bytes / (self.token_cache * max(context, 1.0)))

    # Counted once a copy: a schedule asks for thousands of steps.
    @cached_property
    def _routed(self) -> int:
        return routed_parameters(self.network)

    @cached_property
    def _always_read(self) -> int:
        return cast_weights(self.network) - self._routed

    @cached_property
    def _missed_share(self) -> float | None:
        """Share of a mixture's experts that one token does not choose; None of a dense network."""
        sparse = family_of(self.network).layers[-1]
        return 1 - sparse.experts_per_token / sparse.experts if sparse.experts else None

    @cached_property
    def _met(self) -> int:
        return matmul_parameters(self.network)
