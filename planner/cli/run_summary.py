"""Summary of a benchmark in a few lines: rate, batch, utilization, calibration, doubts."""

from __future__ import annotations

from typing import Any

from planner.cli.streams import say
from planner.model.evidence.run import RunRecord
from planner.present.table import quantity_text

MFU_NAMES = {
    "full_attention_of_nominal_peak": "of the nominal peak, full attention",
    "causal_of_nominal_peak": "of the nominal peak, causal",
    "full_attention_of_measured_peak": "of the measured peak, full attention",
    "causal_of_measured_peak": "of the measured peak, causal",
}


def say_result(record: RunRecord) -> None:
    """Print the summary of a run on stderr."""
    rate = record.throughput.value * (record.seq_len or 1)
    in_units = "a sample is an image" if record.seq_len is None else f"{rate:,.0f} tokens/s"
    machine = record.environment.get("machine")
    say(f"{record.workload} on {machine}: {quantity_text(record.throughput)}, {in_units}")
    if record.mode is not None:
        say(
            f"Batch ({record.mode.value}): micro-batch {record.micro_batch} x {record.grad_accumulation} x "
            f"{record.hardware.accelerators} device(s) = {record.global_batch} samples a step, {record.data} data"
        )
    if record.mfu:
        shares = [f"{value:.1%} {MFU_NAMES.get(name, name)}" for name, value in record.mfu.items()]
        say(f"MFU: {'; '.join(shares)}.")
    for calibration in record.calibration[:1]:
        say(f"Calibration ({calibration.get('seconds', 0):.0f} s): {'; '.join(_calibrated(calibration))}.")
    if record.note:
        say(f"Note: {record.note}.")
    say(f"Verdict: {'; '.join(record.verdict) or 'no reason to doubt this measurement'}.")


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
