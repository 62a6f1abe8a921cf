"""Time on one device: products, attention, element-wise passes, logits, launches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner.speed.physics.config_arrays import GENERATIONS, Configs
from planner.speed.physics.part_formula import computes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from planner.speed.physics.config_arrays import Array

REPEATED = 0.33
"""Share of element-wise work and launches that a forward pass is of forward and backward together."""
BACKWARD = 2.0
"""The backward pass of a product against its forward pass: one product for each of its two inputs."""
ABOVE_RATED = 1.1
"""Of the rated peak, at most: GeForce cards hold clocks up to a tenth above their rated boost."""
NARROW_BYTES = 1.5
"""A number that an 8-bit product moves, on average: operands of one byte, results of two."""
TILE, WIDE_TILE, WIDEST = 32, 64, 128
"""Numbers of a head: fused attention kernels compute whole tiles, wider ones for heads above the widest usual."""
US = 1e-6
"""Seconds of a microsecond."""
HIDDEN_PASSES, GATE_PASSES = 0.6, 0.1
"""Of the element-wise passes of a layer, those over the hidden state and those over the MLP's gated numbers. Assumed:
their sum is fitted (`elementwise`)."""
HIDDEN_OPERANDS = 3
"""Hidden states that a layer's products read and write beside the MLP's outputs: the input of query, key and value, the
output of attention's projection, and the input of the MLP."""
LOST_OF_A_WAVE = 0.5
"""Share of a product's last wave of blocks that runs empty, on average: anything between none and all of it."""
HALF_A_TILE = 64
"""Tokens by which each expert's are padded on average, to whole tiles of 128. Source: NVIDIA, CUTLASS grouped GEMM."""
CAUSAL_SKIPPED = 0.5
"""Share of the attention matrix above its diagonal, which a fused kernel skips."""
FLASH_PASSES = 3.5
"""Forward passes that forward and backward of a fused attention kernel are worth: the backward pass has five products
and the forward pass two (Dao et al. 2022)."""
WRITTEN_REPEATED = 0.3
"""Share of the passes over a written attention matrix that a forward pass has; about as in other element-wise work."""
HOST_AGE = {
    "pascal": "older", "volta": "older", "turing": "older", "ada": "newer", "hopper": "newer", "blackwell": "newer",
    "cdna": "newer",
}  # fmt: skip
"""Hosts are as old as their accelerators: processors before and after those of Ampere's machines."""


def attention_matrices(c: Configs) -> Array:
    """Weights of one layer's query, key, value and output."""
    import numpy as np

    return np.asarray(2 * c.hidden * (c.q_dim + c.kv_dim))


def expert_matrices(c: Configs) -> Array:
    """Weights of one expert of one layer; of a dense network, of its MLP."""
    return c.mlp_matrices * c.hidden * c.ffn_hidden


def layer_matrices(c: Configs) -> Array:
    """Weights of one layer that one token meets: attention, and the MLP of the active experts."""
    import numpy as np

    return np.asarray(attention_matrices(c) + expert_matrices(c) * c.active_experts)


def stored_matrices(c: Configs) -> Array:
    """Weights of one layer, all experts counted."""
    import numpy as np

    return np.asarray(attention_matrices(c) + expert_matrices(c) * c.experts)


def passes(c: Configs) -> Array:
    """Forward passes that one training pass is worth in products: 1 + recomputed + without gradients + backward.

    Adapters leave out the products for the gradients of frozen weights.
    """
    return 1 + forward_again(c) + BACKWARD - c.adapters


def forward_again(c: Configs) -> Array:
    """Forward passes besides the one that is trained on: recomputed ones, and those of a reference."""
    return c.recompute + c.forward_only


def gathers_weights(c: Configs) -> Array:
    """Return where every micro-batch gathers sharded weights: everywhere but in pipelines, which keep them gathered."""
    import numpy as np

    return np.asarray((c.zero >= 3) & (c.pp <= 1))


def trained_share(c: Configs) -> Array:
    """Share of the parameters that is trained: rank x inputs and outputs of adapted maps / parameters, or all."""
    import numpy as np

    return np.where(c.adapters > 0, c.layers * c.rank * c.adapted / c.parameters, 1.0)


def micro_tokens(c: Configs) -> Array:
    """Tokens of one micro-batch on one device: context parallelism divides them."""
    return c.micro_batch * c.seq_len / c.cp


def gemm_share(c: Configs, p: Mapping[str, float]) -> Array:
    """Share of the peak that large products reach, by generation, number format and power.

    Below 16 bit, scaling and transposing cost a part of it; Blackwell's tensor cores scale blocks themselves.
    Where power is short the clock falls: dynamic power rises with clock x voltage^2, so the clock goes with a power of
    up to a third of it (Mudge 2001). Boards with power to spare run a little above the clock of their rated peak.
    Ordinary cores (fp32) draw less and are easier to fill: they reach the same share in all generations.
    """
    import numpy as np

    table = np.array([p[f"gemm_{name}"] for name in GENERATIONS])
    formats = np.array([1.0, p["gemm_8bit"], p["gemm_4bit"]])
    share = table[c.generation.astype(int)] * formats[c.format_step.astype(int)]
    scaling = (c.generation == GENERATIONS.index("blackwell")) & (c.format_step > 0)
    share = share * np.where(scaling, p["gemm_scaled"], 1.0)
    held = np.minimum(share * c.power ** p["gemm_power"], ABOVE_RATED)
    return np.asarray(np.where(c.vector_rate > 0, p["gemm_vector"], held))


@computes("products", "traffic", "expansion", "elementwise", "routing", "tail")
def layer_parts(c: Configs, p: Mapping[str, float]) -> dict[str, Array]:
    """Device time of one layer, forward and backward, for one micro-batch, part by part.

    products: FLOPs / reached peak, half a wave lost at the end of each; traffic: bytes of products / bandwidth;
    elementwise: passes over hidden states, more under autocast where no kernel fuses its casts; routing: copies of
    hidden states to experts and back; tail: idle time between kernels. They add up: kernels follow one another.
    """
    import numpy as np

    tokens, reached = micro_tokens(c), c.hbm * p["hbm"]
    weights = layer_matrices(c) / c.tp
    local = (stored_matrices(c) - layer_matrices(c)) / c.tp / c.ep + weights
    number = c.number_bytes
    moved = np.where(c.format_step > 0, NARROW_BYTES, number)
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
    again = 1 + REPEATED * forward_again(c)
    narrow = np.where(c.format_step > 0, p["routing_narrow"], 1.0)
    return {
        "products": (2 * tokens * weights / rate_of_outliers(c, p) + wasted_flops(c, p))
        / (c.peak * gemm_share(c, p))
        * passes(c),
        "traffic": moved * (tokens * widths + local) * p["gemm_bytes"] / reached * passes(c),
        "expansion": c.quantized * local * p["expand"] / reached * passes(c),
        "attention": _attention_seconds(c, p) * c.attention_scale,
        "elementwise": c.elementwise_scale * tokens * stream * fused * cast / reached * again,
        "adapters": _adapter_seconds(c, p),
        "routing": tokens * _sent(c) * p["routing_passes"] * _of_routing(c, p) * narrow / reached * again,
        "tail": p["tail_us"] * US * fused * again,
    }


@computes("adapters")
def _adapter_seconds(c: Configs, p: Mapping[str, float]) -> Array:
    """Time of one layer's adapters: products of their rank, all gradients among them, and passes beside their maps.

    2 x tokens x rank x (inputs + outputs) FLOPs a pass at 16 bit; casting, dropout, scaling and adding to the map's
    output cost `adapter_bytes` at 16 bit, twice that at 32, for every input and output of a map, both ways. Kinds that
    form a weight of the map's size move `form_bytes` for each of its numbers (twice that at 32 bit), twice as much for
    its gradients, and most multiply by it; orthogonal ones multiply weights by weights for it (`rotation_flops`), and
    as much again for the gradients. Left out: tensor slices that read a whole input each, launches of forming, 4-bit
    weights expanded for it, that LoHa and BOFT have no product of their rank with each token, and PSOFT a second one.
    """
    import numpy as np

    tokens, reached = micro_tokens(c), c.hbm * p["hbm"]
    numbers, weights = tokens * c.adapted / c.tp, c.adapted_weights / c.tp
    forward = 1 + c.recompute
    by_rank = numbers * c.rank * (forward + BACKWARD)
    by_weight = tokens * weights * (c.dense * (forward + 1) + c.dense_trained)
    among_weights = c.rotation_flops / c.tp * (forward + 1)
    fused = 1 - c.adapters_fused * (1 - p["elementwise_fused"])
    moved = numbers * p["adapter_bytes"] * c.number_bytes / 2 * fused * (1 + REPEATED * c.recompute)
    materialised = c.materialised * weights * p["form_bytes"] * c.number_bytes / 2 * (forward + 2 * c.dense_trained)
    flops = 2 * (by_rank + by_weight) + among_weights
    return np.asarray(flops / (c.peak16 * gemm_share(c, p)) + (moved + materialised) / reached)


def _sent(c: Configs) -> Array:
    """Bytes of a token's hidden state, once for each expert of a layer that it travels to.

    Tokens are sorted to their experts and summed back by weight, and their gradients the same way: `routing_passes`
    counts reads and writes of all of it. Source: Gale et al. 2022 (MegaBlocks), section 2.
    """
    return (c.experts > 1) * c.routed_experts * c.hidden / c.tp * c.number_bytes


def _of_routing(c: Configs, p: Mapping[str, float]) -> Array:
    """Share of routing's passes and launches that is left where kernels of their own send the tokens."""
    import numpy as np

    return np.asarray(1 - c.dispatched * (c.ep > 1) * (1 - p["routing_dispatched"]))


def wasted_flops(c: Configs, p: Mapping[str, float]) -> Array:
    """FLOPs that a layer's forward products could have done while their last wave of blocks runs half empty.

    2 x inner size x outputs of half a wave, summed over query-key-value, output, up (with its gate) and down. Small
    products do not fill a device: 1,024 tokens x 1,024 outputs are 64 blocks of 128 x 128 for some 100 processors.
    Source: NVIDIA, Matrix Multiplication Background User's Guide, section 4. The products of experts run side by side,
    so they lose a wave together, but each one's last tile of tokens is half empty.
    """
    import numpy as np

    inner = 2 * c.hidden + (c.q_dim + c.ffn_hidden) / c.tp
    tiles = (c.experts > 1) * HALF_A_TILE * expert_matrices(c) * c.experts / c.ep / c.tp
    return np.asarray(2 * inner * LOST_OF_A_WAVE * p["wave_k"] * 1e3 + 2 * tiles)


def rate_of_outliers(c: Configs, p: Mapping[str, float]) -> Array:
    """Rate of the products with frozen weights of 8 bits, against those at 16 bit; 1 for all others."""
    import numpy as np

    return np.asarray(1 - c.outliers * (1 - p["outliers"]))


@computes("attention")
def _attention_seconds(c: Configs, p: Mapping[str, float]) -> Array:
    """Time of scores and their weighted sum: 4 x T x width FLOPs a token, half of that if causal.

    A fused kernel computes whole tiles of a head: 80 numbers cost as much as 96 (Dao 2023, flash-attn 2). In layers
    with windows it skips the pairs outside (`attended`). Written out, the whole matrix is computed, and costs passes
    over memory: heads x T numbers a token.
    """
    import numpy as np

    tokens, reached = micro_tokens(c), c.hbm * p["hbm"]
    flops = 4 * tokens * c.seq_len * c.q_dim / c.tp
    share = gemm_share(c, p)
    newer = (c.generation == GENERATIONS.index("hopper")) | (c.generation == GENERATIONS.index("blackwell"))
    reached_share = np.where(newer, p["attention_newer"] * (1 + c.native * (p["attention_native"] - 1)), p["attention"])
    reached_share = reached_share * (1 - c.early * (1 - p["attention_early"]))
    head = np.maximum(1.0, c.q_dim / np.maximum(1.0, c.heads))
    tile = np.where(head > WIDEST, WIDE_TILE, TILE)
    tiled = tile * np.ceil(np.round(head / tile, 6)) / head
    reached_share = reached_share * np.where(head > WIDEST, p["attention_wide"], 1.0)
    kernel = (
        flops
        * c.attended
        * tiled
        * (1 - CAUSAL_SKIPPED * c.causal)
        / (c.peak16 * reached_share)
        * (FLASH_PASSES + forward_again(c))
    )
    written = flops / (c.peak16 * share) * (1 + BACKWARD + forward_again(c))
    written = (
        written
        + tokens
        * c.heads
        / c.tp
        * c.seq_len
        * c.number_bytes
        * p["softmax"]
        * (1 - c.fused * (1 - p["elementwise_fused"]))
        * (1 + WRITTEN_REPEATED * forward_again(c))
        / reached
    )
    return np.asarray(c.flash * kernel + (1 - c.flash) * written)


@computes("logits")
def head_seconds(c: Configs, p: Mapping[str, float]) -> Array:
    """Device time of logits and loss for one micro-batch: a product at 16 bit, and passes over the logits."""
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
    loss = tokens * c.vocab / c.tp * p["logits"] * fused / reached * (1 + REPEATED * c.forward_only)
    return np.asarray(products + loss)


@computes("host")
def host_seconds(c: Configs, p: Mapping[str, float]) -> Array:
    """Time that the host needs to launch one layer's kernels, forward and backward.

    Each adapter adds launches, and so does expanding 4-bit weights before each product. Sharded weights are gathered by
    the host's leave; PEFT's adapters, unless fused with their maps, each by itself. A layer with experts routes, counts
    and sorts tokens, and waits for the counts; experts that are called one after another have launches of their own.
    """
    import numpy as np

    fused = (1 - c.compiled * (1 - p["host_fused"])) * (1 + c.autocast * (p["host_cast"] - 1))
    sharded = 1 + gathers_weights(c) * (p["host_sharded"] - 1)
    gathers = gathers_weights(c) * c.separate_gathers * (1 - c.adapters_fused) * c.adapted_maps * p["host_gather"]
    routing = (c.experts > 1) * (p["host_experts"] - 1) * _of_routing(c, p) + c.sequential_experts * c.experts * p[
        "host_loop"
    ]
    maps = c.adapted_maps * p["host_adapter"] + c.quantized * p["host_quantized"]
    layer = (1 + maps + routing) * sharded + gathers
    launches = fused * layer * (1 + REPEATED * forward_again(c))
    return np.asarray(p["host_us"] * c.host_scale * US * host_age(c, p) * launches)


def host_age(c: Configs, p: Mapping[str, float]) -> Array:
    """Return the time of the host's work by the age of its processor, against one of Ampere's machines."""
    import numpy as np

    processor = np.array([p[f"host_{HOST_AGE[name]}"] if name in HOST_AGE else 1.0 for name in GENERATIONS])
    return np.asarray(processor[c.generation.astype(int)])
