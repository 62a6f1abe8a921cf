"""The first model: throughput on hardware nobody measured, openly rough, with wide ranges.

Three ways, best evidence first: the ratio of two accelerators' peaks and bandwidths from a run of the same workload;
the FLOP rate that another workload reached on this very machine; a share of the peak. Its one door is `predict`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from planner.estimate.candidate import Candidate
from planner.estimate.evidence import nearest_run, training_peak_tflops
from planner.estimate.flops import flops_per_token, parameters
from planner.estimate.interval import Interval
from planner.estimate.job import Job
from planner.model.catalog import Catalog
from planner.model.hardware import Accelerator, Link
from planner.model.quantity import Basis
from planner.model.run import RunRecord
from planner.model.workload import Precision

RATIO_FACTOR = 2.0
"""90 % of the ratio's errors lie within it: published pairs have p90 55 % (docs/accuracy.md)."""
BARE_STEP_FACTOR = 1.25
"""On top, where nothing is known of the network: bandwidth and compute may weigh differently."""
SAME_ACCELERATOR_FACTOR = 1.3
OTHER_WORKLOAD_FACTOR = 3.0
PRIOR_MFU = 0.40
PRIOR_MFU_FACTOR = 2.2
"""Published MFU on dense decoders runs from 0.18 to 0.69; a constant MFU has p90 error 63 %."""
ASSUMED_MFU_FACTOR = 1.5
SMALLEST_MODELLED_PARAMETERS = 5e7
"""Below it kernel launches decide on an accelerator, and this model does not know them."""

LINK_EFFICIENCY = {
    Link.SINGLE: 1.0,
    Link.NVSWITCH: 1 / 1.06,
    Link.NVLINK: 1 / 1.06,
    Link.OTHER: 1 / 1.5,
    Link.PCIE: 1 / 1.5,
    Link.PCIE_NO_P2P: 1 / 2.03,
}
"""Share of linear scaling inside a node: 1 / (1 + median error of linear scaling), published runs."""
LINK_FACTOR = {
    Link.SINGLE: 1.0,
    Link.NVSWITCH: 1.1,
    Link.NVLINK: 1.1,
    Link.OTHER: 1.8,
    Link.PCIE: 1.8,
    Link.PCIE_NO_P2P: 2.5,
}
MULTI_NODE_EFFICIENCY = 1 / 1.105
MULTI_NODE_FACTOR = 1.3


@dataclass(frozen=True)
class Prediction:
    """Samples/s of the whole cluster, with how it was reached."""

    samples_per_s: Interval
    basis: Basis
    source: str
    runs: tuple[RunRecord, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class NoPrediction:
    """Why nothing can be said, and what would help."""

    reason: str


def predict(job: Job, candidate: Candidate, catalog: Catalog) -> Prediction | NoPrediction:
    """Predict the throughput of a job on a candidate that no run answers for."""
    runs = list(catalog.runs.values())
    if job.mfu is not None and job.decoder is not None:
        return _from_mfu(job, candidate, mfu=job.mfu, factor=ASSUMED_MFU_FACTOR, assumed=True)
    anchor = nearest_run(runs, job, candidate)
    if anchor is not None:
        from_anchor = _from_anchor(job, candidate, anchor, catalog)
        if isinstance(from_anchor, Prediction) or job.decoder is None:
            return from_anchor
    from_rate = _from_flop_rate(job, candidate, runs)
    if from_rate is not None:
        return from_rate
    if job.decoder is None:
        return NoPrediction("no run of this workload exists, and its network is not known: measure it once")
    return _from_mfu(job, candidate, mfu=PRIOR_MFU, factor=PRIOR_MFU_FACTOR, assumed=False)


def _from_anchor(job: Job, candidate: Candidate, anchor: RunRecord, catalog: Catalog) -> Prediction | NoPrediction:
    """Compute throughput = measured x sqrt(peak ratio x bandwidth ratio) x accelerators ratio x scaling-share ratio.

    The square root is the geometric mean of the two ratios: median error 18 % over published pairs, against 31 %
    for peaks and 20 % for bandwidth alone (docs/accuracy.md).
    """
    target = candidate.accelerator
    notes: list[str] = []
    factor = 1.0
    device_ratio = 1.0
    if anchor.hardware.accelerator != target.id:
        known = _peak_and_bandwidth(target, job.precision)
        measured = catalog.accelerators.get(anchor.hardware.accelerator)
        source = _peak_and_bandwidth(measured, anchor.precision or job.precision) if measured else None
        if known is None or source is None:
            return NoPrediction(
                f"the peak or bandwidth of {target.id} or {anchor.hardware.accelerator} is not known, "
                "so the measured run cannot be carried over: measure it there"
            )
        notes += [note for note in (known[2], source[2]) if note]
        device_ratio = math.sqrt(known[0] / source[0] * known[1] / source[1])
        factor *= RATIO_FACTOR * (BARE_STEP_FACTOR if job.decoder is None else 1.0)
    else:
        factor *= SAME_ACCELERATOR_FACTOR
    share, share_factor = _scaling_share(candidate.node.link, candidate.accelerators_per_node, candidate.nodes)
    anchor_node = catalog.nodes.get(anchor.hardware.node or "")
    anchor_link = anchor_node.link if anchor_node else Link.OTHER
    anchor_share, _ = _scaling_share(anchor_link, anchor.hardware.accelerators_per_node, anchor.hardware.nodes)
    count_ratio = candidate.accelerators * share / (anchor.hardware.accelerators * anchor_share)
    if candidate.accelerators != anchor.hardware.accelerators or anchor_link is not candidate.node.link:
        factor *= share_factor
    value = anchor.throughput.value * device_ratio * count_ratio
    source_text = (
        f"first model from run {anchor.id}: {anchor.throughput.value:.4g} samples/s on {anchor.hardware.accelerators}x "
        f"{anchor.hardware.accelerator} x {device_ratio:.3g} (geometric mean of peak and bandwidth ratios) "
        f"x {count_ratio:.3g} (accelerators and scaling share)"
    )
    return Prediction(Interval.within_factor(value, factor), Basis.MODELLED, source_text, (anchor,), tuple(notes))


def _peak_and_bandwidth(
    accelerator: Accelerator, precision: Precision | None
) -> tuple[float, float, str | None] | None:
    """Return peak TFLOP/s, bandwidth GB/s and a note; None where one is unknown."""
    peak, note = training_peak_tflops(accelerator, precision)
    if peak is None or accelerator.hbm_gb_per_s is None:
        return None
    return peak, accelerator.hbm_gb_per_s, note


def _from_flop_rate(job: Job, candidate: Candidate, runs: list[RunRecord]) -> Prediction | None:
    """Compute throughput = FLOP/s that another workload reached on this machine / FLOPs per sample of this one."""
    if job.decoder is None or job.seq_len is None:
        return None
    here = [
        run
        for run in runs
        if run.hardware.node == candidate.node.id
        and run.hardware.accelerators == candidate.accelerators
        and run.architecture is not None
        and run.seq_len is not None
    ]
    if not here:
        return None
    run = max(here, key=lambda found: (not found.short_window, found.parameters or 0, found.id))
    assert run.architecture is not None
    assert run.seq_len is not None
    rate = (
        run.throughput.value
        * run.seq_len
        * flops_per_token(run.architecture, seq_len=run.seq_len, convention=job.convention)
    )
    per_sample = job.seq_len * flops_per_token(job.decoder, seq_len=job.seq_len, convention=job.convention)
    source = (
        f"first model from run {run.id}: {rate / 1e12:.3g} TFLOP/s reached there by {run.workload}, "
        f"over {per_sample / 1e12:.3g} TFLOP per sample"
    )
    return Prediction(Interval.within_factor(rate / per_sample, OTHER_WORKLOAD_FACTOR), Basis.MODELLED, source, (run,))


def _from_mfu(job: Job, candidate: Candidate, *, mfu: float, factor: float, assumed: bool) -> Prediction | NoPrediction:
    """Compute throughput = accelerators x dense peak x MFU / FLOPs per sample.

    An assumed MFU is taken as given for the whole cluster; the prior is one accelerator's, times the scaling share.
    """
    assert job.decoder is not None
    assert job.seq_len is not None
    peak, note = training_peak_tflops(candidate.accelerator, job.precision)
    if peak is None:
        return NoPrediction(f"the peak of {candidate.accelerator.id} is not known: measure the workload there")
    if parameters(job.decoder) < SMALLEST_MODELLED_PARAMETERS and not assumed:
        return NoPrediction(
            f"a network of {parameters(job.decoder):,} parameters is bound by kernel launches "
            f"on {candidate.accelerator.id}, which the first model does not know: measure it there"
        )
    share, share_factor = _scaling_share(candidate.node.link, candidate.accelerators_per_node, candidate.nodes)
    if assumed:
        share = share_factor = 1.0
    per_token = flops_per_token(job.decoder, seq_len=job.seq_len, convention=job.convention)
    tokens_per_s = candidate.accelerators * peak * 1e12 * mfu * share / per_token
    source = (
        f"{'MFU assumed by the plan' if assumed else 'first model'}: {candidate.accelerators}x {peak:g} TFLOP/s x "
        f"{mfu:g} MFU{'' if assumed else f' x {share:.2g} scaling share'} / {per_token / 1e9:.5g} GFLOP per token "
        f"({job.convention.value}) / {job.seq_len} tokens per sample"
    )
    samples_per_s = Interval.within_factor(tokens_per_s / job.seq_len, factor * share_factor)
    basis = Basis.ASSUMED if assumed else Basis.MODELLED
    return Prediction(samples_per_s, basis, source, notes=(note,) if note else ())


def _scaling_share(link: Link, per_node: int, nodes: int) -> tuple[float, float]:
    """Return the share of linear scaling, and the factor of its doubt."""
    share, factor = 1.0, 1.0
    if per_node > 1:
        share, factor = share * LINK_EFFICIENCY[link], factor * LINK_FACTOR[link]
    if nodes > 1:
        share, factor = share * MULTI_NODE_EFFICIENCY, factor * MULTI_NODE_FACTOR
    return share, factor
