"""Operators of image networks: counted by hand, by the layer tables of the papers, and by torch as it runs them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from planner.adapters.bundled_tables import read_image_networks
from planner.model.network.image_architecture import Resnet, Vit
from planner.model.network.image_network import ImageNetwork
from planner.network.image_blocks import Operator
from planner.network.image_flops import image_parameters, image_training_flops
from planner.network.image_operators import operators_of, training_macs, weights_of
from planner.speed.physics.image_config_arrays import Described, gather
from tests.every_row import every

NETWORKS = sorted({each.id: each for each in read_image_networks().values()}.items())
TINY_RESNET = Resnet(kind="resnet", blocks=(1, 1), width=4, image_size=32, classes=10)
TINY_VIT = Vit(
    kind="vit", layers=2, hidden=32, heads=4, ffn_hidden=64, patch_size=8, image_size=32, classes=10
)  # fmt: skip


@every(NETWORKS)
def test_every_network_has_its_published_number_of_parameters(network: ImageNetwork) -> None:
    counted = weights_of(operators_of(network)) / 1e6
    assert counted == pytest.approx(network.parameters_millions, abs=0.006, rel=2e-4)


def test_a_tiny_resnet_by_hand() -> None:
    """32 x 32 pixels: the stem leaves 16 x 16, pooling 8 x 8, the second stage 4 x 4."""
    convolutions = [
        (3, 4, 7, 32, 16),
        (4, 4, 1, 8, 8), (4, 4, 3, 8, 8), (4, 16, 1, 8, 8), (4, 16, 1, 8, 8),
        (16, 8, 1, 8, 8), (8, 8, 3, 8, 4), (8, 32, 1, 4, 4), (16, 32, 1, 8, 4),
    ]  # fmt: skip
    found = [each for each in operators_of(TINY_RESNET) if each.kind == "convolution"]
    assert [(each.macs, each.inputs, each.outputs) for each in found] == [
        (inputs * outputs * kernel**2 * after**2, inputs * before**2, outputs * after**2)
        for inputs, outputs, kernel, before, after in convolutions
    ]
    assert [each.winograd for each in found] == [
        kernel == 3 and large == small for _, _, kernel, large, small in convolutions
    ]
    normed = sum(outputs * after**2 for _, outputs, _, _, after in convolutions)
    norms = [each for each in operators_of(TINY_RESNET) if each.kind == "norm"]
    assert sum(norm.forward for norm in norms) == 3 * normed  # read for the statistics, read again, write
    assert sum(norm.backward for norm in norms) == 5 * normed  # both read twice, one written


@pytest.mark.parametrize("network", [TINY_RESNET, TINY_VIT], ids=["resnet", "vit"])
def test_the_list_adds_up_to_the_totals_that_are_counted_elsewhere(network: Resnet | Vit) -> None:
    operators = operators_of(network)
    assert 2 * training_macs(operators) == image_training_flops(network)
    assert weights_of(operators) == image_parameters(network)


@pytest.mark.parametrize(
    ("name", "gmacs"),
    [
        pytest.param("resnet18", 1.814, id="torchvision: resnet18 1.81 GFLOPS, of multiply-accumulates"),
        pytest.param("resnet152", 11.514, id="torchvision: resnet152 11.51"),
        pytest.param("resnext50_32x4d", 4.23, id="torchvision: resnext50_32x4d 4.23"),
        pytest.param("wide_resnet50_2", 11.398, id="torchvision: wide_resnet50_2 11.40"),
        pytest.param("vgg16", 15.47, id="torchvision: vgg16 15.47"),
        pytest.param("densenet121", 2.834, id="torchvision: densenet121 2.83"),
        pytest.param("vit_base_patch16_224", 17.564, id="torchvision: vit_b_16 17.56"),
        pytest.param("vit_large_patch16_224", 61.555, id="torchvision: vit_l_16 61.55"),
    ],
)
def test_forward_multiply_accumulates_are_those_that_torchvision_publishes(name: str, gmacs: float) -> None:
    forward = sum(each.macs for each in operators_of(read_image_networks()[name]))
    assert forward / 1e9 == pytest.approx(gmacs, rel=2e-3)


def test_torch_moves_as_many_numbers_as_are_listed() -> None:
    """The benchmark's own network, traced on the CPU: sizes of what each operator reads and writes."""
    torch = pytest.importorskip("torch")
    from torch.utils._python_dispatch import TorchDispatchMode

    from planner.workloads.contract.architecture import ResnetShape
    from planner.workloads.models.resnet import ResnetModel as Module

    seen: Counter[str] = Counter()

    class Sizes(TorchDispatchMode):
        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            out = function(*args, **(kwargs or {}))
            name = function.overloadpacket.__name__
            if name == "convolution":
                seen["products"] += args[0].numel() + out.numel()
            elif name == "convolution_backward":
                gradient, image = args[0].numel(), args[1].numel()
                seen["products"] += sum((gradient + image) * wanted for wanted in args[10][:2])
            elif name == "native_batch_norm":
                seen["norm"] += args[0].numel()
            elif name == "native_batch_norm_backward":
                seen["norm backward"] += args[0].numel()
            elif name == "relu_":
                seen["relu"] += args[0].numel()
            return out

    shape = ResnetShape(kind="resnet", blocks=(1, 1), width=4, image_size=32, classes=10)
    module, images, labels = Module(shape), torch.zeros(1, 3, 32, 32), torch.zeros(1, dtype=torch.long)
    with Sizes():
        module(images, labels).backward()
    convolutions = [each for each in operators_of(TINY_RESNET) if each.kind == "convolution"]
    norms = [each for each in operators_of(TINY_RESNET) if each.kind == "norm"]
    assert seen["products"] == sum(
        (2 if convolution.first else 3) * (convolution.inputs + convolution.outputs) for convolution in convolutions
    )
    assert seen["norm"] * 3 == sum(norm.forward for norm in norms)
    assert seen["norm backward"] * 5 == sum(norm.backward for norm in norms)
    relus = [
        each for each in operators_of(TINY_RESNET) if each.kind == "pointwise" and 3 * each.forward == 2 * each.backward
    ]
    assert seen["relu"] * 2 == sum(relu.forward for relu in relus)


def test_like_operators_are_gathered_and_lose_nothing() -> None:
    operators = operators_of(TINY_VIT)
    facts = dict.fromkeys(FACTS, 1.0)
    configs = gather([Described(operators, facts), Described(operators_of(TINY_RESNET), facts)])
    products = [
        [each for each in listed if each.kind in ("convolution", "linear")]
        for listed in (operators, operators_of(TINY_RESNET))
    ]
    for place, expected in enumerate(products):
        here = configs.products.owner == place
        assert sum(configs.products.macs[here] * configs.products.repeats[here]) == sum(each.macs for each in expected)
        assert sum(configs.products.repeats[here]) == len(expected)
    assert (configs.at([1]).products.macs == configs.products.macs[configs.products.owner == 1]).all()


FACTS = (
    "micro_batch", "micro_batches", "recompute", "channels_last", "fused", "flash", "gradient_bytes", "zero",
    "one_process", "peak", "peak16", "peak_vector", "vector_rate", "hbm", "generation", "number_bytes", "gpus_per_node",
    "nvlink_domain", "intra", "through_host", "bus_sharers", "pcie", "pcie_cards", "pcie_5", "inter", "loader",
    "host_scale", "device_scale", "dp",
)  # fmt: skip


def test_an_operator_that_moves_nothing_costs_nothing() -> None:
    assert training_macs((Operator("pointwise"),)) == weights_of((Operator("norm"),)) == 0
