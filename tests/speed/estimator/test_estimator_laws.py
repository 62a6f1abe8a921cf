"""Laws of the estimator that follow from the physics, so they hold for every configuration."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.model.answer.reason import Reason
from planner.model.evidence.calibration import Calibration
from planner.model.network.adapters import Adapters
from planner.model.network.architecture import Decoder
from planner.model.network.workload import Checkpointing, Precision, Split, Strategy
from planner.scenario.cluster import Cluster
from planner.scenario.training_setup import TrainingSetup
from planner.speed.estimator.expected_error import groups_with_own_runs
from planner.speed.estimator.text_estimator import OF_TEXT
from planner.speed.physics.config_arrays import from_rows
from planner.speed.physics.observation import Observation
from planner.speed.physics.parameters import PARAMETERS
from planner.speed.physics.planned_text_config import labels_of, planned_text_config
from planner.speed.physics.step import step, step_seconds
from tests.bundled import bundled_catalog

MACHINES = ("aws/p3.16xlarge", "aws/p4d.24xlarge", "aws/p5.48xlarge", "rtx3090-x10", "lambda/gpu_8x_b200_sxm6")
ROUNDING = 1e-9


@cache
def calibration() -> Calibration:
    found = bundled_catalog().calibration
    assert found is not None
    return found


def adapters() -> st.SearchStrategy[Adapters]:
    """Draw adapters of any rank on any maps, with frozen weights that fit every precision."""
    targets = st.sets(st.sampled_from(("query", "key", "value", "out", "up", "down")), min_size=1)
    return st.builds(
        Adapters, rank=st.sampled_from((4, 16, 256)), targets=targets.map(lambda drawn: tuple(sorted(drawn)))
    )


@st.composite
def described(draw: st.DrawFn) -> dict[str, float]:
    """Draw the configuration of any decoder on any of the machines, divided in any way."""
    catalog = load_once()
    node = catalog.nodes[draw(st.sampled_from(MACHINES))]
    head_dim, heads = draw(st.sampled_from((64, 128))), draw(st.sampled_from((8, 16, 32)))
    decoder = Decoder(
        layers=draw(st.sampled_from((8, 16, 32, 80))), hidden=heads * head_dim, heads=heads, kv_heads=8,
        head_dim=head_dim, ffn_hidden=4 * heads * head_dim, mlp=draw(st.sampled_from(("gelu", "swiglu"))),
        norm="rmsnorm", positions="rope", max_positions=8192, vocab=draw(st.sampled_from((32_000, 128_256))),
        tied_head=False,
    )  # fmt: skip
    found = planned_text_config(
        TrainingSetup(
            workload="asked",
            network=decoder,
            seq_len=draw(st.sampled_from((512, 2048, 8192))),
            precision=draw(st.sampled_from((Precision.BF16, Precision.FP32))),
            checkpointing=draw(st.sampled_from(Checkpointing)),
            strategy=draw(st.sampled_from(Strategy)),
            split=Split(tensor=draw(st.sampled_from((1, 2, 4))), pipeline=draw(st.sampled_from((1, 2)))),
            framework=draw(st.sampled_from((None, "HF Trainer", "HF Trainer, unsloth"))),
            compiled=draw(st.booleans()),
            adapters=draw(st.none() | adapters()),
        ),
        Cluster(catalog.accelerators[node.accelerator], node, draw(st.sampled_from((1, 2, 16))), 8),
        micro_batch=draw(st.sampled_from((1, 2, 8))),
        micro_batches=draw(st.sampled_from((1, 4, 32))),
    )
    assert not isinstance(found, Reason)
    return found


@cache
def load_once():
    return bundled_catalog()


def small_config() -> dict[str, float]:
    """Return the configuration of a decoder of 1.3 billion parameters on eight H100."""
    node = load_once().nodes["aws/p5.48xlarge"]
    decoder = Decoder(
        layers=24, hidden=2048, heads=16, kv_heads=16, head_dim=128, ffn_hidden=8192, mlp="gelu", norm="rmsnorm",
        positions="rope", max_positions=8192, vocab=32_000, tied_head=False,
    )  # fmt: skip
    found = planned_text_config(
        TrainingSetup(
            workload="asked",
            network=decoder,
            seq_len=2048,
            precision=Precision.BF16,
            checkpointing=Checkpointing.NONE,
            strategy=Strategy.DDP,
            compiled=False,
        ),
        Cluster(load_once().accelerators[node.accelerator], node, 1, 8),
        micro_batch=1,
        micro_batches=4,
    )
    assert not isinstance(found, Reason)
    return found


def seconds(config: dict[str, float]) -> float:
    return float(step_seconds(from_rows([config]), calibration().constants)[0])


@pytest.mark.parametrize("better", ["peak", "peak16", "power", "hbm", "intra", "inter"])
@given(config=described(), factor=st.floats(1.0, 10.0))
@settings(max_examples=30, deadline=None)
def test_more_peak_power_or_bandwidth_is_never_slower(better: str, config: dict[str, float], factor: float) -> None:
    assert seconds(config | {better: config[better] * factor}) <= seconds(config) * (1 + ROUNDING)


@pytest.mark.parametrize(
    ("name", "changes", "moves"),
    [
        pytest.param("unbalanced", {"pp": 1.0}, False, id="one stage has all logits anyway"),
        pytest.param("unbalanced", {"pp": 4.0, "dp": 2.0}, True, id="the last of four stages waits for them"),
        pytest.param("logits_fused", {"fused": 0.0}, False, id="nothing is fused"),
        pytest.param("logits_fused", {"fused": 1.0}, True, id="a fused loss moves fewer bytes"),
    ],
)
def test_a_constant_moves_what_it_describes_alone(name: str, changes: dict[str, float], *, moves: bool) -> None:
    configs = from_rows([small_config() | changes])
    constants = calibration().constants
    less, more = (float(step_seconds(configs, constants | {name: value})[0]) for value in (0.2, 0.9))
    assert (more > less * (1 + ROUNDING)) is moves


@pytest.mark.parametrize(
    "more",
    [
        "layers",
        "ffn_hidden",
        "vocab",
        "micro_batch",
        "micro_batches",
        "parameters",
        "rank",
        "adapted",
        "adapted_maps",
        "adapted_weights",
        "dense",
    ],
)
@given(config=described(), factor=st.integers(1, 8))
@settings(max_examples=30, deadline=None)
def test_more_work_is_never_faster(more: str, config: dict[str, float], factor: int) -> None:
    assert seconds(config | {more: config[more] * factor}) >= seconds(config) * (1 - ROUNDING)


@given(config=described(), share=st.floats(0.0, 1.0))
@settings(max_examples=30, deadline=None)
def test_recomputing_is_never_faster(config: dict[str, float], share: float) -> None:
    assert seconds(config | {"recompute": share}) >= seconds(config | {"recompute": 0.0}) * (1 - ROUNDING)


@given(machine=st.sampled_from(MACHINES), micro_batch=st.sampled_from((1, 4, 16)), strategy=st.just(Strategy.DDP))
@settings(max_examples=30, deadline=None)
def test_data_parallel_speed_per_accelerator_never_rises_with_their_number(
    machine: str, micro_batch: int, strategy: Strategy
) -> None:
    catalog = load_once()
    node = catalog.nodes[machine]
    decoder = catalog.presets["gpt-305m"].architecture
    assert isinstance(decoder, Decoder)
    places = [(1, count) for count in range(1, node.accelerators + 1)]
    places += [(nodes, node.accelerators) for nodes in (2, 3, 4, 8, 16, 64)]
    rates = []
    for nodes, per_node in places:
        config = planned_text_config(
            TrainingSetup(
                workload="asked",
                network=decoder,
                seq_len=512,
                precision=Precision.FP16,
                checkpointing=Checkpointing.NONE,
                strategy=strategy,
                compiled=False,
            ),
            Cluster(catalog.accelerators[node.accelerator], node, nodes, per_node),
            micro_batch=micro_batch,
            micro_batches=1,
        )
        assert not isinstance(config, Reason)
        rates.append(micro_batch * 512 / seconds(config))
    assert all(later <= earlier * (1 + ROUNDING) for earlier, later in pairwise(rates))


@given(config=described())
@settings(max_examples=30, deadline=None)
def test_shares_of_the_parts_are_those_of_a_whole(config: dict[str, float]) -> None:
    shares = [float(value[0]) for value in step(from_rows([config]), calibration().constants).shares.values()]
    assert all(share >= -ROUNDING for share in shares)
    assert sum(shares) == pytest.approx(1.0)


@given(configs=st.lists(described(), min_size=1, max_size=5))
@settings(max_examples=20, deadline=None)
def test_ranges_hold_their_value_and_the_wider_holds_the_narrower(configs: list[dict[str, float]]) -> None:
    catalog = load_once()
    labels = [labels_of(catalog.accelerators["H100-SXM"], "any")] * len(configs)
    found = OF_TEXT.estimate(from_rows(configs), labels, calibration())
    assert np.all(found.low_90 <= found.low_80)
    assert np.all(found.low_80 < found.tokens_per_s_per_gpu)
    assert np.all(found.tokens_per_s_per_gpu < found.high_80)
    assert np.all(found.high_80 <= found.high_90)
    assert np.all(found.high_90 / found.tokens_per_s_per_gpu >= 1.02)


@given(configs=st.lists(described(), min_size=2, max_size=6))
@settings(max_examples=20, deadline=None)
def test_many_at_once_are_the_same_as_one_by_one(configs: list[dict[str, float]]) -> None:
    label = labels_of(load_once().accelerators["A100-40GB-SXM"], "any")
    together = OF_TEXT.estimate(from_rows(configs), [label] * len(configs), calibration())
    alone = [OF_TEXT.estimate(from_rows([config]), [label], calibration()).high_90[0] for config in configs]
    assert together.high_90 == pytest.approx(alone)


@given(config=described(), factor=st.floats(0.8, 1.25))
@settings(max_examples=20, deadline=None)
def test_a_measured_configuration_is_given_back(config: dict[str, float], factor: float) -> None:
    """A plausible measurement is returned within 3 %."""
    label = labels_of(load_once().accelerators["H100-SXM"], "any")
    configs = from_rows([config])
    blind = float(OF_TEXT.estimate(configs, [label], calibration()).tokens_per_s_per_gpu[0])
    run = Observation("mine", config, label, blind * factor, 1.0)
    seeing = OF_TEXT.estimate(configs, [label], calibration(), own=[run])
    assert float(seeing.tokens_per_s_per_gpu[0]) == pytest.approx(blind * factor, rel=0.03)
    assert seeing.groups == groups_with_own_runs(configs)


def test_a_machine_far_slower_than_believed_is_believed_in_part_and_more_by_every_run() -> None:
    """Runs at a tenth of the speed: the first moves another batch by a fifth at least, the second and third go on."""
    label = labels_of(load_once().accelerators["H100-SXM"], "any")
    rows = [small_config() | {"micro_batch": float(count)} for count in (1, 2, 4, 8)]
    configs = from_rows(rows)
    blind = OF_TEXT.estimate(configs, [label] * 4, calibration()).tokens_per_s_per_gpu
    runs = [Observation(str(n), row, label, float(blind[n]) * 0.1, 1.0) for n, row in enumerate(rows[:3])]
    asked = from_rows(rows[3:])
    left = [
        float(OF_TEXT.estimate(asked, [label], calibration(), own=runs[:count]).tokens_per_s_per_gpu[0] / blind[3])
        for count in (1, 2, 3)
    ]
    assert 0.1 < left[2] < left[1] < left[0] < 0.8


@given(config=described(), scale=st.floats(0.01, 100.0))
@settings(max_examples=20, deadline=None)
def test_the_unit_of_time_does_nothing(config: dict[str, float], scale: float) -> None:
    """Rates in units of `scale` seconds, constants of time too: the step takes 1/scale as many units."""
    rates = {name: config[name] * scale for name in ("peak", "peak16", "hbm", "intra", "inter")}
    constants = dict(calibration().constants)
    for name in ("tail_us", "host_us", "zero2_ms", "zero3_ms", "step_ms", "message_us", "hop_us"):
        constants[name] /= scale
    constants["offload_gb"] *= scale
    changed = float(step_seconds(from_rows([config | rates]), constants)[0])
    assert changed == pytest.approx(seconds(config) / scale)


def test_every_constant_stays_within_what_is_physically_possible() -> None:
    for parameter in PARAMETERS:
        assert parameter.low <= calibration().constants[parameter.name] <= parameter.high
    for name in ("hbm", "nvlink", "pcie", "network", "attention", "gemm_ampere", "gemm_hopper", "gemm_blackwell"):
        assert calibration().constants[name] <= 1.0
