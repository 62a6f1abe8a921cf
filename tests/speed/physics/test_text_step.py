"""Single parts of a step, against hand work, and which settings move them."""

from __future__ import annotations

import numpy as np
import pytest

from planner.model.hardware.machines import Link
from planner.speed.physics import communication, compute
from planner.speed.physics.accelerator_facts import accelerator_facts, peak_flops, power_budget
from planner.speed.physics.config_arrays import GENERATIONS, from_rows
from planner.speed.physics.interconnect import assumed_link, interconnect_of, is_rack, pcie_generation
from planner.speed.physics.step import smooth_maximum, step
from tests.bundled import bundled_catalog
from tests.speed.physics.decoder_configs import FFN, HIDDEN, PRIORS, configs, described, host_layers


def test_the_last_wave_of_small_products_is_counted() -> None:
    """Half of a wave of a million outputs, over inner sizes of 1024 (twice), 1024 and 4096: 7.168 GFLOP a layer."""
    found = compute.wasted_flops(configs(), PRIORS | {"wave_k": 1000.0})
    assert float(found[0]) == pytest.approx(2 * (2 * HIDDEN + HIDDEN + FFN) * 0.5e6)


@pytest.mark.parametrize(
    ("budget", "vector", "share"),
    [
        pytest.param(1.0, 0.0, 0.8, id="the usual power"),
        pytest.param(0.5, 0.0, 0.8 / 2**0.25, id="half of it"),
        pytest.param(2.0, 0.0, 0.8 * 2**0.25, id="twice"),
        pytest.param(16.0, 0.0, 1.1, id="no clock above a tenth over the rated one"),
        pytest.param(0.5, 1.0, 0.95, id="ordinary cores: the same in all generations"),
    ],
)
def test_power_holds_the_clock_of_large_products(budget: float, vector: float, share: float) -> None:
    constants = PRIORS | {"gemm_ampere": 0.8, "gemm_power": 0.25, "gemm_vector": 0.95}
    found = compute.gemm_share(configs(power=budget, vector_rate=vector), constants)
    assert float(found[0]) == pytest.approx(share)


def test_blackwell_scales_blocks_of_narrow_numbers_itself() -> None:
    """Its 8-bit share is its 16-bit one x 0.9 x 1.1; Ampere's generation has none of the last."""
    constants = PRIORS | {"gemm_blackwell": 0.7, "gemm_ampere": 0.8, "gemm_8bit": 0.9, "gemm_scaled": 1.1}
    blackwell = GENERATIONS.index("blackwell")
    shares = [
        float(compute.gemm_share(configs(power=1.0, **changes), constants)[0])
        for changes in ({"generation": blackwell, "format_step": 1.0}, {"generation": blackwell}, {"format_step": 1.0})
    ]
    assert shares == pytest.approx([0.7 * 0.9 * 1.1, 0.7, 0.8 * 0.9])


def test_8_bit_products_read_one_byte_and_write_two() -> None:
    """1.5 bytes on average, for every number that two bytes were counted for; weights of a layer among them."""
    narrow, usual = (float(compute.layer_parts(configs(format_step=step), PRIORS)["traffic"][0]) for step in (1.0, 0.0))
    assert narrow == pytest.approx(usual * 0.75)


def test_a_power_budget_is_told_by_the_data_sheets() -> None:
    """450 W for 165.2 TFLOPS against an L40S's 350 W for 362; a TPU's power is unknown."""
    of = bundled_catalog().accelerators
    assert power_budget(of["RTX-4090"]) == pytest.approx(450 / 165.2 / (350 / 362))
    assert power_budget(of["MI100"]) == pytest.approx(300 / 184.6 / (750 / 1307.4)), "by its faster 16 bits"
    assert power_budget(of["TPU-v5e"]) == 1


@pytest.mark.parametrize(
    "usual",
    ["P100-SXM2-16GB", "V100-SXM2-32GB", "T4", "A100-80GB-SXM", "L40S", "H100-SXM", "B200-SXM", "MI300X", "Gaudi2"],
)
def test_the_usual_card_of_a_generation_has_the_usual_power(usual: str) -> None:
    assert power_budget(bundled_catalog().accelerators[usual]) == pytest.approx(1)


def test_16_bits_are_never_slower_than_32() -> None:
    """Of every accelerator: what large products reach at fp16 or bf16, and at fp32, by the shipped constants."""
    catalog = bundled_catalog()
    assert catalog.calibration is not None
    constants, slower = catalog.calibration.constants, []
    for accelerator in catalog.accelerators.values():
        rates = {}
        for name in ("16bit", "bf16", "fp32"):
            if peak_flops(accelerator, name) is not None and accelerator.hbm_gb_per_s is not None:
                facts = configs(**accelerator_facts(accelerator, name))
                rates[name] = float((facts.peak * compute.gemm_share(facts, constants))[0])
        if "fp32" in rates and min(rates.values()) < rates["fp32"] * 0.999:
            slower.append((accelerator.id, rates))
    assert slower == []


@pytest.mark.parametrize(
    ("name", "link", "pcie", "rack"),
    [
        pytest.param("RTX-4090", Link.PCIE_NO_P2P, 4, False, id="a card for desktops"),
        pytest.param("RTX-5060Ti", Link.PCIE_NO_P2P, 5, False, id="a newer one"),
        pytest.param("RTX-4000-Ada", Link.PCIE, 4, False, id="a professional one of a like name"),
        pytest.param("RTX-5000-Turing", Link.PCIE, 3, False, id="an older one"),
        pytest.param("A800-80GB-PCIe", Link.PCIE, 4, False, id="Ampere of 2022"),
        pytest.param("A16", Link.PCIE, 4, False, id="four accelerators on a card are no rack"),
        pytest.param("A10G", Link.PCIE_NO_P2P, 4, False, id="a card of AWS alone"),
        pytest.param("GB200-per-GPU", Link.NVSWITCH, 5, True, id="a rack"),
    ],
)
def test_links_that_are_usual(name: str, link: Link, pcie: int, *, rack: bool) -> None:
    accelerator = bundled_catalog().accelerators[name]
    found = (assumed_link(accelerator, per_node=4), pcie_generation(accelerator), is_rack(accelerator))
    assert found == (link, pcie, rack)


@pytest.mark.parametrize(
    ("changes", "gb_per_s"),
    [
        pytest.param({"pcie_cards": 2.0}, 16, id="two cards: half of PCIe 4"),
        pytest.param({"pcie_cards": 8.0}, 4, id="eight: two doublings"),
        pytest.param({"pcie_cards": 0.0}, 16, id="no cards"),
        pytest.param({"pcie_cards": 8.0, "intra": 64e9, "pcie_5": 1.0}, 16, id="PCIe 5: half a halving each"),
        pytest.param({"pcie_cards": 8.0, "pcie": 0.0}, 24, id="NVLink"),
    ],
)
def test_cards_share_pcie(changes: dict[str, float], gb_per_s: float) -> None:
    constants = PRIORS | {"pcie": 0.5, "nvlink": 0.75, "pcie_falls": 1.0, "pcie_falls_5": 0.5}
    found = communication.inside_rate(
        configs(**({"intra": 32e9, "pcie": 1.0, "pcie_5": 0.0, "through_host": 0.0} | changes)), constants
    )
    assert float(found[0]) == pytest.approx(gb_per_s * 1e9)


@pytest.mark.parametrize(
    ("changes", "gb_per_s"),
    [
        pytest.param({"bus_sharers": 0.5}, 8, id="a quarter of PCIe 4, and the root port with room"),
        pytest.param({"bus_sharers": 0.5, "intra": 16e9}, 4, id="x8: half of it"),
        pytest.param({"bus_sharers": 16.0}, 2, id="sixteen cards behind one root port: its share"),
        pytest.param({"bus_sharers": 4.0}, 8 / 2**0.25, id="both alike: the smooth minimum"),
        pytest.param({"bus_sharers": 16.0, "through_host": 0.0}, 16, id="with peer-to-peer neither counts"),
    ],
)
def test_without_peer_to_peer_lanes_and_root_port_limit_a_card(changes: dict[str, float], gb_per_s: float) -> None:
    constants = PRIORS | {"pcie": 0.5, "pcie_falls": 0.0, "host_lanes": 0.25, "host_root": 1.0}
    machine = {"intra": 32e9, "pcie": 1.0, "pcie_cards": 8.0, "pcie_5": 0.0, "through_host": 1.0}
    found = communication.inside_rate(configs(**(machine | changes)), constants)
    assert float(found[0]) == pytest.approx(gb_per_s * 1e9, rel=0.001)


@pytest.mark.parametrize(
    ("name", "per_node", "lanes"),
    [
        pytest.param("RTX-4090", 2, 8, id="two cards of a PC share sixteen lanes"),
        pytest.param("RTX-3090", 8, 16, id="eight stand in a server"),
        pytest.param("RTX-2080Ti", 2, 16, id="workstations of PCIe 3 had 40 lanes"),
        pytest.param("RTX-A6000", 2, 16, id="professional cards stand in workstations"),
    ],
)
def test_lanes_of_a_card_are_those_of_its_machine(name: str, per_node: int, lanes: int) -> None:
    card = bundled_catalog().accelerators[name]
    machine = {"per_node": per_node, "slots": per_node, "network_gbit_per_s": None}
    found = interconnect_of(card, link=Link.PCIE_NO_P2P, **machine)
    whole = interconnect_of(card, link=Link.PCIE_NO_P2P, lanes=16, **machine)
    assert found.intra == whole.intra * lanes / 16


@pytest.mark.parametrize(
    ("name", "slots", "used", "roots", "sharers"),
    [
        pytest.param("RTX-3090", 8, 8, None, 1, id="128 lanes are eight slots"),
        pytest.param("RTX-3090", 10, 10, None, 5, id="ten stand behind two switches"),
        pytest.param("RTX-3090", 10, 2, None, 2, id="two of them behind the same one"),
        pytest.param("RTX-2080Ti", 8, 8, None, 4, id="80 lanes of PCIe 3 are not"),
        pytest.param("RTX-3090", 8, 8, 2, 4, id="stated"),
    ],
)
def test_cards_of_one_root_port_share_it(name: str, slots: int, used: int, roots: int | None, sharers: int) -> None:
    machine = {"per_node": used, "slots": slots, "link": Link.PCIE_NO_P2P, "network_gbit_per_s": None, "roots": roots}
    assert interconnect_of(bundled_catalog().accelerators[name], **machine).bus_sharers == sharers


def test_the_last_tile_of_each_expert_is_half_empty() -> None:
    """64 tokens x 2 products x the weights of each of eight experts, beside half a wave for all of them together."""
    wave, tiles = (float(compute.wasted_flops(configs(experts=experts, ep=1.0), PRIORS)[0]) for experts in (1.0, 8.0))
    assert tiles - wave == pytest.approx(2 * 64 * 2 * HIDDEN * FFN * 8)


def test_narrow_products_route_in_fewer_passes() -> None:
    mixture = {"experts": 8.0, "routed_experts": 2.0}
    narrow, usual = (
        float(compute.layer_parts(configs(format_step=step, **mixture), PRIORS | {"routing_narrow": 0.5})["routing"][0])
        for step in (1.0, 0.0)
    )
    assert narrow == pytest.approx(usual / 2)


@pytest.mark.parametrize(
    ("fewer", "more", "share"),
    [
        pytest.param(4, 8, 28 / 35, id="RTX 5090: NVIDIA/nccl issue 1639"),
        pytest.param(2, 8, 23 / 32, id="RTX PRO 6000, all-gather"),
    ],
)
def test_pcie_5_falls_as_measured(fewer: int, more: int, share: float) -> None:
    """All-reduces and all-gathers between cards of one machine, in 2025."""
    calibration = bundled_catalog().calibration
    assert calibration is not None
    machine = {"intra": 64e9, "pcie": 1.0, "pcie_5": 1.0, "through_host": 0.0}
    rates = [
        float(communication.inside_rate(configs(**machine, pcie_cards=float(cards)), calibration.constants)[0])
        for cards in (fewer, more)
    ]
    assert rates[1] / rates[0] == pytest.approx(share, rel=0.1)


@pytest.mark.parametrize(
    ("name", "cards"), [("L40S", 8), ("RTX-4090", 8), ("H100-SXM", 0), ("Max-1550-tile", 0), ("Ascend-910", 0)]
)
def test_only_cards_share_pcie(name: str, cards: int) -> None:
    accelerator = bundled_catalog().accelerators[name]
    found = interconnect_of(accelerator, per_node=8, slots=8, link=None, network_gbit_per_s=None)
    assert found.facts(per_node=8)["pcie_cards"] == cards


def test_machines_of_aws_with_cards_have_no_peer_to_peer() -> None:
    """Source: ray-project/ray issue 39471 (g5), llm-d-infra pull request 181 (g6), aws-ofi-nccl issue 547 (g6e)."""
    nodes = bundled_catalog().nodes.values()
    cards = [node for node in nodes if node.id.startswith(("aws/g5.", "aws/g6.", "aws/g6e.")) and node.accelerators > 1]
    assert len(cards) == 9
    assert {node.link for node in cards} == {Link.PCIE_NO_P2P}


def test_a_product_ten_times_as_large_loses_a_tenth_of_the_share() -> None:
    """The wave is lost once, however many tokens follow one another."""
    shares = []
    for tokens in (1, 10):
        c = configs(micro_batch=tokens)
        useful = 2 * compute.micro_tokens(c) * compute.layer_matrices(c)
        shares.append(float((compute.wasted_flops(c, PRIORS) / useful)[0]))
    assert shares[1] == pytest.approx(shares[0] / 10)


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        pytest.param({"unaligned": 1.0}, "logits", id="a vocabulary that is no multiple of eight"),
        pytest.param({"outliers": 1.0, "adapters": 1.0}, "products", id="8-bit weights with outliers apart"),
        pytest.param({"early": 1.0}, "attention", id="an attention kernel of the first kind"),
        pytest.param({"flash": 0.5}, "attention", id="an attention kernel that may be fused or not"),
    ],
)
def test_a_slower_kernel_takes_longer(changes: dict[str, float], part: str) -> None:
    before = configs(**({"adapters": 1.0} if "adapters" in changes else {}))
    one, other = step(before, PRIORS), step(configs(**changes), PRIORS)
    assert float(other.seconds[0] * other.shares[part][0]) > float(one.seconds[0] * one.shares[part][0])


@pytest.mark.parametrize(
    ("head", "like", "slower"),
    [
        pytest.param(80, 96, 1.0, id="a last tile that is half empty"),
        pytest.param(64, 64, 1.0, id="whole tiles"),
        pytest.param(256, 256, 1 / 0.8, id="wider than most kernels are made for"),
        pytest.param(160, 192, 1 / 0.8, id="wide heads have wider tiles"),
    ],
)
def test_a_fused_kernel_computes_whole_tiles_of_a_head(head: int, like: int, slower: float) -> None:
    """4 x 1,024 x 1,024 FLOPs, half of them, for each of 16 heads' numbers; 3.5 passes at 0.5 of 312 TFLOPS."""
    c = configs(q_dim=16.0 * head, early=0.0)
    constants = PRIORS | {"attention": 0.5, "attention_wide": 0.8}
    expected = 4 * 1024 * 1024 * 0.5 * 16 * like * 3.5 * slower / (0.5 * 312e12)
    assert float(compute.layer_parts(c, constants)["attention"][0]) == pytest.approx(expected)


def test_ordinary_cores_ask_for_no_alignment() -> None:
    plain = {"vector_rate": 1.0}
    one, other = (compute.head_seconds(configs(**plain, unaligned=flag), PRIORS) for flag in (0.0, 1.0))
    assert float(one[0]) == pytest.approx(float(other[0]))


def test_launches_are_saved_by_compiling_and_not_by_fusing_by_hand() -> None:
    eager, by_hand, compiled = (
        float(compute.host_seconds(configs(**changes), PRIORS)[0])
        for changes in ({}, {"fused": 1.0}, {"fused": 1.0, "compiled": 1.0})
    )
    assert by_hand == pytest.approx(eager)
    assert compiled == pytest.approx(eager * PRIORS["host_fused"])


@pytest.mark.parametrize(
    ("one", "other", "exponent", "value"),
    [
        (3.0, 4.0, 2.0, 5.0),
        (3.0, 4.0, 1.0, 7.0),
        (2.0, 2.0, 6.0, 2 * 2 ** (1 / 6)),
        (5.0, 0.0, 3.0, 5.0),
        (1e-9, 1e9, 6.0, 1e9),
    ],
    ids=["Pythagoras", "a sum", "equals", "nothing beside", "far apart"],
)
def test_a_smooth_maximum(one: float, other: float, exponent: float, value: float) -> None:
    """(a^k + b^k)^(1/k), in either order."""
    for first, second in ((one, other), (other, one)):
        assert float(smooth_maximum(np.array([first]), np.array([second]), exponent)[0]) == pytest.approx(value)


def test_a_token_is_copied_to_each_of_its_experts() -> None:
    """1,024 tokens x 1,024 numbers of 2 bytes, to eight experts, 20 passes, on 1,555 GB/s."""
    c = configs(experts=64.0, active_experts=9.0, routed_experts=8.0)
    seconds = 1024 * 1024 * 2 * 8 * 20 / (1555e9 * PRIORS["hbm"])
    assert float(compute.layer_parts(c, PRIORS | {"routing_passes": 20.0})["routing"][0]) == pytest.approx(seconds)
    assert float(compute.layer_parts(configs(), PRIORS)["routing"][0]) == 0.0


def test_kernels_of_their_own_send_tokens_with_less_work() -> None:
    mixture = {"experts": 64.0, "active_experts": 9.0, "routed_experts": 8.0, "ep": 8.0}
    plain, sent = (configs(**mixture, dispatched=flag) for flag in (0.0, 1.0))
    passes = [float(compute.layer_parts(one, PRIORS)["routing"][0]) for one in (plain, sent)]
    assert passes[1] == pytest.approx(passes[0] * PRIORS["routing_dispatched"])
    assert host_layers(**mixture, dispatched=1.0) == pytest.approx(
        1 + (PRIORS["host_experts"] - 1) * PRIORS["routing_dispatched"]
    )


def test_nothing_is_sent_where_every_accelerator_holds_all_experts() -> None:
    mixture = {"experts": 64.0, "active_experts": 9.0, "routed_experts": 8.0, "ep": 1.0}
    assert host_layers(**mixture, dispatched=1.0) == pytest.approx(PRIORS["host_experts"])


def test_autocast_costs_passes_and_launches() -> None:
    held, cast = (configs(autocast=flag) for flag in (0.0, 1.0))
    passes = [float(compute.layer_parts(one, PRIORS)["elementwise"][0]) for one in (held, cast)]
    launches = [float(compute.host_seconds(one, PRIORS)[0]) for one in (held, cast)]
    assert passes[1] == pytest.approx(passes[0] * PRIORS["elementwise_cast"])
    compiled = [
        float(compute.layer_parts(configs(autocast=flag, fused=1.0), PRIORS)["elementwise"][0]) for flag in (0.0, 1.0)
    ]
    assert compiled[0] == compiled[1]
    assert launches[1] == pytest.approx(launches[0] * PRIORS["host_cast"])


def test_a_layer_with_experts_takes_the_host_longer_and_most_where_they_are_called_one_by_one() -> None:
    dense, grouped, sequential = (
        float(compute.host_seconds(configs(**changes), PRIORS)[0])
        for changes in ({}, {"experts": 64.0}, {"experts": 64.0, "sequential_experts": 1.0})
    )
    assert grouped == pytest.approx(dense * PRIORS["host_experts"])
    assert sequential == pytest.approx(dense * (PRIORS["host_experts"] + 64 * PRIORS["host_loop"]))


def test_a_pipeline_keeps_sharded_weights_gathered() -> None:
    """Four stages of two replicas: nothing per micro-batch; per step what ZeRO-2 sends."""
    spread = {"dp": 2.0, "pp": 4.0, "shards": 2.0, "gradient_bytes": 2.0}
    sharded, reduced = configs(**spread, zero=3.0), configs(**spread, zero=2.0)
    assert float(communication.sharded_seconds(sharded, PRIORS)[0]) == 0.0
    seconds = [float(communication.gradient_seconds(one, PRIORS)[0]) for one in (sharded, reduced)]
    assert seconds[0] == pytest.approx(seconds[1])
    alone = configs(**spread | {"pp": 1.0, "dp": 8.0, "shards": 8.0}, zero=3.0)
    assert float(communication.sharded_seconds(alone, PRIORS)[0]) > 0.0


def test_experts_that_are_called_one_by_one_are_gathered_so() -> None:
    """A message for each of 8 experts and their layer, three times a layer, over eight devices: 3 doublings."""
    sharded = {"zero": 3.0, "dp": 8.0, "tp": 1.0, "shards": 8.0, "experts": 8.0, "ep": 1.0}
    seconds = [
        float(communication.sharded_seconds(configs(**sharded, sequential_experts=flag), PRIORS)[0])
        for flag in (0.0, 1.0)
    ]
    layers = float(configs().layers[0])
    assert seconds[1] - seconds[0] == pytest.approx(8 * 3 * layers * PRIORS["message_us"] * 1e-6 * 3)


def test_a_newer_accelerator_has_a_newer_host() -> None:
    older, usual, newer = (
        float(compute.host_seconds(from_rows([described(machine)]), PRIORS)[0])
        for machine in ("aws/p3.16xlarge", "aws/p4d.24xlarge", "aws/p5.48xlarge")
    )
    assert older / usual == pytest.approx(PRIORS["host_older"])
    assert newer / usual == pytest.approx(PRIORS["host_newer"])


def test_traffic_inside_a_layer_hides_behind_a_slow_host() -> None:
    """Collectives wait in the device's queue: a device that idles for launches does them meanwhile."""
    slow_host = PRIORS | {"host_us": 3000.0}
    seconds = [
        float(step(configs(tp=8.0, dp=1.0, intra=described()["intra"] * factor), slow_host).seconds[0])
        for factor in (1.0, 0.7)
    ]
    assert np.log(seconds[1] / seconds[0]) < 0.05


MIXTURE = {
    "experts": 64.0, "active_experts": 8.0, "routed_experts": 8.0, "mlp_matrices": 3.0, "ffn_hidden": 512.0,
    "parameters": 2e9, "dp": 64.0, "ep": 64.0, "tp": 1.0, "shards": 64.0, "intra": 1e15, "inter": 25e9,
}  # fmt: skip
"""Experts on 64 accelerators in machines of eight, whose links inside cost nothing."""
FREE = PRIORS | {"message_us": 0.0, "hop_us": 0.0, "network": 1.0, "nvlink": 1.0}


def test_a_token_goes_to_another_machine_as_often_as_chance_has_it() -> None:
    """Of 8 machines, 8 experts chosen at random lie in 7 x (1 - (7/8)^8) = 4.595 others; 1,024 tokens, four ways."""
    found = float(communication.expert_seconds(configs(**MIXTURE), FREE)[0])
    assert found == pytest.approx(4 * 1024 * HIDDEN * 2 * 4.595 / 25e9, rel=1e-3)


def test_a_token_is_sent_once_to_each_accelerator_that_it_meets() -> None:
    """Of 8 accelerators, 8 experts at random lie on 7 x (1 - (7/8)^8) = 4.595 others; plainly 8 x 7/8 copies go."""
    inside = MIXTURE | {"ep": 8.0, "dp": 8.0, "shards": 8.0, "intra": 300e9}
    copies, once = (
        float(communication.expert_seconds(configs(**inside, dispatched=flag), FREE)[0]) for flag in (0.0, 1.0)
    )
    assert copies == pytest.approx(4 * 1024 * HIDDEN * 2 * 7 / 300e9, rel=1e-3)
    assert once == pytest.approx(4 * 1024 * HIDDEN * 2 * 4.595 / 300e9, rel=1e-3)


def test_slices_of_a_tensor_split_send_their_own_tokens() -> None:
    """Two slices, so four of the eight accelerators of a machine hold other experts: half of the tokens each."""
    whole, halves = (
        float(communication.expert_seconds(configs(**MIXTURE | {"tp": tp, "ep": 64 / tp, "dp": 64 / tp}), FREE)[0])
        for tp in (1.0, 2.0)
    )
    assert halves == pytest.approx(whole / 2)


def test_experts_are_gathered_among_those_that_hold_the_same() -> None:
    """Eight per machine hold other experts each, so that every one of them fetches 7/8 of its own over its own wire.

    Layers hold 12 x 64 x 3 x 1024 x 512 parameters of experts, an eighth of them here: two gathers and a scatter at 2
    bytes. The other weights pool all eight links.
    """
    c = configs(**MIXTURE | {"ep": 8.0, "zero": 3.0})
    expert = 12 * 64 * 3 * 1024 * 512
    own = 3 * 7 / 8 * expert / 8 * 2 / 25e9
    pooled = 3 * 63 / 64 * (2e9 - expert) * 2 / (8 * 25e9)
    assert float(communication.sharded_seconds(c, FREE)[0]) == pytest.approx(own + pooled, rel=1e-3)


def test_experts_of_a_hybrid_split_are_agreed_on_between_machines() -> None:
    """Sharded over the eight of a machine, which hold other experts each: nothing to gather of them, and each of eight
    machines reduces its own: 2 x 7/8 of the experts' gradients, alone on its wire."""
    c = configs(**MIXTURE | {"ep": 8.0, "zero": 3.0, "shards": 8.0})
    expert = 12 * 64 * 3 * 1024 * 512 / 8 * 2
    shared = (2e9 - 12 * 64 * 3 * 1024 * 512) / 8 * 2
    agreed = 2 * 7 / 8 * (expert + shared) / 25e9
    assert float(communication.gradient_seconds(c, FREE)[0]) == pytest.approx(agreed, rel=1e-3)
    assert float(communication.sharded_seconds(c, FREE)[0]) == pytest.approx(0.0, abs=1e-4)


def test_experts_are_not_spread_over_more_devices_than_there_are() -> None:
    """Eight experts' slices on eight devices with two tensor slices each: `ep` counts the slices."""
    c = configs(**MIXTURE | {"tp": 2.0, "dp": 4.0, "ep": 8.0, "shards": 4.0})
    assert float(communication.expert_span(c)[0]) == 8
    assert float(communication.held_parameters(c).expert[0]) == 12 * 64 * 3 * 1024 * 512 / 8


def test_more_experts_than_parameters_are_no_nonsense() -> None:
    held = communication.held_parameters(configs(**MIXTURE | {"parameters": 1e6}))
    assert float(held.shared[0]) == 0
    assert float(step(configs(**MIXTURE | {"parameters": 1e6, "zero": 3.0}), PRIORS).seconds[0]) > 0


def test_a_ring_of_machines_takes_a_step_from_each_to_the_next() -> None:
    """Eight machines: seven steps of 10 microseconds for each of two gathers and a scatter of every layer."""
    c = configs(**MIXTURE | {"experts": 1.0, "zero": 3.0})
    without, with_steps = (float(communication.sharded_seconds(c, FREE | {"hop_us": hop})[0]) for hop in (0.0, 10.0))
    layers = float(c.layers[0])
    assert with_steps - without == pytest.approx(3 * layers * 7 * 10e-6)


def test_context_traffic_hides_behind_attention() -> None:
    """Of t seconds beside a of attention (t^3 + a^3)^(1/3) - a is left; nothing else is split here."""
    c = configs(cp=2.0, dp=1.0, seq_len=32768.0, intra=5e9)
    found = step(c, PRIORS)
    attention = float(compute.layer_parts(c, PRIORS)["attention"][0] * c.layers[0])
    traffic = float(communication.context_seconds(c, PRIORS)[0] * c.layers[0])
    left = (traffic**3 + attention**3) ** (1 / 3) - attention
    assert float((found.shares["split"] / found.shares["attention"])[0]) == pytest.approx(left / attention)
    assert 0.01 < left / traffic < 0.9


def test_blocks_of_a_context_travel_round_the_ring_again_where_the_forward_pass_is_repeated() -> None:
    """Three of four parts of 32,768 x 2 x 1,024 numbers, three or four times; a message for each of three blocks."""
    once, again = (
        float(communication.context_seconds(configs(cp=4.0, seq_len=32768.0, intra=1e9, recompute=share), alone)[0])
        for share in (0.0, 1.0)
        for alone in [FREE | {"message_us": 50.0}]
    )
    one = 3 / 4 * 32768 * 2 * HIDDEN * 2 / 1e9 + 3 * 50e-6
    assert [once, again] == pytest.approx([3 * one, 4 * one])
