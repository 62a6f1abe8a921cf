"""Find the times in which sets of machines are free between the turns of others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple


class Span(NamedTuple):
    """Hours from the campaign's start."""

    opens: float
    closes: float


class TakenNodes(NamedTuple):
    """A turn of others."""

    opens: float
    closes: float
    nodes: int


def free_lanes(
    nodes: int, width: int, taken: Sequence[TakenNodes], *, most: int, opens: float, closes: float
) -> dict[Span, int]:
    """Return windows with the number of sets of `width` nodes that are free throughout, at most `most` sets.

    Set i is free while nodes - taken >= (i + 1) x width; which machines they are does not matter, as they are alike.
    """
    sets = min(most, nodes // width)
    edges = sorted({opens, *(edge for turn in taken for edge in turn[:2] if opens < edge < closes)})
    found: Counter[Span] = Counter()
    for number in range(sets):
        begin: float | None = None
        for edge in edges:
            free = nodes - sum(turn.nodes for turn in taken if turn.opens <= edge < turn.closes)
            if free >= (number + 1) * width and begin is None:
                begin = edge
            elif free < (number + 1) * width and begin is not None:
                found[Span(begin, edge)] += 1
                begin = None
        if begin is not None and begin < closes:
            found[Span(begin, closes)] += 1
    return dict(found)
