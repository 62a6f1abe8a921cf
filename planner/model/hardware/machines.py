"""Machines: accelerators and the nodes that carry them, the network between nodes, measured ceilings, and upgrades."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, Self

from pydantic import model_validator

from planner.model.base import Count, Day, Frozen, Id, NonNegative, Positive, Text
from planner.model.network.workload import Precision

TORCH_SHARE = 0.985
BEFORE_AMPERE = ("Kepler", "Maxwell", "Pascal", "Volta", "Turing")


class Accelerator(Frozen):
    """One row of `catalogs/hardware/accelerators.csv`. Peaks are dense, with fp32 accumulation, in TFLOP/s."""

    id: Id
    vendor: Text
    architecture: Text
    launch_year: int
    hbm_gib: Positive | None = None
    """Memory by its data sheet; if a cloud's list states less, as the driver shows it there."""
    torch_gib: Positive | None = None
    """Memory that torch shows as `total_memory`: less what the driver keeps, and ECC on GDDR6 a sixteenth."""
    torch_gib_source: Text | None = None
    hbm_gb_per_s: Positive | None = None
    fp32_tflops: Positive | None = None
    tf32_tflops: Positive | None = None
    fp16_tflops: Positive | None = None
    bf16_tflops: Positive | None = None
    fp8_tflops: Positive | None = None
    link_gb_per_s: Positive | None = None
    """Bandwidth in both directions together, as data sheets print it."""
    tdp_w: Positive | None = None
    support_ended: Text | None = None
    """Date or release from which current software no longer runs on it, with its name."""
    no_training_reason: Text | None = None
    """Reason why it cannot train, if it cannot."""
    trap: Text | None = None
    """Usual mistake with this row's numbers."""
    source: Text
    as_of: Day
    confidence: Literal["high", "medium", "low"]

    @property
    def training_gib(self) -> float | None:
        """Memory that a training can use: what torch shows, otherwise 98.5 % of an NVIDIA card's data sheet.

        Source of the share: the median of the rows that state both, without those whose ECC takes a sixteenth.
        """
        if self.torch_gib is not None or self.hbm_gib is None or self.vendor != "NVIDIA":
            return self.torch_gib or self.hbm_gib
        return TORCH_SHARE * self.hbm_gib

    @property
    def has_flash_attention(self) -> bool:
        """True if FlashAttention has kernels for it: from NVIDIA's Ampere on (Dao-AILab/flash-attention, README)."""
        return self.architecture not in BEFORE_AMPERE

    def peak_tflops(self, precision: Precision) -> float | None:
        """Return the dense peak that training reaches for in this precision; None if the hardware has none."""
        peaks: dict[Precision, float | None] = {
            Precision.FP32: self.fp32_tflops,
            Precision.TF32: self.tf32_tflops,
            Precision.BF16: self.bf16_tflops,
            Precision.FP16: self.fp16_tflops,
            Precision.FLOAT8: self.fp8_tflops,
        }
        return peaks[precision]


class Link(StrEnum):
    """Connection of the accelerators inside one node."""

    NVSWITCH = "nvswitch"
    NVLINK = "nvlink"
    PCIE = "pcie"
    PCIE_NO_P2P = "pcie-no-p2p"
    SINGLE = "single"
    OTHER = "other"


class NodeNetworkKind(StrEnum):
    """Network between nodes."""

    INFINIBAND = "infiniband"
    ROCE = "roce"
    EFA = "efa"
    """Elastic Fabric Adapter of AWS."""
    GPUDIRECT_TCPX = "gpudirect-tcpx"
    """TCP of Google Cloud that writes to the memory of accelerators."""
    TCP = "tcp"


class ClusterSale(StrEnum):
    """Terms on which several of these nodes are sold together."""

    SELF_SERVICE = "self_service"
    RESERVED = "reserved"
    """Sold for a term that is bought in advance."""
    QUOTE = "quote"
    """The provider is asked for an offer."""
    SINGLE_NODES = "single_nodes"
    """Not sold together: the provider does not connect such nodes."""


class Node(Frozen):
    """One row of `catalogs/hardware/nodes.csv`: a machine that can be rented or owned."""

    id: Id
    name: Text
    accelerator: Id
    accelerators: Count
    link: Link
    network_gbit_per_s: Positive | None = None
    """Network between nodes, for each node with all its ports."""
    network_low_gbit_per_s: Positive | None = None
    """Low end of the range if no source states the rate, as the next field is its high end.

    `network_gbit_per_s` is the most likely value.
    """
    network_high_gbit_per_s: Positive | None = None
    network_kind: NodeNetworkKind | None = None
    network_rails: Count | None = None
    """Ports of a node that carry the traffic between accelerators."""
    clusters: ClusterSale | None = None
    """Terms of sale for several nodes; None if not stated."""
    cluster_least_nodes: Count = 1
    """Smallest number of nodes that are sold together."""
    network_source: Text | None = None
    network_as_of: Day | None = None
    rated_kw: Positive | None = None
    """Maximum power of the whole node by its data sheet."""
    host_memory_gib: Positive | None = None
    vcpus: Count | None = None
    local_disk_gb: NonNegative | None = None
    """Disk space of all disks together, decimal; 0 if the machine starts from storage; null if unknown."""
    pcie_lanes: Count | None = None
    """Lanes of each card's slot; null for the usual number in such a machine."""
    pcie_roots: Count | None = None
    """Root ports of the host that its cards share: as many as cards, or one for each switch; null for the usual number.
    """
    source: Text
    as_of: Day

    @model_validator(mode="after")
    def _network_lies_in_its_range(self) -> Self:
        low, rate, high = self.network_low_gbit_per_s, self.network_gbit_per_s, self.network_high_gbit_per_s
        if (low is None) != (high is None):
            raise ValueError("a range of the network needs network_low_gbit_per_s and network_high_gbit_per_s")
        if low is not None and high is not None and not low <= (rate or 0.0) <= high:
            raise ValueError("network_gbit_per_s must lie between network_low_gbit_per_s and network_high_gbit_per_s")
        if rate is not None and self.clusters is ClusterSale.SINGLE_NODES:
            raise ValueError("clusters is single_nodes: then no network_gbit_per_s joins several")
        return self

    @property
    def network_range(self) -> tuple[float, float] | None:
        """Return the lowest and highest Gbit/s of an assumed network; None if the rate is known, or nothing is."""
        low, high = self.network_low_gbit_per_s, self.network_high_gbit_per_s
        return None if low is None or high is None else (low, high)

    def with_network(self, gbit_per_s: float) -> Self:
        """Return the node with a network of known rate, whatever the catalog says."""
        return self.model_copy(
            update={
                "network_gbit_per_s": gbit_per_s,
                "network_low_gbit_per_s": None,
                "network_high_gbit_per_s": None,
                "network_kind": None,
                "network_rails": None,
                "clusters": None,
            }
        )


class NodeNetwork(Frozen):
    """Connection of several nodes. `gbit_per_s` counts each node with all its ports."""

    gbit_per_s: Positive
    low_gbit_per_s: Positive | None = None
    """Low end of the range of an assumed network, as the next field is its high end; null if the rate is known."""
    high_gbit_per_s: Positive | None = None
    kind: NodeNetworkKind | None = None
    clusters: ClusterSale | None = None
    source: Text
    as_of: Day | None = None

    @classmethod
    def of(cls, node: Node, *, stated: float | None) -> NodeNetwork | None:
        """Return the network of a node, at the `stated` rate of the plan if there is one;

        None if the catalog has none either.
        """
        if stated is not None:
            return cls(gbit_per_s=stated, source="the plan")
        if node.network_gbit_per_s is None:
            return None
        return cls(
            gbit_per_s=node.network_gbit_per_s,
            low_gbit_per_s=node.network_low_gbit_per_s,
            high_gbit_per_s=node.network_high_gbit_per_s,
            kind=node.network_kind,
            clusters=node.clusters,
            source=node.network_source or node.source,
            as_of=node.network_as_of or node.as_of,
        )


class MatmulCeiling(Frozen):
    """One row: TFLOP/s of large dense products, mean of many, far below what a data sheet prints."""

    accelerator: Id
    number_format: Literal["bf16", "fp8"]
    tflops: Positive
    source: Text
    as_of: Day


class Upgrade(Frozen):
    """One row: a bridge that joins cards of a kind, or adapters that join nodes of any."""

    id: Id
    name: Text
    kind: Literal["bridge", "network"]
    accelerators: Text | None = None
    """Accelerator ids, separated by semicolons; null for any."""
    joins: Count
    """Cards of a bridge; for a network, the nodes that the price covers."""
    gbit_per_s: Positive | None = None
    """Rate of a network, for each node."""
    usd: Positive
    usd_low: Positive
    usd_high: Positive
    source: Text
    as_of: Day

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        if not self.usd_low <= self.usd <= self.usd_high:
            raise ValueError("usd lies outside its range")
        if (self.kind == "network") == (self.gbit_per_s is None):
            raise ValueError("a network, and nothing else, has gbit_per_s")
        return self

    def fits(self, accelerator: str) -> bool:
        """Return whether it is made for an accelerator."""
        return self.accelerators is None or accelerator in self.accelerators.split(";")
