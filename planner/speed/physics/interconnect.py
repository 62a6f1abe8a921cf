"""Links between accelerators inside a machine and between machines, with default rates if none is stated."""

from __future__ import annotations

import re
from dataclasses import dataclass

from planner.model.hardware.machines import Accelerator, Link

PCIE_GB_PER_S = {3: 16.0, 4: 32.0, 5: 64.0}
"""GB/s in one direction of sixteen lanes, by generation. Source: PCI-SIG base specifications."""
TPU_SLICE = {"TPU-v5e": 256, "TPU-v6e": 256}
"""Chips that the links of one slice join; other TPUs reach thousands. Source: Google Cloud TPU documentation."""
LARGEST_SLICE = 4096
PCIE_5_YEAR, PCIE_4_YEAR = 2022, 2020
"""Years of the first server cards with PCIe 5 (H100) and 4 (A100 and MI100)."""
SERVER_LINK_GB_PER_S = 200
"""Least GB/s, in both directions together, of a link between modules (V100 SXM2: 300). Bridges of cards have less."""
LANES = 16
"""Lanes of a slot for accelerators."""
LANES_OF_A_PC, CARDS_OF_A_PC = 16, 2
"""Lanes of a desktop processor for its slots, and the number of cards that share them as x8 and x8.

Source: data sheets of Intel Core from the 11th generation on and of AMD Ryzen from the 3000 series on. Processors of
servers and workstations have 48 to 128 lanes (Xeon, EPYC, Threadripper), enough for a whole slot per card.
"""
LANES_TEXT = re.compile(r"\bx ?(4|8|16)\b")
"""Lanes in a publication's words: `PCIe 4.0 x8`."""
LANES_OF_A_SERVER = {3: 80, 4: 128, 5: 128}
"""PCIe lanes of two server processors, by generation. Up to this number, every slot has its own root port.

Source: Intel ARK (Xeon E5 v4: 40 each, Xeon Scalable from the third generation on: 64 each), AMD EPYC 7002 to 9004 (128
in all).
"""
SWITCHES = 2
"""PCIe switches of a machine with more cards than its processors have lanes for; each has one root port.

Source: Supermicro 4029GP and ASUS ESC8000 block diagrams.
"""
GEFORCE = re.compile(r"GTX|TITAN|RTX-[2-5]0[5-9]0")
"""Cards for desktops, whose drivers lack peer-to-peer; professional cards (RTX 4000 Ada, RTX A6000) have it."""
WITHOUT_P2P = re.compile(r"TITAN-RTX|RTX-[2-5]0[5-9]0|A10G")
"""Cards that are assumed to lack peer-to-peer if a table only names the slot.

Source: NVIDIA's developer forum on the RTX 4090, and tables of RTX 2080 Ti and 3090 that state it. Only AWS has the
A10G, and its machines have no peer-to-peer (g5.12xlarge, ray-project/ray issue 39471).
"""
MODULES = re.compile(r"Max-1550|Ascend-910")
"""Accelerators that are not cards, although the catalog has no rate of their links (Max-1550), or only that among the
four of half a machine (Ascend-910)."""
RACK_DOMAIN = 72
"""Accelerators behind one NVLink switch of an NVL72 rack."""
ASSUMED_NODE_GBIT = {"consumer": 25.0, "volta": 400.0, "ampere": 1600.0, "newer": 3200.0}
"""Gbit/s between nodes if none is stated: office Ethernet; DGX-1 (4 x 100), DGX A100 (8 x 200), DGX H100 (8 x 400)."""
AMPERE_YEAR, HOPPER_YEAR = 2020, 2022
"""First years of machines of these generations."""
CLOUD_ETHERNET_GBIT = 100.0
"""Gbit/s of a rented node with eight accelerators and no InfiniBand."""
EFA_GBIT = {"ampere": 400.0, "newer": 3200.0}
"""Gbit/s of a node with EFA. Source: AWS, p4d and p5."""
SLINGSHOT_GBIT = 800.0
"""Gbit/s of four accelerators with a 200 Gbit/s port each. Source: HPE Slingshot 11."""
MORE_THAN_ETHERNET = ("infiniband", "roce", "dgx", "not stated", "ref", "ib (", "no ib")
"""Words of a network that may be faster than plain Ethernet, or is left open: "not stated", or "ref" for a reference
machine."""
NO_NVLINK, SLOT = re.compile(r"\b(no|without) nvlink"), re.compile(r"\bpci[- ]?e")
P2P = re.compile(r"p2p|peer[- ]to[- ]peer")
NO_P2P = re.compile(
    rf"\b(no|not|without|lacks)\W+({P2P.pattern})|({P2P.pattern})[\W_]+(is )?(off|disable|unsupported|unavailable)"
)
"""Words of publications for the absence of NVLink, for slots, and for peer-to-peer or its absence."""
PORTS = r"(?:(\d+)\s*x\s*(?:[a-z][a-z0-9 .()-]*?\s)?)?(?<![\d.])(\d{2,4})\s*gb"
"""Number of ports and Gbit/s of each: `8x 400Gb/s`, `8 x ConnectX-7 400 Gb`, `100 GbE`. The form `400 Gbps x8` is read
separately."""


@dataclass(frozen=True)
class Interconnect:
    """Facts of an interconnect for the physics; rates in bytes/s per accelerator and direction."""

    intra: float
    inter: float
    domain: int
    pcie: bool
    through_host: bool
    bus_sharers: int
    """Cards behind one root port of the host."""
    cards: int
    """Cards of one machine in PCIe slots; 0 if another link joins them."""
    pcie_generation: int

    def facts(self, *, per_node: int) -> dict[str, float]:
        """Return the fields of `Configs` for machines that use `per_node` accelerators each."""
        return {
            "gpus_per_node": float(per_node),
            "nvlink_domain": float(self.domain),
            "intra": self.intra,
            "through_host": float(self.through_host),
            "bus_sharers": float(self.bus_sharers),
            "pcie": float(self.pcie),
            "pcie_cards": float(self.cards),
            "pcie_5": float(self.pcie_generation >= max(PCIE_GB_PER_S)),
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
    """Return the interconnect of machines that use `per_node` of their `slots` accelerators each.

    `lanes` are PCIe lanes per card, and `roots` are root ports of all cards. By default they are those of a common
    machine with this number of slots. Cards are spread evenly over root ports; the fullest one counts.
    """
    kind = link or assumed_link(accelerator, per_node=per_node)
    pcie = kind in (Link.PCIE, Link.PCIE_NO_P2P, Link.SINGLE) or accelerator.link_gb_per_s is None
    all_slots = max(slots, per_node)
    lanes = lanes or usual_lanes(accelerator, slots=all_slots)
    slot_rate = PCIE_GB_PER_S[pcie_generation(accelerator)] * lanes / LANES
    rate = slot_rate if pcie else (accelerator.link_gb_per_s or 0) / 2
    per_root = -(-all_slots // (roots or usual_roots(accelerator, slots=all_slots)))
    gbit = network_gbit_per_s or _assumed_gbit(accelerator, kind)
    return Interconnect(
        intra=rate * 1e9,
        inter=gbit / 8 * 1e9 / per_node,
        domain=_domain(accelerator, per_node=per_node),
        pcie=pcie,
        through_host=kind is Link.PCIE_NO_P2P,
        bus_sharers=min(per_node, per_root),
        pcie_generation=pcie_generation(accelerator),
        cards=per_node if pcie and not MODULES.match(accelerator.id) else 0,
    )


def usual_lanes(accelerator: Accelerator, *, slots: int) -> int:
    """Return the lanes of each card: two cards of a PC share its lanes, other cards have a whole slot's."""
    is_pc = GEFORCE.match(accelerator.id) is not None and slots == CARDS_OF_A_PC
    return LANES_OF_A_PC // slots if is_pc and accelerator.launch_year >= PCIE_4_YEAR else LANES


def usual_roots(accelerator: Accelerator, *, slots: int) -> int:
    """Return the root ports of a machine: one per slot, or one per switch if processors lack lanes for all slots."""
    return slots if slots * LANES <= LANES_OF_A_SERVER[pcie_generation(accelerator)] else SWITCHES


def parse_lanes(text: str) -> int | None:
    """Return the PCIe lanes per card that a publication states; None if it states none."""
    found = LANES_TEXT.search(text.casefold()) if SLOT.search(text.casefold()) else None
    return None if found is None else int(found[1])


def _domain(accelerator: Accelerator, *, per_node: int) -> int:
    """Return the number of accelerators that the fast link joins: those of a machine, a rack, or a slice."""
    if accelerator.architecture == "TPU":
        return TPU_SLICE.get(accelerator.id, LARGEST_SLICE)
    return RACK_DOMAIN if is_rack(accelerator) else per_node


def pcie_generation(accelerator: Accelerator) -> int:
    """Return the PCIe generation of an accelerator, by its launch year and architecture."""
    if accelerator.launch_year >= PCIE_5_YEAR and accelerator.architecture not in ("Ampere", "Ada", "CDNA2"):
        return 5
    return 4 if accelerator.launch_year >= PCIE_4_YEAR else 3


def assumed_link(accelerator: Accelerator, *, per_node: int) -> Link:
    """Return the common link of machines with this accelerator."""
    if per_node == 1:
        return Link.SINGLE
    if is_server_module(accelerator):
        return Link.NVSWITCH
    if GEFORCE.match(accelerator.id) or WITHOUT_P2P.match(accelerator.id):
        return Link.PCIE_NO_P2P
    return Link.PCIE


def is_server_module(accelerator: Accelerator) -> bool:
    """Return whether the accelerator is a module, which every machine joins by a fast link, and not a card."""
    link = accelerator.link_gb_per_s or 0
    return link >= SERVER_LINK_GB_PER_S and "PCIe" not in accelerator.id and "NVL" not in accelerator.id


def parse_link(text: str, accelerator: Accelerator) -> Link | None:
    """Return the link inside a machine that a publication describes; None if it does not.

    Desktop cards in a slot are assumed to lack peer-to-peer unless the text names it.
    """
    text = text.casefold()
    if not text:
        return None
    if "nvswitch" in text:
        return Link.NVSWITCH
    if "nvlink" in text and "not stated" not in text and not NO_NVLINK.search(text):
        return Link.NVLINK
    if NO_P2P.search(text):
        return Link.PCIE_NO_P2P
    if SLOT.search(text):
        return Link.PCIE_NO_P2P if WITHOUT_P2P.match(accelerator.id) and not P2P.search(text) else Link.PCIE
    return None if accelerator.link_gb_per_s is None else Link.NVLINK


def parse_network_gbit(text: str, *, per_node: int = 1) -> float | None:
    """Return the Gbit/s of all ports of a node that a publication states; None if it states none."""
    text = re.sub(r"(storage|management):[^,]*", "", text.casefold())
    rates = [float(count or 1) * float(gbit) for count, gbit in re.findall(PORTS, text)]
    rates += [1000 * float(tbit) for tbit in re.findall(r"(\d+(?:\.\d+)?)\s*tb", text)]
    ports = per_node if re.search(r"(?:per |/ ?)(?:card|gpu|device|accelerator)", text) else 1
    times = re.search(r"(?:gb|tb)\S*\s*(?:x|\N{MULTIPLICATION SIGN})\s*([2-9])\b", text)
    if ports == 1 and times is not None:
        ports = int(times[1])
    return max(rates) * ports if rates else None


def named_network_gbit(text: str, accelerator: Accelerator) -> float | None:
    """Return the common Gbit/s of a node whose network is named without a rate; None if the name says too little."""
    text = text.casefold()
    more_than_ethernet = any(word in text for word in MORE_THAN_ETHERNET)
    if "slingshot" in text:
        return SLINGSHOT_GBIT
    if re.search(r"\befa\b", text):
        return EFA_GBIT["ampere" if accelerator.launch_year < HOPPER_YEAR else "newer"]
    if "ethernet" in text and (not more_than_ethernet or "no ib" in text):
        return CLOUD_ETHERNET_GBIT
    return None


def _assumed_gbit(accelerator: Accelerator, kind: Link) -> float:
    if kind in (Link.PCIE, Link.PCIE_NO_P2P):
        return ASSUMED_NODE_GBIT["consumer"] if not is_server_module(accelerator) else ASSUMED_NODE_GBIT["volta"]
    if accelerator.launch_year < AMPERE_YEAR:
        return ASSUMED_NODE_GBIT["volta"]
    return ASSUMED_NODE_GBIT["ampere"] if accelerator.launch_year < HOPPER_YEAR else ASSUMED_NODE_GBIT["newer"]
