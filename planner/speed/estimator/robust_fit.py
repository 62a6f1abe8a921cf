"""Solver of least-squares problems with robust errors, for every physics that is fitted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from planner.speed.physics.config_arrays import Array

DOUBLINGS = 3
"""Largest number of times that one step is doubled."""
CHORDS = 8
"""Largest number of cheap steps after each full one."""
ANNEALING = 4.0, 2.0
"""Multiples of the noise in the first two descents from afar."""
LARGEST_STEP = 0.7
"""Largest change of one number of the state in one step, in logarithms."""


class RobustProblem(ABC):
    """Problem whose state is a vector: logarithms of `constants` bounded constants, then effects.

    loss(state) = sum_i w_i t(residual_i / noise) + sum ((state - centre) / spread)^2 / 2, t as in Student's
    distribution with `tail` degrees of freedom.
    """

    noise: float
    tail: float
    constants: int
    weights: Array
    centre: Array
    spread: Array
    low: Array
    high: Array

    @abstractmethod
    def residual(self, state: Array) -> Array:
        """Return ln measured - ln modelled of each row."""

    @abstractmethod
    def jacobian(self, state: Array) -> Array:
        """Return the derivatives of ln modelled by each number of the state: rows x numbers."""

    def loss(self, state: Array) -> float:
        """Return the loss, which the solver minimizes."""
        import numpy as np

        errors = self.weights * (self.tail + 1) / 2 * np.log1p((self.residual(state) / self.noise) ** 2 / self.tail)
        return float(errors.sum() + 0.5 * (((state - self.centre) / self.spread) ** 2).sum())

    def solve(self, state: Array, *, rounds: int) -> Array:
        """Descend by damped Gauss-Newton steps (Levenberg 1944, Marquardt 1963) until the loss stops falling."""
        loss, damping = self.loss(state), 1e-3
        for _ in range(rounds):
            moved, new_loss, damping = self._improve(state, loss, damping)
            if not new_loss < loss:
                break
            gained, state, loss = loss - new_loss, moved, new_loss
            if gained < 1e-9 * abs(loss):
                break
        return state

    def solve_from_afar(self, state: Array, *, rounds: int) -> Array:
        """Descend from a distant state: first with several times the noise, which makes the loss nearly convex.

        With robust errors, there are local minima that treat distant rows as outliers.
        Source: Blake and Zisserman 1987, graduated non-convexity.
        """
        noise = self.noise
        try:
            for times in ANNEALING:
                self.noise = times * noise
                state = self.solve(state, rounds=max(1, rounds // 6))
        finally:
            self.noise = noise
        return self.solve(state, rounds=rounds)

    def _moved(self, state: Array, step: Array) -> tuple[Array, float]:
        """Return the state after a step, clipped to its bounds, and its loss."""
        import numpy as np

        moved = state + step
        moved[: self.constants] = np.clip(moved[: self.constants], self.low, self.high)
        return moved, self.loss(moved)

    def _longer(self, state: Array, step: Array, moved: Array, loss: float) -> tuple[Array, float]:
        """Double a step while the loss falls, because the weights of robust errors make steps too short."""
        for _ in range(DOUBLINGS):
            step = 2 * step
            further, new_loss = self._moved(state, step)
            if not new_loss < loss:
                break
            moved, loss = further, new_loss
        return moved, loss

    def _pulled(self, state: Array, jacobian: Array) -> tuple[Array, Array]:
        """Return the weight of each row under Student's errors, and the pull of rows and priors on the state."""
        residual = self.residual(state)
        trust = self.weights * (self.tail + 1) / (self.tail + (residual / self.noise) ** 2) / self.noise**2
        return trust, jacobian.T @ (trust * residual) + (self.centre - state) / self.spread**2

    def _improve(self, state: Array, loss: float, damping: float) -> tuple[Array, float, float]:
        """Take one step with a damping that grows until the loss falls."""
        import numpy as np

        jacobian = self.jacobian(state)
        trust, pull = self._pulled(state, jacobian)
        weighted = jacobian * np.sqrt(trust)[:, None]
        curvature = weighted.T @ weighted
        for _ in range(10):
            matrix = curvature + np.diag(1 / self.spread**2 + damping * np.diag(curvature))
            step = np.clip(np.linalg.solve(matrix, pull), -LARGEST_STEP, LARGEST_STEP)
            moved, new_loss = self._moved(state, step)
            if new_loss < loss:
                moved, new_loss = self._longer(state, step, moved, new_loss)
                return *self._with_reused_jacobian(moved, new_loss, jacobian, matrix), damping / 4
            damping *= 6
        return state, loss, damping

    def _with_reused_jacobian(self, state: Array, loss: float, jacobian: Array, matrix: Array) -> tuple[Array, float]:
        """Take more steps with the derivatives of the last one while the loss falls: they are the costly part.

        Source: the chord method, Ortega and Rheinboldt 1970, section 7.1.
        """
        import numpy as np

        inverse = np.linalg.inv(matrix)
        for _ in range(CHORDS):
            _, pull = self._pulled(state, jacobian)
            step = np.clip(inverse @ pull, -LARGEST_STEP, LARGEST_STEP)
            moved, new_loss = self._moved(state, step)
            if not new_loss < loss:
                break
            state, loss = self._longer(state, step, moved, new_loss)
        return state, loss
