"""Which link joins accelerators inside a machine and between machines, and what it carries when nobody says."""

from __future__ import annotations

import re
from dataclasses import dataclass

from planner.model.hardware.machines import Accelerator, Link

PCIE_GB_PER_S = {3: 16.0, 4: 32.0, 5: 64.0}
"""One direction of sixteen lanes. Source: PCI-SIG base specifications."""
TPU_SLICE = {"TPU-v5e": 256, "TPU-v6e": 256}
"""Chips that one slice joins by their own links; others reach thousands. Source: Google Cloud TPU documentation."""
LARGEST_SLICE = 4096
PCIE_5_YEAR, PCIE_4_YEAR = 2022, 2020
"""Of the first server cards with it (H100; A100 and MI100); later cards of older architectures keep theirs."""
SERVER_LINK_GB_PER_S = 200
"""Both ways: a link of at least so much joins modules (V100 SXM2: 300), a bridge between cards has less."""
LANES = 16
"""Of a slot for accelerators."""
LANES_OF_A_PC, CARDS_OF_A_PC = 16, 2
"""A desktop's processor has so many lanes for its slots, which two cards share as x8 and x8. Source: data sheets of
Intel Core from the 11th generation on and of AMD Ryzen from the 3000 series on; those of servers and workstations have
48 to 128 (Xeon, EPYC, Threadripper), a whole slot's for every card."""
SAID_LANES = re.compile(r"\bx ?(4|8|16)\b")
"""How a publication says them: `PCIe 4.0 x8`."""
LANES_OF_A_SERVER = {3: 80, 4: 128, 5: 128}
"""PCIe lanes of two server processors, by generation: as far as these reach, slots have root ports of their own.
Source: Intel ARK (Xeon E5 v4: 40 each, Xeon Scalable from the third generation on: 64 each), AMD EPYC 7002 to 9004 (128
in all)."""
SWITCHES = 2
"""Behind which the cards of a larger machine stand, each with one root port. Source: Supermicro 4029GP and ASUS
ESC8000 block diagrams."""
GEFORCE = re.compile(r"GTX|TITAN|RTX-[2-5]0[5-9]0")
"""Cards for desktops, whose drivers leave out peer-to-peer; professional ones (RTX 4000 Ada, RTX A6000) have it."""
WITHOUT_P2P = re.compile(r"TITAN-RTX|RTX-[2-5]0[5-9]0|A10G")
"""Those from Turing on, which have none where a table names the slot alone. Source: NVIDIA's developer forum on the RTX
4090; tables of RTX 2080 Ti and 3090 that name it. A10G is a card of AWS alone, whose machines have none (g5.12xlarge,
ray-project/ray issue 39471)."""
MODULES = re.compile(r"Max-1550|Ascend-910")
"""No cards, whatever joins them: the catalog has no rate of their own links, or one of half a machine."""
RACK_DOMAIN = 72
"""Accelerators behind one NVLink switch of an NVL72 rack."""
ASSUMED_NODE_GBIT = {"consumer": 25.0, "volta": 400.0, "ampere": 1600.0, "newer": 3200.0}
"""Between nodes, where nothing is said: office Ethernet; DGX-1 (4 x 100), DGX A100 (8 x 200), DGX H100 (8 x 400)."""
AMPERE_YEAR, HOPPER_YEAR = 2020, 2022
"""From then on machines are of these generations."""
CLOUD_ETHERNET_GBIT = 100.0
"""Of a rented node with eight accelerators and no InfiniBand."""
EFA_GBIT = {"ampere": 400.0, "newer": 3200.0}
"""Of a node. Source: AWS, p4d and p5."""
SLINGSHOT_GBIT = 800.0
"""Four accelerators with a 200 Gbit/s port each. Source: HPE Slingshot 11."""
NO_NVLINK, SLOT = re.compile(r"\b(no|without) nvlink"), re.compile(r"\bpci[- ]?e")
P2P = re.compile(r"p2p|peer[- ]to[- ]peer")
NO_P2P = re.compile(
    rf"\b(no|not|without|lacks)\W+({P2P.pattern})|({P2P.pattern})[\W_]+(is )?(off|disable|unsupported|unavailable)"
)
"""Words of publications about what joins accelerators inside a machine."""
PORTS = r"(?:(\d+)\s*x\s*(?:[a-z][a-z0-9 .()-]*?\s)?)?(?<![\d.])(\d{2,4})\s*gb"
"""Ports and the Gbit/s of each: `8x 400Gb/s`, `8 x ConnectX-7 400 Gb`, `100 GbE`; `400 Gbps x8` is read beside it."""


@dataclass(frozen=True)
class Interconnect:
    """What the physics needs of the interconnect; bytes/s per accelerator and direction."""

    intra: float
    inter: float
    domain: int
    pcie: bool
    through_host: bool
    bus_sharers: int
    """Cards behind one root port of the host."""
    cards: int
    """Of one machine in PCIe slots; 0 where another link joins them."""
    slot: int
    """Generation of PCIe."""

    def facts(self, *, per_node: int) -> dict[str, float]:
        """Return the physics' numbers of machines of which `per_node` accelerators each are used."""
        return {
            "gpus_per_node": float(per_node),
            "nvlink_domain": float(self.domain),
            "intra": self.intra,
            "through_host": float(self.through_host),
            "bus_sharers": float(self.bus_sharers),
            "pcie": float(self.pcie),
            "pcie_cards": float(self.cards),
            "pcie_5": float(self.slot >= max(PCIE_GB_PER_S)),
            "inter": self.inter,
        }


def is_rack(accelerator: Accelerator) -> bool:
    """Return whether the accelerator is sold in racks with one link domain."""
    return accelerator.id.endswith("-per-GPU")


def interconnect_of(
    accelerator: Accelerator,
    *,
    per_node: int,
    slots: int,
    link: Link | None,
    network_gbit_per_s: float | None,
    lanes: int | None = None,
    roots: int | None = None,
) -> Interconnect:
    """Describe the interconnect of machines that use `per_node` of their `slots` accelerators each.

    `lanes`: of PCIe for each card, and `roots`: root ports of all cards, where that is known; else those of the usual
    machine with so many slots. Root ports share the cards evenly; the one with most of them counts.
    """
    kind = link or assumed_link(accelerator, per_node=per_node)
    pcie = kind in (Link.PCIE, Link.PCIE_NO_P2P, Link.SINGLE) or accelerator.link_gb_per_s is None
    all_slots = max(slots, per_node)
    each = lanes or usual_lanes(accelerator, slots=all_slots)
    slot = PCIE_GB_PER_S[pcie_generation(accelerator)] * each / LANES
    rate = slot if pcie else (accelerator.link_gb_per_s or 0) / 2
    per_root = -(-all_slots // (roots or usual_roots(accelerator, slots=all_slots)))
    gbit = network_gbit_per_s or _assumed_gbit(accelerator, kind)
    return Interconnect(
        intra=rate * 1e9,
        inter=gbit / 8 * 1e9 / per_node,
        domain=_domain(accelerator, per_node=per_node),
        pcie=pcie,
        through_host=kind is Link.PCIE_NO_P2P,
        bus_sharers=min(per_node, per_root),
        slot=pcie_generation(accelerator),
        cards=per_node if pcie and not MODULES.match(accelerator.id) else 0,
    )


def usual_lanes(accelerator: Accelerator, *, slots: int) -> int:
    """Return the lanes of each card of a machine with so many slots: of a PC they are shared, of others whole."""
    is_pc = GEFORCE.match(accelerator.id) is not None and slots == CARDS_OF_A_PC
    return LANES_OF_A_PC // slots if is_pc and accelerator.launch_year >= PCIE_4_YEAR else LANES


def usual_roots(accelerator: Accelerator, *, slots: int) -> int:
    """Return the root ports of a machine with so many slots: one for each, or one for each switch of a larger one."""
    return slots if slots * LANES <= LANES_OF_A_SERVER[pcie_generation(accelerator)] else SWITCHES


def parse_lanes(text: str) -> int | None:
    """Read how many lanes of PCIe a publication says that each card has; None where it says none."""
    said = SAID_LANES.search(text.casefold()) if SLOT.search(text.casefold()) else None
    return None if said is None else int(said[1])


def _domain(accelerator: Accelerator, *, per_node: int) -> int:
    """Return how many accelerators the fast link joins: those of a machine, a rack, or a slice."""
    if accelerator.architecture == "TPU":
        return TPU_SLICE.get(accelerator.id, LARGEST_SLICE)
    return RACK_DOMAIN if is_rack(accelerator) else per_node


def pcie_generation(accelerator: Accelerator) -> int:
    """Return the generation of an accelerator's slot, by the year in which it came."""
    if accelerator.launch_year >= PCIE_5_YEAR and accelerator.architecture not in ("Ampere", "Ada", "CDNA2"):
        return 5
    return 4 if accelerator.launch_year >= PCIE_4_YEAR else 3


def assumed_link(accelerator: Accelerator, *, per_node: int) -> Link:
    """Return the usual link of machines with this accelerator."""
    if per_node == 1:
        return Link.SINGLE
    if is_server_module(accelerator):
        return Link.NVSWITCH
    if GEFORCE.match(accelerator.id) or WITHOUT_P2P.match(accelerator.id):
        return Link.PCIE_NO_P2P
    return Link.PCIE


def is_server_module(accelerator: Accelerator) -> bool:
    """Return whether every machine with this accelerator joins it by a fast link: modules, not cards."""
    link = accelerator.link_gb_per_s or 0
    return link >= SERVER_LINK_GB_PER_S and "PCIe" not in accelerator.id and "NVL" not in accelerator.id


def parse_link(text: str, accelerator: Accelerator) -> Link | None:
    """Read what a publication says of the link inside a machine.

    A slot says nothing of peer-to-peer, which cards for desktops lack unless it is named.
    """
    said = text.casefold()
    if not said:
        return None
    if "nvswitch" in said:
        return Link.NVSWITCH
    if "nvlink" in said and "not stated" not in said and not NO_NVLINK.search(said):
        return Link.NVLINK
    if NO_P2P.search(said):
        return Link.PCIE_NO_P2P
    if SLOT.search(said):
        return Link.PCIE_NO_P2P if WITHOUT_P2P.match(accelerator.id) and not P2P.search(said) else Link.PCIE
    return None if accelerator.link_gb_per_s is None else Link.NVLINK


def parse_network_gbit(text: str, *, per_node: int = 1) -> float | None:
    """Read what a publication says of the network between machines: Gbit/s of the whole node, all its ports."""
    said = re.sub(r"(storage|management):[^,]*", "", text.casefold())
    rates = [float(count or 1) * float(gbit) for count, gbit in re.findall(PORTS, said)]
    rates += [1000 * float(tbit) for tbit in re.findall(r"(\d+(?:\.\d+)?)\s*tb", said)]
    each = per_node if re.search(r"(?:per |/ ?)(?:card|gpu|device|accelerator)", said) else 1
    times = re.search(r"(?:gb|tb)\S*\s*(?:x|\N{MULTIPLICATION SIGN})\s*([2-9])\b", said)
    if each == 1 and times is not None:
        each = int(times[1])
    return max(rates) * each if rates else None


def named_network_gbit(text: str, accelerator: Accelerator) -> float | None:
    """Return the usual Gbit/s of a node with a network that is named without its rate."""
    said = text.casefold()
    fast = any(word in said for word in ("infiniband", "roce", "dgx", "not stated", "ref", "ib (", "no ib"))
    if "slingshot" in said:
        return SLINGSHOT_GBIT
    if re.search(r"\befa\b", said):
        return EFA_GBIT["ampere" if accelerator.launch_year < HOPPER_YEAR else "newer"]
    if "ethernet" in said and (not fast or "no ib" in said):
        return CLOUD_ETHERNET_GBIT
    return None


def _assumed_gbit(accelerator: Accelerator, kind: Link) -> float:
    if kind in (Link.PCIE, Link.PCIE_NO_P2P):
        return ASSUMED_NODE_GBIT["consumer"] if not is_server_module(accelerator) else ASSUMED_NODE_GBIT["volta"]
    if accelerator.launch_year < AMPERE_YEAR:
        return ASSUMED_NODE_GBIT["volta"]
    return ASSUMED_NODE_GBIT["ampere"] if accelerator.launch_year < HOPPER_YEAR else ASSUMED_NODE_GBIT["newer"]
