"""Limit the solver's work. Effort is counted in the solver's steps and not by a clock."""

from __future__ import annotations

from dataclasses import dataclass, field

FREE_VALUES = 5e7
"""Squared values of integer variables (at most `WIDEST` each), summed, that a round of cuts tries at no extra cost."""
ROUND_OF_ENTRY = 1.5e-6
ROUND_OF_WIDE_COLUMNS = 1e-9
SEARCH_NODE = 3e-4
SEARCH_NODE_OF_ENTRY = 5e-8
ITERATION_OF_ENTRY = 6e-9
"""Units of a round of cuts, a search node and a simplex iteration, per entry of the matrix; and of a round per value
beyond FREE_VALUES.

Fitted to 24 hard programs: a unit is about one second of a core of 2023, within a factor of five.
"""
WIDEST = 1_000
"""Values of an integer variable that HiGHS tries one by one in each round of cuts. It samples wider variables."""


@dataclass
class Effort:
    """Units of work that are left. Parts of them can be lent.

    The same question always spends the same units. A solver that runs out of them therefore stops at the same place on
    every machine and under any load.
    """

    left: float
    lender: Effort | None = field(default=None, repr=False)

    @property
    def spent(self) -> bool:
        """Return whether nothing is left."""
        return self.left <= 0

    def spend(self, units: float) -> None:
        """Subtract units, from the lender too."""
        self.left -= units
        if self.lender is not None:
            self.lender.spend(units)

    def part(self, units: float) -> Effort:
        """Lend these units, or all that are left if they are fewer."""
        return Effort(min(self.left, units), self)

    def at_least(self, units: float) -> Effort:
        """Lend all that is left, or these units, if they are more."""
        return Effort(max(self.left, units), self)


@dataclass(frozen=True)
class EffortPrices:
    """Units of effort that each step of solving one program costs."""

    cut_round: float
    """Units of one round of cuts at the root."""
    node: float
    iteration: float

    @classmethod
    def of(cls, *, entries: int, widths: list[float]) -> EffortPrices:
        """Return the prices for a matrix with these entries and for integer variables with these numbers of values."""
        tried = sum(min(width, WIDEST) ** 2 for width in widths)
        return cls(
            cut_round=ROUND_OF_ENTRY * entries + ROUND_OF_WIDE_COLUMNS * max(0.0, tried - FREE_VALUES),
            node=SEARCH_NODE + SEARCH_NODE_OF_ENTRY * entries,
            iteration=ITERATION_OF_ENTRY * entries,
        )
