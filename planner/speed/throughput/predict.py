"""Throughput that nobody measured: `predict` answers for every kind of network.

A plan's own MFU comes first; then the estimator, where the network is known; then ratios of runs of the same workload.
Over several nodes only where the network between them is known, or a range of what it may be.
"""

from __future__ import annotations

from dataclasses import replace

from planner.model.answer.reason import ReasonCode
from planner.model.catalog import Catalog
from planner.scenario.candidate import Candidate
from planner.scenario.job import Job
from planner.speed.memory.device_fit import DeviceFit
from planner.speed.throughput.extrapolation import extrapolate
from planner.speed.throughput.node_network import is_assumed, network_problem, with_assumed_network
from planner.speed.throughput.own_evidence import steps_not_used
from planner.speed.throughput.predict_by_physics import predict_by_physics
from planner.speed.throughput.predict_rollouts import predict_rollouts
from planner.speed.throughput.prediction import NoPrediction, Prediction, no_prediction
from planner.speed.throughput.probe_evidence import CPU, is_run_of
from planner.speed.throughput.probed_processor import probed_processor
from planner.speed.throughput.share_of_peak import from_flop_rate, from_mfu


def predict(
    job: Job, candidate: Candidate, catalog: Catalog, fitting: DeviceFit | None = None
) -> Prediction | NoPrediction:
    """Predict the throughput of a job on a candidate that no run answers for; a plan's own MFU comes first."""
    if job.setup.objective.generates and (lacking := _without_generation(job, candidate, catalog)) is not None:
        return no_prediction(ReasonCode.NOT_MEASURED, lacking)
    if job.mfu is not None and job.setup.network is not None:
        return _unmoved_by_steps(from_mfu(job, candidate), job, "the plan's mfu comes first")
    if (problem := network_problem(job, candidate, catalog)) is not None:
        return NoPrediction(problem)
    answer = _over_its_network(job, candidate, catalog, fitting)
    if isinstance(answer, NoPrediction) or not is_assumed(candidate):
        return answer

    def rate_over(other: Candidate) -> float | None:
        of_other = _over_its_network(job, other, catalog, fitting)
        return None if isinstance(of_other, NoPrediction) else of_other.samples_per_s.value

    return replace(answer, samples_per_s=with_assumed_network(answer.samples_per_s, candidate, rate_over))


def _over_its_network(
    job: Job, candidate: Candidate, catalog: Catalog, fitting: DeviceFit | None
) -> Prediction | NoPrediction:
    """Predict the throughput over the network that the candidate's node states."""
    calibration = catalog.calibration_for(job.setup.sample)
    if job.setup.sample == "tokens" and candidate.accelerator.id == CPU and calibration is not None:
        probed = probed_processor(candidate, catalog)
        if probed is not None:
            here_run = {key: run for key, run in catalog.runs.items() if is_run_of(run, candidate)}
            known = catalog.model_copy(update={"accelerators": {**catalog.accelerators, CPU: probed}, "runs": here_run})
            here = replace(candidate, accelerator=probed)
            return predict_by_physics(job, here, known, calibration, fitting or DeviceFit(None))
    if job.setup.network is None or candidate.accelerator.id == CPU or calibration is None:
        return _unmoved_by_steps(_without_physics(job, candidate, catalog), job, "only the estimator learns from steps")
    if job.setup.objective.generates:
        return predict_rollouts(job, candidate, catalog, calibration, fitting or DeviceFit(None))
    return predict_by_physics(job, candidate, catalog, calibration, fitting or DeviceFit(None))


def _without_generation(job: Job, candidate: Candidate, catalog: Catalog) -> str | None:
    """Return why generation cannot be estimated beside the training passes; None where it can."""
    if job.mfu is not None:
        return "the plan's mfu says nothing of generation: leave assumptions.mfu out"
    if job.setup.sample != "tokens" or catalog.calibration is None:
        return "generation is estimated of networks on tokens that are known"
    return f"generation on a {CPU} is not estimated" if candidate.accelerator.id == CPU else None


def _unmoved_by_steps(answer: Prediction | NoPrediction, job: Job, why: str) -> Prediction | NoPrediction:
    """Return an answer that says why the steps of the plan's other options do not correct it."""
    if isinstance(answer, NoPrediction):
        return answer
    return replace(answer, notes=(*answer.notes, *steps_not_used(job, why)))


def _without_physics(job: Job, candidate: Candidate, catalog: Catalog) -> Prediction | NoPrediction:
    carried = extrapolate(job, candidate, catalog)
    if isinstance(carried, Prediction):
        return carried
    if job.setup.network is None:
        text = "no run of this workload without a power limit exists, and its network is not known: measure it once"
        return carried or no_prediction(ReasonCode.NOT_MEASURED, text)
    return from_flop_rate(job, candidate, catalog) or from_mfu(job, candidate)
