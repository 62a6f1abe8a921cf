"""Place a campaign's runs on one option as its row in `compare` does."""

from __future__ import annotations

import math
from dataclasses import replace

from planner.decide.outcomes.play import runs_of_lane
from planner.decide.placement.instance import (
    RunsOnLane,
    Solution,
    evaluate,
)
from planner.decide.placement.question import PlacementQuestion


def as_its_row(question: PlacementQuestion, option: int) -> Solution | None:
    """Return equal runs on an option, shared over its sets of machines as in its row of `compare`.

    None if runs differ, or if one window does not hold all sets. Each set has the block of the row.
    """
    instance, row = question.instance, question.candidates[option].alone
    ways = [number for number, way in enumerate(instance.ways) if way.option == option]
    if len(instance.groups) != 1 or len(ways) != 1:
        return None
    (number,), way, runs = ways, instance.ways[ways[0]], instance.groups[0].runs
    sets = min(runs, row.at_once)
    if instance.bins[way.bin].lanes < sets:
        return None
    if instance.bins[way.bin].blocks and row.paid_ahead_hours is not None:
        billed = row.paid_ahead_hours / math.ceil(runs / row.at_once)
        of_row = replace(way, billed_hours=billed)
        instance = replace(instance, ways=(*instance.ways[:number], of_row, *instance.ways[number + 1 :]))
    return evaluate(instance, [RunsOnLane(number, lane, runs_of_lane(lane, runs, sets)) for lane in range(sets)])
