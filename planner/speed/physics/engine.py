"""Host work of DeepSpeed's engine, in addition to launching the network's kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner.speed.physics.compute import REPEATED, host_age
from planner.speed.physics.layer_work import forward_again
from planner.speed.physics.part_formula import computes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from planner.speed.physics.config_arrays import Array, Configs

AT_THE_STEP = 0.5
"""Share of stage 2's work in the optimizer step; the rest is done in each backward pass. Source: deepspeed 0.19.8 on a
CPU with 16 layers of a GPT needs 9.5 ms more per backward pass than without the engine, and 10 ms at the step."""
TENSORS_OF_A_LAYER, TENSORS_OF_AN_ADAPTER = 12, 2
"""Tensors of the GPT block on which the stages were measured, and of a low-rank adapter."""
MS = 1e-3
"""Seconds of a millisecond."""


@computes("engine")
def engine_seconds(c: Configs, p: Mapping[str, float]) -> Array:
    """Return the seconds that DeepSpeed's engine needs on the host for one micro-batch; 0 without DeepSpeed.

    Stage 1 copies, reduces and checks every gradient once per optimizer step; a micro-batch has its share of that.
    Stage 2 reduces gradients in every backward pass. Stage 3 gathers and releases the weights of every module with
    hooks, in each forward and backward pass. The work depends on the number of tensors or modules and hardly on their
    sizes. Stage 3 is assumed to take at least as long as stage 2. Experts that are called one by one have their own
    hooks; other experts count as one MLP.
    """
    import numpy as np

    tensors = np.where(c.adapters > 0, c.adapted_maps * TENSORS_OF_AN_ADAPTER / TENSORS_OF_A_LAYER, 1.0)
    times = np.where(c.zero >= 2, AT_THE_STEP + (1 - AT_THE_STEP) * c.micro_batches, 1.0)
    replicated = p["zero2_ms"] * tensors * times / c.micro_batches
    modules = 1 + c.sequential_experts * c.experts * c.mlp_matrices / TENSORS_OF_A_LAYER
    sharded = p["zero3_ms"] * modules * (1 + REPEATED * forward_again(c))
    layer = np.where(c.zero >= 3, np.maximum(sharded, replicated), replicated) * MS * host_age(c, p)
    return np.asarray(c.deepspeed * (c.zero >= 1) * c.stage_layers * layer)
