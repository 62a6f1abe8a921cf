"""Constants of the physics of text and image networks: meaning, prior, and bounds of each, from `parameters.csv`.

The medians come from data sheets, counts of kernels and public micro-benchmarks. The calibration moves the constants
within their bounds.

Text:

- softmax: eager attention of Hugging Face reads and writes the matrix 18 times at 16 bit in the forward pass (scores,
  scale, mask, softmax in fp32 and back, dropout), and about ten times in the backward pass with fused kernels.
- logits: the 58 bytes are written at 16 bit, cast to fp32, shifted by a copy, and passed through log-softmax; their
  gradients go back through the same steps.
- host_root: 11 to 16 GB/s of 32 through each of two root ports of ten RTX 3090 (GPU cluster report, document 003).
- host_quantized: bitsandbytes expands each of seven maps with two kernels, forward and backward, of a layer's hundred.
- host_loop: a loop over experts asks the device for the tokens of each expert, and waits (transformers before 5).
- routing_narrow: 8-bit recipes permute, pad and quantize in one kernel.

Images: depthwise convolutions do one or two multiplications per byte (Lavin 2024, arXiv 2404.03617), and only 16-bit
ones have fast kernels (PyTorch pull request 22302: "kernels for other cases are not very fast").
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


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


def _listed(network: str) -> tuple[Parameter, ...]:
    """Return the constants of one kind of network in the order of the table, which is that of the fit's state."""
    with Path(__file__).with_suffix(".csv").open(encoding="utf-8", newline="") as file:
        return tuple(
            Parameter(
                row["name"], float(row["prior"]), float(row["spread"]), float(row["low"]), float(row["high"]),
                row["meaning"], float(row["before"]) if row["before"] else None,
            )
            for row in csv.DictReader(file)
            if row["network"] == network
        )  # fmt: skip


PARAMETERS = _listed("text")


def values_if_absent(parameters: Iterable[Parameter]) -> dict[str, float]:
    """Return by name the value of each constant for a calibration that does not have it."""
    return {
        parameter.name: parameter.prior if parameter.before is None else parameter.before for parameter in parameters
    }


ABSENT = values_if_absent(PARAMETERS)
"""Value of each constant for a calibration, for example in a lock, that is older than the constant."""
INDEX = {parameter.name: place for place, parameter in enumerate(PARAMETERS)}


SHARED = (
    "nvlink", "pcie", "pcie_falls", "pcie_falls_5", "host_lanes", "host_root", "network", "message_us", "host_sharded",
    "hidden_share", "jitter", "optimizer",
)  # fmt: skip
"""Constants of links, sharding and waiting, which have the same priors and bounds as for text."""
IMAGE_PARAMETERS = (*_listed("image"), *(PARAMETERS[INDEX[name]] for name in SHARED))
ABSENT_OF_IMAGES = values_if_absent(IMAGE_PARAMETERS)
"""Value of each constant for a calibration, for example in a lock, that is older than the constant."""
