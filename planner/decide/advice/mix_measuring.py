"""What one run of twenty minutes is worth to a mix: how much cheaper the plan becomes that is made after it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist

from planner.decide.advice.measuring import NOISE, is_measured, run_usd
from planner.decide.advice.mix_inputs import scaled
from planner.decide.advice.mixed import MixedCase
from planner.decide.options.estimate_plan import Paced
from planner.decide.outcomes.option_outcomes import TimedOption
from planner.decide.placement.candidate import PlacementCandidate, run_hours
from planner.decide.placement.instance import Instance, Solution, evaluate, in_budget
from planner.decide.placement.question import at_confidence
from planner.model.answer.option_estimate import CampaignOption
from planner.quantity.chance import doubted, log_deviation

RESULTS = 9
"""Results of a run that are told apart: equally likely slices."""
MOST_MEASURED = 10
NORMAL = NormalDist()


@dataclass(frozen=True)
class MixValue:
    """What measuring one option is worth."""

    option: CampaignOption
    paced: Paced
    usd: float
    """Of the run."""
    worth_usd: float
    chance_to_change: float
    """That other options take part after it."""


def worth_measuring_mix(mixed: MixedCase, confidence: float) -> list[MixValue]:
    """Return what measuring each option's speed is worth, best first: those that take part, then those next in cost.

    worth = E[loss of the plan as it stands] - E[cost of the plan made after the result]
    loss  = its cost; where it misses a limit then, that of the better plan as well

    A result moves the option's hours by gain x result and leaves less doubt in them (`given`); plans are made with the
    hours that are kept with the confidence. Errors of different options are taken to be independent.
    """
    asked = at_confidence(mixed.question, hours=confidence, usd=None)
    plan = mixed.solved(asked)
    if plan is None:
        return []
    used = {plan.instance.ways[one.way].option for one in plan.placed}
    costs = {way.option: way.usd for way in asked.ways if way.group == 0}
    places = {one.candidate.id: one for one in mixed.paced}
    order = sorted(range(len(mixed.question.candidates)), key=lambda one: (one not in used, costs.get(one, math.inf)))
    found = []
    for number in order[:MOST_MEASURED]:
        candidate = mixed.question.candidates[number]
        paced = places.get(candidate.alone.id)
        if paced is None or candidate.alone.throughput is None or is_measured(candidate.alone):
            continue
        usd = run_usd(mixed.case, paced, candidate.alone)
        if usd is not None:
            worth, change = _value(mixed, asked, plan, number, candidate, confidence)
            found.append(MixValue(candidate.alone, paced, usd, worth, change))
    return sorted(found, key=lambda one: (one.usd - one.worth_usd, one.option.id))


def _value(
    mixed: MixedCase, asked: Instance, plan: Solution, number: int, candidate: PlacementCandidate, confidence: float
) -> tuple[float, float]:
    """Return the worth in USD, and the chance that other options take part after the result."""
    assert candidate.alone.throughput is not None, "it is measured"
    decided = TimedOption.of(candidate.alone).decided(run_hours(candidate, 1.0))
    error, whole = log_deviation(doubted(candidate.alone.throughput)), log_deviation(decided)
    of_result = math.hypot(error, NOISE)
    gain, left = error**2 / of_result**2, error * NOISE / of_result
    rest = math.sqrt(max(0.0, whole**2 - error**2))
    surer = NORMAL.inv_cdf(confidence) * (math.hypot(rest, left) - math.hypot(rest, error))
    used = {plan.instance.ways[one.way].option for one in plan.placed}
    worth, changed = 0.0, 0
    for mean in slice_means(RESULTS):
        shift = gain * mean * of_result
        after = {"hours": math.exp(shift + surer), "usd": math.exp(shift)}
        best = mixed.solved(scaled(asked, number, **after))
        if best is None:
            continue
        stands = scaled(plan.instance, number, **after)
        kept = evaluate(stands, plan.placed)
        late = kept is None or kept.hours > asked.deadline * (1 + 1e-9) or not in_budget(stands, plan.placed)
        spent = plan.to_pay if kept is None else kept.to_pay
        worth += spent + (best.to_pay if late else 0.0) - best.to_pay
        changed += {best.instance.ways[one.way].option for one in best.placed} != used
    return max(0.0, worth / RESULTS), changed / RESULTS


def slice_means(count: int) -> list[float]:
    """Return the means of a standard normal in equally likely slices: (phi(a) - phi(b)) x count."""
    ends = [-math.inf, *(NORMAL.inv_cdf(number / count) for number in range(1, count)), math.inf]
    density = [0.0 if math.isinf(end) else NORMAL.pdf(end) for end in ends]
    return [(low - high) * count for low, high in pairwise(density)]
