"""Mixtures of experts: layers with experts, and dense ones among them."""

from __future__ import annotations

from functools import cached_property

from planner.model.network.architecture import Architecture, MoeDecoder
from planner.network.families.text import TextFamily
from planner.network.layer_kind import LayerKind, layers_like


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
