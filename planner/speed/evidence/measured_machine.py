"""The machine of a published measurement, and how the work was spread over it."""

from __future__ import annotations

import re

from planner.model.evidence.measurement import Measurement
from planner.model.hardware.machines import Accelerator
from planner.speed.physics.interconnect import (
    interconnect_of,
    named_network_gbit,
    parse_lanes,
    parse_link,
    parse_network_gbit,
)

SPLITS = ("tp", "pp", "cp", "ep")
SECOND_FSDP = re.compile(r"\bfsdp2\b")
"""PyTorch's second FSDP, unless two shards are meant: beside replicas (`DP4 FSDP2`) or experts (`EP32 x FSDP2`)."""


def spread_of(row: Measurement) -> dict[str, float]:
    """Return the degrees of parallelism; what the columns leave out is read from the words."""
    said = _one_by_one(row.parallelism.casefold())
    tp, pp, cp, ep = (
        _degree(value, name, said) for value, name in zip((row.tp, row.pp, row.cp, row.ep), SPLITS, strict=True)
    )
    splits = tp * pp * cp
    if splits > row.num_gpus or row.num_gpus % splits:
        tp = pp = cp = splits = 1.0
    dp = row.num_gpus / splits
    hybrid = "hsdp" in f"{row.parallelism} {row.zero}".casefold()
    shards = min(dp, float(row.gpus_per_node or 8)) if hybrid else dp * cp
    replicas = _degree(None, "dp", said)
    two = replicas > 1 or 2 * ep == row.num_gpus
    part = _degree(None, "fsdp", said if two else SECOND_FSDP.sub("fsdp", said))
    if 1 < part < shards and not shards % part:
        shards = part
    return {
        "shards": shards,
        "dp": dp,
        "tp": tp,
        "pp": pp,
        "cp": cp,
        "ep": min(ep, row.num_gpus / pp),
        "chunks": _degree(row.vpp, "vpp?", said),
    }


def _degree(stated: int | None, name: str, said: str) -> float:
    """Return a degree of parallelism from its column, else from the words (`TP8 PP4`, `ep: 8`, `vp5`), else 1."""
    degree = None if stated else re.search(rf"(?<![a-z]){name}(?:_?size)?[\s=:_-]*(\d+)", said)
    return max(1.0, float(stated or (degree[1] if degree else 1)))


def _one_by_one(said: str) -> str:
    """Write `tp/pp/ep = 2/4/8` as `tp2 pp4 ep8`."""
    degrees = re.search(r"((?:[a-z]+/)+[a-z]+)[\s=:]*((?:\d+/)+\d+)", said)
    if degrees is None:
        return said
    pairs = zip(degrees[1].split("/"), degrees[2].split("/"), strict=False)
    return said.replace(degrees[0], " ".join(name + degree for name, degree in pairs))


def machine_of(row: Measurement, accelerator: Accelerator) -> dict[str, float]:
    """Return what the physics needs of the interconnect; what is not stated is what such machines usually have."""
    per_node = min(row.gpus_per_node or 8, row.num_gpus)
    network = row.interconnect_inter
    interconnect = interconnect_of(
        accelerator,
        per_node=per_node,
        slots=per_node,
        link=parse_link(row.interconnect_intra, accelerator),
        network_gbit_per_s=parse_network_gbit(network, per_node=per_node) or named_network_gbit(network, accelerator),
        lanes=parse_lanes(row.interconnect_intra),
    )
    return interconnect.facts(per_node=per_node)
