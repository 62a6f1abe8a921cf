"""Dense decoders: one kind of layer."""

from __future__ import annotations

from functools import cached_property

from planner.model.network.architecture import Decoder
from planner.network.families.text import TextFamily
from planner.network.layer_kind import LayerKind, layers_like


class DecoderFamily(TextFamily[Decoder]):
    """Counts of a dense decoder."""

    @cached_property
    def layers(self) -> tuple[LayerKind, ...]:
        """Layers of a single kind, with one MLP."""
        return (layers_like(self.network, self.network.layers)._replace(ffn_hidden=self.network.ffn_hidden),)
