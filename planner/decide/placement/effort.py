"""How much work the solver may still do, counted in what it does and never by a clock."""

from __future__ import annotations

from dataclasses import dataclass, field

FREE_VALUES = 5e7
ROUND_OF_ENTRY = 1.5e-6
ROUND_OF_WIDE_COLUMNS = 1e-9
NODE = 3e-4
NODE_OF_ENTRY = 5e-8
ITERATION_OF_ENTRY = 6e-9
"""Units of one round of cuts, node and simplex iteration, by the entries of the matrix. Fitted to 24 hard programs: a
unit is about one second of one core of 2023, within a factor of five.
"""
WIDEST = 1_000
"""Values of a whole variable that HiGHS tries one by one in each round of cuts; it samples wider ones."""


@dataclass
class Effort:
    """Units of work that are left, of which parts can be lent.

    The same questions always spend the same units, so that a solver which stops for want of them stops at the same
    place on any machine and under any load.
    """

    left: float
    lender: Effort | None = field(default=None, repr=False)

    @property
    def spent(self) -> bool:
        """Return whether nothing is left."""
        return self.left <= 0

    def spend(self, units: float) -> None:
        """Take units off, from the lender too."""
        self.left -= units
        if self.lender is not None:
            self.lender.spend(units)

    def part(self, units: float) -> Effort:
        """Return at most so many of the units that are left; what is spent of them is taken off here too."""
        return Effort(min(self.left, units), self)

    def at_least(self, units: float) -> Effort:
        """Return what is left, and so many units where less is left."""
        return Effort(max(self.left, units), self)


@dataclass(frozen=True)
class Prices:
    """Price the steps of solving one program, in units of effort."""

    a_round: float
    """One round of cuts at the root."""
    node: float
    iteration: float

    @classmethod
    def of(cls, *, entries: int, widths: list[float]) -> Prices:
        """Return them for a matrix of so many entries, and whole variables that may take so many values."""
        tried = sum(min(width, WIDEST) ** 2 for width in widths)
        return cls(
            a_round=ROUND_OF_ENTRY * entries + ROUND_OF_WIDE_COLUMNS * max(0.0, tried - FREE_VALUES),
            node=NODE + NODE_OF_ENTRY * entries,
            iteration=ITERATION_OF_ENTRY * entries,
        )
