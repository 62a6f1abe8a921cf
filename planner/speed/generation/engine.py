"""Copy of a network that generates answers: its size on a device, its engine's constants, and one decoding step.

This module does not plan inference: it knows neither requests over time nor promised latencies. It only tells how long
a training waits for the answers that it learns from.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from planner.model.hardware.machines import Accelerator
from planner.model.network.architecture import TextModel
from planner.model.network.training_method import Engine
from planner.network.families.known_families import family_of
from planner.network.flops import cast_weights, matmul_parameters, parameters, routed_parameters
from planner.speed.physics.accelerator_facts import peak_flops
from planner.speed.physics.interconnect import PCIE_GB_PER_S, pcie_generation

GIB = 2**30
FORMATS = {16: "16bit", 8: "fp8"}
"""Number formats of the products by the bits of a weight."""


@dataclass(frozen=True)
class EngineConstants:
    """Shares of the hardware's rates that an engine reaches, and the time of its own work.

    `benchmarks/generation_accuracy.py` fits them.
    """

    bandwidth: float
    """Share of the data sheet's memory bandwidth at which weights and cache are read."""
    compute: float
    """Share of the dense peak that large matrix products reach."""
    layer_us: float
    """Microseconds of a layer's launches, norms and rotations, independent of the batch."""
    sequence_us: float
    """Microseconds of a sequence in each step: scheduling, sampling, writing its token back."""
    exchange_us: float
    """Microseconds of one all-reduce between the devices of a copy, independent of its size."""
    launch_us: float = 0.0
    """Microseconds in which the host launches a layer's kernels, if no CUDA graph launches them. Launches overlap with
    the device's work."""
    most_sequences: int = 1024
    """Upper bound of the sequences that one copy writes at a time, independent of its memory."""
    refills: bool = True
    """True if a sequence that ends makes room for the next. Otherwise a batch lasts until its longest answer ends."""
    shares_prompts: bool = True
    """True if the completions of one prompt share its cache, so that the engine computes it once."""


DECODING = EngineConstants(bandwidth=0.766, compute=0.545, layer_us=22.9, sequence_us=9.36, exchange_us=18.0)
"""Constants of vLLM and SGLang, fitted to catalogs/generation/decoding.csv (benchmarks/generation_accuracy.py)."""
TRAINERS_OWN = replace(
    DECODING,
    launch_us=900.0,
    most_sequences=16,
    layer_us=0.0,
    sequence_us=0.0,
    refills=False,
    shares_prompts=False,
)
"""Constants of the eager `generate` of transformers: a static micro-batch, and launches from Python in every step.
Both are assumed. With stated micro-batches, they agree within a fifth with the generation of DeepSpeed-Chat
(test_predict_rollouts.py)."""
CONSTANTS = {Engine.VLLM: DECODING, Engine.SGLANG: DECODING, Engine.TRAINER: TRAINERS_OWN}


@dataclass(frozen=True)
class EngineDevice:
    """Rates and memory of an accelerator and its link, in bytes, bytes per second and FLOP per second."""

    bandwidth: float
    peak: float
    """Dense peak in the number format of the products."""
    memory: float
    """Bytes that a process can allocate."""
    link: float
    """Rate of one direction to the other devices of the same copy."""


def engine_device(accelerator: Accelerator, *, weight_bits: int = 16) -> EngineDevice | None:
    """Return the rates of an accelerator, or None if its bandwidth, peak or memory is unknown.

    An accelerator without a link of its own communicates over PCIe.
    """
    peak = peak_flops(accelerator, FORMATS[weight_bits]) or peak_flops(accelerator, FORMATS[16])
    if accelerator.hbm_gb_per_s is None or peak is None or accelerator.training_gib is None:
        return None
    slot = PCIE_GB_PER_S[pcie_generation(accelerator)]
    link = slot if accelerator.link_gb_per_s is None else accelerator.link_gb_per_s / 2
    return EngineDevice(
        bandwidth=accelerator.hbm_gb_per_s * 1e9, peak=peak, memory=accelerator.training_gib * GIB, link=link * 1e9
    )


@dataclass(frozen=True)
class EngineCopy:
    """One copy of the network, divided over `tensor` devices. Several copies divide the prompts among them."""

    network: TextModel
    device: EngineDevice
    tensor: int = 1
    weight_bytes: float = 2.0
    """Bytes of a parameter."""
    cache_bytes: float = 2.0
    """Bytes of a number in the cache of keys and values."""

    @property
    def weights(self) -> float:
        """Bytes of the weights on each device: parameters x bytes / devices."""
        return parameters(self.network) * self.weight_bytes / self.tensor

    @cached_property
    def token_cache(self) -> float:
        """Bytes that one token keeps on each device: 2 x layers x key-value heads x head size x bytes.

        Heads are divided over the devices. If there are more devices than heads, every device keeps one head.
        """
        heads = max(self.network.kv_heads / self.tensor, 1.0)
        return 2 * self.network.layers * heads * self.network.head_dim * self.cache_bytes

    def weights_read(self, batch: float) -> float:
        """Return the bytes of weights on each device that one step of `batch` tokens reads.

        A mixture reads E x (1 - (1 - k / E)^batch) of its E experts, because each token chooses k of them at random.
        The embedding is looked up, not read.
        """
        routed = float(self._routed)
        if (missed := self._missed_share) is not None:
            routed *= 1 - missed**batch
        return (self._always_read + routed) * self.weight_bytes / self.tensor

    def flops(self, tokens: float) -> float:
        """Return the FLOPs on each device of a forward pass of `tokens` without attention: 2 x parameters used."""
        return 2 * self._multiplied * tokens / self.tensor

    def attention_flops(self, tokens: float, context: float) -> float:
        """Return the FLOPs on each device of `tokens` that attend to `context` tokens each: 4 x layers x width."""
        width = self.network.heads * self.network.head_dim
        return 4 * self.network.layers * width * context * tokens / self.tensor

    def largest_batch(self, free_bytes: float, context: float) -> float:
        """Return the number of sequences of `context` tokens that fit in the cache at a time."""
        return max(0.0, free_bytes / (self.token_cache * max(context, 1.0)))

    # Cached because a schedule asks for thousands of steps.
    @cached_property
    def _routed(self) -> int:
        return routed_parameters(self.network)

    @cached_property
    def _always_read(self) -> int:
        return cast_weights(self.network) - self._routed

    @cached_property
    def _missed_share(self) -> float | None:
        """Share of a mixture's experts that one token does not choose, or None for a dense network."""
        sparse = family_of(self.network).layers[-1]
        return 1 - sparse.experts_per_token / sparse.experts if sparse.experts else None

    @cached_property
    def _multiplied(self) -> int:
        return matmul_parameters(self.network)


US = 1e-6
SHARPNESS = 4.0
"""Exponent with which the reading of weights and the products overlap: (a^4 + b^4)^(1/4) is nearly the longer of the
two. Assumed, as in the physics of training steps."""
LINK_SHARE = 0.7
"""Share of a link's rate that an all-reduce reaches. Assumed, as in the physics of training steps."""
EXCHANGES = 2
"""All-reduces of a layer's forward pass under tensor parallelism (Shoeybi et al. 2019, section 3)."""
ACTIVATION_BYTES = 2.0
CHUNK_TOKENS = 8192.0
"""Prompt tokens that an engine computes in one step: the usual limit of vLLM's chunks on server cards."""


@dataclass(frozen=True)
class DecodingStep:
    """Seconds of one step by part. Every sequence of a batch gets one token in a step."""

    products: float
    """Smooth maximum of the seconds to read the weights and to compute with them."""
    cache: float
    exchange: float
    engine: float

    @property
    def seconds(self) -> float:
        """Sum of the parts."""
        return self.products + self.cache + self.exchange + self.engine


def decoding_step(
    copy: EngineCopy, constants: EngineConstants, *, batch: float, context: float, prefilled: float = 0.0
) -> DecodingStep:
    """Return the seconds of a step of `batch` sequences with `context` tokens each in the cache.

    products = ((weights read / (bandwidth x share))^4 + (FLOPs / (peak x share))^4)^(1/4)
    cache = batch x context x bytes of a token / (bandwidth x share)
    exchange = layers x 2 x (latency + 2 (n - 1) / n x tokens x hidden x 2 bytes / (link x 0.7))
    engine = layers x layer_us + batch x sequence_us, plus the time by which launches without CUDA graphs outlast the
    device. `prefilled` is the number of prompt tokens computed in the same step.
    Source: Pope et al. 2022, sections 2 and 3.
    """
    device, network = copy.device, copy.network
    tokens = batch + prefilled
    reading = copy.weights_read(tokens) / (device.bandwidth * constants.bandwidth)
    computing = copy.flops(tokens) / (device.peak * constants.compute)
    products = _longer(reading, computing)
    cache = batch * context * copy.token_cache / (device.bandwidth * constants.bandwidth)
    exchange = 0.0
    if copy.tensor > 1:
        moved = 2 * (copy.tensor - 1) / copy.tensor * tokens * network.hidden * ACTIVATION_BYTES
        all_reduce = constants.exchange_us * US + moved / (device.link * LINK_SHARE)
        exchange = EXCHANGES * network.layers * all_reduce
    engine = (network.layers * constants.layer_us + batch * constants.sequence_us) * US
    launches = network.layers * constants.launch_us * US
    on_device = products + cache + exchange
    beyond_device = _longer(launches, on_device) - on_device if launches else 0.0
    return DecodingStep(products, cache, exchange, engine + beyond_device)


def _longer(first: float, second: float) -> float:
    """Return (a^4 + b^4)^(1/4), which is nearly the longer of two overlapping times."""
    longer, shorter = max(first, second), min(first, second)
    return float(longer * (1 + (shorter / longer) ** SHARPNESS) ** (1 / SHARPNESS))


def prompt_seconds(copy: EngineCopy, constants: EngineConstants, *, prompts: float, tokens: float) -> float:
    """Return the seconds in which one copy computes the cache of prompts of `tokens` each, in chunks of 8,192 tokens.

    Products take as long as in a decoding step. Each token attends to half of its prompt on average.
    """
    total = prompts * tokens
    if total <= 0:
        return 0.0
    chunks = max(1.0, total / CHUNK_TOKENS)
    chunk = decoding_step(copy, constants, batch=0, context=0, prefilled=total / chunks)
    attention = copy.attention_flops(total, tokens / 2) / (copy.device.peak * constants.compute)
    return chunks * chunk.seconds + attention
