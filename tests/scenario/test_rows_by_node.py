"""The rows of an instance are those that a look through all of them finds, in their order."""

from __future__ import annotations

from planner.scenario.rows_by_node import KEPT, rows_by_node
from tests.bundled import bundled_catalog

PRICES = bundled_catalog().prices


def test_no_row_is_lost_or_out_of_order():
    order = rows_by_node(PRICES)
    assert all(rows == [row for row in PRICES if row.node == node] for node, rows in order.items())
    assert sum(len(rows) for rows in order.values()) == len(PRICES)


def test_each_list_has_its_own_answer_however_many_there_are():
    lists = [PRICES[start:] for start in range(3 * KEPT)]
    for rows in (*lists, *reversed(lists)):
        assert sum(len(found) for found in rows_by_node(rows).values()) == len(rows)
