"""Throughput without a measurement of it: the physics of a step, corrected by the user's own measurements."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from planner.model.answer.reason import Reason, ReasonCode
from planner.model.catalog import Catalog
from planner.model.quantity import Basis
from planner.network.flops import parameters
from planner.quantity.interval import Interval
from planner.scenario.candidate import Candidate
from planner.scenario.frameworks import makers_of, other_maker
from planner.scenario.job import Job
from planner.scenario.trainers import GROUPED_SINCE, OLDER_TRANSFORMERS, ExpertProducts, expert_products
from planner.speed.estimator.network_kind import EstimatorQuery, kind_of_sample
from planner.speed.estimator.shared_causes import causes_of
from planner.speed.memory.device_fit import DeviceFit
from planner.speed.physics.image_config_arrays import Described
from planner.speed.physics.observation import Observation
from planner.speed.physics.planned_config import observed_run, planned_config, units_of_a_sample
from planner.speed.physics.planned_text_config import labels_of, planned_kernels
from planner.speed.throughput.evidence_text import estimated_line, evidence_clause
from planner.speed.throughput.matching_runs import training_peak_tflops
from planner.speed.throughput.own_evidence import OwnEvidence, own_evidence, step_name
from planner.speed.throughput.prediction import NoPrediction, Prediction, no_prediction, not_answered, too_small
from planner.speed.throughput.prediction_notes import (
    input_note,
    method_notes,
    network_note,
    part_shares,
    source_text,
    training_notes,
)
from planner.speed.throughput.probe_evidence import CPU, contradiction_text, not_measured, probe_evidence
from planner.speed.throughput.share_of_peak import is_too_small

if TYPE_CHECKING:
    from planner.model.evidence.calibration import Calibration
    from planner.model.evidence.run import RunRecord
    from planner.model.hardware.machines import Node

LONGEST_SAMPLE = 4_000_000
"""Tokens of the longest sample that is estimated."""
OTHER_SOFTWARE = 1.7
"""Factor on the low end of the range for an accelerator that needs its maker's software, if the plan does not name it.
Of eight sites with Gaudi or Trainium, the slowest is 1.67 times as slow as a fit without it predicts."""
LEAST_FACTOR = 2.0
"""Smallest factor, both ways, for trainings whose kind no measurement calibrates, and for all phases of a step with
rollouts except the training passes. Published steps differ as much from predictions (docs/accuracy/rollouts.csv)."""


def predict_by_physics(
    job: Job, candidate: Candidate, catalog: Catalog, calibration: Calibration, fitting: DeviceFit
) -> Prediction | NoPrediction:
    """Predict the samples/s of the whole cluster. Images are assumed to be on the device already."""
    assert job.setup.network is not None, "the physics needs a network"
    if (refused := _refusal(job, candidate)) is not None:
        return refused
    described = _planned(job, candidate, fitting)
    if isinstance(described, Reason):
        return not_answered(described)
    asked, own = _observation(job.setup.workload, job, candidate, described), _own_evidence(job, candidate, catalog)
    estimate = kind_of_sample(job.setup.sample, calibration).estimate([asked], own.observations)
    samples_per_unit = candidate.accelerators / units_of_a_sample(described, job.setup)
    rate = Interval(
        float(estimate.tokens_per_s_per_gpu[0]) * samples_per_unit,
        float(estimate.low_90[0]) * samples_per_unit,
        float(estimate.high_90[0]) * samples_per_unit,
    )
    notes: list[str] = []
    if job.setup.sample == "image":
        notes.append(input_note(rate.value, candidate))
    elif (older := _with_older_experts(job, candidate, fitting)) is not None:
        slower = kind_of_sample("tokens", calibration).estimate([older], own.observations)
        samples_per_s = float(slower.tokens_per_s_per_gpu[0]) * samples_per_unit
        rate = Interval(rate.value, min(rate.low, samples_per_s), rate.high)
        notes.append(
            f"experts by grouped products, as transformers has them from {GROUPED_SINCE[0]} on; the range reaches to a "
            f"loop over experts, as before: {samples_per_s:.3g} samples/s (say which: --framework "
            f'"{job.setup.framework}, {OLDER_TRANSFORMERS}")'
        )
    if job.setup.sample == "tokens" and candidate.accelerator.vendor not in makers_of(job.setup.framework):
        rate = Interval(rate.value, rate.low / OTHER_SOFTWARE, rate.high)
    if job.setup.objective.method is not None:
        rate = with_least_range(rate)
    _, peak_note = training_peak_tflops(candidate.accelerator, job.setup.precision)
    evidence = evidence_clause(asked.labels, calibration, own, catalog.bundled_runs)
    cluster_rate = float(estimate.tokens_per_s_per_gpu[0]) * candidate.accelerators
    return Prediction(
        samples_per_s=rate,
        basis=Basis.MODELLED,
        write_source=cache(lambda: source_text(asked, calibration, cluster_rate, evidence)),
        as_of=min([calibration.made_on, *(run.throughput.as_of for run in own.runs if run.throughput.as_of)]),
        known_from=estimated_line(asked.labels, calibration, own, catalog.bundled_runs),
        runs=own.runs,
        steps=own.steps,
        notes=(
            f"estimated from {evidence}; range of group: {estimate.groups[0]}",
            *own.notes,
            *_probe_notes(asked, calibration, own),
            *notes,
            *network_note(candidate),
            *method_notes(job),
            *training_notes(job),
            *((peak_note,) if peak_note else ()),
        ),
        query=EstimatorQuery(asked, own.observations),
        causes=causes_of(estimate.place),
    )


def _probe_notes(observation: Observation, calibration: Calibration, own: OwnEvidence[Observation]) -> tuple[str, ...]:
    """Return notes on the probe: its machine, the parts that it does not measure, and a contradiction with runs."""
    if not own.probe.observations:
        return ()
    names = ", ".join(probe.id for probe in own.probe.probes)
    machine = "this machine" if own.probe.of_this_machine else "other machines of this kind, so it counts for less"
    notes = [f"corrected by kernels of {machine} ({names})"]
    if unmeasured := not_measured(part_shares(observation, calibration), own.observations):
        notes.append(f"no kernel of the probe measures {', '.join(unmeasured)}: these keep their range")
    if contradiction := contradiction_text(own.observations, calibration):
        notes.append(contradiction)
    return tuple(notes)


def with_least_range(rate: Interval) -> Interval:
    """Return a rate with at least the range of trainings whose kind no measurement calibrates."""
    low, high = min(rate.low, rate.value / LEAST_FACTOR), max(rate.high, rate.value * LEAST_FACTOR)
    return Interval(rate.value, low, high)


def _refusal(job: Job, candidate: Candidate) -> NoPrediction | None:
    """Return the reason why the estimator does not answer; None if it does."""
    network, seq_len = job.setup.network, job.setup.seq_len
    assert network is not None
    if seq_len is not None and seq_len > LONGEST_SAMPLE:
        text = f"samples of {seq_len:,} tokens are out of range: nothing over {LONGEST_SAMPLE:,} is known"
        return no_prediction(ReasonCode.SAMPLE_TOO_LONG, text, sample_tokens=seq_len, longest_tokens=LONGEST_SAMPLE)
    if network.sample == "tokens" and (refused := other_maker(job.setup.framework, candidate.accelerator)) is not None:
        return not_answered(refused)
    if is_too_small(network) and candidate.accelerator.id != CPU:
        return too_small(parameters(network), candidate.accelerator.id, "and no evidence is of so small ones")
    return None


def _planned(job: Job, candidate: Candidate, fitting: DeviceFit) -> Described | Reason:
    """Return the job on a candidate in the physics' terms, with a micro-batch that the global batch allows."""
    setup = job.setup
    micro_batch = float(fitting.micro_batch or setup.micro_batch or 1)
    steps = float(fitting.accumulation or 1)
    if setup.global_batch is not None:
        share = setup.global_batch * candidate.split.devices / candidate.accelerators
        micro_batch = min(micro_batch, max(1.0, share))
        steps = max(1.0, share / micro_batch)
    compiled = setup.compiled
    if setup.sample == "image":  # for text, the physics reads the framework itself
        compiled = planned_kernels(setup.framework, candidate.accelerator, compiled=False)["compiled"] > 0
    asked = replace(
        setup,
        checkpointing=fitting.checkpointing or setup.checkpointing,
        strategy=candidate.strategy,
        split=candidate.split,
        compiled=compiled,
    )
    return planned_config(
        asked,
        candidate.cluster,
        micro_batch=micro_batch,
        micro_batches=steps,
        paged=fitting.paged,
        epochs=job.epochs,
    )


def _with_older_experts(job: Job, candidate: Candidate, fitting: DeviceFit) -> Observation | None:
    """Return the job with a loop over experts if it is not known whether its trainer has one; else None."""
    trainer, network = job.setup.framework, job.setup.network
    is_assumed = expert_products(trainer) is ExpertProducts.ASSUMED_GROUPED
    if not is_assumed or network is None or not network.is_mixture:
        return None
    looped = replace(job, setup=replace(job.setup, framework=f"{trainer}, {OLDER_TRANSFORMERS}"))
    described = _planned(looped, candidate, fitting)
    return None if isinstance(described, Reason) else _observation("", job, candidate, described)


def _own_evidence(job: Job, candidate: Candidate, catalog: Catalog) -> OwnEvidence[Observation]:
    """Return the measurements that correct the estimate; their networks have the same kind of samples."""

    def of_run(run: RunRecord, node: Node) -> Observation | None:
        return observed_like(run, node, catalog, job.setup.sample)

    own = own_evidence(job, candidate, catalog, of_run=of_run, of_step=_observed_step)
    if job.setup.sample == "image":
        return own
    probe = probe_evidence(candidate, catalog, precision=job.setup.precision, compiled=bool(job.setup.compiled))
    return replace(own, observations=(*own.observations, *probe.observations), probe=probe)


def observed_like(run: RunRecord, node: Node, catalog: Catalog, sample: str | None) -> Observation | None:
    """Return a run in the physics' terms if its network has this kind of samples; None if it does not inform.

    A run that states too little does not inform, and neither does a network so small that launches limit it.
    """
    if run.architecture is None or run.architecture.sample != sample:
        return None
    if is_too_small(run.architecture) and run.hardware.accelerator != CPU:
        return None
    return observed_run(run, catalog, node)


def _observed_step(job: Job, stepped: Candidate, samples_per_s: float, fitting: DeviceFit) -> Observation | None:
    """Return a step that the plan states in the physics' terms."""
    described = _planned(job, stepped, fitting)
    if isinstance(described, Reason):
        return None
    rate = samples_per_s * units_of_a_sample(described, job.setup) / stepped.accelerators
    return _observation(step_name(stepped), job, stepped, described, rate=rate)


def _observation(name: str, job: Job, candidate: Candidate, described: Described, *, rate: float = 1.0) -> Observation:
    """Return the job on a candidate as a measurement of `rate` tokens/s, or images/s, on each accelerator."""
    label = labels_of(candidate.accelerator, job.setup.workload, job.setup.framework)
    return Observation(name, dict(described.facts), label, rate, 1.0, described.operators)
