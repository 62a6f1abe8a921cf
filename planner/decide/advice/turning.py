"""Find the inputs that move the answer most, and their values at which it changes, by ranking again."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

from planner.decide.advice.case import Case, Decision
from planner.decide.advice.inputs import MovedInput, Options
from planner.decide.options.display_name import name_of
from planner.errors import InputError
from planner.model.answer.recommendation import InputSwing, TurningPoint
from planner.model.currency import Currency

TRIED_FACTORS = (1.1, 1.25, 1.5, 2.0, 3.0, 5.0)
"""Factors by which an input is moved in both directions to find a change."""
NEARLY = 0.01
STEPS = 8
"""Steps of the bisection between two tried values, to better than half a percent."""


def swing(case: Case, options: Options, moved: MovedInput) -> InputSwing:
    """Return the cost of the decided option, and the decision, at both ends of the input."""
    chosen = case.decide(options).id
    read = moved.options_if or moved.options_at
    ends = [_options_at(read, value) for value in (moved.range.low, moved.range.high)]
    usd = [next((option.usd_confident for option in at if option.id == chosen), None) for at in ends]
    low, high = (case.decide(at).id for at in ends)
    return InputSwing(
        input=moved.name, option=moved.option.id if moved.option else None, unit=moved.unit,
        value=moved.range.value, low=moved.range.low, high=moved.range.high,
        usd_at_low=usd[0], usd_at_high=usd[1], decision_at_low=low, decision_at_high=high,
    )  # fmt: skip


def width(moved: InputSwing, usd: float) -> float:
    """Return the logarithm of the factor by which an input moves the cost; unknown ends do not count."""
    ends = [
        math.log(max(end, 0.01) / max(usd, 0.01)) for end in (moved.usd_at_low, moved.usd_at_high) if end is not None
    ]
    return max((abs(end) for end in ends), default=0.0)


def turning_points(case: Case, options: Options, moved: MovedInput) -> list[TurningPoint]:
    """Return the nearest value on each side at which another option is recommended, or none is.

    Values beyond a factor of 5, or that the input cannot take, are not tried. The value is found by bisection in
    logarithms between the last tried value with the same decision and the first with another.
    """
    before = case.decide(options)
    names = {option.id: name_of(option) for option in options}
    found = []
    for direction in (1, -1):
        same = moved.range.value
        for factor in TRIED_FACTORS:
            value = _rounded(moved, moved.range.value * factor**direction)
            if moved.reach is not None:
                value = min(max(value, moved.reach[0]), moved.reach[1])
            if value == same:
                continue
            then = case.decide(_options_at(moved.options_at, value))
            if then.answer != before.answer:
                at, then = _between(case, moved, (same, value), before, then)
                found.append(_point(moved, at, then, names, case.plan.currency))
                break
            same = value
    return found


def distance(point: TurningPoint) -> float:
    """Return the logarithm of the factor between the input and its turning value."""
    return abs(math.log(point.at / point.today))


def _between(
    case: Case, moved: MovedInput, ends: tuple[float, float], before: Decision, then: Decision
) -> tuple[float, Decision]:
    same, other = ends
    for _ in range(STEPS):
        middle = _rounded(moved, math.sqrt(same * other))
        if middle in (same, other):
            break
        decision = case.decide(_options_at(moved.options_at, middle))
        if decision.answer == before.answer:
            same = middle
        else:
            other, then = middle, decision
    return other, then


def _options_at(read: Callable[[float], Options], value: float) -> Options:
    """Return the options at a value; none if a plan with this value cannot be answered."""
    try:
        return read(value)
    except InputError:
        return ()


def _rounded(moved: MovedInput, value: float) -> float:
    return max(1.0, float(round(value))) if moved.whole else value


def _point(
    moved: MovedInput, at: float, then: Decision, names: dict[str, str], currency: Currency | None
) -> TurningPoint:
    side: Literal["above", "below"] = "above" if at > moved.range.value else "below"
    return TurningPoint(
        input=moved.name, option=moved.option.id if moved.option else None, unit=moved.unit,
        today=moved.range.value, at=at, side=side, then=then.answer,
        sentence=turning_sentence(moved, at, then, names, currency),
    )  # fmt: skip


def turning_sentence(
    moved: MovedInput, at: float, then: Decision, names: dict[str, str], currency: Currency | None
) -> str:
    """Write a turning point in at most twenty words: `Lambda, 1x H100 wins above 0.41 USD a kWh (now 0.15).`

    One within 1 % of today's value, which the search finds no more exactly, has no value of its own.
    """
    today, above = moved.range.value, at > moved.range.value
    near = abs(at / today - 1) < NEARLY
    wins = f"{names.get(then.answer or '', '')} wins" if then.recommended else "no option keeps the limits"
    side = "above" if above else "below"
    if moved.name == "speed" and moved.option is not None:
        if near:
            return f"If {name_of(moved.option)} is any {'faster' if above else 'slower'} than estimated, {wins}."
        times = f"{'over' if above else 'under'} {at / today:.3g} times as fast as estimated"
        return f"If {name_of(moved.option)} is {times}, {wins}."
    if moved.name == "price" and moved.option is not None:
        usd = f"{side} {short_number(at)} USD an hour (now {short_number(today)})"
        usd = f"just {side} its {short_number(today)} USD an hour" if near else usd
        return f"If {name_of(moved.option)} costs {usd}, {wins}."
    unit = {"preemption": "preemptions an hour"}.get(moved.name, moved.unit)
    if moved.name == "electricity":  # a household compares it with its own bill
        rate, code = (1.0, "USD") if currency is None else (currency.per_usd, currency.code)
        at, today, unit = at * rate, today * rate, f"{code} a kWh"
    wins = f"{wins[0].upper()}{wins[1:]}"
    if moved.whole:
        unit = unit.removesuffix("s") if at == 1 else unit
        return f"{wins} {'from' if above else 'up to'} {at:,.0f} {unit} (now {today:,.0f})."
    if near:
        return f"{wins} just {side} the {short_number(today)} {unit} of now."
    return f"{wins} {side} {short_number(at)} {unit} (now {short_number(today)})."


def short_number(number: float) -> str:
    """Write a number with three digits."""
    return f"{float(f'{number:.3g}'):,g}" if number < 10_000 else f"{float(f'{number:.4g}'):,.0f}"
