"""Find the prices, speeds and deadlines at which other options take part in a mix, by solving it again."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from planner.decide.advice.case import Case
from planner.decide.advice.mix_inputs import (
    MixInput,
    deadline_input,
    price_input,
    speed_input,
    with_price_times,
    with_speed_times,
)
from planner.decide.advice.turning import distance
from planner.decide.options.display_name import name_of
from planner.decide.options.estimate_plan import Paced
from planner.decide.placement.chosen import Chosen
from planner.decide.placement.effort import Effort
from planner.decide.placement.instance import Instance, Objective, Solution
from planner.decide.placement.milp import SolverStoppedError
from planner.decide.placement.question import PlacementQuestion
from planner.decide.placement.solve import solve
from planner.decide.recommend.phrases import WORDS
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

    def solved(self, instance: Instance) -> Solution | None:
        """Return the best plan of an instance; None if there is none, or the solver found none."""
        try:
            return solve(instance, self.objective, Effort(EFFORT))
        except SolverStoppedError:
            return None

    def swings(self) -> list[InputSwing]:
        """Return the cost of the best plan at both ends of the prices and speeds of its options, widest first."""
        swings = []
        for option_number, candidate in enumerate(self.question.candidates):
            option = candidate.alone
            if option.id not in self.chosen.options:
                continue
            for name, quantity, with_factor in (
                ("price", option.usd_per_hour, with_price_times),
                ("speed", option.throughput, with_speed_times),
            ):
                if quantity is not None and quantity.value > 0:
                    swings.append(self._swing(name, option_number, quantity, with_factor))
        return sorted(swings, key=lambda swing: -abs((swing.usd_at_high or 0.0) - (swing.usd_at_low or 0.0)))

    def _swing(
        self, name: str, number: int, quantity: Quantity, with_factor: Callable[[Instance, int, float], Instance]
    ) -> InputSwing:
        band = doubted(quantity)
        ends = [self.solved(with_factor(self.chosen.asked, number, end / band.value)) for end in (band.low, band.high)]
        usd = [None if solved is None else solved.to_pay for solved in ends]
        names = [None if solved is None else self._ids(solved) for solved in ends]
        return InputSwing(
            input=name, option=self.question.candidates[number].alone.id, unit=quantity.unit.value, value=band.value,
            low=band.low, high=band.high, usd_at_low=usd[0], usd_at_high=usd[1], decision_at_low=names[0],
            decision_at_high=names[1],
        )  # fmt: skip

    def _ids(self, solution: Solution) -> str:
        used = sorted({solution.instance.ways[placed.way].option for placed in solution.placed})
        return " + ".join(self.question.candidates[number].alone.id for number in used)

    def turning_points(self) -> list[TurningPoint]:
        """Return the nearest values on each side at which other options take part, or none keeps the limits."""
        used = self._used(self.chosen.asked)
        points = [] if used is None else [self._point(moved, *turn, used) for moved in self._inputs(used)
                                          for turn in self._turns(moved, used)]  # fmt: skip
        return sorted(points, key=distance)

    def _inputs(self, used: frozenset[int]) -> Iterator[MixInput]:
        instance = self.chosen.asked
        for number in sorted(used):
            option = self.question.candidates[number].alone
            name = name_of(option)
            if option.usd_per_hour is not None and option.usd_per_hour.value > 0:
                yield price_input(instance, number, name, option.usd_per_hour.value, option.usd_per_hour.unit.value)
            if option.throughput is not None:
                yield speed_input(instance, number, name, option.throughput.value, option.throughput.unit.value)
        if not math.isinf(instance.deadline):
            yield deadline_input(instance)

    def _turns(self, moved: MixInput, used: frozenset[int]) -> Iterator[tuple[float, frozenset[int]]]:
        for side in moved.values:
            last_unchanged = moved.today
            for value in side:
                options = self._used(moved.at(value))
                if options is None:
                    break
                if options != used:
                    yield (
                        self._between(moved, (last_unchanged, value), used, options)
                        if moved.is_continuous
                        else (value, options)
                    )
                    break
                last_unchanged = value

    def _between(
        self, moved: MixInput, ends: tuple[float, float], used: frozenset[int], options_then: frozenset[int]
    ) -> tuple[float, frozenset[int]]:
        unchanged, changed = ends
        for _ in range(STEPS):
            middle = math.sqrt(unchanged * changed)
            options = self._used(moved.at(middle))
            if options == used:
                unchanged = middle
            elif options is not None:
                changed, options_then = middle, options
        return changed, options_then

    def _used(self, instance: Instance) -> frozenset[int] | None:
        """Return the options that take part, none if no plan keeps the limits; None if unknown."""
        try:
            solution = solve(instance, self.objective, Effort(EFFORT))
        except SolverStoppedError:
            return None
        if solution is None:
            return frozenset()
        return frozenset(solution.instance.ways[placed.way].option for placed in solution.placed)

    def _point(self, moved: MixInput, at: float, then: frozenset[int], used: frozenset[int]) -> TurningPoint:
        joins = sorted(then - used)
        ids = [candidate.alone.id for candidate in self.question.candidates]
        return TurningPoint(
            input=moved.name, option=None if moved.option is None else ids[moved.option], unit=moved.unit,
            today=moved.today, at=at, side="above" if at > moved.today else "below",
            then=ids[joins[0]] if joins else None, sentence=self.sentence(moved, at, then, used),
        )  # fmt: skip

    def sentence(self, moved: MixInput, at: float, then: frozenset[int], used: frozenset[int]) -> str:
        """Write which options join and leave at another value of an input."""
        words, joins, leaves = moved.condition(at), then - used, used - then
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
