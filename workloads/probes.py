"""Knows what really ran: notes, during one eager step, which attention kernel torch picked."""

from __future__ import annotations

from typing import Any, Callable, Dict, Mapping, Optional, Sequence

from torch.utils._python_dispatch import TorchDispatchMode

# The part of the operator's name that tells the kernel; torch picks by device, type, shape and build.
SDPA_KERNELS = {
    "_scaled_dot_product_cudnn_attention": "cudnn",
    "_scaled_dot_product_flash_attention_for_cpu": "flash_cpu",
    "_scaled_dot_product_flash_attention": "flash",
    "_scaled_dot_product_efficient_attention": "efficient",
    "_scaled_dot_product_fused_attention_overrideable": "fused_overrideable",
}
SOFTMAX = ("_softmax", "_safe_softmax")


class AttentionWitness(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Use as a context around one step; read `sdpa_backend` afterwards. Slows that step: only in warm-up."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._fused: Optional[str] = None
        self._softmax_seen = False

    @property
    def sdpa_backend(self) -> Optional[str]:
        """The fused kernel's name; "math" where torch wrote attention out as matmul and softmax; None if unseen."""
        return self._fused or ("math" if self._softmax_seen else None)

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Optional[Mapping[str, Any]] = None,
    ) -> Any:
        """Note the operator, run it unchanged."""
        del types
        name = str(getattr(func, "_schema", func)).split("(", 1)[0].rsplit("::", 1)[-1].split(".", 1)[0]
        if name in SDPA_KERNELS:
            self._fused = SDPA_KERNELS[name]
        elif name in SOFTMAX:
            self._softmax_seen = True
        arguments: Dict[str, Any] = dict(kwargs or {})
        return func(*args, **arguments)
