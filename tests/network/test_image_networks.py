"""Operators of mobile, windowed and branching networks: counted by hand, and against published multiply-accumulates."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Any

import pytest

from planner.adapters.bundled_tables import read_image_networks
from planner.model.network.image_network import ImageNetwork
from planner.network.image_blocks import Operator, depthwise
from planner.network.image_operators import operators_of, weights_of


def tiny(**sizes: Any) -> ImageNetwork:
    """Return a network of ten classes."""
    told = {"id": "tiny", "classes": 10, "parameters_millions": 1.0, "source": "by hand", "as_of": date(2026, 11, 22)}
    return ImageNetwork.model_validate(told | sizes)


def macs(network: ImageNetwork, kinds: Iterable[str] = ("convolution", "depthwise", "linear")) -> list[float]:
    return [each.macs for each in operators_of(network) if each.kind in kinds]


def test_a_depthwise_convolution_by_hand() -> None:
    """8 channels, 3x3, from 10 x 10 to 5 x 5 pixels: 72 weights, each used 25 times."""
    found = depthwise(8, 3, 10, 5)
    assert (found.weights, found.macs, found.inputs, found.outputs) == (72, 1800, 800, 200)


def test_an_inverted_bottleneck_by_hand() -> None:
    """16 x 16 pixels: the stem leaves 8 x 8; 8 channels become 32, then 4 x 4 pixels, squeezed to 2, then 16."""
    network = tiny(kind="mobile", image_size=16, stages=["ir_r1_k3_s2_e4_c16_se0.25"], stem=8, head=24)
    stem, widened, each_alone, narrowed, head = 27 * 8 * 64, 8 * 32 * 64, 32 * 9 * 16, 32 * 16 * 16, 16 * 24 * 16
    assert macs(network) == [stem, widened, each_alone, 32 * 2, 2 * 32, narrowed, head, 24 * 10]
    products = 27 * 8 + 8 * 32 + 32 * 9 + (32 + 1) * 2 + (2 + 1) * 32 + 32 * 16 + 16 * 24 + (24 + 1) * 10
    assert weights_of(operators_of(network)) == products + 2 * (8 + 32 + 32 + 16 + 24)


def test_the_second_block_of_a_stage_keeps_its_shape_and_adds_its_input() -> None:
    first, two = (
        tiny(kind="mobile", image_size=16, stages=[f"ir_r{blocks}_k3_s2_e4_c8"], stem=8, head=24) for blocks in (1, 2)
    )
    more = list(operators_of(two))
    for each in operators_of(first):
        more.remove(each)
    summed = Operator("pointwise", forward=3 * 8 * 16, backward=3 * 8 * 16)
    assert summed in more
    assert sum(each.macs for each in more) == (8 * 32 + 32 * 9 + 32 * 8) * 16


def test_a_fused_bottleneck_widens_by_its_own_convolution() -> None:
    network = tiny(kind="mobile", image_size=16, stages=["er_r1_k3_s1_e4_c16"], stem=8, head=24)
    assert macs(network)[1:3] == [8 * 32 * 9 * 64, 32 * 16 * 64]
    assert not macs(network, ["depthwise"])


def test_multipliers_round_channels_to_eights_and_blocks_up() -> None:
    """24 x 1.4 = 33.6 becomes 32; 16 x 1.2 = 19.2 would lose more than a tenth as 16, and becomes 24."""
    wide = tiny(kind="mobile", image_size=16, stages=["ds_r1_k3_s1_c24"], stem=16, head=80, width_multiplier=1.4)
    assert macs(wide)[2] == 24 * 32 * 64  # from 22.4, 24; to 33.6, 32
    wide = tiny(kind="mobile", image_size=16, stages=["ds_r1_k3_s1_c16"], stem=16, head=80, width_multiplier=1.2)
    assert macs(wide)[2] == 24 * 24 * 64
    deep = tiny(kind="mobile", image_size=16, stages=["ds_r2_k3_s1_c16"], stem=16, head=80, depth_multiplier=1.1)
    assert len(macs(deep, ["depthwise"])) == 3


def test_a_convnext_block_by_hand() -> None:
    """16 x 16 pixels in patches of 4: 4 x 4 places of 8 channels; 7x7 each alone, four times wider and back."""
    network = tiny(kind="convnext", image_size=16, blocks=(1,), width=8)
    assert macs(network) == [3 * 16 * 8 * 16, 8 * 49 * 16, 16 * 8 * 32, 16 * 32 * 8, 8 * 10]
    biased = (48 + 1) * 8 + 2 * 8 + (49 + 1) * 8 + 2 * 8 + (8 + 1) * 32 + (32 + 1) * 8 + 8 + 2 * 8 + (8 + 1) * 10
    assert weights_of(operators_of(network)) == biased


def test_attention_inside_windows_by_hand() -> None:
    """56 x 56 pixels are 14 x 14 patches: each sees the 49 of its window, in both products of attention."""
    network = tiny(kind="swin", image_size=56, blocks=(2,), width=8, heads=2, window=7)
    found = [each for each in operators_of(network) if each.kind == "windows"]
    assert [(each.macs, each.outputs, each.weights) for each in found] == [
        (2 * 196 * 49 * 8, 2 * 196 * 49, 169 * 2)
    ] * 2


def moved(image_size: int) -> list[float]:
    """Return the numbers that window attention moves forward to divide the patches, block by block."""
    network = tiny(kind="swin", image_size=image_size, blocks=(2,), width=8, heads=2, window=7)
    operators = operators_of(network)
    before = [place - 2 for place, operator in enumerate(operators) if operator.kind == "windows"]
    return [operators[place].forward for place in before]


def test_every_second_block_is_shifted_where_there_is_more_than_one_window() -> None:
    there_and_back = 2 * 2 * 196 * 8
    assert moved(56) == [there_and_back, 2 * there_and_back]
    assert moved(28) == [2 * 2 * 49 * 8] * 2


def test_the_rim_is_padded_to_whole_windows() -> None:
    """40 x 40 pixels are 10 x 10 patches, in four windows of 49: 196 places are multiplied."""
    network = tiny(kind="swin", image_size=40, blocks=(1,), width=8, heads=2, window=7)
    assert macs(network, ["windows"]) == [2 * 196 * 49 * 8]
    assert macs(network, ["linear"])[:2] == [196 * 8 * 24, 196 * 8 * 8]


def test_a_regnet_block_by_hand() -> None:
    """8 x 8 pixels, halved by the stem and by the stage; two groups of four; squeezed to a quarter of the input."""
    network = tiny(kind="regnet", image_size=8, blocks=(1,), widths=(8,), group_width=4, stem=4)
    assert macs(network) == [27 * 4 * 16, 4 * 8 * 16, 8 * 4 * 9 * 4, 8, 8, 64 * 4, 32 * 4, 8 * 10]


def test_branches_are_joined_and_repeated() -> None:
    """9 x 9 pixels leave 4 x 4; each repeat adds two channels to those that are pooled."""
    network = tiny(kind="branches", image_size=9, stages=["3x3>4s2p0", "2*( 1x1>2 / max3 )"])
    assert macs(network) == [27 * 4 * 16, 4 * 2 * 16, 6 * 2 * 16, 8 * 10]
    joined = [each for each in operators_of(network) if each == Operator("pointwise", forward=192.0, backward=192.0)]
    assert len(joined) == 1  # the first: writes and reads 6 x 16, adds two gradients of 4 x 16


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        pytest.param({"kind": "mobile", "stages": ["ir_r2"], "stem": 8, "head": 8}, "is not a stage", id="stage"),
        pytest.param({"kind": "branches", "stages": ["3x3-4"]}, "is not a step", id="step"),
        pytest.param({"kind": "branches", "stages": ["( 1x1>4 / max3"]}, "not closed", id="open bracket"),
        pytest.param({"kind": "branches", "stages": ["1x1>4 )"]}, "not opened", id="closed bracket"),
        pytest.param({"kind": "branches", "stages": ["( 1x1>4 / max3s2 )"]}, "cannot be joined", id="sizes"),
        pytest.param({"kind": "swin", "blocks": (1,)}, "a swin needs width, heads, window", id="missing"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_reason(sizes: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        operators_of(tiny(image_size=16, **sizes))


@pytest.mark.parametrize(
    ("name", "gmacs"),
    [
        pytest.param("efficientnet_b0", 0.39, id="Tan and Le 2019: B0 0.39 billion"),
        pytest.param("efficientnet_b2", 1.0, id="Tan and Le 2019: B2 1.0"),
        pytest.param("efficientnet_b4", 4.39, id="torchvision: efficientnet_b4 4.39"),
        pytest.param("efficientnet_b7", 37.75, id="torchvision: efficientnet_b7 37.75"),
        pytest.param("efficientnetv2_s_384", 8.37, id="torchvision: efficientnet_v2_s 8.37"),
        pytest.param("efficientnetv2_m", 24.58, id="torchvision: efficientnet_v2_m 24.58"),
        pytest.param("efficientnetv2_l", 56.08, id="torchvision: efficientnet_v2_l 56.08"),
        pytest.param("efficientnetv2_b0", 0.72, id="Tan and Le 2021: V2-B0 0.72"),
        pytest.param("mobilenet_v2", 0.300, id="Sandler et al. 2018: 300 million"),
        pytest.param("mobilenetv2_140", 0.585, id="Sandler et al. 2018: width 1.4, 585 million"),
        pytest.param("mobilenetv3_large_100", 0.219, id="Howard et al. 2019: 219 million"),
        pytest.param("mobilenetv3_small_100", 0.0565, id="Howard et al. 2019: 56.5 million"),
        pytest.param("mnasnet_100", 0.315, id="Tan et al. 2018: 315 million"),
        pytest.param("convnext_tiny", 4.46, id="torchvision: convnext_tiny 4.46"),
        pytest.param("convnext_large", 34.36, id="torchvision: convnext_large 34.36"),
        pytest.param("swin_tiny_patch4_window7_224", 4.49, id="torchvision: swin_t 4.49"),
        pytest.param("swin_base_patch4_window7_224", 15.43, id="torchvision: swin_b 15.43"),
        pytest.param("swin_v2_b_256", 20.32, id="torchvision: swin_v2_b 20.32"),
        pytest.param("regnety_032", 3.18, id="torchvision: regnet_y_3_2gf 3.18"),
        pytest.param("regnety_160", 15.91, id="torchvision: regnet_y_16gf 15.91"),
        pytest.param("regnety_1280", 127.52, id="torchvision: regnet_y_128gf 127.52"),
        pytest.param("inception_v3", 5.71, id="torchvision: inception_v3 5.71"),
        pytest.param("inception_v4", 12.27, id="Bianco et al. 2018: Inception v4 12.27"),
        pytest.param("googlenet", 1.6, id="Bianco et al. 2018: GoogLeNet of Caffe 1.6"),
        pytest.param("alexnet", 0.71, id="torchvision: alexnet 0.71"),
        pytest.param("vit_base_patch16_384", 55.5, id="timm: vit_base_patch16_384 55.5"),
    ],
)
def test_forward_multiply_accumulates_are_those_that_were_published(name: str, gmacs: float) -> None:
    forward = sum(each.macs for each in operators_of(read_image_networks()[name]))
    assert forward / 1e9 == pytest.approx(gmacs, rel=0.02)
