"""Common result of all price sources, and translation of their names into our ids."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from planner.adapters.csv_rows import read_rows
from planner.adapters.workspace import catalogs_dir
from planner.errors import PlannerError
from planner.model.base import Frozen, Id, Positive, Text
from planner.model.hardware.machines import Node
from planner.model.prices.offer import Price, PriceKind, PriceOrigin
from planner.model.prices.price_list import EVERYWHERE, ListRead


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
