"""Writes what a benchmark prints at its end: a summary in a few lines, or a table of scaling."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from planner.cli.output import TableOptions
from planner.cli.streams import print_document, say
from planner.launcher.collect.device_use import gain_of_doubling
from planner.model.answer.sweep_answer import SweepDocument
from planner.model.evidence.run import RunRecord
from planner.present.table import quantity_text, scaling_rows


def summary(record: RunRecord, path: Path | str, *, quick: bool = False) -> list[str]:
    """Return the lines that end a benchmark.

    `path` is the place of the record; `quick` means that its window was short.
    """
    rate = record.throughput.value * (record.seq_len or 1)
    in_units = "a sample is an image" if record.seq_len is None else f"{rate:,.0f} tokens/s"
    lines = [f"{record.workload} on {record.environment.get('machine')}"]
    if record.note:
        lines.append(f"Note: {record.note}.")
    if record.mode is not None:
        lines.append(
            f"Batch ({record.mode.value}): micro-batch {record.micro_batch} x {record.grad_accumulation} x "
            f"{record.hardware.accelerators} device(s) = {record.global_batch} samples a step, {record.data} data"
        )
    lines += [f"Calibration: {'; '.join(_calibrated(calibration))}." for calibration in record.calibration[:1]]
    lines.append(f"Stored as {path}")
    lines.append(f"Result: {quantity_text(record.throughput)}, {in_units}")
    return [*lines, *_mfu(record), _verdict(record.verdict), *_next(record, quick=quick)]


def _mfu(record: RunRecord) -> list[str]:
    """Name the share of the data sheet's peak, or of the measured peak if the data sheet's is unknown."""
    for peak in ("nominal", "measured"):
        full, causal = (record.mfu.get(f"{name}_of_{peak}_peak") for name in ("full_attention", "causal"))
        if full is None:
            continue
        if record.seq_len is None:  # images: attention is never causal
            return [f"MFU: {full:.1%} of the {peak} peak"]
        beside = "" if causal is None else f"; causal: {causal:.1%}"
        return [f"MFU: {full:.1%}, full attention of the {peak} peak{beside}"]
    return []


def _verdict(reasons: tuple[str, ...]) -> str:
    if not reasons:
        return "Verdict: sound; nothing speaks against this measurement."
    more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
    return f"Verdict: doubtful because {reasons[0]}{more}."


def _next(record: RunRecord, *, quick: bool) -> list[str]:
    """Return at most two things to do: fix what makes the run doubtful, see all reasons, or plan with it."""
    micro_batch = record.micro_batch or 1
    steps = []
    if record.memory.get("allocator_retries"):
        steps.append("the same command with a smaller --micro-batch")
    elif gain_of_doubling(micro_batch, record.probes) is not None:
        steps.append(f"the same command with --micro-batch {2 * micro_batch}, or with --mode tuned, which searches")
    elif quick:
        steps.append("the same command without --quick, for a window that others can be compared with")
    if record.verdict:
        steps.append(f"planner runs show {record.id}  (all reasons, phases, memory)")
    steps.append(f"planner init plan.yaml --measured {record.id} && planner compare plan.yaml")
    return [f"Next: {step}" for step in steps[:2]]


def _calibrated(calibration: dict[str, Any]) -> list[str]:
    figures = [f"{calibration['matmul_tflop_per_s']:.4g} TFLOP/s of {calibration['matmul_dtype']} products"]
    copies = {
        "on the device": calibration.get("device_copy_gb_per_s"),
        "host to device": calibration.get("host_to_device_gb_per_s"),
        "device to host": calibration.get("device_to_host_gb_per_s"),
    }
    figures += [f"copies {name} {rate:.4g} GB/s" for name, rate in copies.items() if rate is not None]
    buses = calibration.get("all_reduce_bus_gb_per_s_by_size") or {}
    if buses:
        figures.append(f"all-reduce bus {max(buses.values()):.4g} GB/s at best")
    pairs = [rate for row in calibration.get("peer_gb_per_s") or [] for rate in row if rate is not None]
    if pairs:
        figures.append(f"between devices {min(pairs):.4g} to {max(pairs):.4g} GB/s")
    return figures


def print_scaling(document: SweepDocument, output: TableOptions) -> None:
    """Print one JSON document, or the table with its doubts and notes."""
    if output.json:
        print_document(document)
    else:
        output.print_rows(scaling_rows(document), title=_title(document))
    for doubt in document.doubts:
        say(f"Doubt: {doubt}.")
    for note in document.notes:
        say(f"Note: {note}.")


def _title(document: SweepDocument) -> str:
    parts = [
        document.strategy.value if document.strategy else None,
        document.precision.value if document.precision else None,
        f"micro-batch {document.micro_batch}" if document.micro_batch else None,
        f"{document.seq_len} tokens" if document.seq_len else None,
    ]
    return ", ".join([f"{document.workload} on {document.accelerator}", *(part for part in parts if part)])
