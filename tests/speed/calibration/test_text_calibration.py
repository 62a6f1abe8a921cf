"""The fit finds what made its data, the update is Gaussian conditioning, widths hold what they promise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planner.model.evidence.calibration import Spread
from planner.speed.calibration.text_calibration import fingerprint
from planner.speed.estimator.ranges import half_widths, spreads
from planner.speed.estimator.text_fit import _Problem, fit_text, model_text_step, prior_text_fit, text_sample
from planner.speed.physics.config_arrays import from_rows
from planner.speed.physics.observation import Observation
from planner.speed.physics.step import step_seconds
from tests.bundled import text_rows

NOISE = 0.02


@pytest.fixture(scope="module")
def evidence() -> list[Observation]:
    return text_rows()[::4]


def made_up(evidence: list[Observation], **constants: float) -> list[Observation]:
    """The bundled configurations, as fast as the physics says with other constants, give or take 2 %."""
    configs = from_rows([one.config for one in evidence])
    values = prior_text_fit().constants | constants
    rng = np.random.default_rng(7)
    rates = configs.tokens_per_step / configs.gpus / step_seconds(configs, values)
    rates = rates * np.exp(rng.normal(0, NOISE, len(rates)))
    return [replace(one, tokens_per_s_per_gpu=float(rate)) for one, rate in zip(evidence, rates, strict=True)]


@pytest.mark.slow
def test_the_fit_finds_the_constants_that_made_its_data(evidence: list[Observation]) -> None:
    truth = {"gemm_ampere": 0.65, "gemm_hopper": 0.6}
    rows = made_up(evidence, **truth)
    found = fit_text(text_sample(rows))
    for name, value in truth.items():
        assert found.constants[name] == pytest.approx(value, rel=0.15), name
    data = text_sample(rows)
    missed = data.log_seconds - model_text_step(found, data.configs, data.labels)[0]
    assert float(np.median(np.abs(missed))) < 2 * NOISE


def test_without_evidence_the_priors_stand() -> None:
    assert fit_text(sample_of_nothing()) == prior_text_fit()


def sample_of_nothing():
    return text_sample([])


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
    data = text_sample([one for one in evidence if one.labels.framework == "megatron"])
    mixture = data.configs.experts > 1
    assert 0 < mixture.sum() < len(mixture)
    nothing = prior_text_fit()
    found = replace(nothing, effects=nothing.effects | {"host": known})
    scale = np.exp(np.where(mixture, mixtures, dense))
    seconds = step_seconds(data.configs.replaced(host_scale=scale), nothing.constants)
    np.testing.assert_allclose(model_text_step(found, data.configs, data.labels)[0], np.log(seconds), rtol=1e-12)


def test_the_fit_and_the_prediction_read_effects_alike(evidence: list[Observation]) -> None:
    """What the fit calls a residual is what the prediction misses, whatever the effects are."""
    data = text_sample(evidence[::5])
    problem = _Problem(data)
    start = problem.start(prior_text_fit())
    state = start + np.random.default_rng(1).normal(0, 0.1, len(start))
    missed = data.log_seconds - model_text_step(problem.named(state), data.configs, data.labels)[0]
    np.testing.assert_allclose(problem.residual(state), missed, atol=1e-12)


def test_derivatives_of_all_generations_at_once_are_those_one_by_one(evidence: list[Observation]) -> None:
    """Twelve shares of peak moved together, against each alone."""
    few = [one for number, one in enumerate(evidence) if number % 20 == 0]
    problem = _Problem(text_sample(few))
    state = problem.start(prior_text_fit())
    together = problem.jacobian(state)
    problem.moved_at_once = [{place: 1.0} for place in range(problem.constants)]
    np.testing.assert_allclose(together, problem.jacobian(state), atol=1e-9)
    assert len({one.config["generation"] for one in few}) > 5


def test_widths_of_normal_errors_are_those_of_the_normal_distribution() -> None:
    """80 and 90 % of normal errors lie within 1.2816 and 1.6449 standard deviations."""
    rng = np.random.default_rng(3)
    expected = rng.uniform(0.05, 0.3, 20_000)
    found = spreads(rng.normal(0, expected), expected, np.ones(20_000), ["new framework"] * 20_000)
    assert found["new framework"].times_80 == pytest.approx(1.2816, rel=0.03)
    assert found["new framework"].times_90 == pytest.approx(1.6449, rel=0.03)


@pytest.mark.parametrize(
    ("group", "rows", "sources", "times_90"),
    [
        pytest.param("new framework", 700, 7, 1.6449, id="few sources: as normal errors"),
        pytest.param("new framework", 700, 8, 0.5, id="sources enough"),
        pytest.param("adapters", 700, 7, 0.5, id="a group that lacks no label"),
        pytest.param("adapters", 149, 7, 1.6449, id="a small one"),
        pytest.param("adapters", 149, 8, 0.5, id="a small one of many sources"),
    ],
)
def test_few_sources_do_not_make_what_is_unknown_sure(group: str, rows: int, sources: int, times_90: float) -> None:
    """Errors are half of what was expected, in every row."""
    expected = np.full(rows, 0.2)
    names = [f"source {row % sources}" for row in range(rows)]
    found = spreads(0.5 * expected, expected, np.ones(rows), [group] * rows, sources=names)
    assert found[group].times_90 == times_90


@pytest.mark.parametrize(("rows", "times_90"), [(10, 0.5), (20, 2.0), (150, 2.0)])
def test_a_small_group_is_filled_up_with_the_errors_of_all_others(rows: int, times_90: float) -> None:
    """Ten odd rows are 7 % of the 150 that a group should have, twenty 13 %: more than the tenth that may lie out."""
    expected, groups = np.full(rows + 700, 0.2), ["adapters"] * rows + ["experts"] * 700
    errors = np.where(np.arange(rows + 700) < rows, 2.0, 0.5) * expected
    found = spreads(errors, expected, np.ones(rows + 700), groups)
    assert found["adapters"].times_90 == times_90
    assert found["experts"].times_90 == 0.5


@pytest.mark.parametrize(("rows", "times_90"), [(24, 2.0), (25, 0.5)])
def test_a_small_group_of_smaller_errors_keeps_them(rows: int, times_90: float) -> None:
    expected, groups = np.full(rows + 700, 0.2), ["adapters"] * rows + ["experts"] * 700
    errors = np.where(np.arange(rows + 700) < rows, 0.5, 2.0) * expected
    assert spreads(errors, expected, np.ones(rows + 700), groups)["adapters"].times_90 == times_90


def test_rows_that_weigh_nothing_make_no_width() -> None:
    """Weak rows are excluded from the fit: a group of them alone takes the widths of all others."""
    names = ["adapters"] * 30 + ["new framework"] * 30
    weights = np.repeat([1.0, 0.0], 30)
    found = spreads(np.full(60, 0.1), np.full(60, 0.2), weights, names)
    assert set(found) == {"all", "adapters"}
    assert found["all"].times_90 == 0.5


def test_no_range_is_narrower_than_two_per_cent() -> None:
    narrow = {"all": Spread(rows=1, times_80=1.0, times_90=1.0)}
    wide_80, wide_90 = half_widths(["any"], np.array([1e-6]), narrow)
    assert np.exp(wide_80[0]) == pytest.approx(1.02)
    assert wide_90[0] >= wide_80[0]
