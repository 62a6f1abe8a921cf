"""Networks that a spec can describe: dense and mixture-of-experts decoders, ResNets, vision transformers.

`kind` selects the network; a spec without it means a dense decoder. Sizes are in elements.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Dict, Literal, Optional, Tuple, Type, Union

COLOURS = 3
EXPANSION = 4  # output width of a bottleneck block relative to its 3x3 convolution


@dataclass(frozen=True)
class TransformerShape:
    """Common fields of decoder-only transformers. `tied_head` shares the head with the token embedding.

    `vectors` of a shape are the norms and biases of the network that it represents, which the planner counts. The built
    network has two norms a layer and the biases of `bias`; the difference is under a thousandth.
    """

    sample: ClassVar[Literal["tokens"]] = "tokens"
    is_convolutional: ClassVar[Literal[False]] = False
    has_experts: ClassVar[bool] = False

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

    @property
    def stream_width(self) -> int:
        """Width of the hidden state."""
        return self.hidden

    def window_of(self, number: int) -> Optional[int]:
        """Return the most tokens that a token of layer `number` attends to; None means all before it."""
        return None

    def experts_of(self, number: int) -> Optional[MoeDecoderShape]:
        """Return the sizes of the experts of layer `number`; None means one MLP."""
        return None

    def problem(self) -> Optional[str]:
        """Return which fields contradict each other; None if none do."""
        if self.heads % self.kv_heads:
            return f"kv_heads: {self.kv_heads} does not divide heads {self.heads}."
        if self.positions == "rope" and self.head_dim % 2:
            return f"head_dim: {self.head_dim} is odd. Rotary positions pair up."
        return None


@dataclass(frozen=True)
class DecoderShape(TransformerShape):
    """Decoder with one MLP of `ffn_hidden` in every layer."""

    ffn_hidden: int
    kind: str = "decoder"
    vectors: Optional[int] = None


@dataclass(frozen=True)
class MoeDecoderShape(TransformerShape):
    """Decoder with experts in every layer except the `dense_layers` (numbered from 0), which have one MLP of
    `ffn_hidden`.
    """

    has_experts: ClassVar[bool] = True
    experts: int
    experts_per_token: int
    moe_ffn_hidden: int
    kind: str
    shared_experts: int = 0
    dense_layers: Tuple[int, ...] = ()
    ffn_hidden: Optional[int] = None
    vectors: Optional[int] = None

    def experts_of(self, number: int) -> Optional[MoeDecoderShape]:
        """Return the sizes; None for dense layers."""
        return None if number in self.dense_layers else self

    def problem(self) -> Optional[str]:
        """Return which fields contradict each other, including the experts."""
        if (wrong := super().problem()) is not None:
            return wrong
        if self.experts_per_token > self.experts:
            return f"experts_per_token: {self.experts_per_token} is more than experts {self.experts}."
        dense = self.dense_layers
        if any(number >= self.layers for number in dense) or len(set(dense)) != len(dense):
            return f"dense_layers: {list(dense)} are not numbers from 0 to {self.layers - 1}, each once."
        if bool(dense) != (self.ffn_hidden is not None):
            return "ffn_hidden: is the width of the dense_layers: give both or none."
        return None


@dataclass(frozen=True)
class ResnetShape:
    """Bottleneck blocks in stages. `width` is the stem's; `image_size` is in pixels per side."""

    sample: ClassVar[Literal["image"]] = "image"
    is_convolutional: ClassVar[Literal[True]] = True
    has_experts: ClassVar[bool] = False
    blocks: Tuple[int, ...]
    image_size: int
    classes: int
    kind: str
    width: int = 64

    @property
    def stream_width(self) -> int:
        """Width of the last stage's output."""
        widest: int = EXPANSION * self.width * 2 ** (len(self.blocks) - 1)
        return widest

    def problem(self) -> Optional[str]:
        """Return None: any sizes are valid."""
        return None


@dataclass(frozen=True)
class VitShape:
    """Vision transformer with a class token and learned positions."""

    sample: ClassVar[Literal["image"]] = "image"
    is_convolutional: ClassVar[Literal[False]] = False
    has_experts: ClassVar[bool] = False
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
        """Number of patches of one image plus the class token."""
        return (self.image_size // self.patch_size) ** 2 + 1

    @property
    def stream_width(self) -> int:
        """Width of the hidden state."""
        return self.hidden

    def problem(self) -> Optional[str]:
        """Return which fields contradict each other; None if none do."""
        if self.image_size % self.patch_size:
            return f"patch_size: {self.patch_size} does not divide image_size {self.image_size}."
        if self.hidden % self.heads:
            return f"heads: {self.heads} does not divide hidden {self.hidden}."
        return None


TextShape = Union[DecoderShape, MoeDecoderShape]
Architecture = Union[DecoderShape, MoeDecoderShape, ResnetShape, VitShape]

SHAPES: Dict[str, Type[Architecture]] = {
    "decoder": DecoderShape,
    "moe_decoder": MoeDecoderShape,
    "resnet": ResnetShape,
    "vit": VitShape,
}


def width(architecture: Architecture) -> int:
    """Return the width of the residual stream at its widest."""
    return architecture.stream_width


def problem(architecture: Architecture) -> Optional[str]:
    """Return the contradiction in an architecture as "key: why"; None if there is none."""
    return architecture.problem()
