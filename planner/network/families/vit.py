"""Vision transformers: layers of a transformer over the patches of an image."""

from __future__ import annotations

from functools import cached_property

from planner.model.network.architecture import Architecture, Vit
from planner.network.families.family import SavedBlocks
from planner.network.families.images import ImageFamily
from planner.network.layer_kind import LayerKind


class VitFamily(ImageFamily[Vit]):
    """Counts of a vision transformer. Attention that is not causal saves as much as causal attention."""

    saved_blocks: SavedBlocks | None = None

    @cached_property
    def layers(self) -> tuple[LayerKind, ...]:
        """Layers of a single kind."""
        network = self.network
        return (
            LayerKind(
                layers=network.layers,
                hidden=network.hidden,
                heads=network.heads,
                kv_heads=network.heads,
                head_dim=network.hidden // network.heads,
                mlp="gelu",
                norm="layernorm",
                qk_norm=False,
                rotates=False,
                is_causal=False,
                ffn_hidden=network.ffn_hidden,
            ),
        )

    def tokens(self, seq_len: int | None) -> int:
        """Return the patches of an image and the class token."""
        return self.network.tokens

    def gathered(self) -> Architecture:
        """Return the same network with its first two layers."""
        return self.network.of_largest_layers(min(2, self.network.layers))
