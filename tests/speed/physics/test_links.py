"""Links inside a machine and the rates of collectives over them, compared with hand calculation."""

from __future__ import annotations

import pytest

from planner.model.hardware.machines import Link
from planner.speed.physics import communication
from planner.speed.physics.interconnect import (
    assumed_link,
    interconnect_of,
    is_rack,
    parse_network_gbit,
    pcie_generation,
)
from tests.bundled import bundled_catalog
from tests.speed.physics.decoder_configs import FREE, MIXTURE, PRIORS, configs


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
def test_common_links(name: str, link: Link, pcie: int, *, rack: bool) -> None:
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


@pytest.mark.parametrize(
    ("fewer", "more", "share"),
    [
        pytest.param(4, 8, 28 / 35, id="RTX 5090: NVIDIA/nccl issue 1639"),
        pytest.param(2, 8, 23 / 32, id="RTX PRO 6000, all-gather"),
    ],
)
def test_pcie_5_falls_as_measured(fewer: int, more: int, share: float) -> None:
    """The measurements are all-reduces and all-gathers between cards of one machine, in 2025."""
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


def test_a_ring_of_machines_takes_a_step_from_each_to_the_next() -> None:
    """Eight machines take seven steps of 10 microseconds for each of two gathers and a scatter of every layer."""
    c = configs(**MIXTURE | {"experts": 1.0, "zero": 3.0})
    without, with_steps = (float(communication.sharded_seconds(c, FREE | {"hop_us": hop})[0]) for hop in (0.0, 10.0))
    layers = float(c.layers[0])
    assert with_steps - without == pytest.approx(3 * layers * 7 * 10e-6)


def test_tensor_slices_in_one_machine_use_only_its_links() -> None:
    """Four all-reduces of 1024 tokens x 1024 x 2 bytes take 2 x 7/8 of it at 300 GB/s; the network has 1 byte/s."""
    found = communication.tensor_seconds(configs(tp=8.0, dp=1.0, nvlink_domain=8.0, intra=300e9, inter=1.0), FREE)
    assert float(found[0]) == pytest.approx(4 * 2 * 7 / 8 * 1024 * 1024 * 2 / 300e9)


def test_ports_of_each_card_add_up_to_those_of_the_node() -> None:
    assert parse_network_gbit("3x 100GbE per card", per_node=8) == 2400
    for words in ("400Gbps/GPU", "400 Gb/s/card", "400 Gb/s per GPU (8 per node)"):
        assert parse_network_gbit(words, per_node=8) == 3200


@pytest.mark.parametrize(
    ("text", "gbit"),
    [
        pytest.param("1600Gbps/node RoCE", 1600, id="of the node"),
        pytest.param("4x ConnectX-7 IB NDR 400Gb/Sec", 1600, id="four cards"),
        pytest.param("8x ConnectX-7 IB NDR 400Gb/Sec", 3200, id="eight cards"),
        pytest.param("400Gbps", 400, id="a number"),
        pytest.param("GPUDirect-TCPXO, 8x 200 Gbps", 1600, id="a name before the count"),
        pytest.param("NDR InfiniBand, 8 x 400 Gb/s", 3200, id="a name and spaces"),
        pytest.param("3.2 Tbps", 3200, id="in Tbit/s"),
        pytest.param("400 Gbps x8 per node", 3200, id="the count after the rate"),
        pytest.param("400 Gb/s on PCIe x16", 400, id="lanes are no ports"),
        pytest.param("not stated", None, id="nothing"),
    ],
)
def test_networks_between_machines(text: str, gbit: float | None) -> None:
    assert parse_network_gbit(text) == gbit
