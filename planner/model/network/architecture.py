"""Networks that the planner can describe: dense and mixture-of-experts decoders, encoders, ResNets, vision
transformers.

Each kind is a model of its own, selected by `kind` in a file. Without it a file means a dense decoder. The same keys
are used in the benchmark's `spec.json`.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import Discriminator, Field, Tag, model_validator

from planner.model.base import MOST_COUNT, Count, Flag, Frozen, Positive
from planner.model.network.image_architecture import ImageArchitecture, Resnet, Vit

KINDS = ("decoder", "moe_decoder", "encoder", "resnet", "vit")
TAG = "kind:"
"""Prefix of the name that pydantic gives to each way of reading an architecture."""

MOST_LAYERS = 10_000
"""Largest number of layers of a transformer. The deepest have 1,000 (Wang et al. 2022, DeepNet)."""
Layers = Annotated[int, Field(strict=True, ge=1, le=MOST_LAYERS)]
LayerNumber = Annotated[int, Field(strict=True, ge=0, lt=MOST_LAYERS)]


class Transformer(Frozen):
    """Common fields of transformers on tokens."""

    sample: ClassVar[Literal["tokens"]] = "tokens"
    """Kind of sample."""
    is_convolutional: ClassVar[Literal[False]] = False
    """True if its products are convolutions."""
    is_causal: ClassVar[bool] = True
    """True if a token attends only to earlier ones."""
    is_mixture: ClassVar[bool] = False
    """True if tokens are sent to some of many experts."""
    has_benchmark: ClassVar[bool] = True
    """True if the benchmark can build it."""
    usual_tokens: ClassVar[int] = 4096
    """Tokens of a sample if not stated, as in many recipes of fine-tuning."""
    usual_batch: ClassVar[int] = 1
    """Samples of a micro-batch if not stated."""
    layers: Layers
    """Number of layers."""
    hidden: Count
    """Size of the hidden state."""
    heads: Count
    """Query heads of attention."""
    kv_heads: Count
    """Heads of keys and values. `heads` is a multiple of it."""
    head_dim: Count
    """Size of one head."""
    mlp: Literal["gelu", "swiglu"]
    """Kind of MLP: gelu has two matrices, swiglu has three."""
    norm: Literal["layernorm", "rmsnorm"]
    """Kind of normalization."""
    norm_eps: Positive = 1e-5
    """Number added to the variance before its root is taken."""
    bias: Flag = False
    """True if linear maps have a bias."""
    positions: Literal["learned", "rope"]
    """Encoding of positions: by learned vectors, or by rotating queries and keys (RoPE)."""
    max_positions: Count
    """Longest sequence in tokens."""
    rope_theta: Positive = 10_000.0
    """Base of RoPE's frequencies."""
    qk_norm: Flag = False
    """True if queries and keys are normalized."""
    vocab: Count
    """Entries of the vocabulary."""
    tied_head: Flag
    """True if the output layer shares its matrix with the embedding."""
    vectors: Annotated[int, Field(strict=True, ge=0, le=MOST_COUNT)] | None = None
    """Parameters outside the matrices: norms, biases, gates.

    Default: two norms of a layer and a last one, those of `qk_norm`, and the biases of `bias`.
    """

    def of_largest_layers(self, layers: int) -> Self:
        """Return the same network with only this many of its largest layers."""
        return self.model_copy(update={"layers": layers})

    @model_validator(mode="after")
    def _heads_divide(self) -> Self:
        if self.heads % self.kv_heads:
            raise ValueError(f"heads ({self.heads}) must be a multiple of kv_heads ({self.kv_heads})")
        return self


class Decoder(Transformer):
    """A dense decoder-only transformer."""

    kind: Literal["decoder"] = "decoder"
    """Kind of network."""
    ffn_hidden: Count
    """Inner size of the MLP."""

    def cut(self, layers: int) -> Decoder:
        """Return the same network with only its first layers."""
        return self.model_copy(update={"layers": layers})


class Encoder(Decoder):
    """A dense transformer whose tokens attend to all others: BERT and relatives.

    Counted with the head of masked language modelling: a layer of the hidden size with its norm, then the vocabulary,
    whose matrix is the embedding's, with a bias. Leaves out the pooler, which that training does not have. Source:
    Devlin et al. 2018; BertForMaskedLM of transformers.
    """

    is_causal: ClassVar[bool] = False
    has_benchmark: ClassVar[bool] = False
    usual_tokens: ClassVar[int] = 512
    """Tokens of a sample if not stated, as in Devlin et al. 2018."""
    kind: Literal["encoder"]  # type: ignore[assignment]  # it is a decoder in all but its mask
    """Kind of network."""
    token_types: Annotated[int, Field(strict=True, ge=0, le=1000)] = 0
    """Kinds of tokens, each with an embedding: BERT's two sentences."""


class MoeDecoder(Transformer):
    """A decoder whose MLPs are mixtures of experts: a router sends each token to a few of them.

    gates = softmax over the scores of the `experts_per_token` best experts; no token is dropped.
    Sources: Shazeer et al. 2017; Jiang et al. 2024 (Mixtral); DeepSeek-AI 2024 (shared experts).
    """

    is_mixture: ClassVar[bool] = True
    kind: Literal["moe_decoder"]
    """Kind of network."""
    experts: Count
    """Routed experts in each sparse layer."""
    experts_per_token: Count
    """Routed experts that each token uses."""
    moe_ffn_hidden: Count
    """Inner size of one expert, routed or shared."""
    shared_experts: Annotated[int, Field(strict=True, ge=0, le=MOST_COUNT)] = 0
    """Experts that see every token, in addition to the routed ones."""
    dense_layers: tuple[LayerNumber, ...] = ()
    """Numbers of the layers, from 0, that have one ordinary MLP of `ffn_hidden` instead."""
    ffn_hidden: Count | None = None
    """Inner size of the MLP in dense layers."""

    def of_largest_layers(self, layers: int) -> Self:
        """Return the same network with this many layers, all of them with experts."""
        return self.model_copy(update={"layers": layers, "dense_layers": (), "ffn_hidden": None})

    @property
    def sparse_layers(self) -> int:
        """Number of layers with experts."""
        return self.layers - len(self.dense_layers)

    @model_validator(mode="after")
    def _experts_agree(self) -> Self:
        if self.experts_per_token > self.experts:
            raise ValueError(f"experts_per_token ({self.experts_per_token}) is more than experts ({self.experts})")
        if list(self.dense_layers) != sorted({number for number in self.dense_layers if number < self.layers}):
            raise ValueError(f"dense_layers must be numbers from 0 to {self.layers - 1}, each once, the smallest first")
        if self.sparse_layers == 0:
            raise ValueError("dense_layers names every layer: that is a decoder, write kind: decoder")
        if self.dense_layers and self.ffn_hidden is None:
            raise ValueError("dense_layers needs ffn_hidden, the width of their MLP")
        if self.ffn_hidden is not None and not self.dense_layers:
            raise ValueError("ffn_hidden belongs to dense_layers, and there are none: leave it out")
        return self

    def cut(self, layers: int) -> MoeDecoder:
        """Return the same network with only its first layers. Raises ValueError if all of them are dense."""
        dense = tuple(number for number in self.dense_layers if number < layers)
        if len(dense) == layers:
            raise ValueError(f"its first {layers} layers are dense")
        return self.model_copy(
            update={"layers": layers, "dense_layers": dense, "ffn_hidden": self.ffn_hidden if dense else None}
        )


def _kind_of(value: Any) -> str | None:
    kind = value.get("kind", KINDS[0]) if isinstance(value, dict) else getattr(value, "kind", KINDS[0])
    return f"{TAG}{kind}" if kind in KINDS else None


Architecture = Annotated[
    Annotated[Decoder, Tag("kind:decoder")]
    | Annotated[MoeDecoder, Tag("kind:moe_decoder")]
    | Annotated[Encoder, Tag("kind:encoder")]
    | Annotated[Resnet, Tag("kind:resnet")]
    | Annotated[Vit, Tag("kind:vit")],
    Discriminator(
        _kind_of,
        custom_error_type="architecture_kind",
        custom_error_message=f"kind must be one of: {', '.join(KINDS)}",
    ),
]
"""Any kind of network."""
ARCHITECTURE_CLASSES: tuple[type[Transformer | ImageArchitecture], ...] = tuple(
    get_args(each)[0] for each in get_args(get_args(Architecture)[0])
)
"""Models that `Architecture` joins."""

TextModel = Decoder | MoeDecoder
"""Network that is trained on tokens. A sample is a sequence of `seq_len` of them."""
ImageModel = Resnet | Vit
"""Network that is trained on images. A sample is one image."""


def is_same_network(first: Architecture, second: Architecture) -> bool:
    """Return whether two have the same sizes. Vectors follow from the family, and need not be stated by both."""
    if first == second:
        return True
    if first.sample != "tokens" or second.sample != "tokens" or first.vectors == second.vectors:
        return False
    return first.model_copy(update={"vectors": second.vectors}) == second


def check_seq_len(architecture: Decoder | MoeDecoder | Resnet | Vit, seq_len: int | None) -> None:
    """Raise ValueError unless a decoder has a length of its samples, and an image model has none."""
    if architecture.sample == "tokens" and seq_len is None:
        raise ValueError("seq_len: is missing: a decoder's samples have a length in tokens")
    if architecture.sample == "image" and seq_len is not None:
        raise ValueError(f"seq_len belongs to decoders; a sample of this {architecture.kind} is an image: leave it out")


def usual_seq_len(architecture: Architecture) -> int | None:
    """Return the assumed length of a sample if not stated; None for images."""
    return min(architecture.usual_tokens, architecture.max_positions) if architecture.sample == "tokens" else None
