"""Activation checkpointing: what a block keeps for its backward pass, and what it recomputes there."""

from __future__ import annotations

import functools
from typing import Any, Callable, Dict, Tuple

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from ..contract.failure import ERROR, RunError

MATRIX_PRODUCTS = (torch.ops.aten.mm.default, torch.ops.aten.addmm.default)
ATTENTION_NAMES = (
    "_scaled_dot_product_flash_attention",
    "_scaled_dot_product_efficient_attention",
    "_scaled_dot_product_cudnn_attention",
    "_scaled_dot_product_flash_attention_for_cpu",
)


def recomputed(function: Callable[..., Tensor], checkpointing: str, *inputs: Any) -> Tensor:
    """Call the function. `full` keeps only its inputs, `selective` also attention and every second matrix product.

    Nothing in our models is random, so no state of a random generator is kept.
    """
    if checkpointing == "none":
        return function(*inputs)
    options: Dict[str, Any] = {"use_reentrant": False, "preserve_rng_state": False}
    if checkpointing == "selective":
        if not hasattr(torch.utils.checkpoint, "CheckpointPolicy"):
            raise RunError(ERROR, f"selective checkpointing needs torch 2.5 or newer, this is {torch.__version__}.")
        options["context_fn"] = _selective_contexts
    output: Tensor = checkpoint(function, *inputs, **options)
    return output


def _selective_contexts() -> Tuple[Any, Any]:
    """Return the contexts that choose per operator, as torchtitan's "selective, op" does (activation_checkpoint.py)."""
    products_seen = {False: 0, True: 0}
    from torch.utils.checkpoint import create_selective_checkpoint_contexts  # not in torch 2.4

    contexts: Tuple[Any, Any] = create_selective_checkpoint_contexts(  # type: ignore[no-untyped-call]
        functools.partial(_policy, products_seen)
    )
    return contexts


def _policy(products_seen: Dict[bool, int], context: Any, operator: Any, *args: Any, **kwargs: Any) -> Any:
    from torch.utils.checkpoint import CheckpointPolicy

    del args, kwargs
    keep = operator in ATTENTION
    if operator in MATRIX_PRODUCTS:
        products_seen[context.is_recompute] += 1
        keep = products_seen[context.is_recompute] % 2 == 1
    return CheckpointPolicy.MUST_SAVE if keep else CheckpointPolicy.PREFER_RECOMPUTE


ATTENTION = tuple(getattr(torch.ops.aten, name).default for name in ATTENTION_NAMES if hasattr(torch.ops.aten, name))
