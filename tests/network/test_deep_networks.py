"""Networks of as many layers as a file may state."""

from __future__ import annotations

import pytest

from planner.model.network.architecture import MOST_LAYERS, Decoder
from planner.model.network.image_architecture import Resnet
from planner.network.image_flops import image_macs, image_parameters, resnet_activations


@pytest.mark.parametrize("count", [image_macs, image_parameters, resnet_activations])
def test_the_blocks_of_a_resnet_are_counted_once(count):
    blocks, width = (7, 5, 3), 48
    count(Resnet(kind="resnet", blocks=blocks, width=width, image_size=96, classes=11))
    counted = count.cache_info().misses
    count(Resnet(kind="resnet", blocks=blocks, width=width, image_size=96, classes=11))

    assert count.cache_info().misses == counted


def test_a_transformer_of_more_layers_than_any_is_refused():
    sizes = {
        "hidden": 8, "heads": 1, "kv_heads": 1, "head_dim": 8, "ffn_hidden": 8, "mlp": "gelu", "norm": "rmsnorm",
        "positions": "rope", "max_positions": 8, "vocab": 8, "tied_head": True,
    }  # fmt: skip
    assert Decoder.model_validate(sizes | {"layers": MOST_LAYERS}).layers == MOST_LAYERS
    with pytest.raises(ValueError, match=r"layers\n.*less than or equal to 10000"):
        Decoder.model_validate(sizes | {"layers": MOST_LAYERS + 1})
