"""List the inputs of a mix that can change: price and speed of an option, and the deadline."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from planner.decide.advice.turning import short_number
from planner.decide.placement.instance import Instance
from planner.quantity.time_units import HOURS_PER_DAY

LOOKED_AT = (1.25, 2.0, 5.0)
"""Factors by which a price or a speed is moved in both directions."""
DAYS_LOOKED_AT = (1, 3, 7, 14, 30)


@dataclass(frozen=True)
class Moved:
    """One input of the instance; `at` returns the instance at another value of it."""

    name: str
    option: int | None
    unit: str
    today: float
    values: tuple[tuple[float, ...], ...]
    """Values to try above and below, the nearest first."""
    at: Callable[[float], Instance]
    words: Callable[[float], str]
    """Condition at the beginning of a sentence."""
    between: bool = True
    """True if the turning value is searched between two tried ones."""


def moved_price(asked: Instance, number: int, name: str, usd: float, unit: str) -> Moved:
    """Return one option's price."""

    def words(value: float) -> str:
        side = "above" if value > usd else "below"
        return f"If {name} costs {side} {short_number(value)} USD an hour (now {short_number(usd)})"

    return Moved("price", number, unit, usd, _factors(usd), lambda value: at_price(asked, number, value / usd), words)


def moved_speed(asked: Instance, number: int, name: str, rate: float, unit: str) -> Moved:
    """Return one option's speed."""

    def words(value: float) -> str:
        side = "over" if value > rate else "under"
        return f"If {name} is {side} {value / rate:.3g} times as fast as estimated"

    return Moved(
        "speed", number, unit, rate, _factors(rate), lambda value: at_speed(asked, number, value / rate), words
    )


def moved_deadline(asked: Instance) -> Moved:
    """Return the deadline, in whole days."""
    today = asked.deadline / HOURS_PER_DAY
    above, below = (tuple(today + side * days for days in DAYS_LOOKED_AT) for side in (1, -1))

    def words(value: float) -> str:
        days = abs(round(value - today))
        word = "later" if value > today else "earlier"
        return f"With a deadline {days} {'day' if days == 1 else 'days'} {word}"

    def at(value: float) -> Instance:
        return replace(asked, deadline=value * HOURS_PER_DAY)

    values = (above, tuple(value for value in below if value > 0))
    return Moved("deadline", None, "days", today, values, at, words, between=False)


def _factors(today: float) -> tuple[tuple[float, ...], ...]:
    return tuple(today * factor for factor in LOOKED_AT), tuple(today / factor for factor in LOOKED_AT)


def at_price(asked: Instance, number: int, factor: float) -> Instance:
    """Return the instance with one option's costs times a factor."""
    own = {way.bin for way in asked.ways if way.option == number}
    bins = tuple(
        replace(spot, lane_usd=spot.lane_usd * factor, usd_per_hour=spot.usd_per_hour * factor)
        if place in own
        else spot
        for place, spot in enumerate(asked.bins)
    )
    ways = tuple(replace(way, usd=way.usd * factor) if way.option == number else way for way in asked.ways)
    return replace(asked, bins=bins, ways=ways)


def at_speed(asked: Instance, number: int, factor: float) -> Instance:
    """Return the instance with one option faster by a factor."""
    return scaled(asked, number, hours=1 / factor, usd=1 / factor)


def scaled(asked: Instance, number: int, *, hours: float, usd: float) -> Instance:
    """Return the instance with the hours of one option's runs times a factor, and their cost times another."""
    ways = tuple(
        replace(way, hours=way.hours * hours, usd=way.usd * usd, billed_hours=way.billed_hours * usd)
        if way.option == number else way
        for way in asked.ways
    )  # fmt: skip
    return replace(asked, ways=ways)
