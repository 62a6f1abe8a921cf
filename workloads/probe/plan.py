"""Measurements of a probe on one kind of device: shapes of real trainings, and the time limit of one figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Tuple

MIB = 2**20


@dataclass(frozen=True)
class LayerShape:
    """Sizes of one layer of a decoder, and the number of tokens through it."""

    tokens: int
    hidden: int
    kv_dim: int
    ffn_hidden: int
    head_dim: int = 128


@dataclass(frozen=True)
class AttentionShape:
    """Sequences of one length through attention with heads of one size."""

    batch: int
    heads: int
    head_dim: int
    length: int


@dataclass(frozen=True)
class ProbePlan:
    """Shapes and time limits of a probe."""

    products: Tuple[LayerShape, ...]
    """Layers, each with four shapes of products: query and output, key and value, gate and up, down."""
    attention: Tuple[AttentionShape, ...]
    vocabularies: Tuple[int, ...]
    loss_tokens: int
    loss_hidden: int
    optimizer_parameters: int
    copy_mib: int
    flush_mib: int
    """Size of the buffer written before each timed call, larger than any cache, so that operands are not cached."""
    layer_length: int
    collective_mib: Tuple[int, ...]
    precisions: Tuple[str, ...]
    """Precisions to measure. Those that the device lacks are left out."""
    seconds_each: float
    sustained_s: float
    max_seconds: float
    """Time after which measurements that have not begun are left out, and named."""


ON_CUDA = ProbePlan(
    products=(
        LayerShape(2048, 1024, 512, 3072),
        LayerShape(32768, 1024, 512, 3072),
        LayerShape(8192, 2048, 512, 8192),
        LayerShape(2048, 4096, 1024, 14336),
        LayerShape(16384, 4096, 1024, 14336),
        LayerShape(8192, 8192, 1024, 28672),
    ),
    attention=tuple(
        AttentionShape(max(1, 8192 // length), heads, head_dim, length)
        for head_dim, heads in ((64, 16), (128, 16))
        for length in (1024, 4096, 16384)
    ),
    vocabularies=(32_000, 128_256),
    loss_tokens=4096,
    loss_hidden=1024,
    optimizer_parameters=128 * 2**20,
    copy_mib=1024,
    flush_mib=256,
    layer_length=2048,
    collective_mib=(1, 16, 128, 512),
    precisions=("bf16", "fp16", "tf32", "fp32", "float8"),
    seconds_each=0.06,
    sustained_s=20.0,
    max_seconds=110.0,
)
ON_CPU = ProbePlan(
    products=(
        LayerShape(128, 256, 128, 896, head_dim=64),
        LayerShape(512, 256, 128, 896, head_dim=64),
        LayerShape(128, 512, 128, 1792, head_dim=64),
        LayerShape(512, 512, 128, 1792, head_dim=64),
        LayerShape(128, 1024, 256, 3584, head_dim=64),
        LayerShape(256, 1024, 256, 3584, head_dim=64),
    ),
    attention=tuple(AttentionShape(max(1, 512 // length), 8, 64, length) for length in (128, 512, 1024)),
    vocabularies=(32_000, 128_256),
    loss_tokens=64,
    loss_hidden=256,
    optimizer_parameters=4 * 2**20,
    copy_mib=64,
    flush_mib=32,
    layer_length=256,
    collective_mib=(1, 4, 16),
    precisions=("fp32", "bf16"),
    seconds_each=0.08,
    sustained_s=20.0,
    max_seconds=26.0,
)
"""Smaller plan: a processor does in a second what an accelerator does in a millisecond."""
