"""Constants of the physics of text and image networks: meaning, prior, and bounds of each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Parameter:
    """Positive constant. `spread` is the standard deviation of its logarithm before any evidence."""

    name: str
    prior: float
    spread: float
    low: float
    high: float
    meaning: str
    before: float | None = None
    """Value for a calibration that is older than the constant; None: the prior."""


PARAMETERS = (
    Parameter("gemm_pascal", 0.80, 0.15, 0.3, 1.0, "share of peak of a large product, Pascal"),
    Parameter("gemm_volta", 0.75, 0.15, 0.3, 1.0, "share of peak of a large product, Volta"),
    Parameter("gemm_turing", 0.70, 0.15, 0.3, 1.0, "share of peak of a large product, Turing"),
    Parameter("gemm_ampere", 0.82, 0.10, 0.3, 1.0, "share of peak of a large product, Ampere: 87 % measured at best"),
    Parameter("gemm_ada", 0.80, 0.15, 0.3, 1.0, "share of peak of a large product, Ada"),
    Parameter("gemm_hopper", 0.75, 0.10, 0.3, 1.0, "share of peak of a large product, Hopper: 80 % measured at best"),
    Parameter("gemm_blackwell", 0.74, 0.10, 0.3, 1.0, "share of peak of a large product, Blackwell: 78 % at best"),
    Parameter("gemm_cdna", 0.48, 0.15, 0.2, 1.0, "share of peak of a large product, CDNA: 51 % measured on MI300X"),
    Parameter("gemm_gaudi", 0.75, 0.20, 0.2, 1.0, "share of peak of a large product, Gaudi"),
    Parameter("gemm_tpu", 0.80, 0.15, 0.2, 1.0, "share of peak of a large product, TPU"),
    Parameter("gemm_neuron", 0.70, 0.25, 0.2, 1.0, "share of peak of a large product, Trainium"),
    Parameter("gemm_xe", 0.60, 0.15, 0.2, 1.0, "share of peak of a large product, Xe: 65 % measured by Argonne"),
    Parameter("gemm_other", 0.60, 0.25, 0.2, 1.0, "share of peak of a large product, other architectures"),
    Parameter(
        "gemm_power", 0.12, 0.50, 0.01, 0.34, "exponent of the power budget in the share of a large product", before=0.0
    ),
    Parameter("gemm_vector", 0.90, 0.08, 0.5, 1.1, "share of peak of a large product on ordinary cores (fp32)"),
    Parameter(
        "gemm_8bit", 0.85, 0.15, 0.3, 1.0, "8-bit products, against the share at 16 bit: scaling and transposing"
    ),
    Parameter("gemm_4bit", 0.60, 0.20, 0.2, 1.0, "4-bit products, against the share at 16 bit"),
    Parameter(
        "gemm_scaled", 1.1, 0.15, 0.7, 1.5, "8- and 4-bit products of Blackwell, which scales blocks itself", before=1.0
    ),
    Parameter("gemm_bytes", 1.5, 0.30, 0.5, 4.0, "traffic of a product against reading and writing everything once"),
    Parameter("wave_k", 1000.0, 0.50, 50.0, 4000.0, "thousand outputs of a product that one wave computes"),
    Parameter("unaligned", 0.50, 0.20, 0.15, 1.0, "rate of a product of sizes that are no multiples of eight"),
    Parameter("outliers", 0.30, 0.40, 0.05, 1.0, "rate of 8-bit weights with outliers apart, against 16-bit products"),
    Parameter("attention", 0.50, 0.20, 0.1, 0.9, "share of 16-bit peak of a fused attention kernel, forward and back"),
    Parameter("attention_early", 0.55, 0.20, 0.2, 1.0, "rate of the first fused kernels, against the second kind"),
    Parameter("attention_newer", 0.36, 0.20, 0.1, 0.8, "the same from Hopper on, with a kernel written for Ampere"),
    Parameter("attention_native", 1.5, 0.20, 1.0, 2.5, "gain of a kernel written for Hopper and newer"),
    Parameter(
        "attention_wide", 0.7, 0.30, 0.2, 1.0, "rate of a fused attention kernel for heads wider than 128", before=1.0
    ),
    Parameter("softmax", 28.0, 0.30, 8.0, 80.0, "passes over the attention matrix where it is written out"),
    Parameter("elementwise", 70.0, 0.25, 20.0, 200.0, "passes over the hidden state per layer, one kernel each"),
    Parameter("elementwise_fused", 0.5, 0.25, 0.15, 1.0, "share of these passes that is left after fusing"),
    Parameter(
        "elementwise_cast",
        1.4,
        0.25,
        1.0,
        3.0,
        "element-wise passes under autocast, against 16-bit weights",
        before=1.0,
    ),
    Parameter("logits", 58.0, 0.15, 6.0, 120.0, "bytes moved per logit by an eager cross-entropy"),
    Parameter("logits_fused", 0.3, 0.40, 0.05, 1.0, "share of these bytes that is left after fusing"),
    Parameter("optimizer", 28.0, 0.30, 12.0, 120.0, "bytes moved per parameter by an Adam step"),
    Parameter("hbm", 0.80, 0.05, 0.5, 1.0, "share of memory bandwidth that long streams reach"),
    Parameter("tail_us", 120.0, 0.20, 10.0, 1000.0, "idle device time per layer between kernels, microseconds"),
    Parameter("host_us", 2000.0, 0.20, 100.0, 3000.0, "host time per layer to launch its kernels, microseconds"),
    Parameter("host_fused", 0.45, 0.20, 0.1, 1.0, "share of the host's time that is left after compiling"),
    Parameter("host_adapter", 0.25, 0.40, 0.02, 1.0, "host time of one adapter, against a layer"),
    Parameter("host_sharded", 1.5, 0.40, 1.0, 8.0, "host time of a layer whose weights are gathered, against one held"),
    Parameter("host_gather", 1.5, 0.40, 0.1, 5.0, "host time to gather one adapter by itself, against a layer"),
    Parameter(
        "host_experts", 2.5, 0.40, 1.0, 10.0, "host time of a layer with experts, against one without", before=1.0
    ),
    Parameter(
        "host_quantized", 0.35, 0.30, 0.05, 5.0, "host time of a layer's 4-bit maps, against a layer", before=0.0
    ),
    Parameter(
        "host_loop",
        0.8,
        0.40,
        0.05,
        2.0,
        "host time of one expert that is called by itself, against a layer",
        before=0.0,
    ),
    Parameter("host_cast", 1.5, 0.20, 1.0, 2.0, "host time under autocast, against 16-bit weights", before=1.0),
    Parameter("host_older", 1.2, 0.20, 0.8, 2.5, "host time of machines before Ampere's, against those"),
    Parameter("host_newer", 0.75, 0.20, 0.3, 1.2, "host time of machines after Ampere's, against those"),
    Parameter(
        "zero2_ms", 7.2, 0.10, 1.0, 40.0, "host time a layer and step of ZeRO-1 or 2 in DeepSpeed, ms", before=0.0
    ),
    Parameter(
        "zero3_ms", 12.0, 0.05, 1.0, 80.0, "host time a layer and micro-batch of ZeRO-3 in DeepSpeed, ms", before=0.0
    ),
    Parameter("step_ms", 8.0, 0.70, 0.5, 60.0, "host time per optimizer step besides layers: loader, loop, optimizer"),
    Parameter(
        "adapter_bytes", 40.0, 0.40, 4.0, 200.0, "bytes moved per input and output of a map with an adapter, at 16 bit"
    ),
    Parameter("form_bytes", 30.0, 0.40, 6.0, 120.0, "bytes moved per weight that an adapter forms, each time"),
    Parameter("expand", 6.0, 0.40, 2.0, 40.0, "bytes moved per 4-bit weight each time that it is expanded"),
    Parameter("routing_passes", 40.0, 0.50, 2.0, 200.0, "passes over a token's hidden state for each of its experts"),
    Parameter(
        "routing_dispatched",
        0.6,
        0.40,
        0.05,
        1.0,
        "share of these passes, and of routing's launches, where kernels of their own send the tokens",
        before=1.0,
    ),
    Parameter(
        "routing_narrow", 0.6, 0.50, 0.1, 1.0, "share of routing's passes where products are of 8 or 4 bits", before=1.0
    ),
    Parameter("nvlink", 0.70, 0.15, 0.3, 1.0, "share of NVLink's rate that a collective reaches"),
    Parameter("pcie", 0.60, 0.25, 0.2, 1.0, "share of PCIe's rate that a collective reaches"),
    Parameter(
        "pcie_falls", 0.5, 0.7, 0.01, 2.5, "exponent of 2 / cards of a machine in PCIe's rate, up to PCIe 4", before=0.0
    ),
    Parameter("pcie_falls_5", 0.25, 0.5, 0.01, 2.5, "the same of PCIe 5: 0.24 to 0.32 measured", before=0.0),
    Parameter(
        "host_lanes",
        0.35,
        0.4,
        0.05,
        0.9,
        "share of a card's PCIe that a collective reaches through the host",
        before=1.0,
    ),
    Parameter(
        "host_root",
        0.4,
        0.3,
        0.1,
        1.0,
        "share of a root port's PCIe that all cards behind it reach together, through the host",
        before=1.0,
    ),
    Parameter("network", 0.65, 0.25, 0.2, 1.0, "share of the network's rate that a collective reaches"),
    Parameter("message_us", 25.0, 0.50, 5.0, 300.0, "time of one collective besides its bytes, microseconds"),
    Parameter(
        "hop_us", 8.0, 0.70, 0.2, 60.0, "time of one step of a ring from domain to domain, microseconds", before=0.0
    ),
    Parameter("tensor_hidden", 0.6, 0.30, 0.05, 0.95, "share of tensor parallel traffic that newest kernels hide"),
    Parameter("ragged", 0.5, 0.30, 0.1, 1.5, "coefficient of variation of the lengths of samples that are not packed"),
    Parameter("unbalanced", 0.5, 0.40, 0.05, 1.0, "share of the logits' time that a pipeline's last stage has on top"),
    Parameter("overlap", 3.0, 0.30, 1.0, 8.0, "exponent that joins compute and sharded weights' traffic; 1 hides none"),
    Parameter("hidden_share", 0.35, 0.40, 0.02, 0.67, "share of a micro-batch that gradients' traffic can hide behind"),
    Parameter(
        "jitter", 0.006, 0.50, 0.0005, 0.05, "slow-down with every doubling of the accelerators: the slowest waits"
    ),
    Parameter("offload_gb", 6.0, 0.50, 1.0, 40.0, "GB/s of optimizer state through CPU and PCIe, per accelerator"),
)
"""Constants whose medians come from data sheets, counts of kernels and public micro-benchmarks.

The calibration moves them within their bounds.

- softmax: eager attention of Hugging Face reads and writes the matrix 18 times at 16 bit in the forward pass (scores,
  scale, mask, softmax in fp32 and back, dropout), and about ten times in the backward pass with fused kernels.
- logits: the 58 bytes are written at 16 bit, cast to fp32, shifted by a copy, and passed through log-softmax; their
  gradients go back through the same steps.
- host_root: 11 to 16 GB/s of 32 through each of two root ports of ten RTX 3090 (GPU cluster report, document 003).
- host_quantized: bitsandbytes expands each of seven maps with two kernels, forward and backward, of a layer's hundred.
- host_loop: a loop over experts asks the device for the tokens of each expert, and waits (transformers before 5).
- routing_narrow: 8-bit recipes permute, pad and quantize in one kernel.
"""


def values_if_absent(parameters: Iterable[Parameter]) -> dict[str, float]:
    """Return by name the value of each constant for a calibration that does not have it."""
    return {
        parameter.name: parameter.prior if parameter.before is None else parameter.before for parameter in parameters
    }


ABSENT = values_if_absent(PARAMETERS)
"""Value of each constant for a calibration, for example in a lock, that is older than the constant."""
INDEX = {parameter.name: place for place, parameter in enumerate(PARAMETERS)}


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
