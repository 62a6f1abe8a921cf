"""Inputs of a mix that can change: price and speed of an option, and the deadline."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from planner.decide.advice.turning import short_number
from planner.decide.placement.instance import Instance
from planner.quantity.time_units import HOURS_PER_DAY

TRIED_FACTORS = (1.25, 2.0, 5.0)
"""Factors by which a price or a speed is raised and lowered, the nearest first."""
TRIED_DAYS = (1, 3, 7, 14, 30)


@dataclass(frozen=True)
class MixInput:
    """One input of a mix that can change."""

    name: str
    option: int | None
    unit: str
    today: float
    values: tuple[tuple[float, ...], ...]
    """Values to try above today's and below it, the nearest first."""
    at: Callable[[float], Instance]
    """Function that returns the instance at another value of the input."""
    condition: Callable[[float], str]
    """Function that returns the first words of a sentence: "If ... costs above 3 USD an hour"."""
    is_continuous: bool = True
    """True if values between two tried ones are possible too. The deadline is in whole days."""


def price_input(instance: Instance, option: int, name: str, usd: float, unit: str) -> MixInput:
    """Return one option's price as an input."""

    def words(value: float) -> str:
        side = "above" if value > usd else "below"
        return f"If {name} costs {side} {short_number(value)} USD an hour (now {short_number(usd)})"

    return MixInput(
        "price", option, unit, usd, _factors(usd), lambda value: with_price_times(instance, option, value / usd), words
    )


def speed_input(instance: Instance, option: int, name: str, rate: float, unit: str) -> MixInput:
    """Return one option's speed as an input."""

    def words(value: float) -> str:
        side = "over" if value > rate else "under"
        return f"If {name} is {side} {value / rate:.3g} times as fast as estimated"

    return MixInput(
        "speed",
        option,
        unit,
        rate,
        _factors(rate),
        lambda value: with_speed_times(instance, option, value / rate),
        words,
    )


def deadline_input(instance: Instance) -> MixInput:
    """Return the deadline as an input, in whole days."""
    today = instance.deadline / HOURS_PER_DAY
    above, below = (tuple(today + side * days for days in TRIED_DAYS) for side in (1, -1))

    def words(value: float) -> str:
        days = abs(round(value - today))
        word = "later" if value > today else "earlier"
        return f"With a deadline {days} {'day' if days == 1 else 'days'} {word}"

    def at(value: float) -> Instance:
        return replace(instance, deadline=value * HOURS_PER_DAY)

    values = (above, tuple(value for value in below if value > 0))
    return MixInput("deadline", None, "days", today, values, at, words, is_continuous=False)


def _factors(today: float) -> tuple[tuple[float, ...], ...]:
    return tuple(today * factor for factor in TRIED_FACTORS), tuple(today / factor for factor in TRIED_FACTORS)


def with_price_times(instance: Instance, option_number: int, factor: float) -> Instance:
    """Return the instance with one option's costs multiplied by a factor."""
    own_bins = {way.bin for way in instance.ways if way.option == option_number}
    bins = tuple(
        replace(bin_, lane_usd=bin_.lane_usd * factor, usd_per_hour=bin_.usd_per_hour * factor)
        if bin_number in own_bins
        else bin_
        for bin_number, bin_ in enumerate(instance.bins)
    )
    ways = tuple(replace(way, usd=way.usd * factor) if way.option == option_number else way for way in instance.ways)
    return replace(instance, bins=bins, ways=ways)


def with_speed_times(instance: Instance, option: int, factor: float) -> Instance:
    """Return the instance with one option faster by a factor."""
    return with_hours_times(instance, option, hours_factor=1 / factor, usd_factor=1 / factor)


def with_hours_times(instance: Instance, option_number: int, *, hours_factor: float, usd_factor: float) -> Instance:
    """Return the instance with the hours of one option's runs multiplied by `hours`, and their cost by `usd`."""
    ways = tuple(
        replace(
            way, hours=way.hours * hours_factor, usd=way.usd * usd_factor, billed_hours=way.billed_hours * usd_factor
        )
        if way.option == option_number else way
        for way in instance.ways
    )  # fmt: skip
    return replace(instance, ways=ways)
