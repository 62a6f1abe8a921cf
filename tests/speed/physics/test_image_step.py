"""Laws of image training, which hold for every network, machine and strategy."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.model.answer.reason import Reason
from planner.model.catalog import Catalog
from planner.model.evidence.calibration import Calibration
from planner.model.network.image_architecture import Resnet, Vit
from planner.model.network.workload import Checkpointing, Precision, Strategy
from planner.network.image_blocks import Operator
from planner.scenario.cluster import Cluster
from planner.scenario.training_setup import TrainingSetup
from planner.speed.estimator.image_fit import OF_IMAGES
from planner.speed.physics.image_config_arrays import Described, gather
from planner.speed.physics.image_step import counted_bytes, image_step
from planner.speed.physics.observation import Labels, Observation
from planner.speed.physics.parameters import IMAGE_PARAMETERS
from planner.speed.physics.planned_config import planned_image_config
from planner.speed.physics.planned_text_config import labels_of
from tests.bundled import bundled_catalog

MACHINES = ("aws/p3.16xlarge", "aws/p4d.24xlarge", "aws/p5.48xlarge", "rtx3090-x10", "lambda/gpu_8x_b200_sxm6")
ROUNDING = 1e-9
RESNET = Resnet(kind="resnet", blocks=(3, 4, 6, 3), width=64, image_size=224, classes=1000)


@cache
def load_once() -> Catalog:
    return bundled_catalog()


def calibration() -> Calibration:
    found = load_once().image_calibration
    assert found is not None
    return found


def described(
    network: Resnet | Vit = RESNET, *, machine: str = "aws/p4d.24xlarge", nodes: int = 1, per_node: int = 1,
    micro_batch: float = 64, micro_batches: float = 1, strategy: Strategy = Strategy.DDP,
    precision: Precision = Precision.FP16, channels_last: bool = True, compiled: bool = False,
    checkpointing: Checkpointing = Checkpointing.NONE,
) -> Described:  # fmt: skip
    node = load_once().nodes[machine]
    found = planned_image_config(
        TrainingSetup(
            workload="asked",
            network=network,
            precision=precision,
            checkpointing=checkpointing,
            strategy=strategy,
            compiled=compiled,
            channels_last=channels_last,
        ),
        Cluster(load_once().accelerators[node.accelerator], node, nodes, per_node),
        micro_batch=micro_batch,
        micro_batches=micro_batches,
    )
    assert not isinstance(found, Reason)
    return found


@st.composite
def plans(draw: st.DrawFn) -> Described:
    """Return any image network on any of the machines, spread in any way."""
    size = draw(st.sampled_from((64, 224)))
    blocks = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)))
    resnet = Resnet(kind="resnet", blocks=blocks, width=64, image_size=size, classes=1000)
    vit = Vit(
        kind="vit", layers=draw(st.sampled_from((2, 12))), hidden=384, heads=6, ffn_hidden=1536, patch_size=16,
        image_size=size, classes=1000,
    )  # fmt: skip
    return described(
        draw(st.sampled_from((resnet, vit))),
        machine=draw(st.sampled_from(MACHINES)),
        nodes=draw(st.sampled_from((1, 2, 16))),
        per_node=draw(st.sampled_from((1, 8))),
        micro_batch=draw(st.sampled_from((1, 32, 256))),
        micro_batches=draw(st.sampled_from((1, 4))),
        strategy=draw(st.sampled_from(Strategy)),
        precision=draw(st.sampled_from((Precision.BF16, Precision.FP16, Precision.FP32))),
        channels_last=draw(st.booleans()),
        compiled=draw(st.booleans()),
        checkpointing=draw(st.sampled_from((Checkpointing.NONE, Checkpointing.FULL))),
    )


def seconds(training: Described, **changes: float) -> float:
    changed = Described(training.operators, {**training.facts, **changes})
    return float(image_step(gather([changed]), calibration().constants).seconds[0])


@pytest.mark.parametrize("better", ["peak", "peak16", "hbm", "intra", "inter"])
@given(training=plans(), factor=st.floats(1.0, 10.0))
@settings(max_examples=25, deadline=None)
def test_more_peak_or_bandwidth_is_never_slower(better: str, training: Described, factor: float) -> None:
    assert seconds(training, **{better: training.facts[better] * factor}) <= seconds(training) * (1 + ROUNDING)


@pytest.mark.parametrize("more", ["micro_batch", "micro_batches", "recompute", "host_scale", "gradient_bytes"])
@given(training=plans(), factor=st.integers(1, 8))
@settings(max_examples=25, deadline=None)
def test_more_work_is_never_faster(more: str, training: Described, factor: int) -> None:
    more_of_it = training.facts[more] * factor + (more == "recompute") * (factor - 1) / 7
    assert seconds(training, **{more: more_of_it}) >= seconds(training) * (1 - ROUNDING)


@given(training=plans())
@settings(max_examples=25, deadline=None)
def test_fusing_and_channels_last_are_never_slower(training: Described) -> None:
    assert seconds(training, fused=1.0) <= seconds(training, fused=0.0) * (1 + ROUNDING)
    assert seconds(training, channels_last=1.0) <= seconds(training, channels_last=0.0) * (1 + ROUNDING)


@given(training=plans(), depth=st.integers(1, 3), width=st.sampled_from((64, 128)))
@settings(max_examples=25, deadline=None)
def test_a_deeper_or_wider_network_is_never_faster(training: Described, depth: int, width: int) -> None:
    small = described(Resnet(kind="resnet", blocks=(1, 1), width=64, image_size=64, classes=10))
    large = described(Resnet(kind="resnet", blocks=(depth, 2), width=width, image_size=64, classes=10))
    faster, slower = Described(small.operators, training.facts), Described(large.operators, training.facts)
    assert seconds(slower) >= seconds(faster) * (1 - ROUNDING)


@pytest.mark.parametrize("machine", MACHINES)
def test_data_parallel_speed_per_accelerator_never_rises_with_their_number(machine: str) -> None:
    node = load_once().nodes[machine]
    places = [(1, count) for count in range(1, node.accelerators + 1)]
    places += [(nodes, node.accelerators) for nodes in (2, 4, 16, 64)]
    rates = [64 / seconds(described(machine=machine, nodes=nodes, per_node=count)) for nodes, count in places]
    assert all(later <= earlier * (1 + ROUNDING) for earlier, later in pairwise(rates))


@given(training=plans())
@settings(max_examples=25, deadline=None)
def test_shares_of_the_parts_are_those_of_a_whole(training: Described) -> None:
    found = image_step(gather([training]), calibration().constants).shares
    shares = [float(value[0]) for value in found.values()]
    assert all(share >= -ROUNDING for share in shares)
    assert sum(shares) == pytest.approx(1.0)


@given(many=st.lists(plans(), min_size=2, max_size=5))
@settings(max_examples=15, deadline=None)
def test_many_at_once_are_each_alone(many: list[Described]) -> None:
    together = image_step(gather(many), calibration().constants).seconds
    assert together.tolist() == pytest.approx([seconds(training) for training in many])


def test_a_host_that_decodes_too_slowly_sets_the_pace() -> None:
    training = described(per_node=8, micro_batch=128)
    fed = 8 * 128 / seconds(training)
    assert 8 * 128 / seconds(training, loader=fed / 10) == pytest.approx(fed / 10, rel=1e-3)
    assert seconds(training, loader=fed * 10) == pytest.approx(seconds(training), rel=1e-3)


def test_a_resnet_50_moves_what_its_layer_table_says() -> None:
    """The stages of He et al. 2015, table 1, with the stride in the 3x3 convolutions; per image."""
    written = 802_816 + 4_415_488 + 3_110_912 + 2_157_568 + 627_200  # stem, four stages: by convolutions
    read = 150_528 + 3_211_264 + 3_913_728 + 2_558_976 + 827_904
    sums = 256 * 56**2 * 3 + 512 * 28**2 * 4 + 1024 * 14**2 * 6 + 2048 * 7**2 * 3
    inner = 802_816 + 1_204_224 + 1_103_872 + 752_640 + 225_792  # ReLUs before the sums
    pooling, mean, classifier = 2 * (802_816 + 5 * 200_704), 2 * 2048 * 7**2, 3 * (2048 + 1000)
    norms, relus, adds = 8 * written, 5 * (inner + sums), 6 * sums
    products = 3 * (read + written) - (150_528 + 802_816)  # the image needs no gradient
    expected = 2 * (norms + relus + adds + products + pooling + mean + classifier)
    assert float(counted_bytes(gather([described()]))[0]) == pytest.approx(expected, rel=1e-12)


@given(many=st.lists(plans(), min_size=1, max_size=4))
@settings(max_examples=15, deadline=None)
def test_ranges_hold_their_value_and_the_wider_holds_the_narrower(many: list[Described]) -> None:
    label = labels_of(load_once().accelerators["H100-SXM"], "anything")
    found = OF_IMAGES.estimate(gather(many), [label] * len(many), calibration())
    for low, high in ((found.low_80, found.high_80), (found.low_90, found.high_90)):
        assert (low <= found.tokens_per_s_per_gpu / 1.0199).all()
        assert (high >= found.tokens_per_s_per_gpu * 1.0199).all()
    assert (found.low_90 <= found.low_80).all()
    assert (found.high_90 >= found.high_80).all()


@pytest.mark.parametrize("rate", [900.0, 2000.0, 2600.0])
def test_a_run_of_one_s_own_is_reproduced_by_itself_and_narrows_the_range(rate: float) -> None:
    training = described()
    label = labels_of(load_once().accelerators["A100-40GB-SXM"], "resnet50")
    run = Observation("mine", dict(training.facts), label, rate, 1.0, training.operators)
    blind = OF_IMAGES.estimate(gather([training]), [label], calibration())
    seeing = OF_IMAGES.estimate(gather([training]), [label], calibration(), own=[run])
    value = float(seeing.tokens_per_s_per_gpu[0])
    assert abs(np.log(value / rate)) < max(0.05, 0.5 * abs(np.log(float(blind.tokens_per_s_per_gpu[0]) / rate)))
    assert seeing.high_90[0] / seeing.low_90[0] < blind.high_90[0] / blind.low_90[0]
    assert seeing.groups == ("own runs",)


def test_constants_stay_inside_their_bounds() -> None:
    found = calibration().constants
    assert set(found) == {constant.name for constant in IMAGE_PARAMETERS}
    assert all(constant.low <= found[constant.name] <= constant.high for constant in IMAGE_PARAMETERS)


def test_an_unknown_label_is_named_by_what_it_lacks() -> None:
    training = gather([described()])
    lacking = Labels("GTX-9999", "another", "a framework", "a lab", "resnet50")
    assert OF_IMAGES.estimate(training, [lacking], calibration()).groups == ("new generation",)


def test_attention_in_windows_launches_two_kernels_more_than_plain_attention() -> None:
    """Windows are split before the four kernels of eager attention, and merged after them."""
    operators = (Operator(kind="windows"), Operator(kind="attention"), Operator(kind="linear"))
    assert gather([Described(operators, described().facts)]).kernels == pytest.approx([6 + 4 + 1])
