"""Time of a step's experts: products, routing, launches and traffic, compared with hand calculation."""

from __future__ import annotations

import pytest

from planner.speed.physics import communication, compute
from planner.speed.physics.step import step
from tests.speed.physics.decoder_configs import FFN, FREE, HIDDEN, MIXTURE, PRIORS, configs, host_layers


def test_the_last_tile_of_each_expert_is_half_empty() -> None:
    """Each of eight experts loses 64 tokens x 2 FLOPs x the weights of its two matrices, beyond half a wave for all."""
    wave, tiles = (float(compute.wasted_flops(configs(experts=experts, ep=1.0), PRIORS)[0]) for experts in (1.0, 8.0))
    assert tiles - wave == pytest.approx(2 * 64 * 2 * HIDDEN * FFN * 8)


def test_narrow_products_route_in_fewer_passes() -> None:
    mixture = {"experts": 8.0, "routed_experts": 2.0}
    narrow, usual = (
        float(compute.layer_parts(configs(format_step=step, **mixture), PRIORS | {"routing_narrow": 0.5})["routing"][0])
        for step in (1.0, 0.0)
    )
    assert narrow == pytest.approx(usual / 2)


def test_a_token_is_copied_to_each_of_its_experts() -> None:
    """1,024 tokens x 1,024 numbers of 2 bytes go to eight experts in 20 passes at 1,555 GB/s."""
    c = configs(experts=64.0, active_experts=9.0, routed_experts=8.0)
    seconds = 1024 * 1024 * 2 * 8 * 20 / (1555e9 * PRIORS["hbm"])
    assert float(compute.layer_parts(c, PRIORS | {"routing_passes": 20.0})["routing"][0]) == pytest.approx(seconds)
    assert float(compute.layer_parts(configs(), PRIORS)["routing"][0]) == 0.0


def test_special_kernels_send_tokens_with_less_work() -> None:
    mixture = {"experts": 64.0, "active_experts": 9.0, "routed_experts": 8.0, "ep": 8.0}
    plain, sent = (configs(**mixture, dispatched=flag) for flag in (0.0, 1.0))
    passes = [float(compute.layer_parts(config, PRIORS)["routing"][0]) for config in (plain, sent)]
    assert passes[1] == pytest.approx(passes[0] * PRIORS["routing_dispatched"])
    assert host_layers(**mixture, dispatched=1.0) == pytest.approx(
        1 + (PRIORS["host_experts"] - 1) * PRIORS["routing_dispatched"]
    )


def test_nothing_is_sent_if_every_accelerator_has_all_experts() -> None:
    mixture = {"experts": 64.0, "active_experts": 9.0, "routed_experts": 8.0, "ep": 1.0}
    assert host_layers(**mixture, dispatched=1.0) == pytest.approx(PRIORS["host_experts"])


def test_a_layer_with_experts_takes_the_host_longer_and_sequential_experts_longest() -> None:
    dense, grouped, sequential = (
        float(compute.host_seconds(configs(**changes), PRIORS)[0])
        for changes in ({}, {"experts": 64.0}, {"experts": 64.0, "sequential_experts": 1.0})
    )
    assert grouped == pytest.approx(dense * PRIORS["host_experts"])
    assert sequential == pytest.approx(dense * (PRIORS["host_experts"] + 64 * PRIORS["host_loop"]))


def test_experts_that_are_called_one_by_one_are_gathered_one_by_one() -> None:
    """Each of 8 experts has a message in each of three collectives, over eight devices (3 doublings)."""
    sharded = {"zero": 3.0, "dp": 8.0, "tp": 1.0, "shards": 8.0, "experts": 8.0, "ep": 1.0}
    seconds = [
        float(communication.sharded_seconds(configs(**sharded, sequential_experts=flag), PRIORS)[0])
        for flag in (0.0, 1.0)
    ]
    layers = float(configs().layers[0])
    assert seconds[1] - seconds[0] == pytest.approx(8 * 3 * layers * PRIORS["message_us"] * 1e-6 * 3)


def test_a_token_goes_to_the_expected_number_of_other_machines() -> None:
    """8 random experts on 8 machines are on 7 x (1 - (7/8)^8) = 4.595 others; 1,024 tokens travel four times."""
    found = float(communication.expert_seconds(configs(**MIXTURE), FREE)[0])
    assert found == pytest.approx(4 * 1024 * HIDDEN * 2 * 4.595 / 25e9, rel=1e-3)


def test_a_token_is_sent_once_to_each_accelerator_that_it_meets() -> None:
    """8 random experts on 8 accelerators are on 7 x (1 - (7/8)^8) = 4.595 others; a plain all-to-all sends 8 x 7/8."""
    inside = MIXTURE | {"ep": 8.0, "dp": 8.0, "shards": 8.0, "intra": 300e9}
    copies, once = (
        float(communication.expert_seconds(configs(**inside, dispatched=flag), FREE)[0]) for flag in (0.0, 1.0)
    )
    assert copies == pytest.approx(4 * 1024 * HIDDEN * 2 * 7 / 300e9, rel=1e-3)
    assert once == pytest.approx(4 * 1024 * HIDDEN * 2 * 4.595 / 300e9, rel=1e-3)


def test_slices_of_a_tensor_split_send_their_own_tokens() -> None:
    """Each of two slices sends half of the tokens."""
    whole, halves = (
        float(communication.expert_seconds(configs(**MIXTURE | {"tp": tp, "ep": 64 / tp, "dp": 64 / tp}), FREE)[0])
        for tp in (1.0, 2.0)
    )
    assert halves == pytest.approx(whole / 2)


def test_experts_are_gathered_among_devices_with_the_same_experts() -> None:
    """The eight devices of a machine have different experts, so each fetches 7/8 of its own over its own link.

    The layers have 12 x 64 x 3 x 1024 x 512 parameters of experts, an eighth of them on each device. Two gathers and a
    scatter move 2 bytes each. The other weights use all eight links together.
    """
    c = configs(**MIXTURE | {"ep": 8.0, "zero": 3.0})
    expert = 12 * 64 * 3 * 1024 * 512
    own = 3 * 7 / 8 * expert / 8 * 2 / 25e9
    pooled = 3 * 63 / 64 * (2e9 - expert) * 2 / (8 * 25e9)
    assert float(communication.sharded_seconds(c, FREE)[0]) == pytest.approx(own + pooled, rel=1e-3)


def test_gradients_of_experts_are_reduced_between_machines_with_hybrid_sharding() -> None:
    """The eight devices of a machine have different experts, so experts need no gathers.

    Each device reduces 2 x 7/8 of its experts' gradients with the other seven machines, alone on its link.
    """
    c = configs(**MIXTURE | {"ep": 8.0, "zero": 3.0, "shards": 8.0})
    expert = 12 * 64 * 3 * 1024 * 512 / 8 * 2
    shared = (2e9 - 12 * 64 * 3 * 1024 * 512) / 8 * 2
    reduced = 2 * 7 / 8 * (expert + shared) / 25e9
    assert float(communication.gradient_seconds(c, FREE)[0]) == pytest.approx(reduced, rel=1e-3)
    assert float(communication.sharded_seconds(c, FREE)[0]) == pytest.approx(0.0, abs=1e-4)


def test_experts_are_not_spread_over_more_devices_than_there_are() -> None:
    """There are eight slices of experts on eight devices, with two tensor slices: `ep` includes the slices."""
    c = configs(**MIXTURE | {"tp": 2.0, "dp": 4.0, "ep": 8.0, "shards": 4.0})
    assert float(communication.expert_span(c)[0]) == 8
    assert float(communication.device_parameters(c).expert[0]) == 12 * 64 * 3 * 1024 * 512 / 8


def test_more_experts_than_parameters_give_positive_times() -> None:
    owned = communication.device_parameters(configs(**MIXTURE | {"parameters": 1e6}))
    assert float(owned.shared[0]) == 0
    assert float(step(configs(**MIXTURE | {"parameters": 1e6, "zero": 3.0}), PRIORS).seconds[0]) > 0
