"""Translates a source's machine names into our ids: the hardware decides, and a table where that is ambiguous."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from planner.adapters.csv_rows import read_rows
from planner.adapters.workspace import catalogs_dir
from planner.model.base import Frozen, Id, Text
from planner.model.hardware.machines import Node


class MachineName(Frozen):
    """One row of `catalogs/hardware/machine_names.csv`."""

    provider: Id
    name: Text
    """Name as the source writes it."""
    instance_type: Id
    """Our instance type."""
    source: Text


CLUSTER = "-cluster"
"""Suffix of our names for machines that are rented several at once. Price lists name single ones."""


class Machines:
    """Our machines of each provider, by name and by hardware."""

    def __init__(self, nodes: Mapping[str, Node], *, bundled: Path | None = None) -> None:
        rows = read_rows(MachineName, (bundled or catalogs_dir()) / "hardware" / "machine_names.csv")
        self._aliases = {(row.provider, _plain(row.name)): row.instance_type for row in rows}
        self._named: dict[tuple[str, str], str] = {}
        self._alike: dict[tuple[str, str, int], list[str]] = {}
        for node_id, node in nodes.items():
            provider, _, instance = node_id.partition("/")
            self._named[provider, _plain(instance)] = instance
            ours = instance.startswith(f"{node.accelerators}x-")  # our own name, used where a list gave none
            if ours and not instance.endswith(CLUSTER):
                self._alike.setdefault((provider, node.accelerator, node.accelerators), []).append(instance)
        self._nodes = nodes

    def of_source(self, provider: str, offers: Iterable[tuple[str, str, int]]) -> dict[tuple[str, str, int], str]:
        """Return our instance type of each offer (name, accelerator, count).

        Tries in this order: the machine of this name; the machine in the table; the provider's only machine with the
        same hardware, if it has no vendor name and no other offer has its name. A machine that is not ours keeps its
        name, with the count if several share it.
        """
        asked = list(dict.fromkeys(offers))
        known = {offer: self._by_name(provider, *offer) for offer in asked}
        taken = {instance for instance in known.values() if instance is not None}
        counts: dict[str, set[int]] = {}
        for name, _, count in asked:
            counts.setdefault(name, set()).add(count)
        return {
            offer: instance
            or self._by_kind(provider, offer, taken)
            or _own_name(offer, shared=counts[offer[0]], taken=taken)
            for offer, instance in known.items()
        }

    def _by_name(self, provider: str, name: str, accelerator: str, count: int) -> str | None:
        for instance in (self._aliases.get((provider, _plain(name))), self._named.get((provider, _plain(name)))):
            node = self._nodes.get(f"{provider}/{instance}")
            if instance is not None and node is not None and (node.accelerator, node.accelerators) == (
                accelerator, count,
            ):  # fmt: skip
                return instance
        return None

    def _by_kind(self, provider: str, offer: tuple[str, str, int], taken: set[str]) -> str | None:
        alike = self._alike.get((provider, offer[1], offer[2]), [])
        return alike[0] if len(alike) == 1 and alike[0] not in taken else None


def _own_name(offer: tuple[str, str, int], *, shared: set[int], taken: Collection[str]) -> str:
    name, _, count = offer
    return f"{count}x-{name}" if name in taken or (len(shared) > 1 and count > 1) else name


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold())
