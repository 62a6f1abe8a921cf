"""Find the prices, speeds and deadlines at which other options take part in a mix, by solving it again."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from planner.decide.advice.case import Case
from planner.decide.advice.mix_inputs import Moved, at_price, at_speed, moved_deadline, moved_price, moved_speed
from planner.decide.advice.turning import distance
from planner.decide.options.estimate_plan import Paced
from planner.decide.placement.chosen import Chosen
from planner.decide.placement.effort import Effort
from planner.decide.placement.instance import Instance, Objective, Solution
from planner.decide.placement.milp import SolverStoppedError
from planner.decide.placement.question import PlacementQuestion
from planner.decide.placement.solve import solve
from planner.decide.recommend.phrases import WORDS
from planner.decide.recommend.wording import name_of
from planner.model.answer.recommendation import InputSwing, TurningPoint
from planner.model.quantity import Quantity
from planner.quantity.interval import doubted

STEPS = 5
"""Steps of the bisection between two tried values."""
EFFORT = 0.5
"""Effort of one solution. A program that needs more is not followed further."""


@dataclass(frozen=True)
class MixedCase:
    """A mix, and the question that it answers."""

    case: Case
    question: PlacementQuestion
    chosen: Chosen
    objective: Objective

    @property
    def paced(self) -> tuple[Paced, ...]:
        """Return the machines with their speeds."""
        return self.case.paced

    def solved(self, asked: Instance) -> Solution | None:
        """Return the best plan of an instance; None if there is none, or the solver found none."""
        try:
            return solve(asked, self.objective, Effort(EFFORT))
        except SolverStoppedError:
            return None

    def swings(self) -> list[InputSwing]:
        """Return the cost of the best plan at both ends of the prices and speeds of its options, widest first."""
        found = []
        for number, candidate in enumerate(self.question.candidates):
            option = candidate.alone
            if option.id not in self.chosen.options:
                continue
            for name, quantity, at in (
                ("price", option.usd_per_hour, at_price),
                ("speed", option.throughput, at_speed),
            ):
                if quantity is not None and quantity.value > 0:
                    found.append(self._swing(name, number, quantity, at))
        return sorted(found, key=lambda swing: -abs((swing.usd_at_high or 0.0) - (swing.usd_at_low or 0.0)))

    def _swing(
        self, name: str, number: int, quantity: Quantity, at: Callable[[Instance, int, float], Instance]
    ) -> InputSwing:
        band = doubted(quantity)
        ends = [self.solved(at(self.chosen.asked, number, end / band.value)) for end in (band.low, band.high)]
        usd = [None if solved is None else solved.to_pay for solved in ends]
        names = [None if solved is None else self._ids(solved) for solved in ends]
        return InputSwing(
            input=name, option=self.question.candidates[number].alone.id, unit=quantity.unit.value, value=band.value,
            low=band.low, high=band.high, usd_at_low=usd[0], usd_at_high=usd[1], decision_at_low=names[0],
            decision_at_high=names[1],
        )  # fmt: skip

    def _ids(self, found: Solution) -> str:
        used = sorted({found.instance.ways[placed.way].option for placed in found.placed})
        return " + ".join(self.question.candidates[number].alone.id for number in used)

    def turning_points(self) -> list[TurningPoint]:
        """Return the nearest values on each side at which other options take part, or none keeps the limits."""
        used = self._used(self.chosen.asked)
        points = [] if used is None else [self._point(moved, *turn, used) for moved in self._moved(used)
                                          for turn in self._turns(moved, used)]  # fmt: skip
        return sorted(points, key=distance)

    def _moved(self, used: frozenset[int]) -> Iterator[Moved]:
        asked = self.chosen.asked
        for number in sorted(used):
            option = self.question.candidates[number].alone
            name = name_of(option)
            if option.usd_per_hour is not None and option.usd_per_hour.value > 0:
                yield moved_price(asked, number, name, option.usd_per_hour.value, option.usd_per_hour.unit.value)
            if option.throughput is not None:
                yield moved_speed(asked, number, name, option.throughput.value, option.throughput.unit.value)
        if not math.isinf(asked.deadline):
            yield moved_deadline(asked)

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
        """Return the options that take part, none if no plan keeps the limits; None if unknown."""
        try:
            found = solve(asked, self.objective, Effort(EFFORT))
        except SolverStoppedError:
            return None
        if found is None:
            return frozenset()
        return frozenset(found.instance.ways[placed.way].option for placed in found.placed)

    def _point(self, moved: Moved, at: float, then: frozenset[int], used: frozenset[int]) -> TurningPoint:
        joins = sorted(then - used)
        ids = [candidate.alone.id for candidate in self.question.candidates]
        return TurningPoint(
            input=moved.name, option=None if moved.option is None else ids[moved.option], unit=moved.unit,
            today=moved.today, at=at, side="above" if at > moved.today else "below",
            then=ids[joins[0]] if joins else None, sentence=self.sentence(moved, at, then, used),
        )  # fmt: skip

    def sentence(self, moved: Moved, at: float, then: frozenset[int], used: frozenset[int]) -> str:
        """Write which options join and leave at another value of an input."""
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
