"""The networks that a spec can describe: dense and mixture-of-experts decoders, ResNets, vision transformers.

`kind` says which; a spec without it means a dense decoder. Sizes are in elements.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, Optional, Tuple, Type, Union

COLOURS = 3
EXPANSION = 4  # of a bottleneck block: its output is so many times as wide as its 3x3 convolution


@dataclass(frozen=True)
class Transformer:
    """What every decoder-only transformer has; `tied_head` shares the head with the token embedding.

    `vectors` of a shape are the norms and biases of the network that it stands for, which the planner counts; what is
    built has two norms a layer and the biases of `bias`, under a thousandth more or less.
    """

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    mlp: str
    norm: str
    norm_eps: float
    bias: bool
    positions: str
    max_positions: int
    rope_theta: float
    qk_norm: bool
    vocab: int
    tied_head: bool


@dataclass(frozen=True)
class DecoderShape(Transformer):
    """One MLP of `ffn_hidden` in every layer."""

    ffn_hidden: int
    kind: str = "decoder"
    vectors: Optional[int] = None


@dataclass(frozen=True)
class MoeDecoderShape(Transformer):
    """Experts in every layer but the `dense_layers` (numbers from 0), which have one MLP of `ffn_hidden`."""

    experts: int
    experts_per_token: int
    moe_ffn_hidden: int
    kind: str
    shared_experts: int = 0
    dense_layers: Tuple[int, ...] = ()
    ffn_hidden: Optional[int] = None
    vectors: Optional[int] = None


@dataclass(frozen=True)
class ResnetShape:
    """Bottleneck blocks in stages; `width` is that of the stem, `image_size` pixels on a side."""

    blocks: Tuple[int, ...]
    image_size: int
    classes: int
    kind: str
    width: int = 64


@dataclass(frozen=True)
class VitShape:
    """A vision transformer with a class token and learned positions."""

    layers: int
    hidden: int
    heads: int
    ffn_hidden: int
    patch_size: int
    image_size: int
    classes: int
    kind: str

    @property
    def tokens(self) -> int:
        """Patches of one image and the class token."""
        return (self.image_size // self.patch_size) ** 2 + 1


TextShape = Union[DecoderShape, MoeDecoderShape]
Architecture = Union[DecoderShape, MoeDecoderShape, ResnetShape, VitShape]

SHAPES: Dict[str, Type[Architecture]] = {
    "decoder": DecoderShape,
    "moe_decoder": MoeDecoderShape,
    "resnet": ResnetShape,
    "vit": VitShape,
}


def width(architecture: Architecture) -> int:
    """Return the width of the residual stream, at its widest."""
    if isinstance(architecture, ResnetShape):
        widest: int = EXPANSION * architecture.width * 2 ** (len(architecture.blocks) - 1)
        return widest
    return architecture.hidden


def problem(architecture: Architecture) -> Optional[str]:
    """Return what does not go together in an architecture, as "key: why"; None where all does."""
    if isinstance(architecture, VitShape):
        if architecture.image_size % architecture.patch_size:
            return f"patch_size: {architecture.patch_size} does not divide image_size {architecture.image_size}."
        if architecture.hidden % architecture.heads:
            return f"heads: {architecture.heads} does not divide hidden {architecture.hidden}."
        return None
    if isinstance(architecture, ResnetShape):
        return None
    if architecture.heads % architecture.kv_heads:
        return f"kv_heads: {architecture.kv_heads} does not divide heads {architecture.heads}."
    if architecture.positions == "rope" and architecture.head_dim % 2:
        return f"head_dim: {architecture.head_dim} is odd. Rotary positions pair up."
    return _problem_of_experts(architecture) if isinstance(architecture, MoeDecoderShape) else None


def _problem_of_experts(architecture: MoeDecoderShape) -> Optional[str]:
    if architecture.experts_per_token > architecture.experts:
        return f"experts_per_token: {architecture.experts_per_token} is more than experts {architecture.experts}."
    dense = architecture.dense_layers
    if any(number >= architecture.layers for number in dense) or len(set(dense)) != len(dense):
        return f"dense_layers: {list(dense)} are not numbers from 0 to {architecture.layers - 1}, each once."
    if bool(dense) != (architecture.ffn_hidden is not None):
        return "ffn_hidden: is the width of the dense_layers: give both or none."
    return None
