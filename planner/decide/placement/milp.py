"""Build a mixed-integer linear program row by row, and solve it with HiGHS."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from planner.decide.placement.effort import Effort, EffortPrices
from planner.errors import InputError

SEED = 26
WITHOUT_PRESOLVE = 400
"""Largest number of variables of a program that is solved without presolve. Presolve lost the optimum of one of 20,000
random small programs (HiGHS 1.15.1), and saves only milliseconds there.
"""
MOST_ITERATIONS = 200_000
"""Limit of simplex iterations of a relaxed program. The largest takes some thousands."""
GUARD_SECONDS = 600.0
"""Limit of one program by the clock. Reaching it is an error, so the clock never decides which plan is found."""


@dataclass(frozen=True)
class Optimum:
    """The best solution that was found."""

    values: tuple[float, ...]
    bound: float
    """Lower bound on the objective."""
    reduced: tuple[float, ...] = ()
    """Reduced costs of a relaxed program: what one more of each variable would add to the objective."""


class SolverStoppedError(Exception):
    """The solver's effort was spent before a solution was found or ruled out. The objective is at least `bound`."""

    def __init__(self, bound: float = -math.inf) -> None:
        super().__init__("the solver stopped before a solution was found or ruled out")
        self.bound = bound


class SolverTooSlowError(InputError):
    """One program took longer than `GUARD_SECONDS` on this machine."""

    def __init__(self) -> None:
        super().__init__(
            f"campaign: the solver took over {GUARD_SECONDS / 60:.0f} minutes for one program.",
            fix="List fewer options, join groups of equal work, or use a faster machine.",
        )


@dataclass
class Program:
    """Minimize cost x; rows and columns lie between their ends, and some columns are integers.

    HiGHS solves it with one thread and a fixed seed, so the same program gives the same answer. Source: Huangfu and
    Hall, Parallelizing the dual revised simplex method, Math. Prog. Comp. 10 (2018) 119; https://highs.dev (MIT
    licence).
    """

    costs: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)
    whole: list[int] = field(default_factory=list)
    row_ends: list[tuple[float, float]] = field(default_factory=list)
    rows: list[list[tuple[int, float]]] = field(default_factory=list)

    def column(self, *, cost: float = 0.0, upper: float = math.inf, whole: bool = False) -> int:
        """Add a variable from 0 to `upper` and return its index."""
        self.costs.append(cost)
        self.upper.append(upper)
        if whole:
            self.whole.append(len(self.costs) - 1)
        return len(self.costs) - 1

    def row(self, terms: Iterable[tuple[int, float]], *, low: float = -math.inf, high: float = math.inf) -> None:
        """Require low <= sum of factor x variable <= high. Factors of a repeated variable are added."""
        together: dict[int, float] = {}
        for place, factor in terms:
            together[place] = together.get(place, 0.0) + factor
        self.rows.append([(place, factor) for place, factor in together.items() if factor != 0])
        self.row_ends.append((low, high))

    def solve(self, effort: Effort, *, gap: float = 0.0, relaxed: bool = False) -> Optimum | None:
        """Return the optimum within a relative gap, or the best solution that the effort found; None if there is none.

        With `relaxed`, integers may be fractions. Raises SolverStoppedError if the effort found neither, and
        SolverTooSlowError at the limit by the clock.
        """
        import highspy
        import numpy as np

        solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        presolve = "off" if len(self.costs) <= WITHOUT_PRESOLVE and not relaxed else "choose"
        for name, value in (
            ("output_flag", False), ("presolve", presolve), ("threads", 1), ("random_seed", SEED),
            ("time_limit", GUARD_SECONDS), ("mip_rel_gap", gap), ("mip_abs_gap", 1e-9),
            ("mip_feasibility_tolerance", 1e-7), ("simplex_iteration_limit", MOST_ITERATIONS),
        ):  # fmt: skip
            solver.setOptionValue(name, value)
        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = len(self.costs), len(self.rows)
        model.col_cost_ = np.array(self.costs, dtype=np.float64)
        model.col_lower_ = np.zeros(len(self.costs))
        model.col_upper_ = np.array(self.upper, dtype=np.float64)
        model.row_lower_ = np.array([low for low, _ in self.row_ends], dtype=np.float64)
        model.row_upper_ = np.array([high for _, high in self.row_ends], dtype=np.float64)
        matrix = model.a_matrix_
        matrix.format_ = highspy.MatrixFormat.kRowwise
        counts = [len(row) for row in self.rows]
        matrix.start_ = np.concatenate(([0], np.cumsum(counts))).astype(np.int32)
        matrix.index_ = np.array([place for row in self.rows for place, _ in row], dtype=np.int32)
        matrix.value_ = np.array([factor for row in self.rows for _, factor in row], dtype=np.float64)
        whole = set() if relaxed else set(self.whole)
        kinds = highspy.HighsVarType
        if whole:
            places = range(len(self.costs))
            model.integrality_ = [kinds.kInteger if n in whole else kinds.kContinuous for n in places]
        solver.passModel(model)
        prices = EffortPrices.of(entries=sum(counts), widths=[self.upper[place] for place in sorted(whole)])
        if whole:
            solver.cbMipInterrupt += _spending(effort, prices)
        solver.run()
        info, status = solver.getInfo(), solver.getModelStatus()
        if status == highspy.HighsModelStatus.kTimeLimit:
            raise SolverTooSlowError
        if not whole:
            effort.spend(info.simplex_iteration_count * prices.iteration)
        stopped = status in (highspy.HighsModelStatus.kInterrupt, highspy.HighsModelStatus.kIterationLimit)
        if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible or (stopped and not whole):
            if stopped:
                raise SolverStoppedError(float(info.mip_dual_bound) if whole else -math.inf)
            return None
        solution = solver.getSolution()
        values = tuple(map(float, solution.col_value))
        if whole:
            return Optimum(values, float(info.mip_dual_bound))
        return Optimum(values, float(info.objective_function_value), tuple(map(float, solution.col_dual)))


def _spending(effort: Effort, prices: EffortPrices) -> Callable[[Any], None]:
    """Return the callback that stops the solver when the effort is spent.

    HiGHS calls it in each round of cuts and twice in each node. Its own limits count nodes and not rounds, but it spent
    25 s on rounds before the first node of hard programs.
    """

    def call(event: Any) -> None:
        effort.spend(prices.node if event.data_out.mip_node_count > 0 else prices.cut_round)
        if effort.spent:
            event.interrupt()

    return call
