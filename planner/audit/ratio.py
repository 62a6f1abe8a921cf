"""Ratio of two runs: as stated, its explanation, and the range of the true one."""

from __future__ import annotations

from planner.audit.findings import Fact, doubtful, note
from planner.audit.rate_rules import ASSUMED_FORMAT, open_formats
from planner.audit.ratio_shares import ComparedRun, RatioShares, shares_of_ratio
from planner.audit.stated_run import StatedRun
from planner.model.answer.audit import AuditVerdict, Finding, RunAudit
from planner.model.catalog import Catalog
from planner.speed.diagnosis.run_setup import RunSetup, setup_of
from planner.speed.physics.accelerator_facts import peak_flops

NEAR_ONE = 1.1
"""Factor around 1 within which no shares are given, because the ratio's logarithm is near 0."""
SOFTWARE = 1.25
"""Assumed allowance on the ratio of peaks: newer accelerators often reach a larger share of theirs."""
ESTIMATOR = "the estimator, geometric mean over all orders of the differences"
Audited = tuple[StatedRun, RunAudit]


def ratio_findings(first_audit: Audited, second_audit: Audited, catalog: Catalog) -> list[Finding]:
    """Return the ratio per accelerator of the first run over the second, and its parts."""
    (first, _), (second, _) = first_audit, second_audit
    assert first.record is not None
    assert second.record is not None
    if not first.samples_per_s or not second.samples_per_s:
        return []
    a, b, over = first.record.throughput, second.record.throughput, second.devices / first.devices
    stated = (first.samples_per_s / second.samples_per_s * over, a.low / b.high * over, a.high / b.low * over)
    setups = [setup_of(run.record, catalog) for run in (first, second) if run.record]
    shares = _shares(first_audit, second_audit, stated, setups, catalog)
    return [*_above_hardware(first, second, stated), _stated(first, second, stated, shares), _explained(setups, shares)]


def _above_hardware(first: StatedRun, second: StatedRun, stated: tuple[float, float, float]) -> list[Finding]:
    """Say if the faster run does more than peaks, memory bandwidths and software explain."""
    fast, slow, least = (first, second, stated[1]) if stated[0] >= 1 else (second, first, 1 / stated[2])
    if fast.accelerator is None or slow.accelerator is None or fast.accelerator.id == slow.accelerator.id:
        return []
    peaks = [
        peak_flops(run.accelerator, run.number_format or ASSUMED_FORMAT) for run in (fast, slow) if run.accelerator
    ]
    memory = [run.accelerator.hbm_gb_per_s for run in (fast, slow) if run.accelerator]
    if not (peaks[0] and peaks[1] and memory[0] and memory[1]) or fast.number_format != slow.number_format:
        return []
    most = max(peaks[0] / peaks[1], memory[0] / memory[1])
    if least <= SOFTWARE * most:
        return []
    says = (
        f"{fast.id} does at least {least:.3g} times {slow.id} per accelerator; peaks stand at "
        f"{peaks[0] / peaks[1]:.3g}, memory bandwidths at {memory[0] / memory[1]:.3g}: something beside the hardware "
        "differs."
    )
    facts: tuple[Fact, ...] = (
        ("least", least, "times per accelerator", "the throughputs, low end"),
        ("peaks", peaks[0] / peaks[1], "times", f"{fast.accelerator.source}; {slow.accelerator.source}"),
        ("memory bandwidths", memory[0] / memory[1], "times", f"{fast.accelerator.source}; {slow.accelerator.source}"),
    )
    return [doubtful("speedup_above_hardware", says, *facts, fix=f"planner check-run {slow.id}")]


def _shares(
    first: Audited,
    second: Audited,
    stated: tuple[float, float, float],
    setups: list[RunSetup | None],
    catalog: Catalog,
) -> RatioShares | None:
    compared = [
        ComparedRun(setup, open_formats(run), audit.verdict is AuditVerdict.IMPOSSIBLE)
        for setup, (run, audit) in zip(setups, (first, second), strict=True)
        if setup is not None
    ]
    if len(compared) < 2 or catalog.calibration is None:
        return None
    return shares_of_ratio(*compared, stated=stated, calibration=catalog.calibration)


def _stated(
    first: StatedRun, second: StatedRun, stated: tuple[float, float, float], shares: RatioShares | None
) -> Finding:
    value, low, high = stated
    facts: list[Fact] = [
        ("ratio", value, "per accelerator", "the throughputs"),
        ("low", low, "per accelerator", "their ranges"),
        ("high", high, "per accelerator", "their ranges"),
    ]
    says = f"{first.id} does {value:.2f} times {second.id} per accelerator ({low:.2f}-{high:.2f} by their own ranges)"
    peaks = [peak_flops(run.accelerator, ASSUMED_FORMAT) for run in (first, second) if run.accelerator]
    if len(peaks) == 2 and peaks[0] and peaks[1] and first.accelerator != second.accelerator:
        facts.append(("peaks", peaks[0] / peaks[1], "ratio of dense 16-bit peaks", "data sheets"))
        says += f"; their dense 16-bit peaks stand at {peaks[0] / peaks[1]:.2f}"
    if shares is not None:
        facts += [
            ("true_low", shares.low, "at equal settings", ESTIMATOR),
            ("true_high", shares.high, "at equal settings", ESTIMATOR),
        ]
        of = f" of the {shares.subject}" if shares.subject else ""
        says += f". At equal settings the ratio{of} lies within {shares.low:.2f}-{shares.high:.2f}"
    return note("ratio", f"{says}.", *facts)


def _explained(setups: list[RunSetup | None], shares: RatioShares | None) -> Finding:
    if shares is None:
        return note("ratio_explained", "The estimator cannot say what the differences explain: it knows no such run.")
    told = not 1 / NEAR_ONE < shares.stated < NEAR_ONE
    parts = {**shares.factors, "unexplained": shares.unexplained}
    facts: list[Fact] = [(name, factor, "times", ESTIMATOR) for name, factor in parts.items()]
    if told:
        facts += [
            (f"{name}_share", shares.share(factor), "of the logarithm of the ratio", ESTIMATOR)
            for name, factor in parts.items()
        ]
    words = [f"{name} x{factor:.2f}" + _share(shares, factor, told=told) for name, factor in parts.items()]
    assumed = dict.fromkeys(assumption for setup in setups if setup for assumption in setup.assumed)
    fix = f"Assumed: {'; '.join(assumed)}." if assumed else ""
    of = "; in brackets its share of the ratio's logarithm" if told and len(parts) > 1 else ""
    says = f"The ratio of {shares.stated:.2f} is {', '.join(words)}{of}."
    return note("ratio_explained", says, *facts, fix=fix)


def _share(shares: RatioShares, factor: float, *, told: bool) -> str:
    return f" ({shares.share(factor):.0%})" if told else ""
