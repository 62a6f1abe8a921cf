"""The networks that a spec can describe: dense and mixture-of-experts decoders, ResNets, vision transformers.

`kind` says which; a spec without it means a dense decoder. Sizes are in elements.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Dict, Literal, Optional, Tuple, Type, Union

COLOURS = 3
EXPANSION = 4  # of a bottleneck block: its output is so many times as wide as its 3x3 convolution


@dataclass(frozen=True)
class Transformer:
    """What every decoder-only transformer has; `tied_head` shares the head with the token embedding.

    `vectors` of a shape are the norms and biases of the network that it stands for, which the planner counts; what is
    built has two norms a layer and the biases of `bias`, under a thousandth more or less.
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
        """Return how many tokens a token of layer `number` attends to, at most; None: all before it."""
        return None

    def experts_of(self, number: int) -> Optional[MoeDecoderShape]:
        """Return the sizes of the experts of layer `number`; None: it has one MLP."""
        return None

    def problem(self) -> Optional[str]:
        """Return what does not go together."""
        if self.heads % self.kv_heads:
            return f"kv_heads: {self.kv_heads} does not divide heads {self.heads}."
        if self.positions == "rope" and self.head_dim % 2:
            return f"head_dim: {self.head_dim} is odd. Rotary positions pair up."
        return None


@dataclass(frozen=True)
class DecoderShape(Transformer):
    """One MLP of `ffn_hidden` in every layer."""

    ffn_hidden: int
    kind: str = "decoder"
    vectors: Optional[int] = None


@dataclass(frozen=True)
class MoeDecoderShape(Transformer):
    """Experts in every layer but the `dense_layers` (numbers from 0), which have one MLP of `ffn_hidden`."""

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
        """Return the sizes, save of dense layers."""
        return None if number in self.dense_layers else self

    def problem(self) -> Optional[str]:
        """Return what does not go together, experts included."""
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
    """Bottleneck blocks in stages; `width` is that of the stem, `image_size` pixels on a side."""

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
        """Return None: any sizes go together."""
        return None


@dataclass(frozen=True)
class VitShape:
    """A vision transformer with a class token and learned positions."""

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
        """Patches of one image and the class token."""
        return (self.image_size // self.patch_size) ** 2 + 1

    @property
    def stream_width(self) -> int:
        """Width of the hidden state."""
        return self.hidden

    def problem(self) -> Optional[str]:
        """Return what does not go together."""
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
    """Return the width of the residual stream, at its widest."""
    return architecture.stream_width


def problem(architecture: Architecture) -> Optional[str]:
    """Return what does not go together in an architecture, as "key: why"; None where all does."""
    return architecture.problem()
