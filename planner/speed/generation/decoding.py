"""Seconds of one decoding step: weights read, products, cache read, all-reduces and the engine's own work.

This is no planner of inference. It knows neither requests over time nor latencies that a service promises. It answers
how long a training waits for the answers that it learns from.
"""

from __future__ import annotations

from dataclasses import dataclass

from planner.speed.generation.engine import EngineConstants, EngineCopy

US = 1e-6
SHARPNESS = 4.0
"""Reading of weights hides behind products and the reverse: (a^4 + b^4)^(1/4), nearly the longer of the two. Assumed,
as in the physics of training steps."""
LINK_SHARE = 0.7
"""Of a link's rate that an all-reduce reaches. Assumed, as in the physics of training steps."""
EXCHANGES = 2
"""All-reduces of a layer's forward pass under tensor parallelism (Shoeybi et al. 2019, section 3)."""
ACTIVATION_BYTES = 2.0
PIECE = 8192.0
"""Tokens of prompts that an engine computes in one step: the usual limit of vLLM's chunks on server cards."""


@dataclass(frozen=True)
class DecodingStep:
    """Seconds of one step, in which every sequence of a batch gets one token."""

    products: float
    """The longer of reading the weights and computing, smoothly."""
    cache: float
    exchange: float
    engine: float

    @property
    def seconds(self) -> float:
        """The sum of the parts."""
        return self.products + self.cache + self.exchange + self.engine


def decoding_step(
    copy: EngineCopy, constants: EngineConstants, *, batch: float, context: float, prefilled: float = 0.0
) -> DecodingStep:
    """Return the seconds of a step of `batch` sequences, each with `context` tokens in the cache.

    products = ((weights read / (bandwidth x share))^4 + (FLOPs / (peak x share))^4)^(1/4)
    cache = batch x context x bytes of a token / (bandwidth x share)
    exchange = layers x 2 x (latency + 2 (n - 1) / n x tokens x hidden x 2 bytes / (link x 0.7))
    engine = layers x layer_us + batch x sequence_us, and without CUDA graphs what launches take longer than the device
    `prefilled`: prompt tokens that are computed in the same step. Source: Pope et al. 2022, sections 2 and 3.
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
        each = constants.exchange_us * US + moved / (device.link * LINK_SHARE)
        exchange = EXCHANGES * network.layers * each
    engine = (network.layers * constants.layer_us + batch * constants.sequence_us) * US
    launches = network.layers * constants.launch_us * US
    shown = _longer(launches, products + cache + exchange) - (products + cache + exchange) if launches else 0.0
    return DecodingStep(products, cache, exchange, engine + shown)


def _longer(one: float, other: float) -> float:
    """Return (a^4 + b^4)^(1/4): nearly the longer of two that hide behind each other."""
    longer, shorter = max(one, other), min(one, other)
    return float(longer * (1 + (shorter / longer) ** SHARPNESS) ** (1 / SHARPNESS))


def prompt_seconds(copy: EngineCopy, constants: EngineConstants, *, prompts: float, tokens: float) -> float:
    """Return the seconds in which one copy computes the cache of prompts of `tokens` each, in pieces of 8,192 tokens.

    Products as in a decoding step, and attention over half of the prompt for each token.
    """
    total = prompts * tokens
    if total <= 0:
        return 0.0
    pieces = max(1.0, total / PIECE)
    one = decoding_step(copy, constants, batch=0, context=0, prefilled=total / pieces)
    attention = copy.attention_flops(total, tokens / 2) / (copy.device.peak * constants.compute)
    return pieces * one.seconds + attention
