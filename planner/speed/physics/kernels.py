"""Facts of a trainer's kernels, read from words: fused, compiled, written for the accelerator's generation."""

from __future__ import annotations

import re

from planner.model.hardware.machines import Accelerator
from planner.scenario.frameworks import USUAL_KERNELS, name_and_kernels, planned_family
from planner.speed.physics.interconnect import is_rack

DENIED = re.compile(r"\b(no|not|without) [a-z.]+|\bunfused|torch\.compile[ =:]*(off|false|no)\b")
"""Names of kernels that a text denies, such as "no flash"."""
COMPILERS = ("torch.compile", "xla", "maxtext", "jax")
WRITTEN_IN_CUDA = ("cuda/c", "llm.c")
"""Names of code that does not use a framework's operators."""
NATIVE_ATTENTION = ("transformerengine", "cudnn", "fa3", "fa4")
"""Attention kernels written for Hopper and newer."""
DISPATCHERS = ("deepep", "hybridep", "primusturbo")
"""Special kernels that send tokens to experts; Primus-Turbo includes AMD's DeepEP."""
PLAIN_DISPATCH = ("alltoall", "dispatchernccl", "allgather")
"""Collectives that send tokens to experts without special kernels."""
RACK_DISPATCHING = ("megatronbridge", "megatroncore", "mcore")
"""Trainers whose recipes use special kernels on racks with one link domain. Source: Megatron-Bridge, MoE Dispatcher
Selection Guide: HybridEP on GB200 and GB300."""
FULLY_FUSED = ("torch.compile", "xla", "transformerengine", "liger", "unsloth", "hpu graph", *WRITTEN_IN_CUDA)
"""Names of software that fuses nearly all element-wise work."""
LITTLE_FUSED_IN = ("ngc", "nemo", "colossal")
ADAPTER_KERNELS = ("unsloth", "triton lora", "fused lora", *COMPILERS)
"""Names of software that fuses an adapter with its map."""
FUSED_IN_MEGATRON, PARTLY_FUSED, LITTLE_FUSED = 0.9, 0.7, 0.5
"""Fused shares of element-wise work: with Megatron, single fused operators, a vendor's container. Assumed."""
CAPTURED_BY_TE = 0.5
"""Share of launches that TransformerEngine's modules save. Assumed."""


def kernel_words(text: str) -> str:
    """Return a text in lower case, with the abbreviation "TE" spelled out as TransformerEngine."""
    return re.sub(r"\bte\b", "transformerengine", text.casefold())


def kernels_of(said: str, framework: str, *, attention: str = "") -> dict[str, float]:
    """Return the fields `fused`, `compiled` and `native` of `Configs`, each 0 to 1, from words about the kernels."""
    kernels = affirmed(said, framework)
    native = any(part in DENIED.sub("", said) + attention for part in NATIVE_ATTENTION)
    return {"fused": _fused(kernels), "compiled": _compiled(kernels), "native": float(native)}


def dispatches_tokens(said: str, framework: str, accelerator: Accelerator) -> bool:
    """Return whether special kernels send tokens to experts: because they are named, or by default on racks."""
    named = f"{said} {framework.casefold()}"
    if _mentions(DISPATCHERS, named):
        return _mentions(DISPATCHERS, DENIED.sub("", named))
    return is_rack(accelerator) and _mentions(RACK_DISPATCHING, named) and not _mentions(PLAIN_DISPATCH, named)


def _mentions(names: tuple[str, ...], text: str) -> bool:
    """Return whether a text contains one of the names, ignoring hyphens, underscores and spaces."""
    text = re.sub("[-_ ]", "", text)
    return any(name in text for name in names)


def planned_words(framework: str) -> tuple[str, str]:
    """Split a plan's framework into words about its kernels, by default the framework's common ones, and its name."""
    name, said = name_and_kernels(framework)
    return kernel_words(said or USUAL_KERNELS.get(planned_family(name), "")), name


def written_for_adapters(said: str, framework: str) -> bool:
    """Return whether kernels fuse an adapter with its map: compiled ones, or ones written for adapters."""
    kernels = affirmed(said, framework)
    return any(word in kernels for word in ADAPTER_KERNELS)


def affirmed(said: str, framework: str) -> str:
    """Return words about kernels and the framework's name, without kernels that they deny."""
    return DENIED.sub("", f"{said} {framework.casefold()}")


def _fused(said: str) -> float:
    """Return the fused share of element-wise work, 0 to 1."""
    said = said.replace("cross entropy", "")
    if any(part in said for part in FULLY_FUSED):
        return 1.0
    if "fused" in said:
        return PARTLY_FUSED
    if "megatron" in said:
        return FUSED_IN_MEGATRON
    if "tensorflow" in said:
        return 0.0
    if any(part in said for part in LITTLE_FUSED_IN):
        return LITTLE_FUSED
    return 0.0


def _compiled(said: str) -> float:
    """Return the share of launches that compiling or CUDA code saves, 0 to 1; single fused kernels save none."""
    if any(part in said for part in (*COMPILERS, *WRITTEN_IN_CUDA, "cuda graph", "hpu graph")):
        return 1.0
    return CAPTURED_BY_TE if "transformerengine" in said else 0.0
