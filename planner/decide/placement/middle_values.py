"""Put the likely hours and costs in place of the larger ones at which a plan was proposed."""

from __future__ import annotations

import math
from dataclasses import replace

from planner.decide.placement.instance import Instance, Solution, evaluate
from planner.decide.placement.question import PlacementQuestion


def by_middle_values(question: PlacementQuestion, solution: Solution) -> Solution:
    """Return a solution of other hours and costs with the question's own, in the blocks that were bought.

    The samples decide whether its runs end within their windows.
    """
    likely, bought = with_values(solution, question.instance), solution.instance.ways
    ways = tuple(
        replace(way, billed_hours=as_bought.billed_hours) if likely.bins[way.bin].blocks else way
        for way, as_bought in zip(likely.ways, bought, strict=True)
    )
    instance = replace(likely, ways=ways)
    endless = replace(instance, bins=tuple(replace(bin_, closes=math.inf) for bin_ in instance.bins))
    evaluated = evaluate(endless, solution.placed, bound=solution.bound)
    assert evaluated is not None, "it has no windows"
    return replace(evaluated, instance=instance, gap=solution.gap)


def with_values(solution: Solution, values: Instance) -> Instance:
    """Return a solution's instance, with its separated lanes, at the hours and costs of another one."""
    by_place = {(way.group, way.option, values.bins[way.bin].origin): way for way in values.ways}
    opens = {bin_.origin: bin_.opens for bin_ in values.bins}
    bins = tuple(replace(bin_, opens=opens[bin_.origin]) for bin_ in solution.instance.bins)
    ways = tuple(
        replace(by_place[way.group, way.option, bins[way.bin].origin], bin=way.bin) for way in solution.instance.ways
    )
    return replace(values, ways=ways, bins=bins)
