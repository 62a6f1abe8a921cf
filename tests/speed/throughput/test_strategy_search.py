"""Parallel configurations of a training: memory of each device, and splits that are tried."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import pytest

from planner.model.answer.reason import Reason, ReasonCode
from planner.model.network.architecture import Decoder, MoeDecoder
from planner.model.network.workload import WHOLE, Checkpointing, Precision, Split, Strategy
from planner.network.flops import parameters, routed_parameters
from planner.scenario.cluster import Cluster
from planner.scenario.parallel_config import ParallelConfig
from planner.scenario.training_setup import TrainingSetup
from planner.speed.estimator.text_estimator import OF_TEXT
from planner.speed.memory.device_fit import usable_gib
from planner.speed.physics.planned_text_config import planned_text_config
from planner.speed.throughput import strategy_search
from planner.speed.throughput.strategy_search import needed_gib, search
from planner.speed.throughput.strategy_space import StrategyQuestion
from planner.use_cases.networks import find_architecture
from tests.bundled import bundled_catalog

QWEN3_30B_A3B = MoeDecoder(
    kind="moe_decoder",
    layers=48, hidden=2048, heads=32, kv_heads=4, head_dim=128, moe_ffn_hidden=768, experts=128, experts_per_token=8,
    mlp="swiglu", norm="rmsnorm", qk_norm=True, positions="rope", max_positions=4096, vocab=151_936, tied_head=False,
)  # fmt: skip
LLAMA_70B = Decoder(
    layers=80, hidden=8192, heads=64, kv_heads=8, head_dim=128, ffn_hidden=28672, mlp="swiglu", norm="rmsnorm",
    positions="rope", max_positions=8192, vocab=128_256, tied_head=False,
)  # fmt: skip
ROUTED = 48 * 128 * 3 * 2048 * 768
"""Layers x experts x (gate, up, down) x hidden x width: 28,991,029,248."""


@cache
def load_once():
    return bundled_catalog()


def question(network=QWEN3_30B_A3B, *, nodes: int = 2) -> StrategyQuestion:
    node = load_once().nodes["aws/p5.48xlarge"]
    setup = TrainingSetup(workload="asked", network=network, seq_len=4096, precision=Precision.BF16)
    return StrategyQuestion(setup, Cluster(load_once().accelerators[node.accelerator], node, nodes, 8))


def with_setup(asked: StrategyQuestion, **changes: Any) -> StrategyQuestion:
    return replace(asked, setup=replace(asked.setup, **changes))


def on(asked: StrategyQuestion, **changes: Any) -> StrategyQuestion:
    return replace(asked, cluster=replace(asked.cluster, **changes))


def way(strategy: Strategy, split: Split) -> ParallelConfig:
    return ParallelConfig(strategy, split, 1, 8, Checkpointing.FULL, 0.0)


def test_the_routed_experts_are_most_of_a_mixture() -> None:
    assert routed_parameters(QWEN3_30B_A3B) == ROUTED
    assert parameters(QWEN3_30B_A3B) - ROUTED == pytest.approx(1.54e9, rel=0.01), "30.5 billion in all"


@pytest.mark.parametrize(
    ("strategy", "experts", "bytes_each"),
    [
        pytest.param(Strategy.DDP, 8, 20 / 8, id="ddp: an eighth of the experts, all of their states"),
        pytest.param(Strategy.ZERO1, 8, (4 + 12 / 2) / 8, id="zero1: two of sixteen devices hold the same ones"),
        pytest.param(Strategy.ZERO2, 4, (2 + 14 / 4) / 4, id="zero2: four do"),
        pytest.param(Strategy.ZERO2, 16, 16 / 16, id="zero2: each device has its own"),
        pytest.param(Strategy.FSDP2, 8, 16 / 16, id="sharded ones were divided anyway"),
    ],
)
def test_states_of_experts_are_divided_by_their_degree_and_then_by_zero(
    strategy: Strategy, experts: int, bytes_each: float
) -> None:
    """On sixteen devices, memory other than states differs by gathered or copied weights of 2 bytes each.

    With ddp, gradients are accumulated outside the buckets, which adds 4 bytes to the 16 of states.
    """
    undivided = {Strategy.DDP: 20.0, Strategy.ZERO1: 4 + 12 / 16, Strategy.ZERO2: 2 + 14 / 16, Strategy.FSDP2: 1.0}
    here = needed_gib(question(), way(strategy, Split(experts=experts)))
    there = needed_gib(question(), way(strategy, WHOLE))
    copied = {Strategy.DDP: ROUTED, Strategy.FSDP2: ROUTED / 24}.get(strategy, 0.0) * 2 * (1 - 1 / experts)
    saved = ROUTED * (undivided[strategy] - bytes_each) + copied
    reserved = 1.08 if strategy is Strategy.FSDP2 else 1.05
    assert (there - here) * 2**30 == pytest.approx(reserved * saved, rel=0.01), "a few of the router"


def test_a_dense_network_has_no_expert_parallelism() -> None:
    llama = find_architecture("llama3-8b", load_once()).architecture
    ways = search(question(llama), load_once().calibration)
    assert {config.split.experts for config in ways} == {1}


def test_a_mixture_fits_by_its_experts_where_the_optimizer_alone_is_sharded() -> None:
    """30.5 billion x (4 + 12/16) bytes are 135 GiB on each of sixteen H100, so undivided experts do not fit 80 GB."""
    unsplit = [config for config in search(question(), load_once().calibration) if config.split.devices == 1]
    zero1 = {config.split.experts for config in unsplit if config.strategy is Strategy.ZERO1}
    assert 1 not in zero1
    assert {4, 8, 16} <= zero1
    assert all(config.hbm_gib <= 80 for config in unsplit)


@pytest.mark.parametrize("experts", [3, 32, 256])
def test_experts_that_do_not_divide_are_refused(experts: int) -> None:
    """There are 128 experts on sixteen devices: 3 divides neither, 32 exceeds the devices, and 256 the experts."""
    asked = question()
    answer = planned_text_config(
        TrainingSetup(
            workload="asked",
            network=asked.network,
            seq_len=4096,
            precision=Precision.BF16,
            checkpointing=Checkpointing.FULL,
            strategy=Strategy.ZERO1,
            split=Split(experts=experts),
            compiled=False,
        ),
        asked.cluster,
        micro_batch=1,
        micro_batches=1,
    )
    assert isinstance(answer, Reason)
    assert (answer.code, answer.text) == (
        ReasonCode.SPLIT_NOT_POSSIBLE,
        f"128 experts on 16 devices do not divide into {experts}",
    )


def test_copies_of_weights_are_of_the_device_s_own_slice_and_stage() -> None:
    """Plain DDP needs 16 bytes of states and 2 of autocast's copies per weight; here one replica uses 32 devices."""
    asked = question(LLAMA_70B, nodes=4)
    whole, cut = (needed_gib(asked, way(Strategy.DDP, split)) for split in (WHOLE, Split(tensor=8, pipeline=4)))
    states = parameters(LLAMA_70B) * 16 / 2**30
    assert whole > states * 18 / 16 - 5, "the table of tokens has no copy"
    assert cut == pytest.approx(states / 32 * 18 / 16, abs=8), "39 GiB, and activations, logits and context"
    ways = search(with_setup(asked, global_batch=1), load_once().calibration)
    assert any(config.split.devices == 32 for config in ways), "the only way to train on one sample a step"


@pytest.mark.parametrize("per_node", [6, 8])
def test_tensor_slices_stay_on_equal_parts_of_a_node(per_node: int) -> None:
    """Four slices on nodes of six accelerators would give a group that crosses the network."""
    asked = on(question(LLAMA_70B, nodes=8), accelerators_per_node=per_node)
    tensors = {config.split.tensor for config in search(asked, load_once().calibration)}
    assert all(per_node % tensor == 0 for tensor in tensors)


def test_the_shortest_step_has_one_micro_batch_per_stage() -> None:
    ways = search(replace(question(), shortest_step=True), load_once().calibration)
    assert {config.accumulation - config.split.pipeline for config in ways} == {0}


GPT_305M = "gpt-305m"


def of_workload(name: str, *, nodes: int = 1, seq_len: int = 4096) -> StrategyQuestion:
    return with_setup(question(find_architecture(name, load_once()).architecture, nodes=nodes), seq_len=seq_len)


@pytest.mark.parametrize("seq_len", [64, 512, 1000, 1023])
@pytest.mark.parametrize("workload", [GPT_305M, "llama3-8b"])
def test_short_samples_find_ways_and_are_never_cut(workload: str, seq_len: int) -> None:
    """Blocks under 1,024 tokens are not worth their traffic; whole samples may be shorter."""
    ways = search(of_workload(workload, seq_len=seq_len), load_once().calibration)
    assert ways
    assert {config.split.context for config in ways} == {1}


@pytest.mark.parametrize(
    ("layers", "stages", "largest"),
    [
        pytest.param(61, 4, 16, id="DeepSeek's 61 layers on four stages: 16, 15, 15, 15"),
        pytest.param(126, 16, 8, id="Llama 3 405B's 126 on sixteen: fourteen of 8, two of 7"),
    ],
)
def test_stages_need_not_divide_the_layers_and_the_largest_sets_the_pace(
    layers: int, stages: int, largest: int
) -> None:
    network = LLAMA_70B.model_copy(update={"layers": layers})
    asked = question(network, nodes=stages)
    assert stages in {config.split.pipeline for config in search(asked, load_once().calibration)}
    uneven, even = (
        needed_gib(question(LLAMA_70B.model_copy(update={"layers": n}), nodes=stages), cut)
        for n in (layers, largest * stages)
        for cut in (way(Strategy.ZERO1, Split(tensor=8, pipeline=stages)),)
    )
    assert uneven == pytest.approx(even, rel=0.02), "a device of the largest stage holds as many layers in both"


def test_stages_that_would_mostly_wait_are_left_out() -> None:
    """80 layers on 64 stages are sixteen stages of two layers and 48 of one, so 3/8 of all time is waiting."""
    ways = search(question(LLAMA_70B, nodes=64), load_once().calibration)
    assert max(config.split.pipeline for config in ways) == 32


def test_hybrid_sharding_gathers_weights_within_a_node_and_holds_more() -> None:
    """8.03 billion parameters x 16 bytes over 8 devices instead of 64 are 14.96 GiB per device instead of 1.87."""
    asked = of_workload("llama3-8b", nodes=8)
    full, hybrid = (needed_gib(asked, way(Strategy.FSDP2, split)) for split in (WHOLE, Split(shards=8)))
    assert hybrid - full == pytest.approx(1.08 * 8.03e9 * 16 * (1 / 8 - 1 / 64) / 2**30, rel=0.01), "8 % of slack"
    fsdp = {
        config.split.shards: config.samples_per_s
        for config in search(asked, load_once().calibration)
        if config.strategy is Strategy.FSDP2 and config.split in (WHOLE, Split(shards=8))
    }
    slow = on(asked, node=asked.cluster.node.model_copy(update={"network_gbit_per_s": 100.0}))
    slowed = {
        config.split.shards: config.samples_per_s
        for config in search(slow, load_once().calibration)
        if config.strategy is Strategy.FSDP2 and config.split in (WHOLE, Split(shards=8))
    }
    assert slowed[8] > slowed[None], "its three gathers a micro-batch never cross the slow network"
    assert slowed[8] / fsdp[8] > slowed[None] / fsdp[None]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("workload", "limit"),
    [
        pytest.param(GPT_305M, 2 << 20, id="TinyLlama's two million"),
        pytest.param("llama3-8b", 8 << 20, id="OLMo 2's eight million"),
        pytest.param("qwen3-30b-a3b", 16 << 20, id="Llama 3 405B's sixteen million"),
    ],
)
@pytest.mark.parametrize("shortest_step", [False, True])
def test_the_batch_does_not_grow_with_the_machines(workload: str, limit: int, shortest_step: bool) -> None:
    for nodes in (1, 16, 128):
        asked = replace(of_workload(workload, nodes=nodes), shortest_step=shortest_step)
        ways = search(asked, load_once().calibration)
        assert ways
        for config in ways:
            replicas = asked.devices // config.split.devices
            assert replicas * config.micro_batch * config.accumulation * asked.seq_len <= limit


@pytest.mark.parametrize(
    ("framework", "strategies", "splits"),
    [
        ("Megatron-LM", {"ddp", "zero1"}, {"tensor", "pipeline", "context"}),
        ("DeepSpeed", {"ddp", "zero1", "zero2", "zero3"}, {"pipeline", "context"}),
        ("HF Trainer", {"ddp", "zero1", "zero2", "zero3", "fsdp2"}, set()),
        ("nanoGPT", {"ddp", "zero1"}, set()),
        ("torchtune", {"ddp", "fsdp2"}, {"tensor", "context"}),
    ],
)
def test_a_framework_gets_only_configurations_that_it_supports(
    framework: str, strategies: set[str], splits: set[str]
) -> None:
    asked = with_setup(of_workload("llama3-8b", nodes=2), framework=framework)
    ways = search(asked, load_once().calibration)
    assert {config.strategy.value for config in ways} <= strategies
    used = {
        name
        for config in ways
        for name in ("tensor", "pipeline", "context", "experts")
        if getattr(config.split, name) > 1
    }
    assert used == splits


def test_the_order_is_by_the_cautious_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cautious rate that inverts the estimates inverts the order, so neither rate nor range decides it."""
    usual, estimate = search(question(), load_once().calibration), OF_TEXT.estimate

    def least_sure_first(_, *inputs, **rest):
        guess = estimate(*inputs, **rest)
        return guess._replace(cautious=1 / guess.tokens_per_s_per_gpu)

    monkeypatch.setattr(type(OF_TEXT), "estimate", least_sure_first)
    ways = search(question(), load_once().calibration)
    rates = [config.samples_per_s for config in ways]
    assert rates == sorted(rates)
    assert usual[0].samples_per_s > max(rates)


def test_a_larger_batch_may_fit_where_it_accumulates_less(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of 16 devices has four of 64 samples: although 1 x 4 and 2 x 2 do not fit, 4 x 1 is tried."""
    monkeypatch.setattr(strategy_search, "needed_gib", lambda _, config: 1.0 if config.accumulation == 1 else 1e6)
    ways = search(with_setup(replace(question(), undivided=True), global_batch=64), load_once().calibration)
    assert {(config.micro_batch, config.accumulation) for config in ways} == {(4, 1)}


@pytest.mark.parametrize("undivided", [False, True])
def test_every_batch_that_fits_is_timed(undivided: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search times the same batches as a check of each batch by memory, so it only skips those too large."""
    asked = replace(of_workload("llama3-8b", nodes=2), shortest_step=True, undivided=undivided)
    timed: dict[tuple[Strategy, Split], set[tuple[Checkpointing, int]]] = {}

    def planned(setup, cluster, **batch):
        timed.setdefault((setup.strategy, setup.split), set()).add((setup.checkpointing, batch["micro_batch"]))
        return planned_text_config(setup, cluster, **batch)

    monkeypatch.setattr(strategy_search, "planned_text_config", planned)
    search(asked, load_once().calibration)
    assert timed
    size_gib = asked.cluster.accelerator.training_gib or 0.0

    def fits(config: ParallelConfig) -> bool:
        tokens = 16 // config.split.devices * config.micro_batch * config.accumulation * asked.seq_len
        return tokens <= 8 << 20 and needed_gib(asked, config) <= usable_gib(size_gib)

    for (strategy, split), tried in timed.items():
        every = product(Checkpointing, (1, 2, 4, 8, 16, 32, 64))
        one_each = [ParallelConfig(strategy, split, batch, split.pipeline, kept, 0.0) for kept, batch in every]
        assert tried == {(config.checkpointing, config.micro_batch) for config in one_each if fits(config)}, (
            strategy,
            split,
        )
