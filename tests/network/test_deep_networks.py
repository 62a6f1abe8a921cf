"""Networks of as many layers as a file may state."""

from __future__ import annotations

import pytest

from planner.model.network.architecture import MOST_LAYERS, Decoder
from planner.model.network.image_architecture import Resnet
from planner.network.families.known_families import family_of


def test_the_blocks_of_a_resnet_are_counted_once():
    first, second = (
        family_of(Resnet(kind="resnet", blocks=(7, 5, 3), width=48, image_size=96, classes=11)) for _ in range(2)
    )
    assert first.operators() is second.operators()
    assert first.saved_blocks is second.saved_blocks


def test_a_transformer_of_more_layers_than_any_is_refused():
    sizes = {
        "hidden": 8, "heads": 1, "kv_heads": 1, "head_dim": 8, "ffn_hidden": 8, "mlp": "gelu", "norm": "rmsnorm",
        "positions": "rope", "max_positions": 8, "vocab": 8, "tied_head": True,
    }  # fmt: skip
    assert Decoder.model_validate(sizes | {"layers": MOST_LAYERS}).layers == MOST_LAYERS
    with pytest.raises(ValueError, match=r"layers\n.*less than or equal to 10000"):
        Decoder.model_validate(sizes | {"layers": MOST_LAYERS + 1})
