"""Time on one device in seconds: products, attention, element-wise passes, logits, launches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner.speed.physics.config_arrays import GENERATIONS, Configs
from planner.speed.physics.part_formula import (
    BACKWARD,
    computes,
    expert_matrices,
    forward_again,
    gathers_weights,
    layer_matrices,
    micro_tokens,
    passes,
    stored_matrices,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from planner.speed.physics.config_arrays import Array

FORWARD_SHARE = 0.33
"""Share of the forward pass in the element-wise work and launches of both passes. Recomputation adds it once more."""
MOST_ABOVE_RATED_PEAK = 1.1
"""Largest ratio of reached to rated peak: GeForce cards sustain clocks up to a tenth above their rated boost."""
EIGHT_BIT_PRODUCT_BYTES = 1.5
"""Average bytes of a number that an 8-bit product moves: operands have one byte, results two."""
HEAD_TILE, WIDE_HEAD_TILE, WIDEST_COMMON_HEAD = 32, 64, 128
"""Widths of attention heads, in numbers: a tile of a fused kernel, a tile for heads wider than the widest common one,
and the widest common head."""
US = 1e-6
"""Seconds in a microsecond."""
HIDDEN_PASSES, GATE_PASSES = 0.6, 0.1
"""Shares of a layer's element-wise passes: over the hidden state, and over the MLP's gated numbers. Assumed; their sum
is fitted (`elementwise`)."""
HIDDEN_OPERANDS = 3
"""Hidden states that a layer's products read and write in addition to the MLP's outputs: the input of query, key and
value, the output of attention's projection, and the input of the MLP."""
IDLE_SHARE_OF_LAST_WAVE = 0.5
"""Average idle share of a product's last wave of blocks. It lies anywhere between 0 and 1."""
PADDING_PER_EXPERT = 64
"""Average tokens that pad each expert's tokens to whole tiles of 128. Source: NVIDIA, CUTLASS grouped GEMM."""
CAUSAL_SKIPPED = 0.5
"""Share of the attention matrix above its diagonal, which a fused kernel skips."""
FLASH_PASSES = 3.5
"""Work of a fused attention kernel in both passes / its work in the forward pass. The forward pass has two products and
the backward pass five (Dao et al. 2022)."""
STORED_FORWARD_SHARE = 0.3
"""Share of the forward pass in the reads and writes of a stored attention matrix; about as in other element-wise work.
"""
HOST_AGE = {
    "pascal": "older", "volta": "older", "turing": "older", "ada": "newer", "hopper": "newer", "blackwell": "newer",
    "cdna": "newer",
}  # fmt: skip
"""Age of the host's processor compared with hosts of Ampere cards. Hosts are assumed to be as old as accelerators."""


def gemm_share(c: Configs, p: Mapping[str, float]) -> Array:
    """Return the share of the peak that large products reach, by generation, number format and power.

    Below 16 bit, scaling and transposing cost a part of it; Blackwell's tensor cores scale blocks themselves.

    Below the needed power, the clock falls. Dynamic power is proportional to clock x voltage^2, so the clock grows with
    the power to an exponent of up to one third (Mudge 2001). Boards with spare power run slightly above the clock of
    their rated peak. Ordinary cores (fp32) need less power and are easier to keep busy, so they reach the same share in
    all generations.
    """
    import numpy as np

    table = np.array([p[f"gemm_{name}"] for name in GENERATIONS])
    formats = np.array([1.0, p["gemm_8bit"], p["gemm_4bit"]])
    share = table[c.generation.astype(int)] * formats[c.format_step.astype(int)]
    scaling = (c.generation == GENERATIONS.index("blackwell")) & (c.format_step > 0)
    share = share * np.where(scaling, p["gemm_scaled"], 1.0)
    sustained = np.minimum(share * c.power ** p["gemm_power"], MOST_ABOVE_RATED_PEAK)
    return np.asarray(np.where(c.vector_rate > 0, p["gemm_vector"], sustained))


@computes("products", "traffic", "expansion", "elementwise", "routing", "tail")
def layer_parts(c: Configs, p: Mapping[str, float]) -> dict[str, Array]:
    """Return the device time of one layer for one micro-batch, forward and backward, by part.

    - products: FLOPs / reached peak, with half a wave lost at the end of each product
    - traffic: bytes of products / bandwidth
    - expansion: bytes of 4-bit weights that are expanded / bandwidth
    - attention: scores and weighted sums
    - elementwise: passes over hidden states; autocast adds some unless kernels fuse its casts
    - adapters: work of low-rank adapters
    - routing: copies of hidden states to experts and back
    - tail: idle time between kernels

    Kernels run one after another, so the parts add up.
    """
    import numpy as np

    tokens, reached = micro_tokens(c), c.hbm * p["hbm"]
    weights = layer_matrices(c) / c.tp
    local = (stored_matrices(c) - layer_matrices(c)) / c.tp / c.ep + weights
    number = c.number_bytes
    moved = np.where(c.format_step > 0, EIGHT_BIT_PRODUCT_BYTES, number)
    mlp_width = c.ffn_hidden * c.active_experts * c.mlp_matrices / c.tp
    widths = (
        (c.q_dim * 2 + c.kv_dim * 2) / c.tp
        + (HIDDEN_OPERANDS + c.mlp_matrices * c.active_experts) * c.hidden
        + mlp_width
    )
    fused = 1 - c.fused * (1 - p["elementwise_fused"])
    cast = 1 + c.autocast * (1 - c.fused) * (p["elementwise_cast"] - 1)
    gated = c.ffn_hidden * c.active_experts * (c.mlp_matrices - 1) / c.tp
    stream = (HIDDEN_PASSES * c.hidden / c.tp + GATE_PASSES * gated) * number * p["elementwise"]
    again = 1 + FORWARD_SHARE * forward_again(c)
    narrow = np.where(c.format_step > 0, p["routing_narrow"], 1.0)
    return {
        "products": (2 * tokens * weights / outlier_rate(c, p) + wasted_flops(c, p))
        / (c.peak * gemm_share(c, p))
        * passes(c),
        "traffic": moved * (tokens * widths + local) * p["gemm_bytes"] / reached * passes(c),
        "expansion": c.quantized * local * p["expand"] / reached * passes(c),
        "attention": _attention_seconds(c, p) * c.attention_scale,
        "elementwise": c.elementwise_scale * tokens * stream * fused * cast / reached * again,
        "adapters": _adapter_seconds(c, p),
        "routing": tokens
        * _routed_bytes(c)
        * p["routing_passes"]
        * _remaining_routing(c, p)
        * narrow
        / reached
        * again,
        "tail": p["tail_us"] * US * fused * again,
    }


@computes("adapters")
def _adapter_seconds(c: Configs, p: Mapping[str, float]) -> Array:
    """Return the time of one layer's adapters, forward and backward.

    Products need 2 x tokens x rank x (inputs + outputs) FLOPs per pass at 16 bit. Casting, dropout, scaling and adding
    to the map's output move `adapter_bytes` per input and output of a map at 16 bit, and twice that at 32 bit.

    Kinds that build a matrix of the map's size move `form_bytes` per element (twice that at 32 bit), and twice as much
    for its gradients; most kinds also multiply by the matrix. Orthogonal kinds multiply weights by weights to build it
    (`rotation_flops`), and again for the gradients.

    Not modelled: each tensor slice reads a whole input; building matrices has launches and expands 4-bit weights; LoHa
    and BOFT have no product of their rank with each token, and PSOFT has a second one.
    """
    import numpy as np

    tokens, reached = micro_tokens(c), c.hbm * p["hbm"]
    numbers, weights = tokens * c.adapted / c.tp, c.adapted_weights / c.tp
    forward = 1 + c.recompute
    by_rank = numbers * c.rank * (forward + BACKWARD)
    by_weight = tokens * weights * (c.dense * (forward + 1) + c.dense_trained)
    among_weights = c.rotation_flops / c.tp * (forward + 1)
    fused = 1 - c.adapters_fused * (1 - p["elementwise_fused"])
    moved = numbers * p["adapter_bytes"] * c.number_bytes / 2 * fused * (1 + FORWARD_SHARE * c.recompute)
    materialized = c.materialized * weights * p["form_bytes"] * c.number_bytes / 2 * (forward + 2 * c.dense_trained)
    flops = 2 * (by_rank + by_weight) + among_weights
    return np.asarray(flops / (c.peak16 * gemm_share(c, p)) + (moved + materialized) / reached)


def _routed_bytes(c: Configs) -> Array:
    """Return the bytes of a token's hidden state, counted once for each expert that it is sent to.

    Tokens are sorted by expert, and the experts' outputs are added up by weight; so are their gradients.
    `routing_passes` counts all reads and writes. Source: Gale et al. 2022 (MegaBlocks), section 2.
    """
    return (c.experts > 1) * c.routed_experts * c.hidden / c.tp * c.number_bytes


def _remaining_routing(c: Configs, p: Mapping[str, float]) -> Array:
    """Return the share of routing's passes and launches that remains with special kernels for sending tokens."""
    import numpy as np

    return np.asarray(1 - c.dispatched * (c.ep > 1) * (1 - p["routing_dispatched"]))


def wasted_flops(c: Configs, p: Mapping[str, float]) -> Array:
    """Return the FLOPs that a layer's forward products lose because their last wave of blocks is half empty.

    FLOPs = 2 x inner size x outputs of half a wave, summed over query-key-value, output, up (with its gate) and down.
    Small products do not fill a device: 1,024 tokens x 1,024 outputs are 64 blocks of 128 x 128 for about 100
    processors. Source: NVIDIA, Matrix Multiplication Background User's Guide, section 4. The products of experts run in
    parallel, so they lose one wave together, but the last tile of each expert's tokens is half empty.
    """
    import numpy as np

    inner = 2 * c.hidden + (c.q_dim + c.ffn_hidden) / c.tp
    tiles = (c.experts > 1) * PADDING_PER_EXPERT * expert_matrices(c) * c.experts / c.ep / c.tp
    return np.asarray(2 * inner * IDLE_SHARE_OF_LAST_WAVE * p["wave_k"] * 1e3 + 2 * tiles)


def outlier_rate(c: Configs, p: Mapping[str, float]) -> Array:
    """Return the rate of products with frozen 8-bit weights / their rate at 16 bit; 1 without such weights.

    LLM.int8() multiplies outlier columns separately, at 16 bit.
    """
    import numpy as np

    return np.asarray(1 - c.outliers * (1 - p["outliers"]))


@computes("attention")
def _attention_seconds(c: Configs, p: Mapping[str, float]) -> Array:
    """Return the time of attention scores and their weighted sum: 4 x T x width FLOPs per token, half if causal.

    A fused kernel computes whole tiles of a head: 80 numbers cost as much as 96 (Dao 2023, flash-attn 2). In layers
    with windows it skips pairs outside the window (`attended`). An eager kernel computes the whole matrix, and stores
    and reads heads x T numbers per token.
    """
    import numpy as np

    tokens, reached = micro_tokens(c), c.hbm * p["hbm"]
    flops = 4 * tokens * c.seq_len * c.q_dim / c.tp
    share = gemm_share(c, p)
    newer = (c.generation == GENERATIONS.index("hopper")) | (c.generation == GENERATIONS.index("blackwell"))
    reached_share = np.where(newer, p["attention_newer"] * (1 + c.native * (p["attention_native"] - 1)), p["attention"])
    reached_share = reached_share * (1 - c.early * (1 - p["attention_early"]))
    head = np.maximum(1.0, c.q_dim / np.maximum(1.0, c.heads))
    tile = np.where(head > WIDEST_COMMON_HEAD, WIDE_HEAD_TILE, HEAD_TILE)
    tiled = tile * np.ceil(np.round(head / tile, 6)) / head
    reached_share = reached_share * np.where(head > WIDEST_COMMON_HEAD, p["attention_wide"], 1.0)
    kernel = (
        flops
        * c.attended
        * tiled
        * (1 - CAUSAL_SKIPPED * c.causal)
        / (c.peak16 * reached_share)
        * (FLASH_PASSES + forward_again(c))
    )
    matrix_bytes = tokens * c.heads / c.tp * c.seq_len * c.number_bytes
    passes_over_it = (
        p["softmax"] * (1 - c.fused * (1 - p["elementwise_fused"])) * (1 + STORED_FORWARD_SHARE * forward_again(c))
    )
    eager = flops / (c.peak16 * share) * (1 + BACKWARD + forward_again(c)) + matrix_bytes * passes_over_it / reached
    return np.asarray(c.flash * kernel + (1 - c.flash) * eager)


@computes("logits")
def head_seconds(c: Configs, p: Mapping[str, float]) -> Array:
    """Return the device time of logits and loss for one micro-batch: a 16-bit product, and passes over the logits."""
    import numpy as np

    tokens, reached = micro_tokens(c) * c.head_share, c.hbm * p["hbm"]
    aligned = 1 - c.unaligned * (1 - c.vector_rate) * (1 - p["unaligned"])
    products = (
        2
        * tokens
        * c.vocab
        * c.hidden
        / c.tp
        / (c.peak16 * gemm_share(c, p) * aligned)
        * (1 + c.forward_only + BACKWARD - c.adapters)
    )
    fused = 1 - c.fused * (1 - p["logits_fused"])
    loss = tokens * c.vocab / c.tp * p["logits"] * fused / reached * (1 + FORWARD_SHARE * c.forward_only)
    return np.asarray(products + loss)


@computes("host")
def host_seconds(c: Configs, p: Mapping[str, float]) -> Array:
    """Return the time that the host needs to launch one layer's kernels, forward and backward.

    Each adapter adds launches, and so does expanding 4-bit weights before each product. The host also starts the
    gathers of sharded weights; each of PEFT's adapters has its own gather unless it is fused with its map. A layer with
    experts routes, counts and sorts tokens, and waits for the counts. Experts that are called one after another have
    their own launches.
    """
    import numpy as np

    fused = (1 - c.compiled * (1 - p["host_fused"])) * (1 + c.autocast * (p["host_cast"] - 1))
    sharded = 1 + gathers_weights(c) * (p["host_sharded"] - 1)
    gathers = gathers_weights(c) * c.separate_gathers * (1 - c.adapters_fused) * c.adapted_maps * p["host_gather"]
    routing = (c.experts > 1) * (p["host_experts"] - 1) * _remaining_routing(
        c, p
    ) + c.sequential_experts * c.experts * p["host_loop"]
    maps = c.adapted_maps * p["host_adapter"] + c.quantized * p["host_quantized"]
    layer = (1 + maps + routing) * sharded + gathers
    launches = fused * layer * (1 + FORWARD_SHARE * forward_again(c))
    return np.asarray(p["host_us"] * c.host_scale * US * host_age(c, p) * launches)


def host_age(c: Configs, p: Mapping[str, float]) -> Array:
    """Return the time of the host's work / its time on hosts of Ampere cards, by the age of the processor."""
    import numpy as np

    processor = np.array([p[f"host_{HOST_AGE[name]}"] if name in HOST_AGE else 1.0 for name in GENERATIONS])
    return np.asarray(processor[c.generation.astype(int)])
