"""Probes of simulated machines whose parts differ by known factors: estimates find them, and ranges hold the truth."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from benchmarks.simulated_machine import CONSTANTS, SimulatedMachine
from planner.adapters.catalog import load_catalog
from planner.model.catalog import Catalog
from planner.model.evidence.probe import KernelKind
from planner.scenario.candidate import Candidate
from planner.speed.estimator.expected_error import COMMON_VARIANCE, NOISE, KnownLabels
from planner.speed.estimator.own_runs import UpdatePoints, covariance, update, with_learnt_transfer
from planner.speed.estimator.text_estimator import model_rows, model_text
from planner.speed.physics.config_arrays import from_rows
from planner.speed.physics.observation import Observation
from planner.speed.throughput.predict import predict
from planner.speed.throughput.prediction import Prediction
from planner.speed.throughput.probe_evidence import (
    OTHER_MACHINE_DEVIATION,
    TRANSFER,
    measurement_contradicted,
    not_measured,
)
from tests.speed.throughput.asking import asked

TRAININGS = ("gpt-305m", "qwen3-0.6b", "llama3-8b")
OFFER = "aws/p5.4xlarge"
TWICE_AS_FAR = 0.5


@cache
def catalog() -> Catalog:
    return load_catalog()


@cache
def candidate_of_kind() -> Candidate:
    return asked(catalog(), {"offer": OFFER}, workload={"ref": "gpt-305m"})[1]


def machine(**factors: float) -> SimulatedMachine:
    return SimulatedMachine(catalog(), candidate_of_kind(), factors)


@cache
def config(workload: str) -> dict[str, float]:
    job, candidate = asked(catalog(), {"offer": OFFER, "strategy": "ddp"}, workload={"ref": workload})
    answer = predict(job, candidate, catalog())
    assert isinstance(answer, Prediction)
    assert answer.query is not None
    return answer.query.observation.config


def places(simulated: SimulatedMachine, rows: list[Observation]) -> tuple[UpdatePoints, np.ndarray]:
    calibration = catalog().calibration
    assert calibration is not None
    modelled = model_rows(simulated.fit, rows, KnownLabels.of(calibration))
    return modelled.place, modelled.log_step


def true_log_step(simulated: SimulatedMachine, row: Observation) -> float:
    calibration = catalog().calibration
    assert calibration is not None
    known = KnownLabels.of(calibration)
    return float(model_text(simulated.truth, from_rows([row.config]), [row.labels], known).log_step[0])


def kernels_and_errors(simulated: SimulatedMachine, errors: dict[str, float]) -> tuple[list[Observation], np.ndarray]:
    rows = list(simulated.observations(simulated.probe(errors)))
    _, log_step = places(simulated, rows)
    measured = np.array([math.log(row.kernel.shapes[0][2]) for row in rows if row.kernel is not None])
    return rows, measured - log_step


@pytest.mark.parametrize(
    ("part", "kind"),
    [("attention", "attention"), ("elementwise", "elementwise"), ("host", "launches"), ("optimizer", "optimizer")],
)
def test_a_kernel_that_is_one_part_shows_its_whole_factor(part: str, kind: str) -> None:
    rows, errors = kernels_and_errors(machine(**{part: math.log(1.3)}), {})

    found = dict(zip([row.kernel.kind for row in rows if row.kernel], errors, strict=True))

    assert found[kind] == pytest.approx(math.log(1.3), abs=1e-9)
    assert found["products"] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("workload", TRAININGS)
def test_a_probe_moves_the_estimate_most_of_the_way_where_products_attention_and_loss_are_slow(workload: str) -> None:
    slow = machine(products=0.2, attention=0.6, logits=0.4, optimizer=0.5)
    row = slow.training(config(workload), workload)
    asked_place, log_step = places(slow, [row])
    rows, errors = kernels_and_errors(slow, {})
    anchors, _ = places(slow, rows)

    posterior = update(asked_place, anchors, errors)

    off = true_log_step(slow, row) - float(log_step[0])
    assert off > 0.05, "the physics does not know that it is slow"
    assert abs(off - float(posterior.shift[0])) < TWICE_AS_FAR * off
    assert float(posterior.left[0]) < 1


def test_another_machine_of_the_kind_counts_for_less() -> None:
    simulated = machine()
    row = simulated.training(config("qwen3-0.6b"), "qwen3-0.6b")
    asked_place, _ = places(simulated, [row])
    left = {}
    for elsewhere in (0.0, OTHER_MACHINE_DEVIATION):
        rows, errors = kernels_and_errors(simulated, {})
        moved = [replace(row, kernel=replace(row.kernel, elsewhere=elsewhere)) for row in rows if row.kernel]
        anchors, _ = places(simulated, moved)
        left[elsewhere] = float(update(asked_place, anchors, errors).left[0])

    assert left[0.0] < left[OTHER_MACHINE_DEVIATION] < 1


def test_a_run_that_contradicts_the_kernels_widens_the_range() -> None:
    simulated = machine()
    row = simulated.training(config("qwen3-0.6b"), "qwen3-0.6b")
    asked_place, _ = places(simulated, [row])
    rows, errors = kernels_and_errors(simulated, {})
    run = simulated.training(config("gpt-305m"), "gpt-305m")
    both, _ = places(simulated, [run, *rows])
    agrees = update(asked_place, both, np.array([0.0, *errors]))
    contradicts = update(asked_place, both, np.array([1.2, *errors]))
    alone, _ = places(simulated, [run])
    run_alone = update(asked_place, alone, np.array([1.2]))

    assert float(agrees.left[0]) < 1
    assert float(contradicts.left[0]) > float(agrees.left[0])
    assert float(contradicts.left[0]) > float(run_alone.left[0])


def test_parts_that_no_kernel_measures_are_named_the_largest_first() -> None:
    simulated = machine()
    probe = simulated.probe()
    fewer = [kernel for kernel in probe.kernels if kernel.kind in (KernelKind.PRODUCTS, KernelKind.ATTENTION)]
    rows = simulated.observations(probe.model_copy(update={"kernels": tuple(fewer)}))
    shares = {"products": 0.6, "logits": 0.2, "tail": 0.1, "elementwise": 0.08, "engine": 0.01, "waiting": 0.01}

    assert not_measured(shares, rows) == ("logits and loss", "kernel gaps", "element-wise kernels")


def test_a_prediction_is_narrower_with_a_probe_and_says_so() -> None:
    simulated = machine()
    probe = simulated.probe()
    with_probe = catalog().model_copy(update={"probes": {probe.id: probe}})
    job, candidate = asked(catalog(), {"offer": OFFER, "strategy": "ddp"}, workload={"ref": "qwen3-0.6b"})

    before, after = (predict(job, candidate, known) for known in (catalog(), with_probe))

    assert isinstance(before, Prediction)
    assert isinstance(after, Prediction)
    wide, narrow = (prediction.samples_per_s.high / prediction.samples_per_s.low for prediction in (before, after))
    assert narrow < wide
    assert after.known_from.endswith("and your probe")
    assert any("corrected by kernels of this machine (probe-simulated)" in note for note in after.notes)


@pytest.mark.slow
def test_ranges_after_a_probe_hold_the_truth_nine_times_in_ten() -> None:
    """Factors of parts, errors of kernels, and common errors of trainings are drawn from their stated distributions.

    True times are steps of the physics with the drawn constants, so that the test covers only the linear update.
    """
    rng = np.random.default_rng(46)
    part_sd = {
        "products": 0.10, "traffic": 0.35, "attention": 0.55, "elementwise": 0.45, "tail": 0.90, "logits": 0.45,
        "host": 0.40, "optimizer": 0.55, "overhead": 0.80,
    }  # fmt: skip
    assert set(part_sd) == set(CONSTANTS)
    inside = []
    for draw in range(1200):
        workload = TRAININGS[draw % len(TRAININGS)]
        simulated = machine(**{part: sd * rng.standard_normal() for part, sd in part_sd.items()})
        transfer = {kind.value: sd * rng.standard_normal() for kind, sd in TRANSFER.items()}
        row = simulated.training(config(workload), workload)
        rows, errors = kernels_and_errors(simulated, transfer)
        place, log_step = places(simulated, [row, *rows])
        bare = place._replace(
            shares={part: np.zeros(len(place.labels)) for part in place.shares},
            expected=np.full(len(place.labels), math.sqrt(COMMON_VARIANCE)),
            lone=None if place.lone is None else place.lone._replace(transfer=place.lone.transfer * 0),
        )
        whole = np.array([row.kernel is None or row.kernel.kind == "layer" for row in [row, *rows]])
        common = covariance(bare, bare)[np.ix_(whole, whole)] + NOISE**2 * np.eye(int(whole.sum()))
        drawn = np.zeros(len(place.labels))
        drawn[whole] = rng.multivariate_normal(np.zeros(int(whole.sum())), common)
        noise = NOISE * rng.standard_normal(len(rows)) * ~whole[1:]
        posterior = update(
            place.at(np.array([0])), place.at(np.arange(1, len(place.labels))), errors + drawn[1:] + noise
        )
        sd = float(place.expected[0] * posterior.left[0])
        off = true_log_step(simulated, row) + drawn[0] - float(log_step[0]) - float(posterior.shift[0])
        inside.append(abs(off) <= 1.6449 * sd)

    assert 0.88 <= float(np.mean(inside)) <= 0.92


def test_a_measurement_that_a_probe_contradicts_is_wider_and_says_so() -> None:
    """The bundled run of an H100 at a sixth of its rate contradicts kernels that take the predicted times."""
    bundled = catalog().runs["h100-sxm-qwen3-0.6b-compiled-b8"]
    rate, sixth = bundled.throughput, {name: getattr(bundled.throughput, name) / 6 for name in ("value", "low", "high")}
    slow = bundled.model_copy(
        update={
            "id": "mine",
            "throughput": rate.model_copy(update=sixth),
            "step_seconds": None,
            "hardware": bundled.hardware.model_copy(update={"node": OFFER}),
        }
    )
    probe = machine().probe()
    known = catalog().model_copy(update={"probes": {probe.id: probe}})
    honest = slow.model_copy(update={"throughput": rate})

    said = measurement_contradicted([slow], candidate_of_kind(), known)

    assert said is not None
    assert "contradicts your run mine" in said
    assert measurement_contradicted([honest], candidate_of_kind(), known) is None
    assert measurement_contradicted([slow], candidate_of_kind(), catalog()) is None, "there is no probe"


@pytest.mark.parametrize(("off", "narrower"), [(0.0, True), (1.2, False)], ids=["agrees", "disagrees"])
def test_runs_and_a_probe_give_the_spread_between_kernels_and_training(off: float, narrower: bool) -> None:
    """A run that kernels predict exactly scales the spread by sqrt(4 / 5); one that is far off increases it."""
    simulated = machine()
    rows, errors = kernels_and_errors(simulated, {})
    run = simulated.training(config("qwen3-0.6b"), "qwen3-0.6b")
    both, _ = places(simulated, [run, *rows])
    learnt = with_learnt_transfer(both, np.array([off, *errors]))
    alone, _ = places(simulated, rows)

    ratio = learnt.kernels.transfer[1:] / both.kernels.transfer[1:]

    assert ratio == pytest.approx(ratio[0])
    assert ratio[0] == pytest.approx(math.sqrt(4 / 5), abs=1e-6) if narrower else ratio[0] > 1
    assert with_learnt_transfer(alone, errors) is alone, "without runs the stated spread stands"
