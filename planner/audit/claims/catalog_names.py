"""Finds the names of a claim in the catalog, in any usual spelling."""

from __future__ import annotations

import re

from planner.audit.findings import unknown
from planner.model.answer.audit import Finding
from planner.model.catalog import Catalog
from planner.model.hardware.accelerator_name import accelerator_named
from planner.model.hardware.machines import Accelerator, Node

FIX = "Name an accelerator as catalogs/hardware/accelerators.csv or its aliases do."


def accelerator_of(name: str, catalog: Catalog) -> Accelerator | Finding:
    """Return an accelerator by any name, or a finding that it is unknown."""
    known = accelerator_named(name, catalog.accelerators, catalog.aliases)
    return known or unknown("accelerator_not_known", f"No catalog knows the accelerator '{name}'.", fix=FIX)


def node_of(name: str, catalog: Catalog) -> Node | Finding:
    """Return a machine by its id or the name of its instance, or a finding that it is unknown."""
    said = _spelled(name)
    for node in catalog.nodes.values():
        plain = node.name.partition(" (")[0]
        if said in {_spelled(known_name) for known_name in (node.id, node.id.rpartition("/")[2], node.name, plain)}:
            return node
    begun = [node for node in catalog.nodes.values() if _spelled(node.name).startswith(f"{said} ")]
    if len(begun) == 1:
        return begun[0]
    return unknown(
        "machine_not_known", f"No catalog knows the machine '{name}'.", fix="See catalogs/hardware/nodes.csv."
    )


def _spelled(name: str) -> str:
    return re.sub(r"[\s_-]+", " ", name.casefold()).strip()
