"""Reads the machine out of a published measurement, and how the work was spread over it."""

from __future__ import annotations

import re

from planner.estimate.links import links, named_network_gbit, parse_link, parse_network_gbit
from planner.model.evidence import Measurement
from planner.model.hardware import Accelerator


def spread_of(row: Measurement) -> dict[str, float]:
    """Return the degrees of parallelism; what the columns leave out is read from the words."""
    tp, pp, cp, ep = (float(value or 1) for value in (row.tp, row.pp, row.cp, row.ep))
    said = row.parallelism.casefold()
    if row.tp is None and (found := re.search(r"\btp\s?(\d+)", said)):
        tp = float(found[1])
    if row.pp is None and (found := re.search(r"\bpp\s?(\d+)", said)):
        pp = float(found[1])
    if row.cp is None and (found := re.search(r"cp\s?(\d+)", said)):
        cp = float(found[1])
    splits = tp * pp * cp
    if splits > row.num_gpus or row.num_gpus % splits:
        tp = pp = cp = splits = 1.0
    dp = row.num_gpus / splits
    hybrid = "hsdp" in f"{row.parallelism} {row.zero}".casefold()
    shards = min(dp, float(row.gpus_per_node or 8)) if hybrid else dp * cp
    return {
        "shards": shards,
        "dp": dp,
        "tp": tp,
        "pp": pp,
        "cp": cp,
        "ep": min(ep, row.num_gpus / pp),
        "chunks": float(row.vpp or 1),
    }


def machine_of(row: Measurement, accelerator: Accelerator) -> dict[str, float]:
    """Return what the physics needs of the wires; what is not stated is what such machines usually have."""
    per_node = min(row.gpus_per_node or 8, row.num_gpus)
    network = row.interconnect_inter
    wires = links(
        accelerator,
        per_node=per_node,
        slots=per_node,
        link=parse_link(row.interconnect_intra, accelerator),
        network_gbit_per_s=parse_network_gbit(network) or named_network_gbit(network, accelerator),
    )
    return wires.facts(per_node=per_node)
