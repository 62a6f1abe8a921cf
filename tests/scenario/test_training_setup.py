"""Setups are compared field by field: what is not stated is unknown, and a new field cannot be forgotten."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import pytest

from planner.adapters.bundled_tables import read_matmul_ceilings
from planner.audit.run_audit import with_audited_runs
from planner.decide.options.explain import explain_plan
from planner.decide.options.step_breakdown import Published
from planner.model.catalog import Catalog
from planner.model.evidence.imported_log import ImportedLog
from planner.model.evidence.run import RunRecord
from planner.model.network.adapters import Adapters
from planner.model.network.trainer_memory import Kernels, Optimizer, TrainerSettings
from planner.model.network.training_method import MethodSettings
from planner.model.network.workload import Method, Precision, Strategy
from planner.model.plan.plan import Plan
from planner.scenario.candidate import expand
from planner.scenario.job import resolve_job
from planner.scenario.recorded_setup import setup_of_benchmark, setup_of_run
from planner.scenario.training_setup import Agreement, TrainingSetup, agrees_where_stated, differences, setup_texts
from planner.speed.throughput.matching_runs import measured_runs, runs_not_counted
from tests.bundled import owned_catalog

LOG = ImportedLog(
    format="hf", framework="HF Trainer", sha256=("0" * 64,), counted_steps=100, counted_seconds=100.0
)  # fmt: skip
FP32 = "it was to compute in bf16, but of the work of its matrix products it did 100% in float32"
PLAN = {
    "schema_version": 1,
    "name": "test",
    "workload": {"ref": "gpt-305m", "seq_len": 512},
    "work": {"tokens": 512e6},
    "options": [{"site": "rtx3090-x10", "accelerators": 1}],
}


@dataclass(frozen=True, kw_only=True)
class SetupWithRouter(TrainingSetup):
    """A setup with a field of the future."""

    router: str | None = None


def run_named(name: str, **changes: object) -> RunRecord:
    return owned_catalog().runs[name].model_copy(update=changes)


BENCHMARK = {"method_version": 1, "method": "full", "compiled": False, "precision": Precision.BF16}


@pytest.mark.parametrize(
    ("mine", "other", "agreement"),
    [
        pytest.param(Precision.BF16, Precision.BF16, Agreement.EQUAL, id="both the same"),
        pytest.param(Precision.BF16, Precision.FP16, Agreement.DIFFERENT, id="both, and not the same"),
        pytest.param(Precision.BF16, None, Agreement.UNKNOWN, id="one says nothing"),
        pytest.param(None, None, Agreement.UNKNOWN, id="neither says anything"),
    ],
)
def test_a_field_is_equal_different_or_unknown(mine, other, agreement):
    first, two = (TrainingSetup(workload="w", precision=value) for value in (mine, other))
    assert differences(first, two)["precision"] is agreement
    assert differences(two, first)["precision"] is agreement


def test_every_field_takes_part():
    setup = TrainingSetup(workload="w")
    names = {field.name for field in fields(setup)} - {"workload", "settings"}
    assert set(differences(setup, setup)) == names | set(TrainerSettings.model_fields)


def test_a_network_is_known_by_its_name_where_it_is_not_described():
    described = setup_of_run(run_named("seed-003-rtx3090-ddp-x1"))
    assert described.network is not None
    named = replace(described, network=None)
    assert differences(described, named)["network"] is Agreement.EQUAL
    assert differences(described, replace(named, workload="other"))["network"] is Agreement.DIFFERENT


def test_targets_of_adapters_have_no_order():
    first, two = (
        TrainingSetup(workload="w", adapters=Adapters(targets=targets))
        for targets in (("query", "value"), ("value", "query"))
    )
    assert differences(first, two)["adapters"] is Agreement.EQUAL


@pytest.mark.parametrize(
    ("changes", "stated"),
    [
        pytest.param(BENCHMARK, {"kernels": Kernels.EAGER, "optimizer": Optimizer.ADAMW}, id="the benchmark"),
        pytest.param(BENCHMARK | {"compiled": True}, {"kernels": Kernels.FUSED, "compiled": True}, id="compiled"),
        pytest.param({"log": LOG}, {"kernels": None, "optimizer": None, "framework": "hf trainer"}, id="a log"),
        pytest.param({}, {"kernels": None, "framework": None, "method": Method.FULL}, id="a document"),
    ],
)
def test_a_run_states_what_its_source_knows(changes, stated):
    said = setup_of_run(run_named("seed-003-rtx3090-ddp-x1", **changes)).stated
    assert {name: said.get(name) for name in stated} == stated


@pytest.mark.parametrize(
    ("training", "changes", "answers"),
    [
        pytest.param({}, {}, True, id="a plan that leaves all open"),
        pytest.param({"kernels": "fused"}, {}, False, id="fused kernels, of which the document says nothing"),
        pytest.param({"kernels": "fused"}, BENCHMARK, False, id="fused kernels, and the benchmark was eager"),
        pytest.param({"kernels": "fused"}, BENCHMARK | {"compiled": True}, True, id="fused, and it was compiled"),
        pytest.param({"kernels": "eager"}, BENCHMARK, True, id="eager, and so was the benchmark"),
        pytest.param({"precision": "bf16"}, {}, False, id="a precision that the document does not state"),
        pytest.param({"strategy": "zero2"}, {}, False, id="another strategy"),
        pytest.param({"strategy": "ddp"}, {"strategy": None}, False, id="a strategy that the run does not state"),
        pytest.param({}, {"strategy": None}, True, id="an open strategy"),
        pytest.param({"micro_batch": 4}, {"micro_batch": None}, False, id="a micro-batch that it does not state"),
        pytest.param({"global_batch": 64}, {}, True, id="another global batch, which is noted"),
        pytest.param({"framework": "HF Trainer"}, {"log": LOG}, True, id="the framework of its log"),
        pytest.param({"framework": "torchtitan"}, {"log": LOG}, False, id="another framework"),
        pytest.param(
            {"framework": "HF Trainer, liger"}, {"log": LOG}, False, id="its kernels, of which the log is silent"
        ),
        pytest.param({"loss": "chunked"}, BENCHMARK | {"loss_chunks": 8}, True, id="a loss in chunks"),
        pytest.param({"loss": "chunked"}, BENCHMARK, False, id="a loss in chunks, and the benchmark's was whole"),
    ],
)
def test_a_run_measures_what_it_states_and_nothing_else(training, changes, answers):
    run = run_named("seed-003-rtx3090-ddp-x1", **changes)
    known = owned_catalog().model_copy(update={"runs": {run.id: run}})
    assert bool(answered(known, PLAN | {"training": training})) is answers


def answered(known: Catalog, plan: dict[str, object]) -> list[RunRecord]:
    read = Plan.model_validate(plan)
    job, (candidate,) = resolve_job(read, known), expand(read, known)
    return measured_runs(job, candidate, known)


def test_runs_of_unlike_setups_are_not_averaged():
    """A plan that leaves the kernels open is answered by the fastest, not by a mean of eager and compiled."""
    eager = run_named("seed-003-rtx3090-ddp-x1", **BENCHMARK, id="eager")
    faster = eager.throughput.model_copy(update={"value": 40.0, "low": 39.0, "high": 41.0})
    compiled = eager.model_copy(update={"id": "compiled", "compiled": True, "throughput": faster})
    known = owned_catalog().model_copy(update={"runs": {run.id: run for run in (eager, compiled)}})
    assert [run.id for run in answered(known, PLAN)] == ["compiled"]


def test_runs_at_the_plan_s_global_batch_come_before_others():
    run = run_named("seed-003-rtx3090-ddp-x1", **BENCHMARK, id="at-8", global_batch=8, step_seconds=None)
    faster = run.throughput.model_copy(update={"value": 40.0, "low": 39.0, "high": 41.0})
    other = run.model_copy(update={"id": "at-64", "global_batch": 64, "throughput": faster})
    known = owned_catalog().model_copy(update={"runs": {stored.id: stored for stored in (run, other)}})
    assert [stored.id for stored in answered(known, PLAN | {"training": {"global_batch": 8}})] == ["at-8"]
    assert [stored.id for stored in answered(known, PLAN)] == ["at-64"]


@pytest.mark.parametrize(
    ("training", "answers"),
    [
        pytest.param({"strategy": "ddp", "precision": "bf16"}, True, id="what older records leave out"),
        pytest.param({"optimizer": "adafactor"}, False, id="not an optimizer"),
        pytest.param({"kernels": "fused"}, False, id="nor kernels"),
        pytest.param({"strategy": "zero2"}, False, id="nor another strategy"),
    ],
)
def test_the_run_that_a_plan_names_may_leave_something_out(training, answers):
    run = run_named("seed-003-rtx3090-ddp-x1")
    known = owned_catalog().model_copy(update={"runs": {run.id: run}})
    plan = PLAN | {"workload": {"measured": run.id}, "work": {"samples": 1e6}, "training": training}
    assert bool(answered(known, plan)) is answers


@pytest.mark.parametrize(
    ("changes", "counts"),
    [
        pytest.param({"short_window": True, "verdict": ("the window is too short: 3 s",)}, True, id="a short window"),
        pytest.param({"verdict": ("the device is not full: it may be faster at 16",)}, True, id="advice"),
        pytest.param({"throughput_times": 1000.0}, False, id="over the peak"),
        pytest.param({"verdict": (FP32,), "wrong_speed": (FP32,)}, False, id="another precision than it states"),
    ],
)
def test_only_a_doubt_about_the_speed_makes_a_run_count_for_nothing(changes, counts):
    """Sentence of the audit about a record that the planner's own benchmark wrote."""
    times = changes.pop("throughput_times", 1.0)
    run = run_named("seed-003-rtx3090-ddp-x1", **BENCHMARK, **changes, id="mine", step_seconds=None)
    rate = run.throughput
    scaled = {name: getattr(rate, name) * times for name in ("value", "low", "high")}
    run = run.model_copy(update={"throughput": rate.model_copy(update=scaled), "samples": None, "wall_seconds": None})
    known = with_audited_runs(owned_catalog().model_copy(update={"runs": {run.id: run}}), read_matmul_ceilings())
    assert bool(answered(known, PLAN)) is counts
    plan = Plan.model_validate(PLAN)
    (candidate,) = expand(plan, known)
    told = runs_not_counted(resolve_job(plan, known), candidate, known)
    assert bool(told) is not counts, "also where the plan leaves the strategy open"


def test_a_field_that_is_added_is_compared_without_another_change():
    run = run_named("seed-003-rtx3090-ddp-x1")
    known = owned_catalog().model_copy(update={"runs": {run.id: run}})
    plan = Plan.model_validate(PLAN)
    job, (candidate,) = resolve_job(plan, known), expand(plan, known)
    assert measured_runs(job, candidate, known) == [run]
    old = {field.name: getattr(job.setup, field.name) for field in fields(TrainingSetup)}
    routed = replace(job, setup=SetupWithRouter(**old, router="top-2"))
    assert differences(routed.setup, setup_of_run(run))["router"] is Agreement.UNKNOWN
    assert not agrees_where_stated(routed.setup, setup_of_run(run))
    assert measured_runs(routed, candidate, known) == []
    assert setup_texts(routed.setup)["router"] == "top-2", "what explain and its JSON show"


def test_explain_shows_the_setup_and_what_each_run_does_not_share():
    plan = Plan.model_validate(PLAN | {"training": {"strategy": "ddp", "precision": "bf16", "micro_batch": 8}})
    (found,) = explain_plan(plan, owned_catalog(), lambda _: Published(())).options
    assert (found.setup["precision"], found.setup["strategy"]) == ("bf16", Strategy.DDP.value)
    (run,) = (run for run in found.runs if run.id == "seed-003-rtx3090-ddp-x1")
    assert (run.different, run.unknown) == (("micro_batch",), ("precision",))


@pytest.mark.parametrize(
    ("settings", "mean", "micro_batch", "padded"),
    [
        # mean x (1 + 0.5 x 0.564 (log2 n)^0.84), n sequences
        pytest.param({"method": "dpo"}, 500.0, 1, 500 * 1.282, id="a pair: the longer of two"),
        pytest.param({"method": "kto"}, 500.0, 1, 500.0, id="one answer by itself"),
        pytest.param({"method": "dpo"}, 500.0, 8, 500 * (1 + 0.282 * 4**0.84), id="the longest of sixteen"),
        pytest.param({"method": "dpo"}, 900.0, 8, 1024.0, id="no longer than where they are cut"),
        pytest.param({"method": "dpo"}, None, 8, 1024.0, id="a mean that is not stated"),
        pytest.param({}, None, 8, 1024.0, id="samples that are joined"),
    ],
)
def test_a_micro_batch_is_padded_to_its_longest_sequence(
    settings: dict[str, str], mean: float | None, micro_batch: int, padded: float
) -> None:
    setup = TrainingSetup(
        workload="tiny", seq_len=1024, sequence_tokens=mean, objective=MethodSettings.model_validate(settings)
    )
    assert setup.padded_tokens(micro_batch) == pytest.approx(padded)


def test_another_objective_is_another_training() -> None:
    plain, dpo = (
        TrainingSetup(workload="tiny", objective=MethodSettings.model_validate(settings))
        for settings in ({}, {"method": "dpo"})
    )
    assert differences(plain, dpo)["objective"] is Agreement.DIFFERENT
    assert differences(dpo, dpo)["objective"] is Agreement.EQUAL
    assert setup_texts(dpo)["objective"] == "dpo"
    assert "objective" not in setup_texts(plain)


def test_the_benchmark_is_no_measurement_of_a_training_on_preferences() -> None:
    asked = TrainingSetup(workload="tiny", objective=MethodSettings.model_validate({"method": "dpo"}))
    assert not agrees_where_stated(asked, setup_of_benchmark(asked))
    plain = TrainingSetup(workload="tiny")
    assert agrees_where_stated(plain, setup_of_benchmark(plain))
