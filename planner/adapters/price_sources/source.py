"""Common result of all price sources, and translation of their names of accelerators and machines into our ids."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from planner.adapters.csv_rows import read_rows
from planner.adapters.workspace import catalogs_dir
from planner.errors import PlannerError, PriceSourceError
from planner.model.base import Frozen, Id, Positive, Text
from planner.model.hardware.machines import Node
from planner.model.prices.offer import Price, PriceKind, PriceOrigin
from planner.model.prices.price_list import EVERYWHERE, ListRead
from planner.time_limits import asked_together


@dataclass
class SourceAnswer:
    """One source's answer: prices, problems on the way, and what was left out with its reason."""

    prices: list[Price] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    lists: list[ListRead] = field(default_factory=list)
    """Lists that were read completely."""
    not_asked: list[str] = field(default_factory=list)
    """Further questions that the source could answer and that were not asked, each with its reason."""

    @contextmanager
    def alone(self, what: str) -> Iterator[None]:
        """Note an error of this part of the answer among the problems, and go on."""
        try:
            yield
        except PlannerError as error:
            self.problems.append(str(error))
        except Exception as error:  # noqa: BLE001  # the other parts are kept
            self.problems.append(f"{what}: its answer cannot be read: {error!r}.")

    @classmethod
    def of_parts(cls, asks: Sequence[Callable[[], SourceAnswer]], *, source: str) -> SourceAnswer:
        """Ask for the parts of a source at the same time, and join them. PriceSourceError if no price came."""
        answer = cls()
        for part in asked_together(asks):
            answer.take(part.result())
        if not answer.prices and answer.problems:
            raise PriceSourceError(f"no price came from {source}. {answer.problems[0].removesuffix('.')}.")
        return answer

    def take(self, other: SourceAnswer) -> None:
        """Add the answer of one part of the source."""
        self.prices += other.prices
        self.problems += other.problems
        self.left_out += other.left_out
        self.lists += other.lists
        self.not_asked += other.not_asked

    def read_whole(self, provider: str, origin: PriceOrigin, today: date, *, region: str = EVERYWHERE) -> None:
        """Record that all on-demand prices of a provider or region came, and all spot prices if any did."""
        kinds = {price.price_kind for price in self.prices if price.provider == provider}
        for kind in sorted(kinds & {PriceKind.ON_DEMAND, PriceKind.SPOT}):
            read = ListRead(provider=provider, origin=origin, price_kind=kind, region=region, read_on=today)
            self.lists.append(read)

    def add(self, **cells: Any) -> None:
        """Add a price, or note why the source's row is not valid."""
        try:
            self.prices.append(Price(**cells))
        except ValidationError as error:
            detail = error.errors()[0]
            column = str(detail["loc"][0]) if detail["loc"] else "the row"
            self.left_out[f"{column}: {detail['msg']}"] += 1


class SourceName(Frozen):
    """One row of `catalogs/hardware/price_names.csv`: how price lists spell an accelerator."""

    name: Text
    hbm_gib: Positive | None = None
    """Memory size, if one name stands for several."""
    accelerator: Id
    note: Text | None = None


@dataclass(frozen=True)
class NamedAccelerator:
    """Accelerator that a name means, with the assumption made."""

    accelerator: str
    note: str | None = None


class Names:
    """Our accelerator ids by the names in price lists."""

    def __init__(self, nodes: dict[str, Node], *, bundled: Path | None = None) -> None:
        rows = read_rows(SourceName, (bundled or catalogs_dir()) / "hardware" / "price_names.csv")
        self._rows: dict[str, list[SourceName]] = {}
        for row in rows:
            self._rows.setdefault(_plain(row.name), []).append(row)
        self._nodes = nodes

    def find(self, node_id: str, name: str, hbm_gib: float | None, *, hint: str = "") -> NamedAccelerator | None:
        """Return the accelerator of an instance: from its own row if we know the instance, otherwise by name and
        memory.

        SXM, PCIe or NVL in the instance's name, or in `hint`, decides between form factors that share a name.
        """
        node = self._nodes.get(node_id)
        if node is not None:
            return NamedAccelerator(node.accelerator)
        rows = self._rows.get(_plain(name), [])
        sized = [row for row in rows if row.hbm_gib is None or hbm_gib is None or abs(row.hbm_gib - hbm_gib) < 6]
        if not sized:
            return None
        form = re.search(r"SXM|NVL|PCIe", f"{node_id} {hint}", re.IGNORECASE)
        if form is not None:
            exact = [row for row in sized if form[0].casefold() in row.accelerator.casefold()]
            if exact:
                return NamedAccelerator(exact[0].accelerator)
        return NamedAccelerator(sized[0].accelerator, sized[0].note)


def as_id(text: str) -> str:
    """Write a vendor's name with the letters that an id may have."""
    return re.sub(r"[^A-Za-z0-9._/@+-]+", "-", text).strip("-")[:100]


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold().replace("nvidia", ""))


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
        self._aliases = {(row.provider, _letters(row.name)): row.instance_type for row in rows}
        self._named: dict[tuple[str, str], str] = {}
        self._alike: dict[tuple[str, str, int], list[str]] = {}
        for node_id, node in nodes.items():
            provider, _, instance = node_id.partition("/")
            self._named[provider, _letters(instance)] = instance
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
        for instance in (self._aliases.get((provider, _letters(name))), self._named.get((provider, _letters(name)))):
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


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold())
