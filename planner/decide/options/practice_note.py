"""Write a note on the practice that times assume, and on the times of another practice."""

from __future__ import annotations

from collections.abc import Sequence

from planner.model.answer.option_estimate import OptionEstimate
from planner.model.plan.convergence import Practice
from planner.model.plan.plan import Plan

SEEN = 1.05
"""Factor from which on a practice is mentioned."""


def practice_note(plan: Plan, options: Sequence[OptionEstimate]) -> str | None:
    """Return the plan's practice and the others as factors of a benchmark's time; None if no time has one."""
    stretched = [option for option in options if option.time is not None and option.time.practices]
    if not stretched:
        return None
    time = stretched[0].time
    assert time is not None, "it is stretched"
    factors = {each.practice: each.factor for each in time.practices}
    times = {practice: factor.value for practice, factor in factors.items()}
    typical, tuned = times[Practice.TYPICAL], times[Practice.TUNED]
    some = "" if len(stretched) == sum(option.time is not None for option in options) else " where nothing was measured"
    match plan.practice:
        case Practice.TYPICAL:
            would = f"{tuned:.2g} x" if tuned >= SEEN else "the benchmark's"
            seen = f"{factors[Practice.TYPICAL].low:.2g} to {factors[Practice.TYPICAL].high:.2g}"
            text = f"as people get them, {typical:.2g} x the benchmark's ({seen}); `practice: tuned` would be {would}"
        case Practice.TUNED:
            text = f"as tuned trainings get them, {tuned:.2g} x the benchmark's; people usually get {typical:.2g} x"
        case Practice.BENCHMARK:
            usual = f"people usually take {typical:.2g} x as long"
            text = f"a benchmark's; {usual}{f', tuned trainings {tuned:.2g} x' if tuned >= SEEN else ''}"
    return f"times{some} are {text}"
