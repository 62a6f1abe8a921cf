"""The value of a measurement against closed forms: two actions, normal errors, regret linear in them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import pytest

from planner.decide.advice.sample_value import Action, picked, regret_of, sample_values
from planner.decide.options.estimate_plan import Paced
from planner.decide.outcomes.draws import SAMPLES, mixed
from planner.decide.outcomes.learnt import Learnt, PlannedMeasurement
from planner.model.answer.option_estimate import CampaignOption

NORMAL = NormalDist()
ALWAYS = np.ones(SAMPLES, dtype=bool)


@dataclass(frozen=True)
class TwoOptions:
    """The first costs 100, the other 100 + lead + 100 x its error; the cheaper by its mean is taken."""

    lead: float
    sd: float
    first: str = "certain"
    slices: int = 25

    @property
    def causes(self) -> tuple[tuple[str, float], ...]:
        return (("speed", self.sd),)

    @property
    def actions(self) -> dict[str, Action]:
        usd = {"certain": np.full(SAMPLES, 100.0), "doubtful": self.doubtful(mixed(self.causes))}
        return {name: Action(frozenset({name}), cost, ALWAYS) for name, cost in usd.items()}

    def doubtful(self, error: np.ndarray) -> np.ndarray:
        return 100 + self.lead + 100 * self.sd * error

    def measurable(self) -> Iterable[tuple[CampaignOption, Paced]]:
        return ()

    def after(self, learnt: Learnt, *, speed: bool) -> str:
        assert speed
        usd = self.doubtful(learnt.moved(mixed(self.causes), "doubtful", self.causes)).mean()
        return "doubtful" if usd < 100 else "certain"


def worth(*, lead: float, sd: float, noise: float = 0.0) -> float:
    rule = TwoOptions(lead, sd)
    measurement = PlannedMeasurement("doubtful", rule.causes, sd, noise)
    _, (value,) = sample_values(rule, [picked(rule, measurement)])
    return value.worth


@pytest.mark.parametrize(
    ("lead", "sd", "noise"),
    [
        pytest.param(0.5, 0.2, 0.0, id="as good, all is learnt"),
        pytest.param(10.0, 0.2, 0.0, id="dearer"),
        pytest.param(10.0, 0.2, 0.2, id="half is learnt"),
        pytest.param(60.0, 0.2, 0.0, id="hardly ever the better one"),
    ],
)
def test_two_actions_have_the_unit_normal_loss(lead: float, sd: float, noise: float) -> None:
    """worth = s x (phi(u) - u (1 - Phi(u))), u = lead / s, s = 100 sd^2 / hypot(sd, noise); Raiffa, Schlaifer."""
    s = 100 * sd**2 / math.hypot(sd, noise)
    u = lead / s
    expected = s * (NORMAL.pdf(u) - u * (1 - NORMAL.cdf(u)))
    assert worth(lead=lead, sd=sd, noise=noise) == pytest.approx(expected, rel=0.06, abs=0.02)


def test_the_value_falls_as_the_range_narrows() -> None:
    values = [worth(lead=10.0, sd=sd) for sd in (0.4, 0.3, 0.2, 0.1, 0.05, 0.02)]
    assert values == sorted(values, reverse=True)
    assert values[-1] == pytest.approx(0.0, abs=1e-9)


def test_the_value_falls_as_the_result_gets_less_certain() -> None:
    values = [worth(lead=10.0, sd=0.2, noise=noise) for noise in (0.0, 0.1, 0.3, 1.0)]
    assert values == sorted(values, reverse=True)


def test_a_measurement_that_cannot_change_the_decision_is_worth_nothing() -> None:
    rule = TwoOptions(lead=1e6, sd=0.1)
    regret, (value,) = sample_values(rule, [picked(rule, PlannedMeasurement("doubtful", rule.causes, 0.1, 0.03))])
    assert (regret, value.worth, value.chance_to_change, value.instead) == (0.0, 0.0, 0.0, None)


def test_regret_by_hand() -> None:
    """Keeps: 100 and 130, so 0 and 30; the third misses and has cost 50 for nothing. Where none keeps: no regret."""
    usd = np.array([[100.0, 130.0, 50.0], [10.0, 20.0, 30.0]])
    keeps = np.array([[True, True, False], [False, False, False]])
    assert regret_of(usd, keeps).tolist() == [[0.0, 30.0, 50.0], [0.0, 0.0, 0.0]]
