"""The most probable state of a least-squares problem with robust errors: one loop for every physics that is fitted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from planner.speed.physics.config_arrays import Array

DOUBLINGS = 3
"""Of one step, at most."""
CHORDS = 8
"""Cheap steps after each full one, at most."""
ANNEALING = 4.0, 2.0
"""Times the noise, at first and then."""
LARGEST_STEP = 0.7
"""Of one number of the state in one step, in logarithms."""


class RobustProblem(ABC):
    """A problem whose state is one vector: logarithms of `constants` bounded constants, then effects.

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
        """Return how ln modelled moves with each number of the state: rows x numbers."""

    def loss(self, state: Array) -> float:
        """Return what is minimised."""
        import numpy as np

        errors = self.weights * (self.tail + 1) / 2 * np.log1p((self.residual(state) / self.noise) ** 2 / self.tail)
        return float(errors.sum() + 0.5 * (((state - self.centre) / self.spread) ** 2).sum())

    def solve(self, state: Array, *, rounds: int) -> Array:
        """Descend by damped Gauss-Newton steps (Levenberg 1944, Marquardt 1963) until the loss stands still."""
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
        """Descend from a state that is far off: first with several times the noise, which makes the loss nearly convex.

        Robust errors make local minima in which rows that start far off are given up as outliers.
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
        """Return the state after a step, inside its bounds, and its loss."""
        import numpy as np

        moved = state + step
        moved[: self.constants] = np.clip(moved[: self.constants], self.low, self.high)
        return moved, self.loss(moved)

    def _longer(self, state: Array, step: Array, moved: Array, loss: float) -> tuple[Array, float]:
        """Double a step as long as that pays: weights of robust errors make steps too short, near the end above all."""
        for _ in range(DOUBLINGS):
            step = 2 * step
            further, new_loss = self._moved(state, step)
            if not new_loss < loss:
                break
            moved, loss = further, new_loss
        return moved, loss

    def _pulled(self, state: Array, jacobian: Array) -> tuple[Array, Array]:
        """Return how far each row is trusted, by Student's errors, and where rows and priors pull the state."""
        residual = self.residual(state)
        trust = self.weights * (self.tail + 1) / (self.tail + (residual / self.noise) ** 2) / self.noise**2
        return trust, jacobian.T @ (trust * residual) + (self.centre - state) / self.spread**2

    def _improve(self, state: Array, loss: float, damping: float) -> tuple[Array, float, float]:
        """Take one step; the damping grows until the loss falls."""
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
        """Step on by the derivatives of the step before, which cost nearly all of a round, while that pays.

        The chord method: Ortega and Rheinboldt 1970, section 7.1.
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
