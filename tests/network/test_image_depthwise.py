"""Laws of networks with depthwise convolutions and windows, and the seconds of one convolution by hand."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.adapters.bundled_tables import read_image_networks
from planner.model.answer.reason import Reason
from planner.model.evidence.calibration import Calibration
from planner.model.network.image_architecture import Resnet
from planner.model.network.workload import Checkpointing, Precision, Strategy
from planner.network.image_blocks import Operator, convolution, depthwise
from planner.network.image_operators import operators_of
from planner.scenario.cluster import Cluster
from planner.scenario.training_setup import TrainingSetup
from planner.speed.estimator.text_estimator import fitted
from planner.speed.physics.image_config_arrays import Described, gather
from planner.speed.physics.image_step import device_parts, image_step
from planner.speed.physics.parameters import IMAGE_PARAMETERS
from planner.speed.physics.planned_config import planned_image_config
from tests.bundled import bundled_catalog

NAMES = (
    "efficientnet_b0", "efficientnetv2_s", "mobilenet_v2", "mobilenetv3_large_100", "convnext_tiny",
    "swin_tiny_patch4_window7_224", "swin_v2_t", "regnety_032", "inception_v3", "googlenet",
)  # fmt: skip
ROUNDING = 1e-9
PRIORS = {parameter.name: parameter.prior for parameter in IMAGE_PARAMETERS}


@cache
def calibration() -> Calibration:
    found = bundled_catalog().image_calibration
    assert found is not None
    return found


def described(
    operators: tuple[Operator, ...], *, micro_batch: float = 64, precision: Precision = Precision.FP16,
    channels_last: bool = True, compiled: bool = False,
) -> Described:  # fmt: skip
    """Some network on one A100: the machine of a plan, with other operators."""
    catalog = bundled_catalog()
    node = catalog.nodes["aws/p4d.24xlarge"]
    found = planned_image_config(
        TrainingSetup(
            workload="asked",
            network=Resnet(kind="resnet", blocks=(1, 1), width=64, image_size=64, classes=10),
            precision=precision,
            checkpointing=Checkpointing.NONE,
            strategy=Strategy.DDP,
            compiled=compiled,
            channels_last=channels_last,
        ),
        Cluster(catalog.accelerators[node.accelerator], node, 1, 1),
        micro_batch=micro_batch,
        micro_batches=1,
    )
    assert not isinstance(found, Reason)
    return Described(operators, found.facts)


@st.composite
def trainings(draw: st.DrawFn) -> Described:
    """One of the published networks, trained in any way."""
    return described(
        operators_of(read_image_networks()[draw(st.sampled_from(NAMES))]),
        micro_batch=draw(st.sampled_from((1, 32, 256))),
        precision=draw(st.sampled_from((Precision.BF16, Precision.FP16, Precision.FP32))),
        channels_last=draw(st.booleans()),
        compiled=draw(st.booleans()),
    )


def seconds(network: Described, **changes: float) -> float:
    changed = Described(network.operators, {**network.facts, **changes})
    return float(image_step(gather([changed]), calibration().constants).seconds[0])


@given(network=trainings(), factor=st.integers(1, 8))
@settings(max_examples=25, deadline=None)
def test_more_images_are_never_faster(network: Described, factor: int) -> None:
    assert seconds(network, micro_batch=network.facts["micro_batch"] * factor) >= seconds(network) * (1 - ROUNDING)


@pytest.mark.parametrize("less", ["hbm", "peak", "peak_vector"])
@given(network=trainings(), factor=st.floats(1.0, 10.0))
@settings(max_examples=25, deadline=None)
def test_less_bandwidth_or_peak_is_never_faster(less: str, network: Described, factor: float) -> None:
    assert seconds(network, **{less: network.facts[less] / factor}) >= seconds(network) * (1 - ROUNDING)


@given(network=trainings())
@settings(max_examples=25, deadline=None)
def test_the_layout_that_kernels_like_and_fused_attention_are_never_slower(network: Described) -> None:
    assert seconds(network, channels_last=1.0) <= seconds(network, channels_last=0.0) * (1 + ROUNDING)
    assert seconds(network, fused=1.0) <= seconds(network, fused=0.0) * (1 + ROUNDING)


def test_attention_inside_windows_is_written_out_whatever_the_year() -> None:
    swin = described(operators_of(read_image_networks()["swin_tiny_patch4_window7_224"]))
    assert seconds(swin, flash=1.0) == seconds(swin, flash=0.0)


@pytest.mark.parametrize(
    ("precision", "channels_last", "number_bytes", "gain"),
    [
        pytest.param(Precision.FP16, True, 2, 3.0, id="16 bit, channels last: kernels of their own"),
        pytest.param(Precision.FP16, False, 2, 1.0, id="16 bit in planes: generic kernels"),
        pytest.param(Precision.FP32, True, 4, 1.0, id="fp32: generic kernels"),
    ],
)
def test_the_seconds_of_one_depthwise_convolution_by_hand(
    precision: Precision, channels_last: bool, number_bytes: int, gain: float
) -> None:
    """64 channels of 56 x 56 pixels, 3x3, 64 images on an A100 of 40 GB: 19.5 TFLOP/s of fp32, 1,555 GB/s.

    Three passes, each the slower of 2 x 64 x 9 x 56^2 x 64 FLOPs at 5 % of the peak and 4 times the usual traffic;
    the usual is 1.2 times that of reading and writing once, at 80 % of the bandwidth.
    """
    numbers = 64 * 56**2 * 64
    arithmetic = 2 * 9 * numbers / (19.5e12 * 0.05 * gain)
    traffic = number_bytes * (2 * numbers + 64 * 9) * 1.2 * 4.0 / gain / (1555e9 * 0.80)
    layer = described((depthwise(64, 3, 56, 56),), precision=precision, channels_last=channels_last)
    found = device_parts(gather([layer]), PRIORS)["products"][0]
    assert found == pytest.approx(3 * (arithmetic**3 + traffic**3) ** (1 / 3), rel=1e-3)


def test_a_depthwise_convolution_wastes_what_an_ordinary_one_uses() -> None:
    """An ordinary 3x3 convolution of 64 channels takes a small share of the time for the same multiplications."""
    alone, summed = depthwise(64, 3, 56, 56), convolution(64, 64, 3, 56, 56)
    slow, fast = (
        float(device_parts(gather([described((layer,))]), PRIORS)["products"][0]) / layer.macs
        for layer in (alone, summed)
    )
    assert slow > 10 * fast


def test_a_calibration_of_before_answers_with_the_priors() -> None:
    constants = {name: value for name, value in calibration().constants.items() if "depthwise" not in name}
    older = fitted(calibration().model_copy(update={"constants": constants}))
    new = [parameter for parameter in IMAGE_PARAMETERS if "depthwise" in parameter.name]
    assert [older.constants[each.name] for each in new] == [each.prior for each in new]
    assert len(new) == 3
