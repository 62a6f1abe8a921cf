"""Seconds of one decoding step: weights read, products, cache read, all-reduces and the engine's own work.

This module does not plan inference: it knows neither requests over time nor promised latencies. It only tells how long
a training waits for the answers that it learns from.
"""

from __future__ import annotations

from dataclasses import dataclass

from planner.speed.generation.engine import EngineConstants, EngineCopy

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
