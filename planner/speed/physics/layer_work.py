"""Sizes of a layer's work: weights, tokens, and the number of passes over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner.speed.physics.config_arrays import Configs

if TYPE_CHECKING:
    from planner.speed.physics.config_arrays import Array

BACKWARD = 2.0
"""Backward pass of a product / its forward pass: one product for each of its two inputs."""


def attention_matrices(c: Configs) -> Array:
    """Return the weights of one layer's query, key, value and output."""
    import numpy as np

    return np.asarray(2 * c.hidden * (c.q_dim + c.kv_dim))


def expert_matrices(c: Configs) -> Array:
    """Return the weights of one expert of one layer; for a dense network, those of its MLP."""
    return c.mlp_matrices * c.hidden * c.ffn_hidden


def layer_matrices(c: Configs) -> Array:
    """Return the weights of one layer that one token uses: attention, and the active experts."""
    import numpy as np

    return np.asarray(attention_matrices(c) + expert_matrices(c) * c.active_experts)


def stored_matrices(c: Configs) -> Array:
    """Return all weights of one layer, including every expert."""
    import numpy as np

    return np.asarray(attention_matrices(c) + expert_matrices(c) * c.experts)


def passes(c: Configs) -> Array:
    """Return the products of one training pass, in forward passes: 1 + recomputed + without gradients + backward.

    With adapters, frozen weights need no gradients, which saves one.
    """
    return 1 + forward_again(c) + BACKWARD - c.adapters


def forward_again(c: Configs) -> Array:
    """Return the number of additional forward passes: recomputed ones, and those of a reference."""
    return c.recompute + c.forward_only


def gathers_weights(c: Configs) -> Array:
    """Return which configurations gather sharded weights for every micro-batch; pipelines keep them gathered."""
    import numpy as np

    return np.asarray((c.zero >= 3) & (c.pp <= 1))


def trained_share(c: Configs) -> Array:
    """Return the trained share of the parameters: 1, or rank x inputs and outputs of adapted maps / parameters."""
    import numpy as np

    return np.where(c.adapters > 0, c.layers * c.rank * c.adapted / c.parameters, 1.0)


def micro_tokens(c: Configs) -> Array:
    """Return the tokens of one micro-batch on one device; context parallelism divides them."""
    return c.micro_batch * c.seq_len / c.cp
