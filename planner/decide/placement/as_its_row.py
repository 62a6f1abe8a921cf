"""The runs of a campaign on one option, shared out as its row in `compare` does."""

from __future__ import annotations

import math

from planner.decide.outcomes.play import runs_of_lane
from planner.decide.placement.instance import Placed, Solution, measured
from planner.decide.placement.question import Question


def as_its_row(question: Question, option: str) -> Solution | None:
    """Return equal runs on as many sets of machines as the option's row has, each with as many or one more.

    None where runs are unlike, or where one window does not hold all sets.
    """
    instance = question.instance
    ways = [
        number for number, way in enumerate(instance.ways) if question.candidates[way.option].alone.id == option
    ]  # fmt: skip
    if len(instance.groups) != 1 or len(ways) != 1:
        return None
    way = instance.ways[ways[0]]
    runs = instance.groups[0].runs
    sets = min(runs, question.candidates[way.option].alone.at_once)
    if instance.bins[way.bin].lanes < sets:
        return None
    placed = tuple(
        Placed(ways[0], lane, runs_of_lane(lane, runs, sets)) for lane in range(sets)
    )  # fmt: skip
    taken = measured(instance, placed)
    if taken is None:
        return None
    usd, to_pay, ends = taken
    return Solution(instance, placed, usd, to_pay, ends[-1], ends, bound=-math.inf, gap=0.0)
