"""How firmly a mix stands: at which prices, speeds and deadlines other options take part, by solving it again."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from planner.decide.advice.turning import distance, short_number
from planner.decide.placement.chosen import Chosen
from planner.decide.placement.instance import Instance, Objective
from planner.decide.placement.milp import NotFoundInTimeError
from planner.decide.placement.question import Question
from planner.decide.placement.solve import solve
from planner.decide.recommend.phrases import WORDS
from planner.decide.recommend.wording import name_of
from planner.model.answer.recommendation import TurningPoint
from planner.quantity.time_units import HOURS_PER_DAY

LOOKED_AT = (1.25, 2.0, 5.0)
"""How far a price or a speed is followed, by these factors on both sides."""
DAYS_LOOKED_AT = (1, 3, 7, 14, 30)
STEPS = 5
"""Of the bisection between two of them."""
SECONDS = 0.5
"""Of one solution: what is not solved in this is not followed further."""


@dataclass(frozen=True)
class Moved:
    """One input of the instance; `at` gives the instance where it has another value."""

    name: str
    option: int | None
    unit: str
    today: float
    values: tuple[tuple[float, ...], ...]
    """To look at, above and below, the nearest first."""
    at: Callable[[float], Instance]
    words: Callable[[float], str]
    """The condition of a sentence."""
    between: bool = True
    """Whether the value is looked for between two."""


@dataclass(frozen=True)
class MixedCase:
    """The question that a mix answers, and the mix."""

    question: Question
    chosen: Chosen
    objective: Objective

    def turning_points(self) -> list[TurningPoint]:
        """Return the nearest values on each side at which other options take part, or none keeps the limits."""
        used = self._used(self.chosen.asked)
        points = [] if used is None else [self._point(one, *turn, used) for one in self._moved(used)
                                          for turn in self._turns(one, used)]  # fmt: skip
        return sorted(points, key=distance)

    def _moved(self, used: frozenset[int]) -> Iterator[Moved]:
        asked = self.chosen.asked
        for number in sorted(used):
            option = self.question.candidates[number].alone
            name = name_of(option)
            if option.usd_per_hour is not None and option.usd_per_hour.value > 0:
                yield _price(asked, number, name, option.usd_per_hour.value, option.usd_per_hour.unit.value)
            if option.throughput is not None:
                yield _speed(asked, number, name, option.throughput.value, option.throughput.unit.value)
        if not math.isinf(asked.deadline):
            yield _deadline(asked)

    def _turns(self, moved: Moved, used: frozenset[int]) -> Iterator[tuple[float, frozenset[int]]]:
        for side in moved.values:
            same = moved.today
            for value in side:
                then = self._used(moved.at(value))
                if then is None:
                    break
                if then != used:
                    yield self._between(moved, (same, value), used, then) if moved.between else (value, then)
                    break
                same = value

    def _between(
        self, moved: Moved, ends: tuple[float, float], used: frozenset[int], then: frozenset[int]
    ) -> tuple[float, frozenset[int]]:
        same, other = ends
        for _ in range(STEPS):
            middle = math.sqrt(same * other)
            at = self._used(moved.at(middle))
            if at == used:
                same = middle
            elif at is not None:
                other, then = middle, at
        return other, then

    def _used(self, asked: Instance) -> frozenset[int] | None:
        """Return the options that take part, none where no plan keeps the limits; None where that is not known."""
        try:
            found = solve(asked, self.objective, seconds=SECONDS)
        except NotFoundInTimeError:
            return None
        if found is None:
            return frozenset()
        return frozenset(found.instance.ways[one.way].option for one in found.placed)

    def _point(self, moved: Moved, at: float, then: frozenset[int], used: frozenset[int]) -> TurningPoint:
        joins = sorted(then - used)
        ids = [one.alone.id for one in self.question.candidates]
        return TurningPoint(
            input=moved.name, option=None if moved.option is None else ids[moved.option], unit=moved.unit,
            today=moved.today, at=at, side="above" if at > moved.today else "below",
            then=ids[joins[0]] if joins else None, sentence=self._sentence(moved, at, then, used),
        )  # fmt: skip

    def _sentence(self, moved: Moved, at: float, then: frozenset[int], used: frozenset[int]) -> str:
        words, joins, leaves = moved.words(at), then - used, used - then
        if not then:
            return f"{words}, no plan keeps the limits."
        if len(then) == 1:
            return f"{words}, {self._names(then)} does all trainings."
        if leaves == {moved.option}:
            return f"{words}, {self._names(joins)} takes its place." if len(joins) == 1 else f"{words}, it drops out."
        parts = [f"{self._names(joins)} {'joins' if len(joins) == 1 else 'join'}"] if joins else []
        parts += [f"{self._names(leaves)} {'drops' if len(leaves) == 1 else 'drop'} out"] if leaves else []
        text = f"{words}, {' and '.join(parts)}."
        return text if len(text.split()) <= WORDS else f"{words}, {parts[0]}."

    def _names(self, options: frozenset[int]) -> str:
        return " and ".join(name_of(self.question.candidates[number].alone) for number in sorted(options))


def _price(asked: Instance, number: int, name: str, usd: float, unit: str) -> Moved:
    def words(value: float) -> str:
        side = "above" if value > usd else "below"
        return f"If {name} costs {side} {short_number(value)} USD an hour (now {short_number(usd)})"

    return Moved("price", number, unit, usd, _factors(usd), lambda value: at_price(asked, number, value / usd), words)


def _speed(asked: Instance, number: int, name: str, rate: float, unit: str) -> Moved:
    def words(value: float) -> str:
        side = "over" if value > rate else "under"
        return f"If {name} is {side} {value / rate:.3g} times as fast as estimated"

    return Moved(
        "speed", number, unit, rate, _factors(rate), lambda value: at_speed(asked, number, value / rate), words
    )


def _deadline(asked: Instance) -> Moved:
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
    """Return the instance with one option so many times as fast: its hours, and the costs of its runs, are fewer."""
    ways = tuple(
        replace(way, hours=way.hours / factor, usd=way.usd / factor, billed_hours=way.billed_hours / factor)
        if way.option == number else way
        for way in asked.ways
    )  # fmt: skip
    return replace(asked, ways=ways)
