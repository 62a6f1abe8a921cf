"""Throughput of a decoder that nobody measured: the physics of its layers, corrected by the user's own measurements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from planner.model.answer.reason import Reason, ReasonCode
from planner.model.catalog import Catalog
from planner.model.network.architecture import MoeDecoder, TextModel
from planner.model.quantity import Basis
from planner.network.flops import parameters
from planner.quantity.interval import Interval
from planner.scenario.candidate import Candidate
from planner.scenario.frameworks import makers_of, other_maker
from planner.scenario.job import Job
from planner.scenario.trainers import GROUPED_SINCE, OLDER_TRANSFORMERS, ExpertProducts, expert_products
from planner.speed.estimator.estimator_query import EstimatorQuery
from planner.speed.memory.device_fit import DeviceFit
from planner.speed.physics.observation import Observation
from planner.speed.physics.planned_text_config import labels_of, observed_run, planned_text_config, tokens_of_a_sample
from planner.speed.throughput.evidence_text import estimated_line, evidence_clause
from planner.speed.throughput.matching_runs import training_peak_tflops
from planner.speed.throughput.own_evidence import OwnEvidence, own_evidence, step_name
from planner.speed.throughput.prediction import NoPrediction, Prediction, no_prediction, not_answered, too_small
from planner.speed.throughput.prediction_notes import (
    PART_NAMES,
    SMALLEST_SHARE,
    method_notes,
    network_note,
    training_notes,
)
from planner.speed.throughput.share_of_peak import is_too_small

if TYPE_CHECKING:
    from planner.model.evidence.calibration import Calibration
    from planner.model.evidence.run import RunRecord
    from planner.model.hardware.machines import Node
    from planner.speed.estimator.text_estimator import Estimates

LONGEST_SAMPLE = 4_000_000
OTHER_SOFTWARE = 1.7
"""By which the low end is lower of an accelerator that needs its maker's software where the plan names none of it: of
eight sites with Gaudi or Trainium the slowest is 1.67 times as slow as a fit without it says."""


LEAST_FACTOR = 2.0
"""Either way, of a training whose kind no measurement calibrates."""


def predict_text(
    job: Job, candidate: Candidate, catalog: Catalog, calibration: Calibration, fitting: DeviceFit
) -> Prediction | NoPrediction:
    """Predict samples/s of the whole cluster with the physics of layers."""
    from planner.speed.estimator.text_estimator import estimate_text
    from planner.speed.physics.config_arrays import from_rows

    assert isinstance(job.setup.network, TextModel)
    assert job.setup.seq_len is not None
    if job.setup.seq_len > LONGEST_SAMPLE:
        text = f"samples of {job.setup.seq_len:,} tokens are out of range: nothing over {LONGEST_SAMPLE:,} is known"
        return no_prediction(
            ReasonCode.SAMPLE_TOO_LONG, text, sample_tokens=job.setup.seq_len, longest_tokens=LONGEST_SAMPLE
        )
    if (refused := other_maker(job.setup.framework, candidate.accelerator)) is not None:
        return not_answered(refused)
    if is_too_small(job.setup.network):
        return too_small(parameters(job.setup.network), candidate.accelerator.id, "and no evidence is of so small ones")
    config = _planned(job, candidate, fitting)
    if isinstance(config, Reason):
        return not_answered(config)
    label = labels_of(candidate.accelerator, job.setup.workload, job.setup.framework)
    own = _own_evidence(job, candidate, catalog)
    estimate = estimate_text(from_rows([config]), [label], calibration, own=own.observations)
    _, lacking = training_peak_tflops(candidate.accelerator, job.setup.precision)
    per_sample = candidate.accelerators / tokens_of_a_sample(config, job.setup)
    rate = Interval(
        float(estimate.tokens_per_s_per_gpu[0]) * per_sample,
        float(estimate.low_90[0]) * per_sample,
        float(estimate.high_90[0]) * per_sample,
    )
    doubts: list[str] = []
    if (older := _with_older_experts(job, candidate, fitting)) is not None:
        slower = estimate_text(from_rows([older]), [label], calibration, own=own.observations)
        samples_per_s = float(slower.tokens_per_s_per_gpu[0]) * per_sample
        rate = Interval(rate.value, min(rate.low, samples_per_s), rate.high)
        doubts.append(
            f"experts by grouped products, as transformers has them from {GROUPED_SINCE[0]} on; the range reaches to a "
            f"loop over experts, as before: {samples_per_s:.3g} samples/s (say which: --framework "
            f'"{job.setup.framework}, {OLDER_TRANSFORMERS}")'
        )
    if candidate.accelerator.vendor not in makers_of(job.setup.framework):
        rate = Interval(rate.value, rate.low / OTHER_SOFTWARE, rate.high)
    rate = _of_method(rate, job)
    evidence = evidence_clause(label, calibration, own, catalog.bundled_runs)
    return Prediction(
        samples_per_s=rate,
        basis=Basis.MODELLED,
        write_source=cache(lambda: _source(config, calibration, estimate, candidate, evidence)),
        as_of=min([calibration.made_on, *(run.throughput.as_of for run in own.runs if run.throughput.as_of)]),
        known_from=estimated_line(label, calibration, own, catalog.bundled_runs),
        runs=own.runs,
        steps=own.steps,
        notes=(
            f"estimated from {evidence}; range of group: {estimate.groups[0]}",
            *own.notes,
            *doubts,
            *network_note(candidate),
            *method_notes(job),
            *training_notes(job),
            *((lacking,) if lacking else ()),
        ),
        asked=EstimatorQuery(Observation(job.setup.workload, config, label, 1.0, 1.0), own.observations),
    )


def _of_method(rate: Interval, job: Job) -> Interval:
    """Return a rate with the least range of trainings on preferences, which calibrate nothing."""
    if job.setup.objective.method is None:
        return rate
    low, high = min(rate.low, rate.value / LEAST_FACTOR), max(rate.high, rate.value * LEAST_FACTOR)
    return Interval(rate.value, low, high)


def _planned(job: Job, candidate: Candidate, fitting: DeviceFit) -> dict[str, float] | Reason:
    """Return the physics' numbers of the job on a candidate, with the micro-batch that fits within the global batch."""
    assert isinstance(job.setup.network, TextModel)
    assert job.setup.seq_len is not None
    micro_batch = float(fitting.micro_batch or job.setup.micro_batch or 1)
    steps = float(fitting.accumulation or 1)
    if job.setup.global_batch is not None:
        share = job.setup.global_batch * candidate.split.devices / candidate.accelerators
        micro_batch = min(micro_batch, max(1.0, share))
        steps = max(1.0, share / micro_batch)
    asked = replace(
        job.setup,
        checkpointing=fitting.checkpointing or job.setup.checkpointing,
        strategy=candidate.strategy,
        split=candidate.split,
    )
    return planned_text_config(
        asked,
        candidate.cluster,
        micro_batch=micro_batch,
        micro_batches=steps,
        paged=fitting.paged,
        epochs=job.epochs,
    )


def _with_older_experts(job: Job, candidate: Candidate, fitting: DeviceFit) -> dict[str, float] | None:
    """Return the job with a loop over experts, where nobody says whether its trainer has one; else None."""
    trainer = job.setup.framework
    if expert_products(trainer) is not ExpertProducts.ASSUMED_GROUPED or not isinstance(job.setup.network, MoeDecoder):
        return None
    looped = replace(job, setup=replace(job.setup, framework=f"{trainer}, {OLDER_TRANSFORMERS}"))
    config = _planned(looped, candidate, fitting)
    return None if isinstance(config, Reason) else config


def _own_evidence(job: Job, candidate: Candidate, catalog: Catalog) -> OwnEvidence[Observation]:
    """Return the measurements that correct the estimate.

    Networks that are bound by launches say nothing of those that are not.
    """
    return own_evidence(
        job, candidate, catalog, of_run=lambda run, node: observed_text_run(run, node, catalog), of_step=_observed_step
    )


def observed_text_run(run: RunRecord, node: Node, catalog: Catalog) -> Observation | None:
    """Describe a run in the physics' terms; None of a network that is bound by launches, or of too little known."""
    if run.architecture is not None and is_too_small(run.architecture):
        return None
    return observed_run(run, catalog, node)


def _observed_step(job: Job, stepped: Candidate, samples_per_s: float, fitting: DeviceFit) -> Observation | None:
    """Describe a step that the plan states, of the job as it is estimated there."""
    config = _planned(job, stepped, fitting)
    if isinstance(config, Reason) or job.setup.seq_len is None:
        return None
    label = labels_of(stepped.accelerator, job.setup.workload, job.setup.framework)
    return Observation(
        step_name(stepped),
        config,
        label,
        samples_per_s * tokens_of_a_sample(config, job.setup) / stepped.accelerators,
        1.0,
    )


def _source(
    config: Mapping[str, float], calibration: Calibration, estimate: Estimates, candidate: Candidate, evidence: str
) -> str:
    from planner.speed.estimator.text_estimator import fitted
    from planner.speed.physics.config_arrays import from_rows
    from planner.speed.physics.step import step

    shares = {
        name: float(value[0]) for name, value in step(from_rows([config]), fitted(calibration).constants).shares.items()
    }
    shown = ", ".join(f"{PART_NAMES[name]} {share:.0%}" for name, share in shares.items() if share >= SMALLEST_SHARE)
    tokens = config["dp"] * config["micro_batch"] * config["micro_batches"] * config["seq_len"]
    rate = float(estimate.tokens_per_s_per_gpu[0]) * candidate.accelerators
    return (
        f"estimated from {evidence} (estimator of {calibration.made_on}): a step of {tokens:,.0f} "
        f"tokens takes {tokens / rate:.4g} s, of that {shown}"
    )
