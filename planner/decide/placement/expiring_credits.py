"""Ask for plans whose runs on a provider end before its credits expire."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

from planner.decide.placement.instance import Instance, Solution
from planner.decide.placement.question import LONGEST, PlacementQuestion


def ends_of_credits(question: PlacementQuestion) -> Iterator[Mapping[str, float]]:
    """Yield by which hour the runs on each provider may have to end, for credits that could expire before.

    That is each expiry of one provider alone, and then the first expiry of all of them together.
    """
    expiring = {
        payer: ends
        for payer, counted in (question.instance.credits or {}).items()
        if not math.isclose(_lasting(question, payer, 0.0), counted) and (ends := _expiries(question, payer))
    }
    yield from ({payer: end} for payer, ends in expiring.items() for end in ends)
    if len(expiring) > 1:
        yield {payer: ends[0] for payer, ends in expiring.items()}


def closed_at(ends: Mapping[str, float], question: PlacementQuestion, instance: Instance) -> Instance:
    """Return the instance whose runs on each provider end by its hour, so that the credits that last pay for them."""
    closes = {way.bin: ends.get(instance.options[way.option].credits or "", math.inf) for way in instance.ways}
    bins = tuple(
        replace(bin_, closes=min(bin_.closes, closes.get(number, math.inf)))
        for number, bin_ in enumerate(instance.bins)
    )
    lasting = {payer: _lasting(question, payer, end) for payer, end in ends.items()}
    return replace(instance, bins=bins, credits=(instance.credits or {}) | lasting)


def opened_again(solution: Solution, instance: Instance) -> Solution:
    """Return a plan for a closed instance with the windows and credits of the instance before."""
    made, closes = solution.instance, {bin_.origin: bin_.closes for bin_ in instance.bins}
    bins = tuple(replace(bin_, closes=closes[bin_.origin]) for bin_ in made.bins)
    return replace(solution, instance=replace(made, bins=bins, credits=instance.credits))


def _expiries(question: PlacementQuestion, payer: str) -> list[float]:
    """Return the hours after which credits expire that have not yet, and do so within any plan's time."""
    return sorted({credit.hours for credit in question.credits.get(payer, ()) if 0 < credit.hours < LONGEST})


def _lasting(question: PlacementQuestion, payer: str, hours: float) -> float:
    """Return the USD of a provider's credits that last for these hours."""
    return sum(credit.usd for credit in question.credits.get(payer, ()) if credit.hours >= hours)
