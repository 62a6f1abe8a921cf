"""What words say of a trainer's kernels: fused, compiled, written for the accelerator's generation."""

from __future__ import annotations

import re

from planner.model.hardware.machines import Accelerator
from planner.scenario.frameworks import USUAL_KERNELS, name_and_kernels, planned_family
from planner.speed.physics.interconnect import is_rack

UNSAID = re.compile(r"\b(no|not|without) [a-z.]+|\bunfused|torch\.compile[ =:]*(off|false|no)\b")
"""What words deny."""
COMPILERS = ("torch.compile", "xla", "maxtext", "jax")
WRITTEN_IN_CUDA = ("cuda/c", "llm.c")
"""Code without a framework's operators."""
OF_THE_GENERATION = ("transformerengine", "cudnn", "fa3", "fa4")
"""Attention kernels written for Hopper and newer."""
DISPATCHERS = ("deepep", "hybridep", "primusturbo")
"""Kernels that send tokens to experts; Primus-Turbo brings AMD's DeepEP."""
PLAIN_DISPATCH = ("alltoall", "dispatchernccl", "allgather")
"""Collectives that do the same without them."""
RACK_DISPATCHING = ("megatronbridge", "megatroncore", "mcore")
"""Trainers whose recipes have one of these on racks with one link domain. Source: Megatron-Bridge, MoE Dispatcher
Selection Guide: HybridEP on GB200 and GB300."""


FUSED_BY = ("torch.compile", "xla", "transformerengine", "liger", "unsloth", "hpu graph", *WRITTEN_IN_CUDA)
"""What fuses nearly all element-wise work."""
LITTLE_FUSED_IN = ("ngc", "nemo", "colossal")
BESIDE_A_MAP = ("unsloth", "triton lora", "fused lora", *COMPILERS)
"""What joins an adapter to its map. Of all of these words, those that a single source uses say what a kernel does."""
FUSED_IN_MEGATRON, PARTLY_FUSED, LITTLE_FUSED = 0.9, 0.7, 0.5
"""Share of element-wise work in fused kernels: Megatron's, single fused operators, a vendor's container. Assumed."""
CAPTURED_BY_TE = 0.5
"""Share of launches that TransformerEngine's modules save. Assumed."""


def kernel_words(text: str) -> str:
    """Return a text in small letters, with TransformerEngine by its name."""
    return re.sub(r"\bte\b", "transformerengine", text.casefold())


def kernels_of(said: str, framework: str, *, attention: str = "") -> dict[str, float]:
    """Return what the physics needs of the kernels, by words about them, and about attention; each 0 to 1."""
    kernels = affirmed(said, framework)
    native = any(part in UNSAID.sub("", said) + attention for part in OF_THE_GENERATION)
    return {"fused": _fused(kernels), "compiled": _compiled(kernels), "native": float(native)}


def dispatches_tokens(said: str, framework: str, accelerator: Accelerator) -> bool:
    """Return whether kernels of their own send tokens to experts: by their names, else as is usual on racks."""
    named = f"{said} {framework.casefold()}"
    if _names(DISPATCHERS, named):
        return _names(DISPATCHERS, UNSAID.sub("", named))
    return is_rack(accelerator) and _names(RACK_DISPATCHING, named) and not _names(PLAIN_DISPATCH, named)


def _names(what: tuple[str, ...], text: str) -> bool:
    """Return whether a text names one of some things, however it joins their syllables."""
    text = re.sub("[-_ ]", "", text)
    return any(one in text for one in what)


def planned_words(framework: str) -> tuple[str, str]:
    """Divide what a plan says of its framework into words of its kernels, else the usual ones there, and the name."""
    name, said = name_and_kernels(framework)
    return kernel_words(said or USUAL_KERNELS.get(planned_family(name), "")), name


def written_for_adapters(said: str, framework: str) -> bool:
    """Return whether kernels join an adapter to its map: compiled, or written for it."""
    kernels = affirmed(said, framework)
    return any(word in kernels for word in BESIDE_A_MAP)


def affirmed(said: str, framework: str) -> str:
    """Return words about kernels and the framework's name, without what they deny."""
    return UNSAID.sub("", f"{said} {framework.casefold()}")


def _fused(said: str) -> float:
    """How far kernels are fused."""
    said = said.replace("cross entropy", "")
    if any(part in said for part in FUSED_BY):
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
    """How far launches are saved: by compiling or by code of one's own, not by single fused kernels."""
    if any(part in said for part in (*COMPILERS, *WRITTEN_IN_CUDA, "cuda graph", "hpu graph")):
        return 1.0
    return CAPTURED_BY_TE if "transformerengine" in said else 0.0
