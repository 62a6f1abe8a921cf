"""Number of parameters of a network, and FLOPs of one sample or token of training."""

from __future__ import annotations

from planner.model.network.architecture import Architecture
from planner.model.plan.plan import FlopsConvention
from planner.network.families.family import StepPasses
from planner.network.families.known_families import family_of


def parameters(architecture: Architecture) -> int:
    """Count every trained parameter; for a mixture all experts, whether a token uses them or not."""
    return family_of(architecture).parameters()


def active_parameters(architecture: Architecture) -> int:
    """Count the parameters that one token uses: of the routed experts only `experts_per_token`.

    For a dense decoder these are all parameters. This is the "A3B" in Qwen3-30B-A3B.
    """
    return family_of(architecture).active_parameters()


def routed_parameters(architecture: Architecture) -> int:
    """Count the parameters of the experts among which tokens are routed. Expert parallelism divides them."""
    return family_of(architecture).routed_parameters()


def matmul_parameters(architecture: Architecture) -> int:
    """Count the parameters in matrix products that one token uses: blocks and head, no look-ups, norms or biases."""
    return family_of(architecture).matmul_parameters()


def cast_weights(architecture: Architecture) -> int:
    """Count the weights that autocast copies at 16 bit: for text those in matrix products, all experts included.

    For images these are all weights.
    """
    return family_of(architecture).cast_weights()


def layer_maps(architecture: Architecture) -> int:
    """Count the parameters of the layers' linear maps, all experts included, without the head; 0 for images."""
    return family_of(architecture).layer_maps()


def flops_per_sample(
    architecture: Architecture,
    *,
    seq_len: float | None,
    convention: FlopsConvention,
    adapters: bool = False,
    forward_only: float = 0.0,
    scalar_head: bool = False,
    sequences: int = 1,
) -> float:
    """Return the training FLOPs of one sample: of `seq_len` tokens, or of one image; of a pair, of both `sequences`.

    The conventions (planner/network/families/text.py) differ only in causal attention, which image models do not have,
    and six_n does not apply to a convolution. So an image has one figure (planner/network/families/images.py).
    """
    family = family_of(architecture)
    passes = StepPasses(adapters=adapters, forward_only=forward_only, scalar_head=scalar_head)
    return family.flops_per_sample(seq_len=seq_len, convention=convention, passes=passes) * sequences


def flops_per_token(
    architecture: Architecture, *, seq_len: int, convention: FlopsConvention, adapters: bool = False
) -> float:
    """Return the training FLOPs per token of samples of one length."""
    return flops_per_sample(architecture, seq_len=seq_len, convention=convention, adapters=adapters) / seq_len
