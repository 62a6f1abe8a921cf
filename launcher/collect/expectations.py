"""What a run is compared with beyond its own figures: FLOPs, peak, estimated memory, first losses.

The catalog and the estimates know these; whoever calls the launcher passes them in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from planner.model.evidence.mfu import model_flops_utilization
from planner.model.evidence.run import NodeResult
from planner.workloads.measure.device_load import MAX_CONTEXT_GIB


@dataclass(frozen=True)
class Expected:
    """Null and empty stand for "not known": then nothing is compared."""

    flops_per_sample: Mapping[str, float] = field(default_factory=dict)
    """Training FLOPs without recomputation, by the name of the convention; `full_attention` is the headline's."""
    peak_tflop_per_s: float | None = None
    """Of one accelerator in the declared precision, dense, from its data sheet."""
    least_mfu: float | None = None
    """Of the nominal peak, full attention."""
    device_memory_gib: float | None = None
    """Estimated, on one device, CUDA context included."""
    first_losses: tuple[float, ...] = ()
    loss_tolerance: float = 0.0
    """A first loss may differ by this fraction."""


Expect = Callable[[NodeResult, str], Expected]
"""From a result and the accelerator's id in the catalog."""
NOTHING = Expected()


def mfu_by_name(result: NodeResult, expected: Expected) -> dict[str, float]:
    """Return the MFU (planner/model/evidence/mfu.py) by convention and peak; never one figure without its name.

    `..._of_nominal_peak`: the data sheet's; `..._of_measured_peak`: the slowest device's plain products just before.
    """
    measured = (result.calibration or {}).get("matmul_tflop_per_s")
    peaks = {"nominal": expected.peak_tflop_per_s, "measured": measured}
    return {
        f"{convention}_of_{kind}_peak": model_flops_utilization(
            flops_per_sample=flops,
            samples_per_s=result.samples / result.window_s,
            accelerators=result.world_size,
            peak_tflop_per_s=peak,
        )
        for kind, peak in peaks.items()
        for convention, flops in expected.flops_per_sample.items()
        if peak
    }


def used_gib(result: NodeResult) -> float | None:
    """Return the GiB of the fullest device at the peak: what its allocator reserved, and the context beside it.

    The context is that at the end of the run, with NCCL, cuBLAS and kernels. Older results have only what was in use
    before the run. None where it is not known, and where other processes held memory beside the context.
    """
    reserved_gib, context_gib = (result.memory.get(name) for name in ("peak_reserved_gib", "context_gib"))
    before_gib = result.memory.get("in_use_before_gib") or 0.0
    if reserved_gib is None or before_gib > MAX_CONTEXT_GIB:
        return None
    return reserved_gib + (before_gib if context_gib is None else context_gib)


def memory_facts(result: NodeResult, expected: Expected) -> dict[str, float | None]:
    """Estimate, and used / estimate, to stand beside the measured figures; empty where one is not known."""
    used = used_gib(result)
    if used is None or not expected.device_memory_gib:
        return {}
    return {"estimate_gib": expected.device_memory_gib, "used_of_estimate": used / expected.device_memory_gib}
