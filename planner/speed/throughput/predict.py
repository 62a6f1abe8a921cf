"""Throughput without a measurement, for every kind of network.

A plan's MFU comes first, then the estimator if the network is known, then ratios of runs of the same workload. Several
nodes are predicted only if the network between them, or its range, is known.
"""

from __future__ import annotations

from dataclasses import replace

from planner.model.answer.reason import ReasonCode
from planner.model.catalog import Catalog
from planner.model.evidence.probe import KernelKind, ProbeRecord
from planner.model.hardware.machines import Accelerator
from planner.model.network.workload import Precision
from planner.scenario.candidate import Candidate
from planner.scenario.job import Job
from planner.speed.memory.device_fit import DeviceFit
from planner.speed.throughput.extrapolation import extrapolate
from planner.speed.throughput.node_network import is_assumed, network_problem, with_assumed_network
from planner.speed.throughput.own_evidence import steps_not_used
from planner.speed.throughput.predict_by_physics import predict_by_physics
from planner.speed.throughput.predict_rollouts import predict_rollouts
from planner.speed.throughput.prediction import NoPrediction, Prediction, no_prediction
from planner.speed.throughput.probe_evidence import CPU, is_of, is_run_of
from planner.speed.throughput.share_of_peak import from_flop_rate, from_mfu


def predict(
    job: Job, candidate: Candidate, catalog: Catalog, fitting: DeviceFit | None = None
) -> Prediction | NoPrediction:
    """Predict the throughput of a job on a candidate that no run measured."""
    if job.setup.objective.generates and (lacking := _without_generation(job, candidate, catalog)) is not None:
        return no_prediction(ReasonCode.NOT_MEASURED, lacking)
    if job.mfu is not None and job.setup.network is not None:
        return _with_unused_steps(from_mfu(job, candidate), job, "the plan's mfu comes first")
    if (problem := network_problem(job, candidate, catalog)) is not None:
        return NoPrediction(problem)
    answer = _over_its_network(job, candidate, catalog, fitting)
    if isinstance(answer, NoPrediction) or not is_assumed(candidate):
        return answer

    def rate_over(other: Candidate) -> float | None:
        prediction = _over_its_network(job, other, catalog, fitting)
        return None if isinstance(prediction, NoPrediction) else prediction.samples_per_s.value

    return replace(answer, samples_per_s=with_assumed_network(answer.samples_per_s, candidate, rate_over))


def _over_its_network(
    job: Job, candidate: Candidate, catalog: Catalog, fitting: DeviceFit | None
) -> Prediction | NoPrediction:
    """Predict the throughput over the network that the candidate's node states."""
    calibration = catalog.calibration_for(job.setup.sample)
    if job.setup.sample == "tokens" and candidate.accelerator.id == CPU and calibration is not None:
        probed = probed_processor(candidate, catalog)
        if probed is not None:
            runs = {key: run for key, run in catalog.runs.items() if is_run_of(run, candidate)}
            known = catalog.model_copy(update={"accelerators": {**catalog.accelerators, CPU: probed}, "runs": runs})
            probed_candidate = replace(candidate, accelerator=probed)
            return predict_by_physics(job, probed_candidate, known, calibration, fitting or DeviceFit(None))
    if job.setup.network is None or candidate.accelerator.id == CPU or calibration is None:
        without = _without_physics(job, candidate, catalog)
        return _with_unused_steps(without, job, "only the estimator learns from steps")
    if job.setup.objective.generates:
        return predict_rollouts(job, candidate, catalog, calibration, fitting or DeviceFit(None))
    return predict_by_physics(job, candidate, catalog, calibration, fitting or DeviceFit(None))


def probed_processor(candidate: Candidate, catalog: Catalog) -> Accelerator | None:
    """Return this machine's processor with the peaks and memory bandwidth that a probe measured; None without one.

    Processors of one name differ too much for a data sheet, so the best products and copies of the probe are used.
    """
    probes = [
        probe
        for probe in catalog.probes.values()
        if probe.refers_to(CPU) and not probe.verdict and is_of(probe, candidate)
    ]
    if not probes:
        return None
    newest = max(probes, key=lambda probe: (probe.measured_on, probe.id))
    fp32, copies = _best_tflops(newest, Precision.FP32), newest.of_kind.get(KernelKind.COPY, [])
    if fp32 is None or not copies:
        return None
    bytes_per_s = max(2 * copy.shape["bytes"] / copy.seconds for copy in copies)
    return candidate.accelerator.model_copy(
        update={
            "fp32_tflops": fp32,
            "bf16_tflops": _best_tflops(newest, Precision.BF16),
            "hbm_gb_per_s": bytes_per_s / 1e9,
            "source": f"probe {newest.id}",
            "as_of": newest.measured_on,
        }
    )


def _best_tflops(probe: ProbeRecord, precision: Precision) -> float | None:
    """Return the highest TFLOP/s of a probe's products; each is timed forward and backward, so 6 FLOPs per weight."""
    rates = [
        6.0 * product.shape["tokens"] * product.shape["inputs"] * product.shape["outputs"] / product.seconds / 1e12
        for product in probe.of_kind.get(KernelKind.PRODUCTS, [])
        if product.precision is precision
    ]
    return max(rates, default=None)


def _without_generation(job: Job, candidate: Candidate, catalog: Catalog) -> str | None:
    """Return the reason why generation cannot be estimated in addition to the training passes; None if it can."""
    if job.mfu is not None:
        return "the plan's mfu says nothing of generation: leave assumptions.mfu out"
    if job.setup.sample != "tokens" or catalog.calibration is None:
        return "generation is estimated of networks on tokens that are known"
    return f"generation on a {CPU} is not estimated" if candidate.accelerator.id == CPU else None


def _with_unused_steps(answer: Prediction | NoPrediction, job: Job, why: str) -> Prediction | NoPrediction:
    """Return an answer with a note why the steps of the plan's options do not correct it."""
    if isinstance(answer, NoPrediction):
        return answer
    return replace(answer, notes=(*answer.notes, *steps_not_used(job, why)))


def _without_physics(job: Job, candidate: Candidate, catalog: Catalog) -> Prediction | NoPrediction:
    extrapolated = extrapolate(job, candidate, catalog)
    if isinstance(extrapolated, Prediction):
        return extrapolated
    if job.setup.network is None:
        text = "no run of this workload without a power limit exists, and its network is not known: measure it once"
        return extrapolated or no_prediction(ReasonCode.NOT_MEASURED, text)
    return from_flop_rate(job, candidate, catalog) or from_mfu(job, candidate)
