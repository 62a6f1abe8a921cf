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


def as_its_row(question: PlacementQuestion, option: int, *, most: float = math.inf) -> Solution | None:
    """Return equal runs on an option, shared over its sets of machines as in its row of `compare`, or over `most`.

    None if runs differ, or if one window does not hold all sets. Each set has the block of the row.
    """
    instance, row = question.instance, question.candidates[option].alone
    ways = [number for number, way in enumerate(instance.ways) if way.option == option]
    bins = [instance.bins[instance.ways[number].bin] for number in ways]
    if len(instance.groups) != 1 or len({(bin_.opens, bin_.closes) for bin_ in bins}) != 1:
        return None
    runs = instance.groups[0].runs
    sets = int(min(runs, row.at_once, most))
    slots = [(number, lane) for number, bin_ in zip(ways, bins, strict=True) for lane in range(min(sets, bin_.lanes))]
    if len(slots) < sets:
        return None
    if bins[0].blocks and row.paid_ahead_hours is not None:
        billed = row.paid_ahead_hours / math.ceil(runs / row.at_once)
        of_row = tuple(replace(way, billed_hours=billed) if way.option == option else way for way in instance.ways)
        instance = replace(instance, ways=of_row)
    shared = enumerate(slots[:sets])
    return evaluate(instance, [RunsOnLane(way, lane, runs_of_lane(place, runs, sets)) for place, (way, lane) in shared])
