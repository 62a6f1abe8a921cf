"""Compares a run's FLOP/s with the peak of each format, the measured ceiling and the best published runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from planner.audit.findings import MANY_TIMES, Fact, doubtful, impossible, note, share_of, unknown
from planner.audit.stated_run import StatedRun
from planner.model.answer.audit import Finding
from planner.model.hardware.machines import Accelerator, MatmulCeiling
from planner.speed.physics.accelerator_facts import SIXTEEN_BITS, chip_of, on_ordinary_cores, peak_flops

TOLERANCE = 1.02
"""Tolerance above a measured ceiling, because clocks differ from device to device."""
BEST_OF_CEILING = 0.79
"""Best published training relative to the measured ceiling.

BERT-large on A100 reached 69 % of the dense peak (NVIDIA DeepLearningExamples, phase 1 of pre-training;
catalogs/evidence), which is 79 % of 271.2 TFLOP/s.
"""


@dataclass(frozen=True)
class Ceiling:
    """FLOP/s of one device."""

    peak: float
    flops: float
    source: str


def ceiling_of(accelerator: Accelerator, number_format: str, measured: Iterable[MatmulCeiling]) -> Ceiling | None:
    """Return the ceiling: measured on this accelerator or its chip (`with_chips`), otherwise the data sheet's peak."""
    peak = peak_flops(accelerator, number_format)
    if peak is None:
        return None
    column = "bf16" if number_format in SIXTEEN_BITS else number_format
    rows = [row for row in measured if row.number_format == column]
    for row in rows:
        if row.accelerator == accelerator.id:
            return Ceiling(peak, min(peak, row.tflops * 1e12), row.source)
    return Ceiling(peak, peak, f"{accelerator.source}: dense peak, no measured matmul rate")


def with_chips(measured: Iterable[MatmulCeiling], accelerators: Mapping[str, Accelerator]) -> list[MatmulCeiling]:
    """Add a row for every accelerator of a measured chip: the highest rate measured on any of its kind."""
    rows = list(measured)
    best: dict[tuple[str, str], MatmulCeiling] = {}
    for row in rows:
        if row.accelerator in accelerators:
            key = (chip_of(accelerators[row.accelerator]), row.number_format)
            if key not in best or best[key].tflops < row.tflops:
                best[key] = row
    known = {(row.accelerator, row.number_format) for row in rows}
    others = [
        row.model_copy(update={"accelerator": accelerator.id, "source": f"{row.source}; on {row.accelerator}"})
        for (chip, number_format), row in best.items()
        for accelerator in accelerators.values()
        if chip_of(accelerator) == chip and (accelerator.id, number_format) not in known
    ]
    return rows + others


SHOWN = {"fp32": "fp32", "tf32": "TF32", "bf16": "bf16", "16bit": "16 bit", "fp8": "fp8", "fp4": "fp4"}
WINOGRAD = 1 / 2.25
"""Smallest share of multiplications for fp32 convolutions on ordinary cores (Lavin and Gray 2015)."""
ASSUMED_FORMAT = "16bit"
SAME = 0.005
TOLD_APART = ("fp32", "tf32", "bf16", "fp8")


def rate_findings(
    run: StatedRun, measured: Sequence[MatmulCeiling], *, forced_recomputation: bool = False
) -> list[Finding]:
    """Return the findings on the run's FLOP/s.

    `forced_recomputation` means that memory proves a second forward pass.
    """
    if run.accelerator is None:
        return [unknown("accelerator_not_known", f"No catalog knows the accelerator '{run.accelerator_name}'.",
                        fix="Give it by a name in catalogs/hardware/accelerators.csv.")]  # fmt: skip
    if run.work is None or run.samples_per_s is None:
        return [unknown("work_not_known", "Network, sample length or throughput are not stated: no FLOPs to check.",
                        fix="Record architecture and seq_len.")]  # fmt: skip
    ceiling = ceiling_of(run.accelerator, run.number_format or ASSUMED_FORMAT, measured)
    if ceiling is None and run.number_format is not None and run.accelerator.vendor in ("NVIDIA", "AMD"):
        says = f"{run.accelerator.id} ({run.accelerator.architecture}) has no {SHOWN[run.number_format]} hardware."
        fact: Fact = ("known", 0.0, "TFLOP/s", f"{run.accelerator.source} ({run.accelerator.as_of})")
        return [impossible("format_not_in_hardware", says, fact, fix="Record accelerator and precision.")]
    if ceiling is None:
        return [unknown("work_not_known", f"The peak of {run.accelerator.id} is not known.")]
    findings = _against(run, ceiling, forced_recomputation=forced_recomputation)
    if run.by_parameters:
        says = "Its network is not recorded: three quarters of its parameters are counted, and no attention."
        findings.append(note("work_by_parameters", says, fix="Record the architecture."))
    return findings + _formats(run)


def executed(run: StatedRun) -> float:
    """Return the FLOP/s of one device: the fewest for its samples, plus stated recomputation."""
    assert run.work is not None
    return _rate(run, run.work.least(run.length) + run.recompute * run.work.recomputed(run.length))


def _rate(run: StatedRun, flops: float) -> float:
    """Return the FLOP/s of one device. fp32 convolutions on ordinary cores may need fewer products (Winograd)."""
    assert run.work is not None
    vector = run.accelerator is not None and on_ordinary_cores(run.accelerator, run.number_format or ASSUMED_FORMAT)
    return run.rate(flops) * (WINOGRAD if run.work.of_an_image is not None and vector else 1.0)


def _against(run: StatedRun, ceiling: Ceiling, *, forced_recomputation: bool) -> list[Finding]:
    assert run.work is not None
    assert run.accelerator is not None
    done, name = executed(run), SHOWN[run.number_format or ASSUMED_FORMAT]
    headline = run.rate(run.work.headline(run.length))
    facts: tuple[Fact, ...] = (
        ("executed", done / 1e12, "TFLOP/s a device", "fewest FLOPs of a sample x samples/s / devices"),
        ("headline", headline / 1e12, "TFLOP/s a device", "the same with full attention"),
        ("peak", ceiling.peak / 1e12, "TFLOP/s", f"{run.accelerator.source} ({run.accelerator.as_of}), dense {name}"),
        ("ceiling", ceiling.flops / 1e12, "TFLOP/s", ceiling.source),
    )
    share = share_of(done / ceiling.peak, f"the dense {name} peak")
    if headline > done * (1 + SAME) and done < MANY_TIMES * ceiling.peak:
        share += f" ({headline / ceiling.peak:.0%} with full attention)"
    fewer_bits = _fewer_bits(run)
    raise_ = doubtful if fewer_bits else impossible
    suffix = f"; only {' or '.join(fewer_bits)} could do it, and the run does not state that" if fewer_bits else ""
    fix = "Record tokens, devices, precision and active parameters of the run."
    if done > ceiling.peak:
        return [raise_("above_peak", f"It would execute {share}: above the peak{suffix}.", *facts, fix=fix)]
    if done > ceiling.flops * TOLERANCE:
        says = f"It would execute {share}: above the {ceiling.flops / 1e12:.4g} TFLOP/s that plain products reach"
        return [raise_("above_ceiling", f"{says}{suffix}.", *facts, fix=fix)]
    findings = []
    again = run.rate(run.work.least(run.length) + run.work.recomputed(run.length))
    if forced_recomputation and again > ceiling.flops * TOLERANCE:
        says = (
            f"The batch fits only with all layers recomputed, and so it would execute {again / ceiling.peak:.0%} of the"
            f" peak, {again / ceiling.flops:.0%} of the {ceiling.flops / 1e12:.4g} TFLOP/s that plain products reach"
        )
        more: Fact = ("executed_recomputing", again / 1e12, "TFLOP/s a device", "fewest FLOPs and a second forward")
        findings.append(raise_("above_ceiling_recomputing", f"{says}{suffix}.", *facts, more, fix=fix))
    if _rate(run, run.work.least(run.length)) > BEST_OF_CEILING * ceiling.flops:
        says = (
            f"It would execute {share}; the best published reach {BEST_OF_CEILING * ceiling.flops / ceiling.peak:.0%}"
        )
        findings.append(doubtful("above_best_published", f"{says}.", *facts, fix=fix))
    return findings


def _fewer_bits(run: StatedRun) -> list[str]:
    """Return the accelerator's formats with fewer bits that would be fast enough, if the run states none."""
    if run.number_format is not None or run.accelerator is None:
        return []
    return [
        SHOWN[name]
        for name in ("fp8", "fp4")
        if (peak := peak_flops(run.accelerator, name)) is not None
        and peak > (peak_flops(run.accelerator, ASSUMED_FORMAT) or 0)
        and executed(run) <= peak
    ]


def open_formats(run: StatedRun) -> tuple[str, ...]:
    """Return the formats that are fast enough for the run as stated, if it states none."""
    if run.number_format is not None or run.work is None or run.accelerator is None:
        return ()
    least = run.rate(run.work.least(run.length))
    peaks = {name: peak_flops(run.accelerator, name) for name in TOLD_APART}
    return tuple(name for name, peak in peaks.items() if peak and least <= peak)


def _formats(run: StatedRun) -> list[Finding]:
    """Say which formats are ruled out if the run does not prove its own, and above which length none is."""
    if run.number_format is not None or run.work is None or run.accelerator is None or run.accelerator.vendor == "any":
        return []
    least = run.rate(run.work.least(run.length))
    headline = run.rate(run.work.headline(run.length))
    peaks = {name: peak for name in TOLD_APART if (peak := peak_flops(run.accelerator, name))}
    left = open_formats(run)
    ruled_out = [name for name in peaks if name not in left]
    counts = (("", least, "fewest FLOPs"), ("_full_attention", headline, "full attention"))
    facts: list[Fact] = [
        (f"{name}_share{ending}", flops / peak, f"of the peak, {what}", run.accelerator.source)
        for ending, flops, what in counts
        for name, peak in peaks.items()
    ]
    findings = [note("precision_not_stated", "No precision is stated; a switch fp16=False does not mean fp32.",
                     fix="Record the precision, and the FLOPs of products by type.")]  # fmt: skip
    if ruled_out:
        slow = " and ".join(SHOWN[name] for name in ruled_out)
        open_ = ", ".join(SHOWN[name] for name in left) or "none"
        says = f"As stated, {slow} {'is' if len(ruled_out) == 1 else 'are'} too slow; open: {open_}."
        findings.append(note("precision_ruled_out", says, *facts))
    if "fp32" in ruled_out and run.work.of_an_image is None and run.samples_per_s:
        tokens = run.work.tokens_within(peaks["fp32"] * run.devices / run.samples_per_s)
        says = f"If samples were shorter than about {tokens:,.0f} tokens, unpadded, precision is open again."
        fact: Fact = ("tokens", tokens, "tokens a sample", "fewest FLOPs = fp32 peak")
        findings.append(note("precision_open_below", says, fact, fix="Record the tokens that were trained on."))
    return findings
