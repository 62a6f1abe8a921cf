"""One layer of a decoder, forward and backward, as the benchmark runs it: eager, compiled, and its launches alone."""

from __future__ import annotations

from functools import partial
from typing import Dict

import torch
from torch import Tensor

from ..contract.architecture import DecoderShape
from ..measure.calibration import warm_seconds
from ..models.decoder import block
from ..models.layers import Block, rope_tables
from ..strategies.precision import PrecisionContexts
from .cold_timer import TimedCalls
from .device_kernels import normal
from .plan import LayerShape, ProbePlan
from .rows import Rows

TOKENS_OF_LAUNCHES = 32
"""Number of tokens that is small enough for the device to wait for the host."""
LAYER_SECONDS = 0.5


def measure_layers(plan: ProbePlan, rows: Rows, device: torch.device, precision: str, *, compiled: bool) -> None:
    """Measure a layer of a middle size. On an accelerator also with so few tokens that only its launches count."""
    layer = plan.products[len(plan.products) // 2]
    sizes = [("layer", max(1, layer.tokens // plan.layer_length), min(plan.layer_length, layer.tokens))]
    if device.type == "cuda":
        sizes.append(("launches", 1, TOKENS_OF_LAUNCHES))
    else:
        rows.leave_out("launches", "on a CPU the host itself computes")
    for kind, batch, length in sizes:
        rows.add(
            kind,
            _numbers(layer, batch, length),
            partial(_layer, layer, batch, length, device, precision, compiled=compiled),
            precision=precision,
            compiled=compiled,
        )


def _numbers(layer: LayerShape, batch: int, length: int) -> Dict[str, int]:
    return {
        "batch": batch,
        "length": length,
        "hidden": layer.hidden,
        "kv_dim": layer.kv_dim,
        "ffn_hidden": layer.ffn_hidden,
        "head_dim": layer.head_dim,
    }


def _layer(
    layer: LayerShape, batch: int, length: int, device: torch.device, precision: str, *, compiled: bool
) -> TimedCalls:
    """Return the seconds of one layer's forward and backward pass. Calls follow each other, as layers do."""
    shape = DecoderShape(
        layers=1, hidden=layer.hidden, heads=layer.hidden // layer.head_dim, kv_heads=layer.kv_dim // layer.head_dim,
        head_dim=layer.head_dim, ffn_hidden=layer.ffn_hidden, mlp="swiglu", norm="rmsnorm", norm_eps=1e-5, bias=False,
        positions="rope", max_positions=length, rope_theta=1e4, qk_norm=False, vocab=8, tied_head=False,
    )  # fmt: skip
    module = block(shape, 0, "none", None)
    assert isinstance(module, Block)
    module.to(device)
    _fill(module)
    if compiled:
        module.compile_body()
    rope = rope_tables(shape, seq_len=length, device=device)
    asked = PrecisionContexts(precision, device)
    inputs = normal(batch, length, layer.hidden, device=device, dtype=asked.low_type or torch.float32, grad=True)
    gradient = torch.randn_like(inputs)

    weights = (inputs, *module.parameters())

    def step() -> None:
        with asked.autocast():
            output: Tensor = module(inputs, rope)
        torch.autograd.grad(output, weights, gradient.to(output.dtype))

    return TimedCalls(warm_seconds(step, device, LAYER_SECONDS), 3)


@torch.no_grad()
def _fill(module: Block) -> None:
    for weight in module.parameters():
        weight.normal_(std=0.02) if weight.dim() > 1 else weight.fill_(1.0)
    module.train()
