"""Records the operators that really ran in one eager step: types of all matrix products, the attention kernel.

An accidental fp32 shows in no strategy's output. Only the operators' inputs reveal it.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Tuple

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

Arguments = Sequence[Any]

# The part of the operator's name that identifies the kernel. torch picks by device, type, shape and build.
SDPA_KERNELS = {
    "_scaled_dot_product_cudnn_attention": "cudnn",
    "_scaled_dot_product_flash_attention_for_cpu": "flash_cpu",
    "_scaled_dot_product_flash_attention": "flash",
    "_scaled_dot_product_efficient_attention": "efficient",
    "_scaled_dot_product_fused_attention_overrideable": "fused_overrideable",
}
SOFTMAX = ("_softmax", "_safe_softmax")


class OpRecorder(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Context around one step, forward and backward; read it afterwards.

    It slows that step, so use it only in warm-up.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._fused: Optional[str] = None
        self._softmax_seen = False
        self.matmul_flops_by_dtype: Dict[str, float] = {}
        """Floating-point operations of matrix products, convolutions and attention, by torch's name of their type."""

    @property
    def sdpa_backend(self) -> Optional[str]:
        """Name of the fused kernel; "math" if torch wrote attention out as matmul and softmax; None if unseen."""
        return self._fused or ("math" if self._softmax_seen else None)

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Optional[Mapping[str, Any]] = None,
    ) -> Any:
        """Note the operator, and run it unchanged."""
        del types
        name = str(getattr(func, "_schema", func)).split("(", 1)[0].rsplit("::", 1)[-1].split(".", 1)[0]
        if name in SDPA_KERNELS:
            self._fused = SDPA_KERNELS[name]
        elif name in SOFTMAX:
            self._softmax_seen = True
        arguments: Dict[str, Any] = dict(kwargs or {})
        result = func(*args, **arguments)
        counted = matmul_flops(name, args, result)
        if counted is not None:
            dtype, flops = counted
            self.matmul_flops_by_dtype[dtype] = self.matmul_flops_by_dtype.get(dtype, 0.0) + flops
        return result


def matmul_flops(name: str, args: Arguments, result: Any) -> Optional[Tuple[str, float]]:
    """Return (type, floating-point operations) of one operator by its name; None if it is no matrix product.

    The type is that of the inputs, not of the output. One multiplication and one addition count as two.
    """
    if name in MATRICES_AT:
        left, right = (args[at] for at in MATRICES_AT[name])
        return _dtype(left), 2.0 * left.numel() * right.shape[-1]
    if name == "convolution":
        return _dtype(args[0]), _convolution_flops(args, result.shape)
    if name == "convolution_backward":
        gradient, inputs, weight = args[:3]
        wanted = sum(args[10][:2])  # each of the input's and the weight's gradient is one convolution's work
        transposed = inputs if args[7] else gradient
        return _dtype(inputs), wanted * 2.0 * transposed.numel() * weight[0].numel()
    if name in SDPA_KERNELS:
        return _dtype(args[0]), 2 * _attention_product_flops(args[0], args[1])
    if name.endswith("_backward") and name.replace("_backward", "") in SDPA_KERNELS:
        return _dtype(args[1]), 5 * _attention_product_flops(args[1], args[2])
    return None


MATRICES_AT = {
    "mm": (0, 1),
    "bmm": (0, 1),
    "addmm": (1, 2),
    "baddbmm": (1, 2),
    "_addmm_activation": (1, 2),
    "_scaled_mm": (0, 1),
    "_grouped_mm": (0, 1),
}
"""Operators that multiply (.., m, k) with (.., k, n), with the positions of both in their arguments.

In a grouped product, rows (m, k) of the left meet one of several (k, n). In its gradient k is cut into the groups.
"""


def _convolution_flops(args: Arguments, result_shape: Sequence[int]) -> float:
    """Return 2 * elements * weights of one filter. Elements are the output's, or a transposed convolution's input's."""
    inputs, weight, transposed = args[0], args[1], args[6]
    elements: int = math.prod(inputs.shape if transposed else result_shape)
    weights: int = math.prod(weight.shape[1:])
    return 2.0 * elements * weights


def _attention_product_flops(query: Tensor, key: Tensor) -> float:
    """Return 2 * batch * heads * T * S * head_dim: one of attention's products, including the causal half.

    Forward has two of them, backward five (the scores again, then the gradients of probabilities and all three inputs):
    Dao et al. 2022, FlashAttention.
    """
    return 2.0 * query.numel() * key.shape[-2]


def _dtype(tensor: torch.Tensor) -> str:
    """Return the type that is multiplied. torchao's float8 tensors hold it inside and name the type they stand for."""
    inner = getattr(tensor, "_data", tensor)
    return str(inner.dtype).split(".")[-1]
