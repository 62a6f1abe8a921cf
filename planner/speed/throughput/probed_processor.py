"""A processor as a probe found it: it has no data sheet that all others of its name keep."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner.model.catalog import Catalog
from planner.model.evidence.probe import KernelKind, ProbeRecord
from planner.model.network.workload import Precision
from planner.scenario.candidate import Candidate
from planner.speed.throughput.probe_evidence import CPU, is_of

if TYPE_CHECKING:
    from planner.model.hardware.machines import Accelerator


def probed_processor(candidate: Candidate, catalog: Catalog) -> Accelerator | None:
    """Return this machine's processor with peaks and memory bandwidth as a probe found them; None without one.

    A processor has no data sheet that all others of its name keep, so its best products and copies stand for it.
    """
    probes = [
        one for one in catalog.probes.values() if one.refers_to(CPU) and not one.verdict and is_of(one, candidate)
    ]
    if not probes:
        return None
    newest = max(probes, key=lambda one: (one.measured_on, one.id))
    peaks = {precision: _best_tflops(newest, precision) for precision in (Precision.FP32, Precision.BF16)}
    copies = newest.of_kind.get(KernelKind.COPY, [])
    if peaks[Precision.FP32] is None or not copies:
        return None
    copied = max(2 * one.shape["bytes"] / one.seconds for one in copies)
    return candidate.accelerator.model_copy(
        update={
            "fp32_tflops": peaks[Precision.FP32],
            "bf16_tflops": peaks[Precision.BF16],
            "hbm_gb_per_s": copied / 1e9,
            "source": f"probe {newest.id}",
            "as_of": newest.measured_on,
        }
    )


def _best_tflops(probe: ProbeRecord, precision: Precision) -> float | None:
    rates = [
        6.0 * one.shape["tokens"] * one.shape["inputs"] * one.shape["outputs"] / one.seconds / 1e12
        for one in probe.of_kind.get(KernelKind.PRODUCTS, [])
        if one.precision is precision
    ]
    return max(rates, default=None)
