"""Text families: layers as data, with an embedding before and a head behind them; decoders, encoders, mixtures."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Generic, TypeVar

from planner.model.network.architecture import Architecture, Decoder, Encoder, MoeDecoder, Transformer
from planner.model.plan.plan import FlopsConvention
from planner.network.families.family import SavedBlocks, StepPasses
from planner.network.image_blocks import Operator
from planner.network.layer_kind import LayerKind, layers_like

Text = TypeVar("Text", bound=Transformer)


class TextFamily(Generic[Text]):
    """A transformer on tokens. A family states its `layers`, and other differences from a decoder."""

    saved_blocks: SavedBlocks | None = None

    def __init__(self, network: Text) -> None:
        self.network = network

    @cached_property
    def layers(self) -> tuple[LayerKind, ...]:
        """Layers with equal ones merged, the largest last."""
        raise NotImplementedError

    def operators(self) -> tuple[Operator, ...]:
        """Return none: the physics treats text by layers."""
        return ()

    def tokens(self, seq_len: int | None) -> int:
        """Return the length of a sample."""
        assert seq_len is not None, "a decoder's samples have a length"
        return seq_len

    def parameters(self) -> int:
        """Count all: embedding + positions + matrices + vectors + head (unless tied).

        Biases: LayerNorm has one; linear layers in blocks have one where `bias` is set; the router, the routed experts
        and the head have none. Source: counted from the module; equals torch's own count for the presets
        (tests/workloads).
        """
        return self._parameters(lambda kind: kind.experts)

    def active_parameters(self) -> int:
        """Count the parameters that one token uses."""
        return self._parameters(lambda kind: kind.experts_per_token)

    def routed_parameters(self) -> int:
        """Count the parameters of the routed experts."""
        return self.parameters() - self._parameters(lambda _: 0)

    def matmul_parameters(self) -> int:
        """Count the parameters of blocks and head that one token uses, without look-ups, norms and biases."""
        return self.matrices(lambda kind: kind.experts_per_token) + self._head_matrix()

    def cast_weights(self) -> int:
        """Count the weights in matrix products, all experts included."""
        return self.layer_maps() + self._head_matrix()

    def layer_maps(self) -> int:
        """Count the weights of the layers' linear maps, all experts included, without the head."""
        return self.matrices(lambda kind: kind.experts)

    def matrices(self, routed: Callable[[LayerKind], int]) -> int:
        """Sum layers x weights over the kinds, with the given number of routed experts of each."""
        return sum(kind.layers * kind.matrices(routed=routed(kind)) for kind in self.layers)

    def biases(self) -> int:
        """Count the biases of the blocks' linear maps."""
        return sum(kind.layers * kind.biases() for kind in self.layers)

    def flops_per_sample(self, *, seq_len: float | None, convention: FlopsConvention, passes: StepPasses) -> float:
        """Return the training FLOPs of one sample of T tokens, forward and backward, without recomputation.

        full_attention: T x (6 N_matmul + 12 L H Q T)   (headline; PaLM, Chowdhery et al. 2022, appendix B)
        causal:         T x (6 N_matmul +  6 L H Q T)   (only the lower triangle; an encoder has the whole matrix)
        six_n:          T x 6 N_active                  (rule of thumb of Kaplan et al. 2020; leaves attention out)

        N counts parameters that a token uses, L layers, H heads of Q dimensions; with windows, the last T is that of
        the layer's window. Leaves out norms, softmax and activations: under 1 % above 1e8 parameters.
        Adapters: 4 N instead of 6 N, as frozen weights need no gradient; the adapters' own, under 1 % of N at rank 16,
        are left out. A pass without gradients adds 2 N and a third of the attention. A scalar head has one row.
        """
        assert seq_len is not None, "a decoder's samples have a length"
        each = (4.0 if passes.adapters else 6.0) + 2.0 * passes.forward_only
        lacking = (self.network.vocab - 1) * self.network.hidden if passes.scalar_head else 0
        if convention is FlopsConvention.SIX_N:
            return each * (self.active_parameters() - (0 if self.network.tied_head else lacking)) * seq_len
        masked = convention is FlopsConvention.CAUSAL
        pairs = sum(kind.layers * kind.q_dim * kind.pairs(seq_len, masked=masked) for kind in self.layers)
        attention = 12.0 * (1 + passes.forward_only / 3) * pairs
        return (each * (self.matmul_parameters() - lacking) + attention) * seq_len

    def usual_vectors(self) -> int:
        """Count norms and biases of a network that does not state its vectors.

        layers x (2 norms + norms of queries and keys) + last norm + biases of the layers' maps
        """
        network, norm = self.network, self.norm_parameters()
        qk_norms = 2 * network.head_dim if network.qk_norm else 0
        biases = self.biases() if network.bias else 0
        return network.layers * (2 * norm + qk_norms) + norm + biases

    def norm_parameters(self) -> int:
        """Count the parameters of one norm."""
        return self.network.hidden * (2 if self.network.norm == "layernorm" else 1)

    def embedding_parameters(self) -> int:
        """Count the embeddings of tokens and positions."""
        network = self.network
        positions = network.max_positions if network.positions == "learned" else 0
        return (network.vocab + positions) * network.hidden

    def head_parameters(self) -> int:
        """Count the head's own parameters; 0 if it shares the embedding's matrix."""
        return 0 if self.network.tied_head else self._head_matrix()

    def gathered(self) -> Architecture:
        """Return the same network with two of its largest layers."""
        return self.network.of_largest_layers(min(2, self.layers[-1].layers))  # type: ignore[return-value]  # one of them

    def with_experts_of(self, devices: int) -> Architecture:
        """Return the network: it has no experts."""
        return self.network  # type: ignore[return-value]  # one of them

    def _parameters(self, routed: Callable[[LayerKind], int]) -> int:
        vectors = self.usual_vectors() if self.network.vectors is None else self.network.vectors
        return self.embedding_parameters() + self.matrices(routed) + vectors + self.head_parameters()

    def _head_matrix(self) -> int:
        return self.network.vocab * self.network.hidden


class DecoderFamily(TextFamily[Decoder]):
    """Counts of a dense decoder."""

    @cached_property
    def layers(self) -> tuple[LayerKind, ...]:
        """Layers of a single kind, with one MLP."""
        return (layers_like(self.network, self.network.layers)._replace(ffn_hidden=self.network.ffn_hidden),)


class EncoderFamily(TextFamily[Encoder]):
    """Counts of an encoder: norms have a bias if the linear maps have one."""

    @cached_property
    def layers(self) -> tuple[LayerKind, ...]:
        """Layers of a single kind, with one MLP."""
        return (layers_like(self.network, self.network.layers)._replace(ffn_hidden=self.network.ffn_hidden),)

    def norm_parameters(self) -> int:
        """Count the parameters of one norm."""
        return super().norm_parameters() if self.network.bias else self.network.hidden

    def embedding_parameters(self) -> int:
        """Count the embeddings, kinds of tokens included."""
        return super().embedding_parameters() + self.network.token_types * self.network.hidden

    def head_parameters(self) -> int:
        """Count the head: a layer with its norm, and a bias for each entry of the vocabulary."""
        d = self.network.hidden
        layer = d * d + (d if self.network.bias else 0)
        return super().head_parameters() + layer + self.norm_parameters() + self.network.vocab


class MoeDecoderFamily(TextFamily[MoeDecoder]):
    """Counts of a mixture of experts."""

    @cached_property
    def layers(self) -> tuple[LayerKind, ...]:
        """Dense layers, if there are any, and those with experts."""
        network, dense = self.network, len(self.network.dense_layers)
        sparse = layers_like(network, network.sparse_layers)._replace(
            experts=network.experts,
            experts_per_token=network.experts_per_token,
            moe_ffn_hidden=network.moe_ffn_hidden,
            shared_experts=network.shared_experts,
        )
        return (*((layers_like(network, dense)._replace(ffn_hidden=network.ffn_hidden or 0),) if dense else ()), sparse)

    def with_experts_of(self, devices: int) -> Architecture:
        """Return the same network with the routed experts of one device."""
        return self.network.model_copy(update={"experts": self.network.experts // devices})
