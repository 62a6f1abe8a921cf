"""Share the nodes of a commitment among the options of its item that take part in a plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from planner.cost.cloud.price import with_nodes_used
from planner.decide.campaign.campaign_plan import Lane
from planner.decide.placement.candidate import PlacementCandidate
from planner.decide.placement.question import PlacementQuestion
from planner.model.quantity import Unit
from planner.quantity.conversion import derived
from planner.quantity.interval import Interval


def at_shared_commitments(
    question: PlacementQuestion, lanes_by_option: Mapping[int, list[Lane]]
) -> Iterator[tuple[int, PlacementCandidate, list[Lane]]]:
    """Yield the options in use with their lanes, each at the price of the nodes that earlier ones leave.

    Options of one item count as used at the same time, even if one follows another.
    """
    used: Counter[tuple[str, str, str]] = Counter()
    for number, lanes in sorted(lanes_by_option.items()):
        candidate = question.candidates[number]
        price, rates = candidate.estimated.price, candidate.estimated.rates
        if price is not None and rates is not None and price.committed_nodes is not None:
            item = price.node, price.price_kind, price.region
            if used[item]:
                price = with_nodes_used(price, used[item])
                assert price.usd_per_hour is not None, "a commitment has a price"
                exact = Interval.exact(price.usd_per_hour)
                rates = replace(rates, price=derived(exact, Unit.USD_PER_HOUR, rates.price, source=rates.price.source))
                candidate = replace(candidate, estimated=replace(candidate.estimated, price=price, rates=rates))
            used[item] += len(lanes) * (candidate.alone.nodes or 0)
        yield number, candidate, lanes
