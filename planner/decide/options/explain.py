"""Explain the estimate of an option: parts of its step, constants, and the effect of each run."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from planner.decide.options.estimate_plan import Estimated, estimate_options
from planner.decide.options.next_run import next_runs
from planner.decide.options.option import EstimatedOption
from planner.decide.options.step_breakdown import Published, StepBreakdown, step_breakdown
from planner.errors import NotFoundError
from planner.model.answer.explanation import (
    EstimatedConfiguration,
    ExplainDocument,
    ExtrapolatedStep,
    NextRun,
    OptionExplanation,
    RatioUsed,
    RunEffect,
    ThroughputFrom,
)
from planner.model.answer.option_estimate import OptionEstimate
from planner.model.catalog import Catalog
from planner.model.evidence.run import RunRecord
from planner.model.hardware.machines import Node
from planner.model.network.workload import Checkpointing
from planner.model.plan.plan import Plan
from planner.model.quantity import Basis, Quantity, Unit
from planner.quantity.conversion import to_quantity
from planner.quantity.formula import named, stated
from planner.scenario.candidate import Candidate, expand
from planner.scenario.job import Job, resolve_job
from planner.scenario.recorded_setup import setup_of_run
from planner.scenario.training_setup import Agreement, TrainingSetup, differences, setup_texts
from planner.speed.throughput.matching_runs import asked_setup, measured_runs
from planner.speed.throughput.own_evidence import step_name
from planner.speed.throughput.predict import predict
from planner.speed.throughput.prediction import NoPrediction, Prediction
from planner.speed.throughput.speed import Speed, speed

Evidence = Callable[[bool], Published]
"""Published measurements: of images where it is asked so, else of text."""


def explain_plan(
    plan: Plan,
    catalog: Catalog,
    evidence: Evidence,
    *,
    option: str | None = None,
    estimated: Estimated | None = None,
) -> ExplainDocument:
    """Explain every option of the plan, or the named one; `answer` is filled in by the comparison.

    `estimated`: its options, where they are estimated already (`estimate_options`).
    """
    machines = {candidate.id: candidate for candidate in expand(plan, catalog)}
    options = (estimated or estimate_options(plan, catalog)).options
    estimates = {estimate.option.id: estimate for estimate in options}
    if option is not None and option not in estimates:
        known = f"The plan has: {', '.join(estimates)}"
        raise NotFoundError("option", option, estimates, where="--option", fix=known)
    job = resolve_job(plan, catalog)
    return ExplainDocument(
        plan=plan.name,
        currency=plan.currency,
        options=tuple(
            _explained(job, machines[name], catalog, estimate, evidence)
            if name in machines
            else _service_explanation(estimate.option)
            for name, estimate in estimates.items()
            if option in (None, name)
        ),
    )


def _service_explanation(estimate: OptionEstimate) -> OptionExplanation:
    """Return the explanation of a service that trains by the token: only notes, because its machines are unknown."""
    return OptionExplanation(
        id=estimate.id,
        name=estimate.name,
        throughput=None,
        physics=None,
        step_seconds=None,
        step_size=None,
        step_unit=None,
        parts=(),
        constants=(),
        effects=(),
        runs=(),
        nearest=(),
        time=None,
        notes=estimate.notes,
        why_not=estimate.why_not,
        why_not_codes=estimate.why_not_codes,
    )


def _host(node: Node) -> str | None:
    facts = []
    if node.host_memory_gib is not None:
        facts.append(f"{node.host_memory_gib:,g} GiB of memory")
    if node.vcpus is not None:
        facts.append(f"{node.vcpus} vCPU")
    if node.local_disk_gb is not None:
        facts.append(f"{node.local_disk_gb:,g} GB of local disks" if node.local_disk_gb else "no local disks")
    return ", ".join(facts) or None


def _explained(
    job: Job, candidate: Candidate, catalog: Catalog, estimated: EstimatedOption, evidence: Evidence
) -> OptionExplanation:
    estimate, chosen, answer = estimated.option, estimated.candidate, estimated.speed
    assert chosen is not None, "a machine"
    assert answer is not None, "a machine"
    predicted = predict(replace(job, mfu=None), chosen, catalog, answer.fit)
    prediction = predicted if isinstance(predicted, Prediction) and predicted.query is not None else None
    breakdown = None
    if prediction is not None and prediction.query is not None:
        sample = prediction.query.sample
        calibration = catalog.calibration_for(sample)
        assert calibration is not None, "it made the prediction"
        breakdown = step_breakdown(prediction.query, calibration, evidence(sample == "image"))
    explained = OptionExplanation(
        id=estimate.id,
        name=estimate.name,
        throughput=estimate.throughput,
        host=_host(candidate.node),
        physics=_quantity(prediction),
        throughput_from=_throughput_from(job, chosen, catalog, answer, predicted),
        setup=setup_texts(asked_setup(job, candidate)),
        configuration=_configuration(job, chosen, answer, prediction),
        extrapolation=_extrapolation(job, answer, predicted),
        correction=breakdown.correction if breakdown else None,
        step_seconds=breakdown.seconds if breakdown else None,
        step_size=breakdown.size if breakdown else None,
        step_unit=breakdown.unit if breakdown else None,
        parts=breakdown.parts if breakdown else (),
        constants=breakdown.constants if breakdown else (),
        effects=breakdown.effects if breakdown else (),
        runs=_run_effects(job, chosen, catalog, answer, breakdown.weights if breakdown else {}),
        next_runs=_next_runs(job, chosen, catalog, answer, prediction),
        nearest=breakdown.nearest if breakdown else (),
        time=estimate.time,
        notes=estimate.notes,
        why_not=estimate.why_not,
        why_not_codes=estimate.why_not_codes,
    )
    remembered: dict[str, object] = {"fit_chance": answer.fit.chance}
    if breakdown is not None:
        remembered["step_seconds"] = breakdown.recorded_seconds
        if explained.throughput_from == "estimator" and explained.throughput is not None:
            remembered["throughput"] = _by_step(explained.throughput, breakdown, job)
    return explained.model_copy(update=remembered)


def _by_step(throughput: Quantity, breakdown: StepBreakdown, job: Job) -> Quantity:
    """Return the throughput as size of a step / its length / its seconds, if it was computed from a step."""
    size = stated(f"{breakdown.unit}_of_a_step", breakdown.size, breakdown.unit, "the configuration that is estimated")
    length = stated("seq_len", float(job.setup.seq_len or 1), "", "the workload")
    samples = size if breakdown.unit == "images" else size / length
    rate = named("samples_per_s", samples / breakdown.recorded_seconds, "samples/s", "of the whole cluster")
    if not math.isclose(rate, throughput.value, rel_tol=1e-9):
        return throughput
    return throughput.model_copy(update={"value": rate})


def _throughput_from(
    job: Job, candidate: Candidate, catalog: Catalog, answer: Speed, predicted: Prediction | NoPrediction
) -> ThroughputFrom | None:
    if answer.samples_per_s is None:
        return None
    if candidate.option.step is not None:
        return "step"
    if measured_runs(job, candidate, catalog):
        return "runs"
    if job.mfu is not None and job.setup.network is not None:
        return "mfu"
    if isinstance(predicted, Prediction) and predicted.query is not None:
        return "estimator"
    return "extrapolation" if answer.run_ids else "share_of_peak"


def _configuration(
    job: Job, candidate: Candidate, answer: Speed, prediction: Prediction | None
) -> EstimatedConfiguration | None:
    """Return the estimator's query; without one, the known values of the answer's."""
    if prediction is None or prediction.query is None:
        if answer.samples_per_s is None:
            return None
        return EstimatedConfiguration(
            accelerators=candidate.accelerators,
            strategy=answer.strategy,
            split=str(candidate.split),
            micro_batch=answer.fit.micro_batch,
            accumulation=answer.fit.accumulation,
            checkpointing=answer.fit.checkpointing or job.setup.checkpointing,
            recomputed=None,
            precision=job.setup.precision,
        )
    config = prediction.query.observation.config
    return EstimatedConfiguration(
        accelerators=candidate.accelerators,
        strategy=candidate.strategy,
        split=str(candidate.split),
        micro_batch=config["micro_batch"],
        accumulation=config["micro_batches"],
        checkpointing=answer.fit.checkpointing or job.setup.checkpointing or Checkpointing.NONE,
        recomputed=config["recompute"],
        precision=job.setup.precision,
    )


def _extrapolation(job: Job, answer: Speed, predicted: Prediction | NoPrediction) -> ExtrapolatedStep | None:
    """Return the step behind a rate that was extrapolated from runs; None if the rate has another source."""
    if isinstance(predicted, NoPrediction) or not predicted.runs or predicted.query is not None:
        return None
    if answer.samples_per_s is None or answer.source != predicted.source:
        return None
    batch = job.setup.global_batch or predicted.runs[0].global_batch
    return ExtrapolatedStep(
        runs=tuple(run.id for run in predicted.runs),
        batch=batch,
        seconds=None if batch is None else batch / answer.samples_per_s.value,
        ratios=tuple(RatioUsed(what=ratio.what, value=ratio.value, formula=ratio.text) for ratio in predicted.ratios),
    )


def _next_runs(
    job: Job, candidate: Candidate, catalog: Catalog, answer: Speed, prediction: Prediction | None
) -> tuple[NextRun, ...]:
    """Return the effect of one more run; nothing if a measured run or a stated figure gives the speed."""
    if prediction is None or prediction.query is None or answer.samples_per_s is None:
        return ()
    return next_runs(job, candidate, catalog, prediction.query) if answer.basis is Basis.MODELLED else ()


def _quantity(prediction: Prediction | None) -> Quantity | None:
    if prediction is None:
        return None
    return to_quantity(
        prediction.samples_per_s, Unit.SAMPLES_PER_S, prediction.basis, prediction.source, prediction.as_of
    )


def _run_effects(
    job: Job, candidate: Candidate, catalog: Catalog, answer: Speed, weights: dict[str, float]
) -> tuple[RunEffect, ...]:
    """Return the effect of each run and step, by an answer without it; the largest effect first."""

    def without(run_id: str) -> Speed:
        others = {key: run for key, run in catalog.runs.items() if key != run_id}
        return speed(job, candidate, catalog.model_copy(update={"runs": others}))

    def without_step(stepped: Candidate) -> Speed:
        others = tuple(step for step in job.stated_steps if step.id != stepped.id)
        return speed(replace(job, stated_steps=others), candidate, catalog)

    asked = asked_setup(job, candidate)
    effects = [
        _effect(run_id, answer, without(run_id), weights).model_copy(update=_disagreements(asked, catalog.runs[run_id]))
        for run_id in answer.run_ids
    ]
    effects += [_effect(step_name(step), answer, without_step(step), weights) for step in answer.steps]
    return tuple(
        sorted(effects, key=lambda effect: (effect.change_fraction is not None, -abs(effect.change_fraction or 0)))
    )


def _disagreements(asked: TrainingSetup, run: RunRecord) -> dict[str, tuple[str, ...]]:
    """Return the fields that the plan states and the run has otherwise, and those that the run does not state."""
    found = differences(asked, setup_of_run(run))
    stated = asked.stated
    return {
        "different": tuple(name for name in stated if found[name] is Agreement.DIFFERENT),
        "unknown": tuple(name for name in stated if found[name] is Agreement.UNKNOWN),
    }


def _effect(name: str, answer: Speed, again: Speed, weights: dict[str, float]) -> RunEffect:
    """Return the effect of one measurement, by the answer without it."""
    without, change = None, None
    if again.samples_per_s is not None:
        without = to_quantity(again.samples_per_s, Unit.SAMPLES_PER_S, again.basis, again.source, again.as_of)
        if answer.samples_per_s is not None:
            change = answer.samples_per_s.value / again.samples_per_s.value - 1
    weight = weights.get(name) if answer.basis is Basis.MODELLED else None
    return RunEffect(id=name, weight=weight, without=without, change_fraction=change)
