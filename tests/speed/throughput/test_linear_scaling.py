"""Every link has its share of linear scaling, and its range."""

from __future__ import annotations

import math

import pytest

from planner.model.hardware.machines import Link
from planner.speed.throughput.linear_scaling import LINK_EFFICIENCY, LINK_FACTOR, scaling


@pytest.mark.parametrize("by_link", [LINK_EFFICIENCY, LINK_FACTOR], ids=["LINK_EFFICIENCY", "LINK_FACTOR"])
def test_every_link_has_an_entry(by_link: dict[Link, float]) -> None:
    assert set(by_link) == set(Link)


@pytest.mark.parametrize("link", Link)
@pytest.mark.parametrize(("per_node", "nodes"), [(1, 1), (8, 1), (8, 4), (1, 2)])
def test_a_range_is_the_product_of_its_factors(link: Link, per_node: int, nodes: int) -> None:
    answer = scaling(link, accelerators_per_node=per_node, nodes=nodes)
    assert answer.factor == pytest.approx(math.prod(part.value for part in answer.factors))
    assert len(answer.factors) == (per_node > 1) + (nodes > 1)
    assert 0 < answer.share <= 1
