"""Residual networks: convolutions in blocks, and no layers of a transformer."""

from __future__ import annotations

from planner.model.network.architecture import Architecture, Resnet
from planner.network.families.family import SavedBlocks
from planner.network.families.images import ImageFamily
from planner.network.image_flops import resnet_activations
from planner.network.layer_kind import LayerKind


class ResnetFamily(ImageFamily[Resnet]):
    """Counts of a residual network."""

    layers: tuple[LayerKind, ...] = ()

    @property
    def saved_blocks(self) -> SavedBlocks:
        """Saved numbers of one image, block by block."""
        return SavedBlocks(*resnet_activations(self.network))

    def tokens(self, seq_len: int | None) -> int:
        """Return 1: an image is not cut into tokens."""
        return 1

    def gathered(self) -> Architecture:
        """Return the whole network, because it is small."""
        return self.network
