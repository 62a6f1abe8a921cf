"""Time of a layer's adapters, compared with hand calculation."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from planner.speed.physics import compute, part_formula
from tests.speed.physics.decoder_configs import FFN, HIDDEN, PRIORS, configs, host_layers


def test_adapters_of_sharded_models_are_gathered_one_by_one_unless_they_are_fused() -> None:
    """Each of two adapters launches its own kernels and has its own gather."""
    two = {"adapters": 1.0, "adapted_maps": 2.0, "separate_gathers": 1.0}
    launched = 1 + 2 * PRIORS["host_adapter"]
    assert host_layers(**two) == pytest.approx(launched)
    with_its_layer = launched * PRIORS["host_sharded"]
    assert host_layers(**two, zero=3.0) == pytest.approx(with_its_layer + 2 * PRIORS["host_gather"])
    assert host_layers(**two, zero=3.0, adapters_fused=1.0) == pytest.approx(with_its_layer)
    assert host_layers(**two | {"separate_gathers": 0.0}, zero=3.0) == pytest.approx(with_its_layer)


BESIDE_QUERY_AND_DOWN = {"adapters": 1.0, "adapted_maps": 2.0, "adapted": 2 * HIDDEN + FFN + HIDDEN, "rank": 16.0}
"""Query maps 1,024 to 1,024 numbers, and down maps 4,096 to 1,024: 7,168 numbers."""


def adapter_seconds(constants: Mapping[str, float], **changes: float) -> float:
    return float(compute.layer_parts(configs(**changes), constants)["adapters"][0])


@pytest.mark.parametrize(("fused", "share"), [(0.0, 1.0), (1.0, PRIORS["elementwise_fused"])])
def test_adapters_take_the_products_of_their_rank_and_passes_beside_their_maps(fused: float, share: float) -> None:
    """1,024 x 7,168 numbers need 2 x 16 FLOPs in each of three passes at 312 TFLOPS, and 40 bytes at 1,555 GB/s."""
    seconds = adapter_seconds(PRIORS | {"adapter_bytes": 40.0}, **BESIDE_QUERY_AND_DOWN, adapters_fused=fused)
    numbers = 1024 * 7168
    products = 3 * 2 * 16 * numbers / (312e12 * PRIORS["gemm_ampere"])
    passes = 40 * share * numbers / (1555e9 * PRIORS["hbm"])
    assert seconds == pytest.approx(products + passes)


@pytest.mark.parametrize(
    ("kind", "recompute", "products", "formings"),
    [
        pytest.param((0.0, 0.0, 0.0), 0.0, 0, 0, id="LoRA materializes nothing"),
        pytest.param((1.0, 1.0, 0.0), 0.0, 2, 1, id="DoRA: forward, and back to the input"),
        pytest.param((1.0, 0.0, 0.0), 0.0, 0, 1, id="DoRA that reuses the map's output"),
        pytest.param((1.0, 1.0, 1.0), 0.0, 3, 3, id="LoHa: to the weight too"),
        pytest.param((1.0, 1.0, 0.0), 1.0, 3, 2, id="DoRA, computed again"),
        pytest.param((1.0, 2.0, 1.0), 0.0, 5, 3, id="two bases, one of them trained"),
    ],
)
def test_kinds_that_materialize_a_weight_multiply_by_it_and_move_it(
    kind: tuple[float, float, float], recompute: float, products: int, formings: int
) -> None:
    """They add products of 2 x 1,024 tokens x 5,242,880 weights at 312 TFLOPS, and 30 bytes a weight at 1,555 GB/s."""
    beside = BESIDE_QUERY_AND_DOWN | {"adapted_weights": 1024.0 * 1024 + 4096 * 1024, "recompute": recompute}
    constants = PRIORS | {"form_bytes": 30.0}
    costs = ("materialized", "dense", "dense_trained")
    lora, other = (
        adapter_seconds(constants, **beside, **dict(zip(costs, cost, strict=True))) for cost in ((0.0, 0.0, 0.0), kind)
    )
    multiplied = products * 2 * 1024 * 5_242_880 / (312e12 * PRIORS["gemm_ampere"])
    moved = formings * 30 * 5_242_880 / (1555e9 * PRIORS["hbm"])
    assert other - lora == pytest.approx(multiplied + moved)


@pytest.mark.parametrize(("recompute", "times"), [(0.0, 2), (1.0, 3)], ids=["forward and back", "computed again"])
def test_orthogonal_adapters_multiply_weights_by_weights(recompute: float, times: int) -> None:
    """6e12 FLOPs per pass and layer at 312 TFLOPS, and as many for gradients, for any number of tokens."""
    for tokens in (1024.0, 2048.0):
        beside = BESIDE_QUERY_AND_DOWN | {"seq_len": tokens, "recompute": recompute}
        slower = adapter_seconds(PRIORS, **beside, rotation_flops=6e12) - adapter_seconds(PRIORS, **beside)
        assert slower == pytest.approx(times * 6e12 / (312e12 * PRIORS["gemm_ampere"]))


def test_only_adapters_are_stepped_and_reduced() -> None:
    """12 layers x rank 16 x 7,168 numbers over the network's parameters."""
    c = configs(**BESIDE_QUERY_AND_DOWN)
    assert float(part_formula.trained_share(c)[0]) == pytest.approx(12 * 16 * 7168 / float(c.parameters[0]))
    assert float(part_formula.trained_share(configs())[0]) == 1.0
