"""Throughput that nobody measured: the one door, `predict`.

A plan's own MFU comes first; then the estimator, where the network is known; then ratios of runs of the same workload.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from planner.model.catalog import Catalog
from planner.model.network.architecture import ImageModel, TextModel
from planner.model.quantity import Basis
from planner.network.flops import parameters
from planner.network.lora_memory import adapter_parameters
from planner.quantity.interval import Interval
from planner.scenario.candidate import Candidate, machine_of
from planner.scenario.frameworks import other_maker
from planner.scenario.job import Job
from planner.speed.estimator.estimator_query import EstimatorQuery
from planner.speed.memory.fit import Fit
from planner.speed.physics.observation import Observation
from planner.speed.physics.planned_config import labels_of, observed_run, planned_config
from planner.speed.throughput.carry_over import carry_over
from planner.speed.throughput.evidence import training_peak_tflops
from planner.speed.throughput.power_cap import as_delivered
from planner.speed.throughput.prediction import NoPrediction, Prediction
from planner.speed.throughput.scaling import is_communication_bound
from planner.speed.throughput.share_of_peak import from_flop_rate, from_mfu, is_too_small

if TYPE_CHECKING:
    from planner.model.evidence.calibration import Calibration
    from planner.model.evidence.run import RunRecord
    from planner.speed.estimator.estimator import Estimates
    from planner.speed.physics.observation import Labels

CPU = "CPU"
LONGEST_SAMPLE = 4_000_000
MOST_RUNS = 64
"""Of the user's own that one answer conditions on: the nearest."""
SMALLEST_SHARE = 0.02
"""Of a step, for a part to be named."""
PART_NAMES = {
    "products": "matrix products",
    "traffic": "their memory traffic",
    "expansion": "expanding 4-bit weights",
    "attention": "attention",
    "elementwise": "element-wise passes",
    "adapters": "adapters",
    "routing": "sending tokens to experts",
    "tail": "gaps between kernels",
    "logits": "logits and loss",
    "host": "waiting for the host",
    "split": "tensor, expert and context traffic",
    "sharding": "waiting for sharded weights",
    "gradients": "waiting for gradients",
    "optimizer": "optimizer",
    "overhead": "step overhead",
    "waiting": "waiting for the slowest",
}


def predict(job: Job, candidate: Candidate, catalog: Catalog, fitting: Fit | None = None) -> Prediction | NoPrediction:
    """Predict the throughput of a job on a candidate that no run answers for; a plan's own MFU comes first."""
    if job.mfu is not None and job.network is not None:
        return from_mfu(job, candidate)
    if (
        isinstance(job.network, ImageModel)
        and candidate.accelerator.id != CPU
        and catalog.image_calibration is not None
    ):
        from planner.speed.throughput.predict_images import predict_images

        return predict_images(job, candidate, catalog, catalog.image_calibration, fitting or Fit(None))
    if not isinstance(job.network, TextModel) or candidate.accelerator.id == CPU or catalog.calibration is None:
        return _without_physics(job, candidate, catalog)
    return _from_physics(job, candidate, catalog, catalog.calibration, fitting or Fit(None))


def _without_physics(job: Job, candidate: Candidate, catalog: Catalog) -> Prediction | NoPrediction:
    carried = carry_over(job, candidate, catalog)
    if isinstance(carried, Prediction):
        return carried
    if job.network is None:
        return carried or NoPrediction(
            "no run of this workload without a power limit exists, and its network is not known: measure it once"
        )
    return from_flop_rate(job, candidate, catalog) or from_mfu(job, candidate)


def _from_physics(
    job: Job, candidate: Candidate, catalog: Catalog, calibration: Calibration, fitting: Fit
) -> Prediction | NoPrediction:
    from planner.speed.estimator.estimator import estimate_many
    from planner.speed.physics.configs import from_rows

    assert isinstance(job.network, TextModel)
    assert job.seq_len is not None
    if job.seq_len > LONGEST_SAMPLE:
        return NoPrediction(
            f"samples of {job.seq_len:,} tokens are out of range: nothing over {LONGEST_SAMPLE:,} is known"
        )
    if (refused := other_maker(job.framework, candidate.accelerator)) is not None:
        return NoPrediction(refused)
    own, runs = _own_runs(candidate, catalog)
    if is_too_small(job.network):
        return NoPrediction(
            f"a network of {parameters(job.network):,} parameters is bound by kernel launches on "
            f"{candidate.accelerator.id}, and no evidence is of so small ones: measure it there"
        )
    micro_batch = float(fitting.micro_batch or job.micro_batch or 1)
    steps = float(fitting.accumulation or 1)
    if job.global_batch is not None:
        share = job.global_batch * candidate.split.devices / candidate.accelerators
        micro_batch = min(micro_batch, max(1.0, share))
        steps = max(1.0, share / micro_batch)
    config = planned_config(
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
    if isinstance(config, str):
        return NoPrediction(config)
    label = labels_of(candidate.accelerator, job.workload, job.framework)
    found = estimate_many(from_rows([config]), [label], calibration, own=own)
    _, lacking = training_peak_tflops(candidate.accelerator, job.precision)
    per_sample = candidate.accelerators / job.seq_len
    rate = Interval(
        float(found.tokens_per_s_per_gpu[0]) * per_sample,
        float(found.low_90[0]) * per_sample,
        float(found.high_90[0]) * per_sample,
    )
    return Prediction(
        samples_per_s=rate,
        basis=Basis.MODELLED,
        source=_source(config, calibration, found, candidate, own),
        as_of=min([calibration.made_on, *(run.throughput.as_of for run in runs if run.throughput.as_of)]),
        runs=runs,
        notes=(
            nearest_evidence(label, found.groups[0], calibration, own),
            *training_notes(job),
            *((lacking,) if lacking else ()),
        ),
        asked=EstimatorQuery(Observation(job.workload, config, label, 1.0, 1.0), tuple(own)),
    )


def training_notes(job: Job) -> list[str]:
    """Say what is trained where not all weights are, and by what where not by the benchmark."""
    network, notes = job.network, []
    if job.adapters is not None and isinstance(network, TextModel):
        trained = adapter_parameters(network, job.adapters)
        frozen = f" at {job.adapters.frozen.value}" if job.adapters.frozen else ""
        notes.append(
            f"trains {job.adapters.kind.written} adapters of rank {job.adapters.rank} on "
            f"{', '.join(job.adapters.targets)}: "
            f"{trained:,} parameters beside {parameters(network):,} frozen{frozen}"
        )
    if job.framework is not None:
        notes.append(f"as trained by {job.framework}")
    return notes


def _own_runs(candidate: Candidate, catalog: Catalog) -> tuple[list[Observation], tuple[RunRecord, ...]]:
    """Return the runs that say something of the candidate: all on its accelerator, others unless bound by links.

    Networks that are bound by launches say nothing of those that are not, and runs under a power limit nothing of
    those without.
    """
    found: list[tuple[Observation, RunRecord]] = []
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
            found.append((observation, run))
    found.sort(key=lambda pair: (pair[1].hardware.accelerator != candidate.accelerator.id, pair[1].id))
    found = found[:MOST_RUNS]
    return [pair[0] for pair in found], tuple(pair[1] for pair in found)


def nearest_evidence(label: Labels, group: str, calibration: Calibration, own: list[Observation]) -> str:
    """Say in one sentence which evidence stands behind a number, and how far it is."""
    here = sum(one.labels.accelerator == label.accelerator for one in own)
    mine = f"{here} of your runs on {label.accelerator}"
    if own and not here:
        mine = f"{len(own)} of your runs, none on {label.accelerator}"
    seen = calibration.seen["accelerator"].get(label.accelerator)
    if seen is not None:
        published = f"{seen.rows} published runs on {label.accelerator}"
    else:
        generation = calibration.seen["generation"].get(label.generation)
        near = f"{generation.rows} on other {label.generation} accelerators" if generation else "none of its generation"
        published = f"no published run on {label.accelerator}, {near}"
    return f"{group}: {mine + ', ' if own else ''}{published}"


def _source(
    config: Mapping[str, float],
    calibration: Calibration,
    found: Estimates,
    candidate: Candidate,
    own: list[Observation],
) -> str:
    from planner.speed.estimator.estimator import fitted
    from planner.speed.physics.configs import from_rows
    from planner.speed.physics.step import step

    shares = {
        name: float(value[0]) for name, value in step(from_rows([config]), fitted(calibration).constants).shares.items()
    }
    shown = ", ".join(f"{PART_NAMES[name]} {share:.0%}" for name, share in shares.items() if share >= SMALLEST_SHARE)
    tokens = config["dp"] * config["micro_batch"] * config["micro_batches"] * config["seq_len"]
    rate = float(found.tokens_per_s_per_gpu[0]) * candidate.accelerators
    corrected = f", corrected by {len(own)} runs" if own else ""
    return (
        f"estimator of {calibration.made_on} ({calibration.rows} published runs{corrected}): a step of {tokens:,.0f} "
        f"tokens takes {tokens / rate:.4g} s, of that {shown}"
    )
