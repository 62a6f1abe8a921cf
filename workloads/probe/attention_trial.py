"""Attention kernel by trial: each usable one is timed at the run's own sizes, and the fastest is taken."""

from __future__ import annotations

from typing import Callable, Dict, Optional

import torch
import torch.nn.functional as F  # noqa: N812  (torch's own habit)

from ..contract.spec import Spec
from ..measure.agreement import RankAgreement
from ..strategies.precision import PrecisionContexts
from .device_kernels import ATTENTION_KERNELS, normal, only_attention
from .rows import CANNOT, ColdTimer

SECONDS_EACH = 0.3
FLUSH_MIB = 256
CANNOT_RUN_S = 1e9
"""Time that stands for a kernel that does not run here. No real one takes so long."""


def take_fastest_attention(
    spec: Spec, precision: PrecisionContexts, agreement: RankAgreement, device: torch.device
) -> None:
    """Leave torch only the fastest kernel. All ranks call it together and choose the same.

    Does nothing on a CPU, which has one fused kernel, and for images. `sdpa_backend` of the result names what ran.
    """
    if device.type != "cuda" or spec.architecture.sample != "tokens":
        return
    dtype = precision.low_type or torch.float32
    sizes = (spec.micro_batch, spec.architecture.heads, spec.tokens_per_sample, spec.architecture.head_dim)
    query, key, value = (normal(*sizes, device=device, dtype=dtype, grad=True) for _ in range(3))
    gradient = normal(*sizes, device=device, dtype=dtype)
    timer = ColdTimer(device, flush_mib=FLUSH_MIB, seconds_each=SECONDS_EACH)

    def both() -> None:
        output = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        torch.autograd.grad(output, (query, key, value), gradient)

    seconds = agreement.max_over_ranks([_seconds(name, both, timer) for name in ATTENTION_KERNELS])
    fastest = fastest_of(dict(zip(ATTENTION_KERNELS, seconds)))
    if fastest is not None:
        take_only(fastest)
    torch.cuda.empty_cache()


def fastest_of(seconds: Dict[str, float]) -> Optional[str]:
    """Return the fastest kernel; None if none runs."""
    best = min(seconds, key=lambda name: seconds[name])
    return None if seconds[best] >= CANNOT_RUN_S else best


def take_only(name: str) -> None:
    """Switch off the other fused kernels for the whole process. The unfused one stays for unsupported inputs."""
    torch.backends.cuda.enable_flash_sdp(name == "flash")
    torch.backends.cuda.enable_mem_efficient_sdp(name == "efficient")
    if hasattr(torch.backends.cuda, "enable_cudnn_sdp"):
        torch.backends.cuda.enable_cudnn_sdp(name == "cudnn")


def _seconds(name: str, both: Callable[[], None], timer: ColdTimer) -> float:
    try:
        with only_attention(name):
            return timer.time(both).seconds
    except CANNOT:
        return CANNOT_RUN_S
