"""ZeRO stage 1: the optimizer's states are sharded, weights and gradients are not (Rajbhandari et al. 2020)."""

from __future__ import annotations

from ..strategies.zero import ReplicatedWeightsStrategy


class Zero1Strategy(ReplicatedWeightsStrategy):
    """Gradients are whole until the backward pass is over; DeepSpeed then keeps this rank's share."""

    stage = 1
