"""Encoders: a decoder's layers without its mask, and the head of masked language modelling."""

from __future__ import annotations

from functools import cached_property

from planner.model.network.architecture import Encoder
from planner.network.families.text import TextFamily
from planner.network.layer_kind import LayerKind, layers_like


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
