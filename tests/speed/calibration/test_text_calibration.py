"""The fit recovers the constants of made-up data, and reads effects as the prediction does."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from planner.adapters.evidence import read_calibration
from planner.speed.calibration.accuracy import train_text_folds
from planner.speed.calibration.text_calibration import fingerprint, refitted
from planner.speed.estimator.text_estimator import OF_TEXT
from planner.speed.estimator.text_fit import TextProblem
from planner.speed.physics.config_arrays import from_rows
from planner.speed.physics.observation import Observation
from planner.speed.physics.step import step_seconds
from tests.bundled import text_rows

NOISE = 0.02


@pytest.fixture(scope="module")
def evidence() -> list[Observation]:
    return text_rows()[::4]


def made_up(evidence: list[Observation], **constants: float) -> list[Observation]:
    """Return the bundled configurations with the rates of the physics under other constants, and noise of 2 %."""
    configs = from_rows([row.config for row in evidence])
    values = TextProblem(OF_TEXT.sample([])).prior.constants | constants
    rng = np.random.default_rng(7)
    rates = configs.units_per_step / configs.gpus / step_seconds(configs, values)
    rates = rates * np.exp(rng.normal(0, NOISE, len(rates)))
    return [replace(row, tokens_per_s_per_gpu=float(rate)) for row, rate in zip(evidence, rates, strict=True)]


@pytest.mark.slow
def test_the_fit_finds_the_constants_that_made_its_data(evidence: list[Observation]) -> None:
    truth = {"gemm_ampere": 0.65, "gemm_hopper": 0.6}
    rows = made_up(evidence, **truth)
    found = OF_TEXT.fit(OF_TEXT.sample(rows))
    for name, value in truth.items():
        assert found.constants[name] == pytest.approx(value, rel=0.15), name
    data = OF_TEXT.sample(rows)
    missed = data.log_seconds - OF_TEXT.log_step(found, data.configs, data.labels)[0]
    assert float(np.median(np.abs(missed))) < 2 * NOISE


def test_without_evidence_the_priors_stand() -> None:
    assert OF_TEXT.fit(OF_TEXT.sample([])) == TextProblem(OF_TEXT.sample([])).prior


def test_other_rows_or_another_speed_have_another_fingerprint(evidence: list[Observation]) -> None:
    few = evidence[:60]
    faster = replace(few[0], tokens_per_s_per_gpu=1.01 * few[0].tokens_per_s_per_gpu)
    assert len({fingerprint(few), fingerprint(few[1:]), fingerprint([faster, *few[1:]])}) == 3


@pytest.mark.parametrize(
    ("known", "dense", "mixtures"),
    [
        pytest.param({"megatron": 0.3, "megatron, experts": 0.7}, 0.3, 0.7, id="each by its own code"),
        pytest.param({"megatron": 0.3}, 0.3, 0.3, id="mixtures without evidence as the rest"),
        pytest.param({"megatron, experts": 0.7}, 0.0, 0.7, id="mixtures say nothing of the rest"),
        pytest.param({"another": 0.5}, 0.0, 0.0, id="nothing known"),
    ],
)
def test_a_framework_takes_its_own_time_for_launches(
    evidence: list[Observation], known: dict[str, float], dense: float, mixtures: float
) -> None:
    data = OF_TEXT.sample([row for row in evidence if row.labels.framework == "megatron"])
    mixture = data.configs.experts > 1
    assert 0 < mixture.sum() < len(mixture)
    nothing = TextProblem(OF_TEXT.sample([])).prior
    found = replace(nothing, effects=nothing.effects | {"host": known})
    scale = np.exp(np.where(mixture, mixtures, dense))
    seconds = step_seconds(replace(data.configs, host_scale=scale), nothing.constants)
    np.testing.assert_allclose(OF_TEXT.log_step(found, data.configs, data.labels)[0], np.log(seconds), rtol=1e-12)


def test_the_fit_and_the_prediction_read_effects_alike(evidence: list[Observation]) -> None:
    """A residual of the fit is the error of the prediction, for any effects."""
    data = OF_TEXT.sample(evidence[::5])
    problem = TextProblem(data)
    start = problem.state_of(TextProblem(OF_TEXT.sample([])).prior)
    state = start + np.random.default_rng(1).normal(0, 0.1, len(start))
    missed = data.log_seconds - OF_TEXT.log_step(problem.fit_of(state), data.configs, data.labels)[0]
    np.testing.assert_allclose(problem.residual(state), missed, atol=1e-12)


def test_derivatives_of_all_generations_at_once_are_those_one_by_one(evidence: list[Observation]) -> None:
    """Twelve shares of the peak are moved together, and one by one."""
    few = [row for number, row in enumerate(evidence) if number % 20 == 0]
    problem = TextProblem(OF_TEXT.sample(few))
    state = problem.state_of(TextProblem(OF_TEXT.sample([])).prior)
    together = problem.jacobian(state)
    problem.moved_at_once = [{place: 1.0} for place in range(problem.constants)]
    np.testing.assert_allclose(together, problem.jacobian(state), atol=1e-9)
    assert len({row.config["generation"] for row in few}) > 5


def test_without_some_rows_a_calibration_is_fitted_anew_and_its_ranges_stay(evidence: list[Observation]) -> None:
    shipped, few = read_calibration(), evidence[:60]
    found = refitted(shipped, few, today=date(2026, 11, 24))
    assert found.rows == len(few)
    assert found.spreads == shipped.spreads
    assert set(found.effects["source"]) == {row.labels.source for row in few}
    assert sum(seen.rows for seen in found.seen["framework"].values()) == len(few)
    assert found.points != shipped.points


def test_a_row_of_ours_under_another_name_is_not_trained_on(evidence: list[Observation]) -> None:
    few, shipped = evidence[:60], read_calibration()
    copy = replace(few[3], id="copy", labels=replace(few[3].labels, source="elsewhere"))
    other = replace(copy, tokens_per_s_per_gpu=1.5 * copy.tokens_per_s_per_gpu)
    without_the_original, unchanged = (
        train_text_folds([asked], few, shipped, leave_out=None, today=date(2026, 11, 24))[0].calibration.rows
        for asked in (copy, other)
    )
    assert without_the_original < len(few)
    assert unchanged == shipped.rows
