"""Throughput that nobody measured: the physics of a step, corrected by the user's own measurements."""

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
from planner.speed.estimator.estimator_query import EstimatorQuery
from planner.speed.estimator.network_kind import kind_of_sample
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
    SMALLEST_SHARE,
    method_notes,
    network_note,
    part_names,
    training_notes,
)
from planner.speed.throughput.probe_contradiction import contradiction_text
from planner.speed.throughput.probe_evidence import CPU, not_measured, probe_evidence
from planner.speed.throughput.share_of_peak import is_too_small

if TYPE_CHECKING:
    from planner.model.evidence.calibration import Calibration
    from planner.model.evidence.run import RunRecord
    from planner.model.hardware.machines import Node

LONGEST_SAMPLE = 4_000_000
OTHER_SOFTWARE = 1.7
"""By which the low end is lower of an accelerator that needs its maker's software where the plan names none of it: of
eight sites with Gaudi or Trainium the slowest is 1.67 times as slow as a fit without it says."""
LEAST_FACTOR = 2.0
"""Least range of a training whose kind no measurement calibrates, either way, and of every phase of a step with
rollouts but the training passes. Published steps lie no nearer to what is predicted (docs/accuracy/rollouts.csv)."""
DECODED_PER_WORKER = 190
"""Images/s that one CPU core decodes and crops for ImageNet: ten workers with Pillow fed 1,923 images/s to an A100 that
could have taken 2,600. Source: huggingface/pytorch-image-models issue 1491, October 2022."""


def predict_by_physics(
    job: Job, candidate: Candidate, catalog: Catalog, calibration: Calibration, fitting: DeviceFit
) -> Prediction | NoPrediction:
    """Predict samples/s of the whole cluster; images wait on the device already."""
    assert job.setup.network is not None, "without a network nothing is known"
    if (refused := _refusal(job, candidate)) is not None:
        return refused
    described = _planned(job, candidate, fitting)
    if isinstance(described, Reason):
        return not_answered(described)
    asked, own = _observation(job.setup.workload, job, candidate, described), _own_evidence(job, candidate, catalog)
    estimate = kind_of_sample(job.setup.sample, calibration).estimate([asked], own.observations)
    per_sample = candidate.accelerators / units_of_a_sample(described, job.setup)
    rate = Interval(
        float(estimate.tokens_per_s_per_gpu[0]) * per_sample,
        float(estimate.low_90[0]) * per_sample,
        float(estimate.high_90[0]) * per_sample,
    )
    doubts: list[str] = []
    if job.setup.sample == "image":
        doubts.append(_input_note(rate.value, candidate))
    elif (older := _with_older_experts(job, candidate, fitting)) is not None:
        slower = kind_of_sample("tokens", calibration).estimate([older], own.observations)
        samples_per_s = float(slower.tokens_per_s_per_gpu[0]) * per_sample
        rate = Interval(rate.value, min(rate.low, samples_per_s), rate.high)
        doubts.append(
            f"experts by grouped products, as transformers has them from {GROUPED_SINCE[0]} on; the range reaches to a "
            f"loop over experts, as before: {samples_per_s:.3g} samples/s (say which: --framework "
            f'"{job.setup.framework}, {OLDER_TRANSFORMERS}")'
        )
    if job.setup.sample == "tokens" and candidate.accelerator.vendor not in makers_of(job.setup.framework):
        rate = Interval(rate.value, rate.low / OTHER_SOFTWARE, rate.high)
    if job.setup.objective.method is not None:
        rate = with_least_range(rate)
    _, lacking = training_peak_tflops(candidate.accelerator, job.setup.precision)
    evidence = evidence_clause(asked.labels, calibration, own, catalog.bundled_runs)
    cluster_rate = float(estimate.tokens_per_s_per_gpu[0]) * candidate.accelerators
    return Prediction(
        samples_per_s=rate,
        basis=Basis.MODELLED,
        write_source=cache(lambda: _source(asked, calibration, cluster_rate, evidence)),
        as_of=min([calibration.made_on, *(run.throughput.as_of for run in own.runs if run.throughput.as_of)]),
        known_from=estimated_line(asked.labels, calibration, own, catalog.bundled_runs),
        runs=own.runs,
        steps=own.steps,
        notes=(
            f"estimated from {evidence}; range of group: {estimate.groups[0]}",
            *own.notes,
            *_probe_notes(asked, calibration, own),
            *doubts,
            *network_note(candidate),
            *method_notes(job),
            *training_notes(job),
            *((lacking,) if lacking else ()),
        ),
        asked=EstimatorQuery(asked, own.observations),
        causes=causes_of(estimate.place),
    )


def _probe_notes(asked: Observation, calibration: Calibration, own: OwnEvidence[Observation]) -> tuple[str, ...]:
    """Return what the probe does not measure, that it is another machine's, and that it contradicts the user's runs."""
    if not own.probe.observations:
        return ()
    names = ", ".join(one.id for one in own.probe.probes)
    whose = "this machine" if own.probe.of_this_machine else "other machines of this kind, so it counts for less"
    notes = [f"corrected by kernels of {whose} ({names})"]
    left = not_measured(_shares_of(asked, calibration), own.observations)
    if left:
        notes.append(f"no kernel of the probe measures {', '.join(left)}: these keep their range")
    notes += filter(None, [contradiction_text(own.observations, calibration)])
    return tuple(notes)


def with_least_range(rate: Interval) -> Interval:
    """Return a rate with the least range of trainings whose kind no measurement calibrates."""
    low, high = min(rate.low, rate.value / LEAST_FACTOR), max(rate.high, rate.value * LEAST_FACTOR)
    return Interval(rate.value, low, high)


def _refusal(job: Job, candidate: Candidate) -> NoPrediction | None:
    """Return why the estimator does not answer; None where it may."""
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
    """Describe the job on a candidate, with the micro-batch that fits within the global batch."""
    setup = job.setup
    micro_batch = float(fitting.micro_batch or setup.micro_batch or 1)
    steps = float(fitting.accumulation or 1)
    if setup.global_batch is not None:
        share = setup.global_batch * candidate.split.devices / candidate.accelerators
        micro_batch = min(micro_batch, max(1.0, share))
        steps = max(1.0, share / micro_batch)
    compiled = setup.compiled
    if setup.sample == "image":  # of text the physics asks the framework itself
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
    """Return the job with a loop over experts, where nobody says whether its trainer has one; else None."""
    trainer, network = job.setup.framework, job.setup.network
    is_assumed = expert_products(trainer) is ExpertProducts.ASSUMED_GROUPED
    if not is_assumed or network is None or not network.is_mixture:
        return None
    looped = replace(job, setup=replace(job.setup, framework=f"{trainer}, {OLDER_TRANSFORMERS}"))
    described = _planned(looped, candidate, fitting)
    return None if isinstance(described, Reason) else _observation("", job, candidate, described)


def _own_evidence(job: Job, candidate: Candidate, catalog: Catalog) -> OwnEvidence[Observation]:
    """Return the measurements that correct the estimate: of networks with the same kind of samples."""

    def of_run(run: RunRecord, node: Node) -> Observation | None:
        return observed_like(run, node, catalog, job.setup.sample)

    own = own_evidence(job, candidate, catalog, of_run=of_run, of_step=_observed_step)
    if job.setup.sample == "image":
        return own
    probe = probe_evidence(candidate, catalog, precision=job.setup.precision, compiled=bool(job.setup.compiled))
    return replace(own, observations=(*own.observations, *probe.observations), probe=probe)


def observed_like(run: RunRecord, node: Node, catalog: Catalog, sample: str | None) -> Observation | None:
    """Describe a run of a network with such samples; None of others, of too little known, and of too small networks.

    Networks that are bound by launches say nothing of those that are not.
    """
    if run.architecture is None or run.architecture.sample != sample:
        return None
    if is_too_small(run.architecture) and run.hardware.accelerator != CPU:
        return None
    return observed_run(run, catalog, node)


def _observed_step(job: Job, stepped: Candidate, samples_per_s: float, fitting: DeviceFit) -> Observation | None:
    """Describe a step that the plan states, of the job as it is estimated there."""
    described = _planned(job, stepped, fitting)
    if isinstance(described, Reason):
        return None
    rate = samples_per_s * units_of_a_sample(described, job.setup) / stepped.accelerators
    return _observation(step_name(stepped), job, stepped, described, rate=rate)


def _observation(name: str, job: Job, candidate: Candidate, described: Described, *, rate: float = 1.0) -> Observation:
    """Return the job on a candidate as a measurement of so many tokens/s, or images/s, on each accelerator."""
    label = labels_of(candidate.accelerator, job.setup.workload, job.setup.framework)
    return Observation(name, dict(described.facts), label, rate, 1.0, described.operators)


def _input_note(images_per_s: float, candidate: Candidate) -> str:
    per_node = images_per_s / candidate.nodes
    return (
        f"decoding its images is not counted: JPEG files at {per_node:,.0f} images/s take each node about "
        f"{per_node / DECODED_PER_WORKER:,.0f} CPU cores, or a decoder on the device"
    )


def _source(asked: Observation, calibration: Calibration, rate: float, evidence: str) -> str:
    """Write what was estimated from what: the step at a rate in tokens/s or images/s of all accelerators."""
    kind, names = kind_of_sample(asked.sample, calibration), part_names(asked.sample)
    shares = _shares_of(asked, calibration)
    shown = ", ".join(f"{names[name]} {share:.0%}" for name, share in shares.items() if share >= SMALLEST_SHARE)
    size, _ = kind.size(asked)
    return (
        f"estimated from {evidence} ({kind.name} of {calibration.made_on}): a step of {size:,.0f} {kind.unit}"
        f"{kind.each(asked)} takes {size / rate:.4g} s, of that {shown}"
    )


def _shares_of(asked: Observation, calibration: Calibration) -> dict[str, float]:
    """Return the share of each part of one step."""
    from planner.speed.estimator.text_estimator import fitted

    shares = kind_of_sample(asked.sample, calibration).step(fitted(calibration), [asked]).shares
    return {name: float(share[0]) for name, share in shares.items()}
