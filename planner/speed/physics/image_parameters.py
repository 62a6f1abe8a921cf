"""Constants of image training: meaning, prior, and bounds of each."""

from __future__ import annotations

from planner.speed.physics.parameters import INDEX, PARAMETERS, Parameter, values_if_absent

SHARED = (
    "nvlink",
    "pcie",
    "pcie_falls",
    "pcie_falls_5",
    "host_lanes",
    "host_root",
    "network",
    "message_us",
    "host_sharded",
    "hidden_share",
    "jitter",
    "optimizer",
)
"""Constants of links, sharding and waiting, which have the same priors and bounds as for text."""

IMAGE_PARAMETERS = (
    Parameter("conv_pascal", 0.80, 0.20, 0.2, 1.0, "share of peak of a large convolution, Pascal"),
    Parameter("conv_volta", 0.62, 0.20, 0.2, 1.0, "share of peak of a large convolution, Volta"),
    Parameter("conv_turing", 0.62, 0.20, 0.2, 1.0, "share of peak of a large convolution, Turing"),
    Parameter("conv_ampere", 0.70, 0.20, 0.2, 1.0, "share of peak of a large convolution, Ampere"),
    Parameter("conv_ada", 0.65, 0.20, 0.2, 1.0, "share of peak of a large convolution, Ada"),
    Parameter("conv_hopper", 0.55, 0.20, 0.1, 1.0, "share of peak of a large convolution, Hopper"),
    Parameter("conv_blackwell", 0.50, 0.25, 0.1, 1.0, "share of peak of a large convolution, Blackwell"),
    Parameter("conv_cdna", 0.35, 0.25, 0.1, 1.0, "share of peak of a large convolution, CDNA"),
    Parameter("conv_gaudi", 0.50, 0.30, 0.1, 1.0, "share of peak of a large convolution, Gaudi"),
    Parameter("conv_tpu", 0.50, 0.30, 0.1, 1.0, "share of peak of a large convolution, TPU"),
    Parameter("conv_neuron", 0.40, 0.30, 0.1, 1.0, "share of peak of a large convolution, Trainium"),
    Parameter("conv_xe", 0.45, 0.30, 0.1, 1.0, "share of peak of a large convolution, Xe"),
    Parameter("conv_other", 0.50, 0.30, 0.1, 1.0, "share of peak of a large convolution, other architectures"),
    Parameter("conv_vector", 1.10, 0.12, 0.5, 1.6, "fp32 on ordinary cores, against the share of tensor cores"),
    Parameter("winograd", 0.6, 0.15, 0.444, 1.0, "multiplications left of 3x3 convolutions in fp32: 1/2.25 at best"),
    Parameter("depthwise", 0.05, 0.50, 0.005, 0.5, "share of ordinary cores' fp32 peak, of depthwise convolutions"),
    Parameter("depthwise_bytes", 4.0, 0.50, 1.0, 40.0, "traffic of a depthwise convolution, against other products'"),
    Parameter("depthwise_native", 3.0, 0.40, 1.0, 10.0, "gain of depthwise kernels for 16 bit, channels last, in both"),
    Parameter("linear", 1.10, 0.10, 0.6, 1.6, "share of peak of a transformer's products, against convolutions"),
    Parameter("hbm", 0.80, 0.05, 0.5, 1.0, "share of memory bandwidth that long streams reach"),
    Parameter("conv_bytes", 1.2, 0.20, 0.5, 3.0, "traffic of a product against reading and writing everything once"),
    Parameter("transposed", 1.0, 0.25, 0.2, 2.0, "passes that turn images round for tensor cores, against counted"),
    Parameter("norms", 0.9, 0.15, 0.4, 1.6, "passes of batch norm, against those counted"),
    Parameter("pointwise", 1.0, 0.15, 0.4, 2.5, "passes of element-wise operators, against those counted"),
    Parameter("fused_left", 0.45, 0.30, 0.1, 1.0, "share of element-wise passes that is left after fusing"),
    Parameter("attention", 0.40, 0.20, 0.1, 0.9, "share of 16-bit peak of a fused attention kernel"),
    Parameter("softmax", 16.0, 0.30, 4.0, 40.0, "passes over the attention matrix where it is written out"),
    Parameter("tail_us", 4.0, 0.50, 0.5, 20.0, "idle device time after each kernel, microseconds"),
    Parameter("kernel_us", 25.0, 0.40, 2.0, 60.0, "host time a kernel: an eager ResNet-50 takes 6 to 8 ms forward"),
    Parameter("host_fused", 0.5, 0.30, 0.1, 1.0, "share of launches that is left after compiling"),
    Parameter("step_ms", 3.0, 0.70, 0.2, 40.0, "host time per optimizer step besides kernels, milliseconds"),
    *(PARAMETERS[INDEX[name]] for name in SHARED),
)
"""Constants whose medians come from data sheets, counts of kernels and public micro-benchmarks.

The calibration moves them within their bounds. Depthwise convolutions do one or two multiplications per byte (Lavin
2024, arXiv 2404.03617), and only 16-bit ones have fast kernels (PyTorch pull request 22302: "kernels for other cases
are not very fast").
"""

ABSENT_OF_IMAGES = values_if_absent(IMAGE_PARAMETERS)
"""Value of each constant for a calibration, for example in a lock, that is older than the constant."""
