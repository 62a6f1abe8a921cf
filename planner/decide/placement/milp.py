"""A mixed-integer linear program, built row by row and solved by HiGHS."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

SEED = 26
WITHOUT_PRESOLVE = 400
"""Variables up to which the solver's presolve is left out: of 20,000 random small programs it lost the optimum of one
(HiGHS 1.15.1), and what it saves there is milliseconds.
"""


@dataclass(frozen=True)
class Optimum:
    """The best that was found."""

    values: tuple[float, ...]
    bound: float
    """No value of the objective is lower."""
    reduced: tuple[float, ...] = ()
    """Of a program without whole numbers: what one more of each variable would add to the objective."""


class NotFoundInTimeError(Exception):
    """No solution was found in the time that was given, and none was ruled out.

    No value of the objective is below `bound`.
    """

    def __init__(self, bound: float = -math.inf) -> None:
        super().__init__("no solution was found in time")
        self.bound = bound


@dataclass
class Program:
    """min cost x, rows between their ends, columns between theirs, some of them whole numbers.

    Solved by HiGHS, one thread, a fixed seed: the same program gives the same answer. Source: Huangfu and Hall,
    Parallelizing the dual revised simplex method, Math. Prog. Comp. 10 (2018) 119; https://highs.dev (MIT licence).
    """

    costs: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)
    whole: list[int] = field(default_factory=list)
    row_ends: list[tuple[float, float]] = field(default_factory=list)
    rows: list[list[tuple[int, float]]] = field(default_factory=list)

    def column(self, *, cost: float = 0.0, upper: float = math.inf, whole: bool = False) -> int:
        """Add a variable from 0 to `upper`; return its place."""
        self.costs.append(cost)
        self.upper.append(upper)
        if whole:
            self.whole.append(len(self.costs) - 1)
        return len(self.costs) - 1

    def row(self, terms: Iterable[tuple[int, float]], *, low: float = -math.inf, high: float = math.inf) -> None:
        """Ask that low <= sum of factor x variable <= high; a variable may stand in it more than once."""
        together: dict[int, float] = {}
        for place, factor in terms:
            together[place] = together.get(place, 0.0) + factor
        self.rows.append([(place, factor) for place, factor in together.items() if factor != 0])
        self.row_ends.append((low, high))

    def solve(self, *, seconds: float, gap: float = 0.0, relaxed: bool = False) -> Optimum | None:
        """Return the optimum within a relative gap, or the best that was found in time; None: there is no solution.

        `relaxed`: whole numbers may be any. Raises NotFoundInTimeError where neither is known.
        """
        import highspy
        import numpy as np

        solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        presolve = "off" if len(self.costs) <= WITHOUT_PRESOLVE and not relaxed else "choose"
        for name, value in (
            ("output_flag", False), ("presolve", presolve), ("threads", 1), ("random_seed", SEED),
            ("time_limit", max(0.05, seconds)), ("mip_rel_gap", gap), ("mip_abs_gap", 1e-9),
            ("mip_feasibility_tolerance", 1e-7),
        ):  # fmt: skip
            solver.setOptionValue(name, value)
        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = len(self.costs), len(self.rows)
        model.col_cost_ = np.array(self.costs, dtype=np.float64)
        model.col_lower_ = np.zeros(len(self.costs))
        model.col_upper_ = np.array([min(one, highspy.kHighsInf) for one in self.upper], dtype=np.float64)
        model.row_lower_ = np.array([max(low, -highspy.kHighsInf) for low, _ in self.row_ends], dtype=np.float64)
        model.row_upper_ = np.array([min(high, highspy.kHighsInf) for _, high in self.row_ends], dtype=np.float64)
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
        solver.run()
        info = solver.getInfo()
        if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
            if solver.getModelStatus() == highspy.HighsModelStatus.kTimeLimit:
                raise NotFoundInTimeError(float(info.mip_dual_bound))
            return None
        solution = solver.getSolution()
        values = tuple(float(one) for one in solution.col_value)
        if whole:
            return Optimum(values, float(info.mip_dual_bound))
        return Optimum(values, float(info.objective_function_value), tuple(float(one) for one in solution.col_dual))
