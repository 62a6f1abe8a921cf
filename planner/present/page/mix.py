"""Computes the three figures of a mix of options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from planner.decide.recommend.phrases import nothing_to_pay
from planner.model.answer.documents import FeasiblePlan
from planner.present.page.money import MoneyFormat
from planner.present.page.words import Words


@dataclass(frozen=True)
class KeyFigure:
    """One of the three figures: its name, its value, and a line below it."""

    name: str
    value: str
    below: str


def mix_figures(mix: FeasiblePlan, words: Words, money: MoneyFormat, *, asked: float) -> Sequence[KeyFigure]:
    """Return the figures "done by", "to pay" and "how sure"."""
    hours, usd = mix.campaign_hours, mix.campaign_usd
    chances = [chance for chance in (mix.chance_deadline, mix.chance_budget) if chance is not None]
    kept = min(chances, default=asked) if mix.chance_both is None else mix.chance_both
    sure = words("to keep the limits; {asked} asked; {known}", asked=words.percent(asked), known=words("simulated"))
    bill, spread = money.text(usd.value), money.range(usd)
    to_pay, below = bill, words("likely {value}; 90 %: {range}", value=bill, range=spread)
    if mix.usd_confident is not None:
        nothing = nothing_to_pay(mix, bill=usd)
        to_pay = words("at most {usd}", usd=money.most(mix))
        if mix.credits_usd:
            to_pay = words("at most {usd} after credits", usd=money.most(mix))
            below = words("before credits likely {value}; 90 %: {range}", value=bill, range=spread)
        to_pay = words(nothing) if nothing else to_pay
    return [
        KeyFigure(
            words("Done by"),
            words.day(mix.done_by_confident) if mix.done_by_confident else words("not known"),
            words("likely {value}; 90 %: {range}", value=words.hours(hours.value), range=words.hours_range(hours)),
        ),
        KeyFigure(words("To pay"), to_pay, below),
        KeyFigure(words("How sure"), words.percent(kept), sure),
    ]
