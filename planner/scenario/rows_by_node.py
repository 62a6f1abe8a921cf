"""Price rows by instance, sorted once for each list, because a search asks for many."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock

from planner.model.prices.offer import Price

KEPT = 8
_orders: OrderedDict[int, tuple[tuple[Price, ...], dict[str | None, list[Price]]]] = OrderedDict()
"""Sorted rows by the identity of a list. The list is kept too, so that no other list can reuse the identity."""
_lock = Lock()


def rows_by_node(rows: tuple[Price, ...]) -> Mapping[str | None, list[Price]]:
    """Return the rows of each instance, in their order.

    The result is shared for the same list and must not be changed.
    """
    with _lock:
        known = _orders.get(id(rows))
        if known is not None:
            return known[1]
    order: dict[str | None, list[Price]] = {}
    for row in rows:
        order.setdefault(row.node, []).append(row)
    with _lock:
        _orders[id(rows)] = rows, order
        while len(_orders) > KEPT:
            _orders.popitem(last=False)
    return order
