"""The single definition of MFU, model FLOPs utilization."""

from __future__ import annotations


def model_flops_utilization(
    *, flops_per_sample: float, samples_per_s: float, accelerators: int, peak_tflop_per_s: float
) -> float:
    """Return the share of the peak that goes into the network's own FLOPs; 1 is all of it.

    MFU = FLOPs per sample x samples/s / (accelerators x peak)

    Reported everywhere: training FLOPs of one sample with full attention and without recomputation
    (planner/network/flops.py), over the dense peak of the data sheet in the run's number format. Beside it stands the
    same with causal FLOPs, under its own name.
    Source: Chowdhery et al. 2022 (PaLM), appendix B.
    """
    return flops_per_sample * samples_per_s / (accelerators * peak_tflop_per_s * 1e12)
