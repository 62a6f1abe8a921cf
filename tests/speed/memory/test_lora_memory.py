"""Memory of low-rank adaptation, by hand; a trace of autograd is the second method (test_memory_trace.py)."""

from __future__ import annotations

import pytest

from planner.model.network.adapters import AdapterKind, Adapters, FrozenFormat
from planner.model.network.architecture import Decoder
from planner.model.network.workload import Checkpointing, Precision, Strategy
from planner.network.families.known_families import family_of
from planner.network.lora_memory import adapter_parameters, lora_layer_bytes, trained_parameters
from planner.scenario.training_setup import TrainingSetup
from planner.speed.memory.buffers import buffer_bytes, materialized_bytes
from planner.speed.memory.memory import device_memory
from planner.speed.memory.states import device_states

SMALL = Decoder(
    layers=3,
    hidden=8,
    heads=2,
    kv_heads=1,
    head_dim=4,
    ffn_hidden=16,
    mlp="swiglu",
    norm="rmsnorm",
    positions="rope",
    max_positions=32,
    vocab=100,
    tied_head=False,
)
QUERY_VALUE = Adapters(rank=2, targets=("query", "value"))
DORA, LOHA = (QUERY_VALUE.model_copy(update={"kind": kind}) for kind in (AdapterKind.DORA, AdapterKind.LOHA))
ALL = Adapters(rank=2, targets=("query", "key", "value", "out", "gate", "up", "down"))


@pytest.mark.parametrize(
    ("adapters", "expected"),
    [
        pytest.param(QUERY_VALUE, 3 * 2 * ((8 + 8) + (8 + 4)), id="query 8 to 8, value 8 to 4"),
        pytest.param(ALL, 3 * 2 * (16 + 12 + 12 + 16 + 24 + 24 + 24), id="all"),
        pytest.param(DORA, 3 * (2 * (16 + 12) + 8 + 4), id="a magnitude for every output"),
        pytest.param(LOHA, 3 * 2 * 2 * (16 + 12), id="two pairs of matrices"),
    ],
)
def test_the_trained_parameters_by_hand(adapters, expected):
    assert adapter_parameters(SMALL, adapters) == expected


@pytest.mark.parametrize(
    ("strategy", "devices", "frozen", "trained"),
    [
        pytest.param(Strategy.DDP, 4, 4.0, 16.0, id="ddp"),
        pytest.param(Strategy.FSDP2, 4, 1.0, 4.0, id="fsdp2 on 4"),
        pytest.param(Strategy.ZERO2, 7, 4.0, 4.0, id="zero2 on 7"),
        pytest.param(Strategy.ZERO3, 4, 1.0, 4.0, id="zero3 on 4"),
    ],
)
def test_frozen_weights_have_no_gradients_and_no_moments(strategy, devices, frozen, trained):
    """Embedding and head 2 x 100 x 8, three layers of 2 x 8 x 8 + 2 x 8 x 4 + 3 x 8 x 16 + 2 x 8, a norm of 8; fp32."""
    parameters = 2 * 800 + 3 * (128 + 64 + 384 + 16) + 8
    expected = frozen * parameters + trained * 168
    counted = device_states(SMALL, strategy=strategy, devices=devices, adapters=QUERY_VALUE)
    assert counted.after_backward == pytest.approx(expected)


@pytest.mark.parametrize(
    ("frozen", "strategy", "shards"),
    [
        pytest.param(FrozenFormat.SIXTEEN_BIT, Strategy.DDP, 1, id="16 bit, whole"),
        pytest.param(FrozenFormat.SIXTEEN_BIT, Strategy.FSDP2, 4, id="16 bit, sharded"),
        pytest.param(FrozenFormat.NF4, Strategy.ZERO2, 1, id="4 bits, whole"),
        pytest.param(FrozenFormat.NF4, Strategy.ZERO3, 4, id="4 bits, sharded"),
    ],
)
def test_frozen_weights_in_their_own_format(frozen, strategy, shards):
    """The maps of three layers, 128 + 64 + 384, have 2 bytes, or 4 bits and one fp32 scale per 64; the rest has 2."""
    maps, rest = 3 * 576, 2 * 800 + 3 * 16 + 8
    bytes_per_map_weight = {FrozenFormat.SIXTEEN_BIT: 2.0, FrozenFormat.NF4: 0.5 + 4 / 64}[frozen]
    trained = {Strategy.DDP: 16, Strategy.FSDP2: 16 / 4, Strategy.ZERO2: 2 + 14 / 4, Strategy.ZERO3: 16 / 4}[strategy]
    adapters = QUERY_VALUE.model_copy(update={"frozen": frozen})
    counted = device_states(SMALL, strategy=strategy, devices=4, adapters=adapters)
    assert counted.after_backward == pytest.approx((bytes_per_map_weight * maps + 2 * rest) / shards + trained * 168)


@pytest.mark.parametrize(
    ("frozen", "expected"),
    [
        pytest.param(FrozenFormat.SIXTEEN_BIT, 0, id="16 bit needs no copy"),
        pytest.param(FrozenFormat.NF4, 2 * 2 * 576, id="two layers expanded"),
    ],
)
def test_second_copies_of_frozen_weights(frozen, expected):
    adapters = QUERY_VALUE.model_copy(update={"frozen": frozen})
    bucket = buffer_bytes(SMALL, strategy=Strategy.ZERO2, precision=Precision.BF16, adapters=adapters)
    assert bucket == expected + 2 * 168, "a bucket is not larger than the trained parameters"
    assert buffer_bytes(SMALL, strategy=Strategy.DDP, precision=Precision.BF16, adapters=adapters) == expected


@pytest.mark.parametrize("strategy", [Strategy.DDP, Strategy.ZERO2, Strategy.ZERO3, Strategy.FSDP2])
def test_materialized_weights_are_added_under_every_strategy(strategy):
    """Query 8 x 8 and value 8 x 4 of three layers at 16 bit: LoHa needs 576 bytes more than LoRA."""
    how = {"strategy": strategy, "precision": Precision.BF16, "checkpointing": Checkpointing.NONE}
    both = []
    for adapters in (QUERY_VALUE, LOHA):
        same = adapters.model_copy(update={"frozen": FrozenFormat.SIXTEEN_BIT})
        trained = 2 * min(trained_parameters(SMALL, same), 5e8)
        buckets = {Strategy.ZERO2: trained, Strategy.ZERO3: 2 * trained}.get(strategy, 0)
        both.append(buffer_bytes(SMALL, adapters=same, **how) - buckets)
    assert both[1] - both[0] == pytest.approx(3 * 2 * (64 + 32))


@pytest.mark.parametrize(
    ("adapters", "inner"),
    [
        pytest.param(QUERY_VALUE, 2 * 2 * 2, id="two adapters' inner values"),
        pytest.param(DORA, 2 * 2 * 2 + 2 * 2 * (8 + 4), id="and what the magnitudes scale: each map's two outputs"),
        pytest.param(LOHA, 0, id="no inner values"),
    ],
)
def test_the_bytes_that_a_layer_saves_by_hand(adapters, inner):
    """16 bit: norms 2 x 4 x 8; query, output 2 x 2 x 8, key, value 2 x 2 x 4, sums 4 x 2; gate, up, silu 3 x 2 x 16;
    one input of query and value 2 x 8."""
    counted = lora_layer_bytes(
        family_of(SMALL).layers[-1], adapters, bytes_per_number=2, residual_bytes=2, autocast=False, kv_outputs=4
    )
    assert counted == 64 + (32 + 16 + 8) + 96 + 16 + inner


def test_maps_that_a_network_lacks_save_nothing():
    """GELU has no gate."""
    without_gate = SMALL.model_copy(update={"mlp": "gelu"})
    saved = [
        lora_layer_bytes(
            family_of(without_gate).layers[-1],
            adapters,
            bytes_per_number=2,
            residual_bytes=2,
            autocast=False,
            kv_outputs=4,
        )
        for adapters in (QUERY_VALUE, QUERY_VALUE.model_copy(update={"targets": (*QUERY_VALUE.targets, "gate")}))
    ]
    assert saved[0] == saved[1]


@pytest.mark.parametrize(("checkpointing", "layers"), [(Checkpointing.NONE, 3), (Checkpointing.FULL, 1)])
def test_only_loha_keeps_materialized_weights(checkpointing, layers):
    """Query 8 x 8 and value 8 x 4 at 16 bit, of three layers or of the recomputed one."""
    for adapters, kept in ((LOHA, layers * 2 * (64 + 32)), (DORA, 0), (QUERY_VALUE, 0)):
        materialized = materialized_bytes(SMALL, adapters, precision=Precision.BF16, checkpointing=checkpointing)
        assert materialized == pytest.approx(kept)


@pytest.mark.parametrize("strategy", [Strategy.DDP, Strategy.FSDP2, Strategy.ZERO2, Strategy.ZERO3])
@pytest.mark.parametrize("checkpointing", list(Checkpointing))
def test_adapters_need_less_than_full_training_and_larger_ones_need_more(strategy, checkpointing):
    def total(adapters: Adapters | None) -> float:
        memory = device_memory(
            TrainingSetup(
                workload="asked",
                network=SMALL,
                seq_len=32,
                precision=Precision.BF16,
                checkpointing=checkpointing,
                strategy=strategy,
                adapters=adapters,
                micro_batch=4,
            ),
            devices=2,
        )
        return memory.total_gib

    larger = QUERY_VALUE.model_copy(update={"rank": 3})
    assert total(QUERY_VALUE) < total(larger) < total(None)
