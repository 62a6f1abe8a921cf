"""List the plans that differ from a plan by runs that move from one lane to another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from planner.decide.placement.instance import Instance, RunsOnLane


def moves(instance: Instance, placed: Sequence[RunsOnLane]) -> Iterator[list[RunsOnLane]]:
    """Yield the plans in which one run, or all runs of a way on a lane, have moved to the emptiest lane of a way.

    With a term they also move to its fullest lane.
    """
    runs = {(each.way, each.lane): each.runs for each in placed}
    load: defaultdict[tuple[int, int], float] = defaultdict(float)
    for (way, lane), count in runs.items():
        load[instance.ways[way].bin, lane] += count * instance.ways[way].hours
    places = _places(instance, load)
    for (way, lane), count in runs.items():
        for to_way, to_lane in places:
            if instance.ways[to_way].group != instance.ways[way].group or (to_way, to_lane) == (way, lane):
                continue
            for moved in {1, count}:
                remaining = {**runs, (way, lane): count - moved}
                remaining[to_way, to_lane] = runs.get((to_way, to_lane), 0) + moved
                yield [RunsOnLane(*place, number) for place, number in remaining.items() if number]


def _places(instance: Instance, load: dict[tuple[int, int], float]) -> list[tuple[int, int]]:
    """Return for each group, option and window the way and lane with the fewest hours. Its other lanes are alike.

    Of a term also the one with the most hours, which are paid for already up to the term's end.
    """
    emptiest: dict[tuple[int, int, int | None], tuple[float, int, int]] = {}
    fullest: dict[tuple[int, int, int | None], tuple[float, int, int]] = {}
    for number, way in enumerate(instance.ways):
        bin_ = instance.bins[way.bin]
        lanes = [(load.get((way.bin, lane), 0.0), number, lane) for lane in range(bin_.lanes)]
        key = (way.group, way.option, bin_.origin)
        emptiest[key] = min([*lanes, *([emptiest[key]] if key in emptiest else [])])
        if bin_.by_term:
            fullest[key] = max([*lanes, *([fullest[key]] if key in fullest else [])])
    return list(dict.fromkeys((number, lane) for _, number, lane in [*emptiest.values(), *fullest.values()]))
