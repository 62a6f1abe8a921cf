"""ZeRO stage 2: gradients and the optimizer's states are sharded, weights are not (Rajbhandari et al. 2020)."""

from __future__ import annotations

from ..strategies.zero import ReplicatedWeightsStrategy


class Zero2Strategy(ReplicatedWeightsStrategy):
    """Every bucket of gradients is averaged during the backward pass, and only this rank's share is kept."""

    stage = 2
