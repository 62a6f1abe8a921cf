"""Throughput of a decoder that nobody measured: the physics of its layers, corrected by the user's own runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from planner.model.answer.reason import Reason, ReasonCode
from planner.model.catalog import Catalog
from planner.model.network.architecture import TextModel
from planner.model.quantity import Basis
from planner.network.flops import parameters
from planner.quantity.interval import Interval
from planner.scenario.candidate import Candidate, machine_of
from planner.scenario.frameworks import other_maker
from planner.scenario.job import Job
from planner.speed.estimator.estimator_query import EstimatorQuery
from planner.speed.memory.device_fit import DeviceFit
from planner.speed.physics.observation import Observation
from planner.speed.physics.planned_text_config import labels_of, observed_run, planned_text_config
from planner.speed.throughput.linear_scaling import is_communication_bound
from planner.speed.throughput.matching_runs import training_peak_tflops
from planner.speed.throughput.power_cap import as_delivered
from planner.speed.throughput.prediction import NoPrediction, Prediction, no_prediction, not_answered, too_small
from planner.speed.throughput.prediction_notes import (
    MOST_RUNS,
    PART_NAMES,
    SMALLEST_SHARE,
    nearest_evidence,
    training_notes,
)
from planner.speed.throughput.share_of_peak import is_too_small

if TYPE_CHECKING:
    from planner.model.evidence.calibration import Calibration
    from planner.model.evidence.run import RunRecord
    from planner.speed.estimator.text_estimator import Estimates

LONGEST_SAMPLE = 4_000_000


def predict_text(
    job: Job, candidate: Candidate, catalog: Catalog, calibration: Calibration, fitting: DeviceFit
) -> Prediction | NoPrediction:
    """Predict samples/s of the whole cluster with the physics of layers."""
    from planner.speed.estimator.text_estimator import estimate_text
    from planner.speed.physics.config_arrays import from_rows

    assert isinstance(job.network, TextModel)
    assert job.seq_len is not None
    if job.seq_len > LONGEST_SAMPLE:
        text = f"samples of {job.seq_len:,} tokens are out of range: nothing over {LONGEST_SAMPLE:,} is known"
        return no_prediction(ReasonCode.SAMPLE_TOO_LONG, text, sample_tokens=job.seq_len, longest_tokens=LONGEST_SAMPLE)
    if (refused := other_maker(job.framework, candidate.accelerator)) is not None:
        return not_answered(refused)
    own, runs = _own_runs(candidate, catalog)
    if is_too_small(job.network):
        return too_small(parameters(job.network), candidate.accelerator.id, "and no evidence is of so small ones")
    micro_batch = float(fitting.micro_batch or job.micro_batch or 1)
    steps = float(fitting.accumulation or 1)
    if job.global_batch is not None:
        share = job.global_batch * candidate.split.devices / candidate.accelerators
        micro_batch = min(micro_batch, max(1.0, share))
        steps = max(1.0, share / micro_batch)
    config = planned_text_config(
        job.network,
        seq_len=job.seq_len,
        micro_batch=micro_batch,
        micro_batches=steps,
        strategy=candidate.strategy,
        precision=job.precision,
        checkpointing=fitting.checkpointing or job.checkpointing,
        compiled=False,
        accelerator=candidate.accelerator,
        node=candidate.node,
        nodes=candidate.nodes,
        per_node=candidate.accelerators_per_node,
        split=candidate.split,
        adapters=job.adapters,
        framework=job.framework,
    )
    if isinstance(config, Reason):
        return not_answered(config)
    label = labels_of(candidate.accelerator, job.workload, job.framework)
    estimate = estimate_text(from_rows([config]), [label], calibration, own=own)
    _, lacking = training_peak_tflops(candidate.accelerator, job.precision)
    per_sample = candidate.accelerators / job.seq_len
    rate = Interval(
        float(estimate.tokens_per_s_per_gpu[0]) * per_sample,
        float(estimate.low_90[0]) * per_sample,
        float(estimate.high_90[0]) * per_sample,
    )
    return Prediction(
        samples_per_s=rate,
        basis=Basis.MODELLED,
        source=_source(config, calibration, estimate, candidate, own),
        as_of=min([calibration.made_on, *(run.throughput.as_of for run in runs if run.throughput.as_of)]),
        runs=runs,
        notes=(
            nearest_evidence(label, estimate.groups[0], calibration, own),
            *training_notes(job),
            *((lacking,) if lacking else ()),
        ),
        asked=EstimatorQuery(Observation(job.workload, config, label, 1.0, 1.0), tuple(own)),
    )


def _own_runs(candidate: Candidate, catalog: Catalog) -> tuple[list[Observation], tuple[RunRecord, ...]]:
    """Return the runs that say something of the candidate: all on its accelerator, others unless bound by links.

    Networks that are bound by launches say nothing of those that are not, and runs under a power limit nothing of
    those without.
    """
    pairs: list[tuple[Observation, RunRecord]] = []
    for run in as_delivered(catalog.runs.values()):
        hardware = run.hardware
        node, _ = machine_of(run, catalog)
        bound = is_communication_bound(
            node.link, accelerators_per_node=hardware.accelerators_per_node, nodes=hardware.nodes
        )
        if hardware.accelerator != candidate.accelerator.id and (bound or run.short_window):
            continue
        if run.architecture is not None and is_too_small(run.architecture):
            continue
        observation = observed_run(run, catalog, node)
        if observation is not None:
            pairs.append((observation, run))
    pairs.sort(key=lambda pair: (pair[1].hardware.accelerator != candidate.accelerator.id, pair[1].id))
    pairs = pairs[:MOST_RUNS]
    return [pair[0] for pair in pairs], tuple(pair[1] for pair in pairs)


def _source(
    config: Mapping[str, float],
    calibration: Calibration,
    estimate: Estimates,
    candidate: Candidate,
    own: list[Observation],
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
    corrected = f", corrected by {len(own)} runs" if own else ""
    return (
        f"estimator of {calibration.made_on} ({calibration.rows} published runs{corrected}): a step of {tokens:,.0f} "
        f"tokens takes {tokens / rate:.4g} s, of that {shown}"
    )
