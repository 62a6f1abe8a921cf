"""Kernels of a training step, each by itself: products, attention, element-wise chains, loss, optimizer, copies.

All operands are normal random numbers, because the data decides how much power a product draws, and so the clocks.
Caches are cold before each call.
"""

from __future__ import annotations

import contextlib
from functools import partial
from typing import Callable, ContextManager, Dict, Iterator, Optional, Sequence, Tuple

import torch
import torch.nn.functional as F  # noqa: N812  (torch's own habit)
from torch import Tensor

from ..measure.op_recorder import OpRecorder
from ..strategies.precision import PrecisionContexts
from .plan import AttentionShape, LayerShape, ProbePlan
from .rows import ColdTimer, Rows, TimedCalls

MIB = 2**20
SLOWEST_FP32_HIDDEN = 4096
"""Widest layer measured in fp32. Wider ones take seconds."""
FLOAT8_CAPABILITY = (8, 9)
ATTENTION_KERNELS = {"flash": "FLASH_ATTENTION", "efficient": "EFFICIENT_ATTENTION", "cudnn": "CUDNN_ATTENTION"}
"""Attention kernels: the benchmark's name, and that of torch.nn.attention."""


def supported(precision: str, device: torch.device) -> bool:
    """Return whether the device multiplies in this format in hardware."""
    if device.type != "cuda":
        return precision in ("fp32", "bf16")
    capability = torch.cuda.get_device_capability(device)
    if precision == "float8":
        return capability >= FLOAT8_CAPABILITY and hasattr(torch, "_scaled_mm")
    return precision in ("fp32", "fp16") or capability >= (8, 0)


def measure_kernels(plan: ProbePlan, rows: Rows, device: torch.device) -> None:
    """Measure every kernel of the plan on one device."""
    timer = ColdTimer(device, flush_mib=plan.flush_mib, seconds_each=plan.seconds_each)
    precisions = [name for name in plan.precisions if supported(name, device)]
    for name in plan.precisions:
        if name not in precisions:
            rows.leave_out(f"products {name}", "this device has no hardware for it")
    main = precisions[0]
    copies(plan, rows, timer)
    with _flags(main, device):
        products(plan.products[-1:], rows, timer, main)
    _beside_products(plan, rows, timer, main)  # before the other products, which take most of the time
    for name in precisions:
        with _flags(name, device):
            products(plan.products[:-1] if name == main else plan.products, rows, timer, name)


def _beside_products(plan: ProbePlan, rows: Rows, timer: ColdTimer, precision: str) -> None:
    dtype = PrecisionContexts(precision, timer.device).low_type or torch.float32
    on_cuda = timer.device.type == "cuda"
    optimizer(plan, rows, timer)
    with _flags(precision, timer.device):
        for vocabulary in plan.vocabularies:
            largest = vocabulary == max(plan.vocabularies)
            loss(plan, vocabulary, rows, timer, precision, dtype, compiles=on_cuda and largest)
        for number, layer in enumerate(plan.products[::2]):  # compiling takes seconds, so one of them is compiled
            elementwise(layer, rows, timer, precision, dtype, compiles=on_cuda and number == 0)
        for shape in plan.attention:
            attention(shape, rows, timer, precision, dtype)


@contextlib.contextmanager
def _flags(precision: str, device: torch.device) -> Iterator[None]:
    before = torch.get_float32_matmul_precision()
    PrecisionContexts(precision, device).set_global_flags()
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def normal(*sizes: int, device: torch.device, dtype: torch.dtype, grad: bool = False) -> Tensor:
    """Return normal random numbers."""
    return torch.randn(*sizes, device=device).to(dtype).requires_grad_(grad)


def copies(plan: ProbePlan, rows: Rows, timer: ColdTimer) -> None:
    """Measure a copy on the device, which reads and writes the same number of bytes."""
    num_bytes = plan.copy_mib * MIB
    source = normal(num_bytes // 4, device=timer.device, dtype=torch.float32)
    target = torch.empty_like(source)
    rows.add("copy", {"bytes": num_bytes}, lambda: timer.time(lambda: target.copy_(source)))


def products(layers: Sequence[LayerShape], rows: Rows, timer: ColdTimer, precision: str) -> None:
    """Measure four products of each layer shape, forward and for both gradients;

    `times` is their count in the layer.
    """
    for layer in layers:
        if precision == "fp32" and layer.hidden > SLOWEST_FP32_HIDDEN:
            rows.leave_out(f"products fp32 of hidden size {layer.hidden}", "they take seconds")
            continue
        for inputs, outputs, times in (
            (layer.hidden, layer.hidden, 2),
            (layer.hidden, layer.kv_dim, 2),
            (layer.hidden, layer.ffn_hidden, 2),
            (layer.ffn_hidden, layer.hidden, 1),
        ):
            shape = {"tokens": layer.tokens, "hidden": layer.hidden, "kv_dim": layer.kv_dim}
            shape |= {"ffn_hidden": layer.ffn_hidden, "inputs": inputs, "outputs": outputs, "times": times}
            rows.add(
                "products",
                shape,
                partial(_three_products, layer.tokens, inputs, outputs, timer, precision),
                precision=precision,
            )


def _three_products(tokens: int, inputs: int, outputs: int, timer: ColdTimer, precision: str) -> TimedCalls:
    """Return the seconds of y = x W, dx = dy W^T and dW = x^T dy together."""
    device = timer.device
    dtype = PrecisionContexts(precision, device).low_type or torch.float32
    multiply: Callable[[Tensor, Tensor], Tensor] = _scaled if precision == "float8" else torch.mm
    total_s, rounds = 0.0, []
    for rows_, inner, columns in ((tokens, inputs, outputs), (tokens, outputs, inputs), (inputs, tokens, outputs)):
        left, right = (normal(*sizes, device=device, dtype=dtype) for sizes in ((rows_, inner), (inner, columns)))
        if precision == "float8":
            left, right = left.to(torch.float8_e4m3fn), right.t().contiguous().to(torch.float8_e4m3fn).t()
        timed = timer.time(partial(multiply, left, right))
        total_s += timed.seconds
        rounds.append(timed.rounds)
    return TimedCalls(total_s, min(rounds))


def _scaled(left: Tensor, right: Tensor) -> Tensor:
    unit_scale = torch.ones((), device=left.device)
    scaled: Tensor = torch._scaled_mm(left, right, scale_a=unit_scale, scale_b=unit_scale, out_dtype=torch.bfloat16)
    return scaled


def attention(shape: AttentionShape, rows: Rows, timer: ColdTimer, precision: str, dtype: torch.dtype) -> None:
    """Measure causal attention, forward and backward, by the kernel that torch chooses and by others that run."""
    sizes = (shape.batch, shape.heads, shape.length, shape.head_dim)
    query, key, value = (normal(*sizes, device=timer.device, dtype=dtype, grad=True) for _ in range(3))
    gradient = normal(*sizes, device=timer.device, dtype=dtype)
    numbers = {"batch": shape.batch, "heads": shape.heads, "head_dim": shape.head_dim, "length": shape.length}

    def both() -> None:
        output = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        torch.autograd.grad(output, (query, key, value), gradient)

    def with_kernel(name: str) -> TimedCalls:
        with only_attention(name):
            return timer.time(both)

    chosen = _chosen_kernel(both)
    rows.add("attention", numbers, lambda: timer.time(both), precision=precision, kernel=f"chosen: {chosen}")
    if timer.device.type == "cuda":
        for name in ATTENTION_KERNELS:
            rows.add(
                "attention",
                numbers,
                partial(with_kernel, name),
                precision=precision,
                kernel=name,
            )


def only_attention(name: str) -> ContextManager[None]:
    """Return the context in which torch uses only this attention kernel."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    context: ContextManager[None] = sdpa_kernel(getattr(SDPBackend, ATTENTION_KERNELS[name]))
    return context


def _chosen_kernel(both: Callable[[], None]) -> Optional[str]:
    recorder = OpRecorder()
    with recorder:
        both()
    return recorder.sdpa_backend


def elementwise(
    layer: LayerShape, rows: Rows, timer: ColdTimer, precision: str, dtype: torch.dtype, *, compiles: bool
) -> None:
    """Measure a layer's work between its products: two norms, two residual sums, rotation of heads, the gated unit."""
    numbers = {"tokens": layer.tokens, "hidden": layer.hidden, "kv_dim": layer.kv_dim, "ffn_hidden": layer.ffn_hidden}
    hidden = normal(layer.tokens, layer.hidden, device=timer.device, dtype=dtype, grad=True)
    gate, up = (normal(layer.tokens, layer.ffn_hidden, device=timer.device, dtype=dtype, grad=True) for _ in range(2))
    weight = normal(layer.hidden, device=timer.device, dtype=dtype, grad=True)
    cos, sin = (normal(layer.tokens, layer.hidden // 2, device=timer.device, dtype=dtype) for _ in range(2))
    ends = tuple(normal(*like.shape, device=timer.device, dtype=dtype) for like in (hidden, gate))

    def chain(hidden: Tensor, gate: Tensor, up: Tensor) -> Tuple[Tensor, Tensor]:
        normed = F.rms_norm(hidden, (layer.hidden,), weight, 1e-5)
        first, second = normed.chunk(2, dim=-1)
        rotated = torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)
        residual = hidden + rotated
        again = residual + F.rms_norm(residual, (layer.hidden,), weight, 1e-5)
        return again, F.silu(gate) * up

    def run(function: Callable[..., Tuple[Tensor, Tensor]]) -> TimedCalls:
        inputs = (hidden, gate, up, weight)
        return timer.time(lambda: torch.autograd.grad(function(hidden, gate, up), inputs, ends))

    rows.add("elementwise", numbers, lambda: run(chain), precision=precision)
    if compiles:
        compiled = torch.compile(chain, dynamic=False)
        rows.add("elementwise", numbers, lambda: run(compiled), precision=precision, compiled=True)


def loss(
    plan: ProbePlan,
    vocabulary: int,
    rows: Rows,
    timer: ColdTimer,
    precision: str,
    dtype: torch.dtype,
    *,
    compiles: bool,
) -> None:
    """Measure output layer and cross-entropy in fp32 over the vocabulary, forward and backward, as in the benchmark."""
    numbers = {"tokens": plan.loss_tokens, "hidden": plan.loss_hidden, "vocabulary": vocabulary}
    hidden = normal(plan.loss_tokens, plan.loss_hidden, device=timer.device, dtype=dtype, grad=True)
    head = normal(vocabulary, plan.loss_hidden, device=timer.device, dtype=dtype, grad=True)
    targets = torch.randint(vocabulary, (plan.loss_tokens,), device=timer.device)

    def summed(hidden: Tensor, head: Tensor) -> Tensor:
        return F.cross_entropy(F.linear(hidden, head).float(), targets, reduction="sum")

    def run(function: Callable[[Tensor, Tensor], Tensor]) -> TimedCalls:
        return timer.time(lambda: torch.autograd.grad(function(hidden, head), (hidden, head)))

    rows.add("loss", numbers, lambda: run(summed), precision=precision)
    if compiles:
        compiled = torch.compile(summed, dynamic=False)
        rows.add("loss", numbers, lambda: run(compiled), precision=precision, compiled=True)


def optimizer(plan: ProbePlan, rows: Rows, timer: ColdTimer) -> None:
    """Measure one AdamW step over fp32 weights, fused on an accelerator as in the benchmark."""
    on_cuda = timer.device.type == "cuda"
    numbers: Dict[str, int] = {"parameters": plan.optimizer_parameters}
    weights = [
        normal(2**20, device=timer.device, dtype=torch.float32, grad=True)
        for _ in range(numbers["parameters"] // 2**20)
    ]
    for weight in weights:
        weight.grad = normal(2**20, device=timer.device, dtype=torch.float32)
    adam = torch.optim.AdamW(weights, fused=on_cuda)
    rows.add("optimizer", numbers, lambda: timer.time(adam.step), kernel="fused" if on_cuda else "foreach")
