"""Laws that memory obeys whatever the network."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.model.network.architecture import Decoder
from planner.model.network.workload import Checkpointing, Loss, Precision, Strategy
from planner.speed.memory.device_fit import fits_device, largest_micro_batch
from planner.speed.memory.memory import Memory, device_memory, state_bytes_per_parameter


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
        "loss": st.sampled_from(list(Loss)),
    }
)


@given(decoder=decoders(), settings=SETTINGS, more=st.integers(1, 1000))
@pytest.mark.parametrize("what", ["micro_batch", "seq_len"])
def test_more_tokens_need_more(what: str, decoder: Decoder, settings: dict[str, Any], more: int) -> None:
    bigger = settings | {what: settings[what] + more}
    assert device_memory(decoder, **bigger).total_gib > device_memory(decoder, **settings).total_gib


@given(decoder=decoders(), settings=SETTINGS, more=st.integers(1, 80))
def test_more_layers_need_more(decoder: Decoder, settings: dict[str, Any], more: int) -> None:
    deeper = decoder.model_copy(update={"layers": decoder.layers + more})
    assert device_memory(deeper, **settings).total_gib > device_memory(decoder, **settings).total_gib


@given(decoder=decoders(), settings=SETTINGS, more=st.integers(1, 1000))
def test_more_shards_need_less(decoder: Decoder, settings: dict[str, Any], more: int) -> None:
    wider = settings | {"devices": settings["devices"] + more}
    few, many = device_memory(decoder, **settings).total_gib, device_memory(decoder, **wider).total_gib
    assert few == many if settings["strategy"] is Strategy.DDP else many < few


@given(decoder=decoders(), settings=SETTINGS)
def test_the_total_is_the_sum_of_its_parts(decoder: Decoder, settings: dict[str, Any]) -> None:
    need = device_memory(decoder, **settings)
    parts = need.states_gib + need.activations_gib + need.logits_gib + need.buffers_gib
    assert need.total_gib == pytest.approx(parts)
    assert need.low_gib < need.total_gib < need.high_gib


@given(decoder=decoders(), settings=SETTINGS)
def test_recomputing_more_keeps_less(decoder: Decoder, settings: dict[str, Any]) -> None:
    none, selective, full = (
        device_memory(decoder, **settings | {"checkpointing": way}).activations_gib for way in Checkpointing
    )
    assert none >= selective >= full


@given(decoder=decoders(), settings=SETTINGS)
def test_a_fused_loss_needs_less(decoder: Decoder, settings: dict[str, Any]) -> None:
    fused, eager = (device_memory(decoder, **settings | {"loss": loss}) for loss in (Loss.FUSED, Loss.EAGER))
    assert fused.logits_gib < eager.logits_gib


@pytest.mark.parametrize("strategy", list(Strategy))
def test_on_one_device_every_strategy_holds_the_same_states(strategy: Strategy) -> None:
    alone = state_bytes_per_parameter(Strategy.DDP, devices=1)
    assert state_bytes_per_parameter(strategy, devices=1) == alone


@given(decoder=decoders(), settings=SETTINGS, hbm_gib=st.floats(1, 300))
def test_the_largest_micro_batch_fits_and_the_next_does_not(
    decoder: Decoder, settings: dict[str, Any], hbm_gib: float
) -> None:
    def need(batch: int) -> Memory:
        return device_memory(decoder, **settings | {"micro_batch": batch})

    largest = largest_micro_batch(need, hbm_gib=hbm_gib)
    usable_gib = 0.95 * hbm_gib
    assert largest == 0 or need(largest).total_gib <= usable_gib * (1 + 1e-9)
    assert need(largest + 1).total_gib > usable_gib * (1 - 1e-9)


@pytest.mark.parametrize(
    ("total_gib", "expected"),
    [
        pytest.param(69.0, "yes", id="69 x 1.15 = 79.35"),
        pytest.param(70.0, "uncertain", id="70 x 1.15 = 80.5"),
        pytest.param(94.0, "uncertain", id="94 x 0.85 = 79.9"),
        pytest.param(95.0, "no", id="95 x 0.85 = 80.75"),
    ],
)
def test_a_device_inside_the_range_is_uncertain(total_gib: float, expected: str) -> None:
    need = Memory(states_gib=total_gib, activations_gib=0, logits_gib=0, buffers_gib=0)
    assert fits_device(need, hbm_gib=80.0) == expected
