"""Throughput scaled by ratios from runs of the same workload: to another number or another kind of accelerators."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, replace

from planner.model.answer.reason import ReasonCode
from planner.model.catalog import Catalog
from planner.model.evidence.run import RunRecord
from planner.model.hardware.machines import Link
from planner.model.network.workload import Precision
from planner.model.quantity import Basis
from planner.quantity.interval import Interval
from planner.scenario.candidate import Candidate
from planner.scenario.job import Job
from planner.speed.throughput.evidence_text import scaled_line
from planner.speed.throughput.linear_scaling import RangeFactor, Scaling, is_communication_bound, scaling, scaling_of
from planner.speed.throughput.matching_runs import runs_to_scale, training_peak_tflops
from planner.speed.throughput.prediction import NoPrediction, Prediction, Ratio, no_prediction

RATIO_FACTOR = 2.0
"""Range factor of another accelerator. It holds more than 90 % of errors: of published pairs, 90 % err by 55 % or less
(docs/accuracy.md)."""
BARE_STEP_FACTOR = 1.25
"""Additional factor without a network: the weights of bandwidth and compute are not known then."""
SAME_ACCELERATOR_FACTOR = 1.3
"""Range factor of another count or strategy on the same accelerator. Assumed."""
SHORT_WINDOW_FACTOR = 1.15
"""Additional factor of a run that was measured for seconds. Assumed."""
OTHER_COUNT = RangeFactor(SAME_ACCELERATOR_FACTOR, "another count or strategy")


def extrapolate(job: Job, candidate: Candidate, catalog: Catalog) -> Prediction | NoPrediction | None:
    """Predict from the nearest runs of the same workload; None if there are none.

    With runs on the candidate's accelerator, interpolate between two counts of the same machine, or scale the nearest
    run. Otherwise scale a run on another accelerator by the ratio of peaks and bandwidths.
    """
    runs = runs_to_scale(job, catalog)
    runs_of_kind = [run for run in runs if run.hardware.accelerator == candidate.accelerator.id]
    if runs_of_kind:
        return _between_counts(runs_of_kind, candidate, catalog) or _from_another_count(
            nearest_run(job, candidate, catalog), candidate, catalog
        )
    anchor = nearest_run(job, candidate, catalog)
    return None if anchor is None else _from_another_accelerator(job, candidate, anchor, catalog)


def nearest_run(job: Job, candidate: Candidate, catalog: Catalog) -> RunRecord | None:
    """Return the run of the same workload that is closest to the candidate; None if there is none.

    Runs on the candidate's own accelerator come first. Of these, runs limited by another machine's links come last;
    then the order is: long windows, same strategy, nearest count. Of runs elsewhere, the order is: long windows, runs
    that measured accelerators and not links, the run that the plan names, same strategy, nearest speed.
    """
    runs = runs_to_scale(job, catalog)
    runs_of_kind = [run for run in runs if run.hardware.accelerator == candidate.accelerator.id]

    def on_this_accelerator(run: RunRecord) -> tuple[bool, bool, bool, float, str]:
        return (
            run.hardware.node != candidate.node.id and _measured_links(run, catalog),
            run.short_window,
            not _same_strategy(run, candidate),
            abs(math.log(run.hardware.accelerators / candidate.accelerators)),
            run.id,
        )

    def on_another(run: RunRecord) -> tuple[bool, bool, bool, bool, float, int, str]:
        ratio = _device_ratio(job, candidate, run, catalog)
        return (
            run.short_window,
            _measured_links(run, catalog),
            run is not job.named_run,
            not _same_strategy(run, candidate),
            math.inf if ratio is None else abs(math.log(ratio.value)),
            run.hardware.accelerators,
            run.id,
        )

    if runs_of_kind:
        return min(runs_of_kind, key=on_this_accelerator)
    return min(runs, key=on_another, default=None)


def _between_counts(runs_of_kind: list[RunRecord], candidate: Candidate, catalog: Catalog) -> Prediction | None:
    """Interpolate between two measured counts: log(throughput) is a straight line over log(accelerators).

    Returns None unless runs with fewer and with more accelerators exist on the same machine.
    """
    same = [
        run
        for run in runs_of_kind
        if run.hardware.node == candidate.node.id
        and run.hardware.nodes == candidate.nodes
        and _same_strategy(run, candidate)
    ]
    counts = sorted({run.hardware.accelerators for run in same})
    below = [count for count in counts if count < candidate.accelerators]
    above = [count for count in counts if count > candidate.accelerators]
    if not below or not above:
        return None
    lower, upper = ([run for run in same if run.hardware.accelerators == count] for count in (below[-1], above[0]))
    low_rate, high_rate = (statistics.median(run.throughput.value for run in runs) for runs in (lower, upper))
    position_between = math.log(candidate.accelerators / below[-1]) / math.log(above[0] / below[-1])
    rate = low_rate ** (1 - position_between) * high_rate**position_between
    source = (
        f"interpolated between runs {lower[0].id} ({low_rate:.6g} samples/s on {below[-1]}) and {upper[0].id} "
        f"({high_rate:.6g} on {above[0]}): a straight line in logarithms"
    )
    return _prediction(rate, SAME_ACCELERATOR_FACTOR, source, [*lower, *upper], catalog, factors=(OTHER_COUNT,))


def _from_another_count(anchor: RunRecord | None, candidate: Candidate, catalog: Catalog) -> Prediction:
    """Compute throughput = measured x ratio of counts x ratio of scaling shares."""
    assert anchor is not None, "the caller found runs on this accelerator"
    counts = _count_ratio(anchor, candidate, catalog)
    source = f"scaled from run {anchor.id}: {_rate_text(anchor)} x {counts.text}"
    return _prediction(
        anchor.throughput.value * counts.value,
        SAME_ACCELERATOR_FACTOR * counts.factor,
        source,
        [anchor],
        catalog,
        factors=(OTHER_COUNT, *counts.factors),
        ratios=(Ratio("accelerators", counts.value, counts.text),),
    )


def _from_another_accelerator(
    job: Job, candidate: Candidate, anchor: RunRecord, catalog: Catalog
) -> Prediction | NoPrediction:
    """Compute throughput = measured x sqrt(peak ratio x bandwidth ratio) x ratio of counts x ratio of shares.

    The square root is the geometric mean of the two ratios. Its median error over published pairs is 18 %, compared
    with 31 % for peaks alone and 20 % for bandwidths alone (docs/accuracy.md).
    """
    ratio = _device_ratio(job, candidate, anchor, catalog)
    if ratio is None:
        text = (
            f"the peak or bandwidth of {candidate.accelerator.id} or {anchor.hardware.accelerator} is not known, "
            "so the measured run cannot be scaled to it: measure it there"
        )
        return no_prediction(ReasonCode.HARDWARE_NOT_KNOWN, text)
    counts = _count_ratio(anchor, candidate, catalog)
    unknown = () if job.setup.network is not None else (RangeFactor(BARE_STEP_FACTOR, "network not known"),)
    predicted = _prediction(
        anchor.throughput.value * ratio.value * counts.value,
        RATIO_FACTOR * counts.factor * (BARE_STEP_FACTOR if unknown else 1.0),
        f"scaled from run {anchor.id}: {_rate_text(anchor)} x {ratio.text} = {ratio.value:.5g} x {counts.text}",
        [anchor],
        catalog,
        notes=ratio.notes,
        factors=(RangeFactor(RATIO_FACTOR, "ratio of accelerators"), *counts.factors, *unknown),
        ratios=(Ratio("peak and bandwidth", ratio.value, ratio.text), Ratio("accelerators", counts.value, counts.text)),
    )
    dates = [day for day in (predicted.as_of, candidate.accelerator.as_of) if day]
    return replace(predicted, as_of=min(dates))


@dataclass(frozen=True)
class _DeviceRatio:
    """Speed of one accelerator over that of another by their data sheets, and the text to recompute it."""

    value: float
    text: str
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _CountRatio:
    """Speed of the candidate's accelerators over that of the measured ones, within `factor`, and the text."""

    value: float
    text: str
    factor: float
    factors: tuple[RangeFactor, ...]


def _device_ratio(job: Job, candidate: Candidate, anchor: RunRecord, catalog: Catalog) -> _DeviceRatio | None:
    measured = catalog.accelerators.get(anchor.hardware.accelerator)
    if measured is None or measured.hbm_gb_per_s is None or candidate.accelerator.hbm_gb_per_s is None:
        return None
    peak, note = training_peak_tflops(candidate.accelerator, job.setup.precision)
    precision = job.setup.precision
    unstated = None if precision is Precision.FLOAT8 else precision  # a run in 8 bits would say so
    measured_peak, measured_note = training_peak_tflops(measured, anchor.precision or unstated)
    if peak is None or measured_peak is None:
        return None
    notes = tuple(filter(None, (note, measured_note)))
    bandwidth, measured_bandwidth = candidate.accelerator.hbm_gb_per_s, measured.hbm_gb_per_s
    value = math.sqrt(peak / measured_peak * bandwidth / measured_bandwidth)
    text = f"sqrt({peak:g}/{measured_peak:g} TFLOP/s x {bandwidth:g}/{measured_bandwidth:g} GB/s)"
    return _DeviceRatio(value, text, notes)


def _count_ratio(anchor: RunRecord, candidate: Candidate, catalog: Catalog) -> _CountRatio:
    """Return the ratio of counts x the ratio of scaling shares."""
    asked, measured = scaling_of(candidate), _scaling_of(anchor, catalog)
    count = anchor.hardware.accelerators
    text = f"{candidate.accelerators}/{count} accelerators"
    if asked.share != measured.share:
        text += f" x {asked.share:.4g}/{measured.share:.4g} of linear scaling"
    same = candidate.accelerators == count and asked == measured
    value = candidate.accelerators / count * asked.share / measured.share
    return _CountRatio(value, text, 1.0, ()) if same else _CountRatio(value, text, asked.factor, asked.factors)


def _scaling_of(run: RunRecord, catalog: Catalog) -> Scaling:
    hardware = run.hardware
    return scaling(_link_of(run, catalog), accelerators_per_node=hardware.accelerators_per_node, nodes=hardware.nodes)


def _measured_links(run: RunRecord, catalog: Catalog) -> bool:
    hardware = run.hardware
    return is_communication_bound(
        _link_of(run, catalog), accelerators_per_node=hardware.accelerators_per_node, nodes=hardware.nodes
    )


def _link_of(run: RunRecord, catalog: Catalog) -> Link:
    node = catalog.nodes.get(run.hardware.node or "")
    return node.link if node else Link.OTHER


def _same_strategy(run: RunRecord, candidate: Candidate) -> bool:
    return run.strategy in (None, candidate.strategy)


def _rate_text(run: RunRecord) -> str:
    return f"{run.throughput.value:.6g} samples/s on {run.hardware.accelerators}x {run.hardware.accelerator}"


def _prediction(
    rate: float,
    factor: float,
    source: str,
    runs: list[RunRecord],
    catalog: Catalog,
    *,
    factors: tuple[RangeFactor, ...],
    ratios: tuple[Ratio, ...] = (),
    notes: tuple[str, ...] = (),
) -> Prediction:
    if any(run.short_window for run in runs):
        factor *= SHORT_WINDOW_FACTOR
        factors += (RangeFactor(SHORT_WINDOW_FACTOR, "measured for seconds"),)
    dates = [run.throughput.as_of for run in runs if run.throughput.as_of]
    batches = sorted({run.micro_batch for run in runs if run.micro_batch})
    if batches:
        notes += (f"measured with micro-batch {batches[0]}; a larger one may be faster",)
    return Prediction(
        samples_per_s=Interval.within_factor(rate, factor),
        basis=Basis.MODELLED,
        write_source=lambda: f"{source}; within a factor of {_range_text(factor, factors)}",
        as_of=min(dates, default=None),
        known_from=scaled_line(runs[0], catalog.bundled_runs),
        runs=tuple(runs),
        notes=notes,
        ratios=ratios,
    )


def _range_text(factor: float, factors: tuple[RangeFactor, ...]) -> str:
    """Return a range's factor as a product: `2.75 = 2 (ratio of accelerators) x 1.1 (link) x ...`."""
    terms = " x ".join(f"{part.value:g} ({part.cause})" for part in factors)
    return terms if len(factors) == 1 else f"{factor:.4g} = {terms}"
