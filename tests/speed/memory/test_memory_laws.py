"""Laws of the memory model that hold for every network."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from planner.model.network.adapters import Adapters, FrozenFormat
from planner.model.network.architecture import Decoder
from planner.model.network.trainer_memory import Kernels, Loss, Offload, Optimizer, TrainerMemory, WeightFormat
from planner.model.network.workload import Checkpointing, Precision, Split, Strategy
from planner.network.lora_memory import QUANTIZED_BYTES, SHARDS_WEIGHTS
from planner.scenario.training_setup import TrainingSetup
from planner.speed.memory.device_fit import MOST_SAMPLES, fits_device, largest_micro_batch, usable_gib
from planner.speed.memory.device_memory import DeviceMemory, Phase
from planner.speed.memory.memory import device_memory, device_parts
from planner.speed.memory.planned_settings import PossibleNeed, alternatives, chance_within, size_for
from planner.speed.memory.states import state_bytes_per_parameter


def memory_of(decoder: Decoder, *, devices: int, trainer: TrainerMemory, **how: Any) -> DeviceMemory:
    accumulates = how.pop("accumulates", False)
    setup = TrainingSetup(workload="any", network=decoder, **how)
    return device_memory(setup, devices=devices, trainer=trainer, accumulates=accumulates)


@st.composite
def decoders(draw: st.DrawFn) -> Decoder:
    kv_heads = draw(st.sampled_from([1, 2, 8]))
    return Decoder(
        layers=draw(st.integers(1, 80)),
        hidden=draw(st.sampled_from([128, 1024, 4096])),
        heads=kv_heads * draw(st.sampled_from([1, 4])),
        kv_heads=kv_heads,
        head_dim=draw(st.sampled_from([32, 64, 128])),
        ffn_hidden=draw(st.integers(128, 16384)),
        mlp=draw(st.sampled_from(["gelu", "swiglu"])),
        norm=draw(st.sampled_from(["layernorm", "rmsnorm"])),
        bias=draw(st.booleans()),
        positions=draw(st.sampled_from(["learned", "rope"])),
        max_positions=4096,
        qk_norm=draw(st.booleans()),
        vocab=draw(st.integers(256, 200_000)),
        tied_head=draw(st.booleans()),
    )


SETTINGS = st.fixed_dictionaries(
    {
        "seq_len": st.integers(1, 65536),
        "micro_batch": st.integers(1, 64),
        "strategy": st.sampled_from(list(Strategy)),
        "precision": st.sampled_from(list(Precision)),
        "devices": st.integers(1, 1024),
        "checkpointing": st.sampled_from(list(Checkpointing)),
        "trainer": st.builds(
            TrainerMemory,
            loss=st.sampled_from(list(Loss)),
            kernels=st.sampled_from(list(Kernels)),
            optimizer=st.sampled_from(list(Optimizer)),
            weights=st.sampled_from(list(WeightFormat)),
            offload=st.sampled_from(list(Offload)),
            fused_step=st.booleans(),
            eager_attention=st.booleans(),
        ),
        "accumulates": st.booleans(),
    }
)


@given(decoder=decoders(), settings=SETTINGS, more=st.integers(1, 1000))
@pytest.mark.parametrize("what", ["micro_batch", "seq_len"])
def test_more_tokens_never_need_less(what: str, decoder: Decoder, settings: dict[str, Any], more: int) -> None:
    """The need rises if memory peaks with activations, and stays equal if it peaks with states."""
    bigger = settings | {what: settings[what] + more}
    before, after = (memory_of(decoder, **how) for how in (settings, bigger))
    assert after.total_gib >= before.total_gib
    assert before.phase is Phase.STEP or after.total_gib > before.total_gib


@given(decoder=decoders(), settings=SETTINGS, more=st.integers(1, 80))
def test_more_layers_never_need_less(decoder: Decoder, settings: dict[str, Any], more: int) -> None:
    deeper = decoder.model_copy(update={"layers": decoder.layers + more})
    assert memory_of(deeper, **settings).total_gib >= memory_of(decoder, **settings).total_gib


@given(decoder=decoders(), settings=SETTINGS, more=st.integers(1, 1000))
def test_more_shards_need_less(decoder: Decoder, settings: dict[str, Any], more: int) -> None:
    wider = settings | {"devices": settings["devices"] + more}
    few, many = memory_of(decoder, **settings).total_gib, memory_of(decoder, **wider).total_gib
    if settings["strategy"] is not Strategy.DDP:
        assert many <= few * (1 + 1e-12)
    elif settings["devices"] > 1:
        assert few == many
    else:  # a single device has no buckets of DistributedDataParallel
        assert few <= many


@given(decoder=decoders(), settings=SETTINGS)
def test_the_total_is_the_sum_of_its_parts(decoder: Decoder, settings: dict[str, Any]) -> None:
    need = memory_of(decoder, **settings)
    parts = need.states_gib + need.activations_gib + need.logits_gib + need.buffers_gib
    assert need.total_gib == pytest.approx(parts)


@given(decoder=decoders(), settings=SETTINGS)
@pytest.mark.parametrize(
    "least_first",
    [
        pytest.param([{"loss": loss} for loss in (Loss.CHUNKED, Loss.COMPILED, Loss.FUSED, Loss.EAGER)], id="loss"),
        pytest.param([{"kernels": Kernels.FUSED}, {"kernels": Kernels.EAGER}], id="kernels"),
        pytest.param(
            [{"optimizer": name} for name in ("adafactor", "adamw-4bit", "adamw-8bit", "sgd", "adamw")], id="optimizer"
        ),
        pytest.param([{"weights": WeightFormat.SIXTEEN_BIT}, {"weights": WeightFormat.MIXED}], id="weights"),
        pytest.param([{"offload": name} for name in ("all", "optimizer", "none")], id="offload"),
        pytest.param([{"step_in_backward": True}, {"step_in_backward": False}], id="step in the backward pass"),
        pytest.param([{"fused_step": True}, {"fused_step": False}], id="unfused step"),
        pytest.param([{"eager_attention": False}, {"eager_attention": True}], id="attention written out"),
    ],
)
def test_settings_that_save_memory_never_need_more(
    decoder: Decoder, settings: dict[str, Any], least_first: list[dict[str, Any]]
) -> None:
    needs = []
    for change in least_first:
        trainer = TrainerMemory.model_validate(settings["trainer"].model_dump() | change)
        needs.append(memory_of(decoder, **settings | {"trainer": trainer}).total_gib)
    assert all(less <= more * (1 + 1e-12) for less, more in pairwise(needs))


@pytest.mark.parametrize("strategy", list(Strategy))
def test_on_one_device_every_strategy_holds_the_same_states(strategy: Strategy) -> None:
    assert state_bytes_per_parameter(strategy, devices=1).after_backward == 16


@given(decoder=decoders(), settings=SETTINGS, hbm_gib=st.floats(1, 300))
def test_the_largest_micro_batch_fits_and_the_next_does_not(
    decoder: Decoder, settings: dict[str, Any], hbm_gib: float
) -> None:
    def need(batch: int) -> float:
        return memory_of(decoder, **settings | {"micro_batch": batch}).total_gib

    largest, usable = largest_micro_batch(lambda batch: need(batch) <= usable_gib(hbm_gib)), usable_gib(hbm_gib)
    assert largest == 0 or need(largest) <= usable
    assert largest >= MOST_SAMPLES or need(largest + 1) > usable


def test_the_chance_by_hand() -> None:
    """ln(80 / 70) = 0.13353: 0.76 / (1 + exp(-0.13353 / 0.045)) + 0.24 / (1 + exp(-1.3353)) = 0.7228 + 0.1900."""
    assert chance_within([PossibleNeed(1.0, 70.0)], 80.0) == pytest.approx(0.9128, abs=2e-4)
    assert chance_within([PossibleNeed(0.5, 70.0), PossibleNeed(0.5, 80.0)], 80.0) == pytest.approx(
        (0.9128 + 0.5) / 2, abs=2e-4
    )


@given(
    needs=st.lists(st.floats(0.01, 1e5), min_size=1, max_size=8),
    chance=st.floats(0.01, 0.99),
    more=st.floats(1.0, 10.0),
)
def test_the_size_for_a_chance_has_that_chance_and_a_larger_size_no_less(
    needs: list[float], chance: float, more: float
) -> None:
    likely = [PossibleNeed(1 / len(needs), need) for need in needs]
    size = size_for(likely, chance)
    assert chance_within(likely, size) == pytest.approx(chance, abs=2e-3)
    assert chance_within(likely, size * more) >= chance_within(likely, size)


@given(stated=st.sets(st.sampled_from(["loss", "kernels", "fused_step"])))
def test_unstated_settings_take_every_value_once(stated: set[str]) -> None:
    trainer = TrainerMemory(loss=Loss.CHUNKED)
    found = alternatives(trainer, stated)
    assert sum(weight for weight, _ in found) == pytest.approx(1)
    assert len({str(setting) for _, setting in found}) == len(found)
    assert "loss" not in stated or {setting.loss for _, setting in found} == {Loss.CHUNKED}


@pytest.mark.parametrize(
    ("chance", "expected"),
    [
        pytest.param(0.80, "yes", id="four in five"),
        pytest.param(0.79, "uncertain", id="less"),
        pytest.param(0.21, "uncertain", id="more than one in five"),
        pytest.param(0.20, "no", id="one in five"),
    ],
)
def test_a_chance_in_a_word(chance: float, expected: str) -> None:
    assert fits_device(chance) == expected


@pytest.mark.slow
@hypothesis_settings(max_examples=100, deadline=None)
@given(decoder=decoders(), settings=SETTINGS, size=st.floats(1, 300), more=st.floats(1, 4))
def test_more_memory_never_lowers_the_chance_to_fit(
    decoder: Decoder, settings: dict[str, Any], size: float, more: float
) -> None:
    """Only the device's memory changes; trainer and training are the same."""
    ways = [
        PossibleNeed(weight, memory_of(decoder, **settings | {"trainer": trainer}).total_gib)
        for weight, trainer in alternatives(settings["trainer"], ())
    ]
    assert chance_within(ways, size * more) >= chance_within(ways, size) - 1e-12


@pytest.mark.slow
@hypothesis_settings(max_examples=100, deadline=None)
@given(decoder=decoders(), settings=SETTINGS, rank=st.integers(1, 16), frozen=st.sampled_from(list(FrozenFormat)))
def test_adapters_never_need_more_than_all_weights(
    decoder: Decoder, settings: dict[str, Any], rank: int, frozen: FrozenFormat
) -> None:
    """Recomputation and kernels are equal, and weights are not sharded.

    With sharded weights, adapters were measured to need 1.2 layers more (`MemoryConstants.sharded_adapters`), which
    outweighs the states of many shards. With quantized weights, PEFT casts the residual stream to fp32
    (`prepare_model_for_kbit_training`): two tensors of a layer are 2 bytes wider per number. This is more than the
    saved states of a network with one narrow layer, so the test adds it.
    """
    assume(settings["strategy"] not in SHARDS_WEIGHTS)
    alike = {"offload": Offload.NONE, "optimizer": Optimizer.ADAMW, "weights": WeightFormat.MIXED}
    asked = settings | {"trainer": settings["trainer"].model_copy(update=alike)}
    adapters = Adapters(rank=min(rank, decoder.head_dim // 16), frozen=frozen)
    beside = memory_of(decoder, **asked, adapters=adapters)
    tokens = settings["micro_batch"] * settings["seq_len"]
    wider = beside.slack * decoder.layers * 2 * 2 * decoder.hidden * tokens / 2**30 if frozen in QUANTIZED_BYTES else 0
    assert beside.total_gib <= memory_of(decoder, **asked).total_gib + wider


@pytest.mark.slow
@hypothesis_settings(max_examples=100, deadline=None)
@given(decoder=decoders(), settings=SETTINGS)
@pytest.mark.parametrize("least_first", [pytest.param([Offload.ALL, Offload.OPTIMIZER, Offload.NONE], id="offload")])
def test_offloading_never_needs_more(least_first: list[Offload], decoder: Decoder, settings: dict[str, Any]) -> None:
    needs = []
    for offload in least_first:
        trainer = settings["trainer"].model_copy(update={"offload": offload})
        needs.append(memory_of(decoder, **settings | {"trainer": trainer}).total_gib)
    assert all(less <= more for less, more in pairwise(needs))


@pytest.mark.parametrize(("in_flight", "kept_at_once"), [(1, 1), (2, 2), (4, 4), (9, 4), (None, 4)])
def test_a_pipeline_of_four_stages_keeps_the_micro_batches_in_flight_and_four_at_most(
    in_flight: int | None, kept_at_once: int
) -> None:
    """Each of four equal stages has a quarter of the layers, and keeps them for each micro-batch in flight."""
    decoder = Decoder(
        layers=8, hidden=128, heads=4, kv_heads=4, head_dim=32, ffn_hidden=512, mlp="gelu", norm="rmsnorm",
        positions="rope", max_positions=1024, vocab=1000, tied_head=False,
    )  # fmt: skip
    whole = TrainingSetup(
        workload="any", network=decoder, seq_len=512, micro_batch=1, strategy=Strategy.ZERO1,
        precision=Precision.BF16, checkpointing=Checkpointing.FULL,
    )  # fmt: skip
    staged = replace(whole, split=Split(pipeline=4))
    parts = device_parts(staged, devices=4, in_flight=in_flight)
    expected = device_parts(whole, devices=1).saved.kept / 4 * kept_at_once
    assert parts.saved.kept == pytest.approx(expected)
