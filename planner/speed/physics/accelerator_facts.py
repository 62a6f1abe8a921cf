"""Facts of one accelerator for the physics: peak by number format, bandwidth, generation, power."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from planner.model.hardware.machines import Accelerator
from planner.model.network.adapters import Adapters
from planner.model.network.workload import Precision, Strategy
from planner.network.activations import bytes_per_number
from planner.speed.physics.config_arrays import GENERATIONS, Configs

if TYPE_CHECKING:
    from planner.speed.physics.config_arrays import Array

FP4_OVER_FP8 = {"Blackwell": 2.0, "Blackwell Ultra": 3.0}
"""Dense 4-bit peak / dense 8-bit peak. Source: NVIDIA HGX B200 and B300 data sheets."""

USUAL_WATTS = {
    "pascal": 300 / 21.2, "volta": 300 / 125, "turing": 70 / 65, "ampere": 400 / 312, "ada": 350 / 362,
    "hopper": 700 / 989.4, "blackwell": 1000 / 2250, "cdna": 750 / 1307.4, "gaudi": 600 / 432,
}  # fmt: skip
"""Watts per dense 16-bit TFLOP/s of each generation's common server card, from the catalog: P100, V100, T4, A100, L40S,
H100, B200, MI300X and Gaudi2, as SXM modules if there are several versions."""
FORMAT_STEPS = {"fp8": 1.0, "fp4": 2.0}
"""Number of times that a format halves 16 bits."""
SIXTEEN_BITS = ("16bit", "bf16")
"""Formats of 16 bits: the accelerator's faster one, and bf16, which some accelerators run at half its rate (MI100)."""
TF32_FALLBACK, FP32_FALLBACK = 4, 8
"""16-bit peak / peak in tf32 and in fp32, used if a data sheet omits them. Assumed."""


def peak_flops(accelerator: Accelerator, number_format: str) -> float | None:
    """Return the dense FLOP/s in a number format; None if not known.

    A format that the hardware lacks falls back to the next one that it has, as frameworks do.
    """
    bf16 = accelerator.bf16_tflops or accelerator.fp16_tflops or accelerator.fp32_tflops
    fp16 = accelerator.fp16_tflops or bf16
    fp8 = accelerator.fp8_tflops
    tflops = {
        "fp4": fp8 * FP4_OVER_FP8[accelerator.architecture]
        if fp8 and accelerator.architecture in FP4_OVER_FP8
        else None,
        "fp8": fp8,
        "16bit": fp16,
        "bf16": accelerator.fp32_tflops if emulates_bf16(accelerator) else bf16,
        "tf32": accelerator.tf32_tflops or accelerator.fp32_tflops or (fp16 / TF32_FALLBACK if fp16 else None),
        "fp32": accelerator.fp32_tflops or (fp16 / FP32_FALLBACK if fp16 else None),
    }[number_format]
    return None if tflops is None else tflops * 1e12


def emulates_bf16(accelerator: Accelerator) -> bool:
    """Return whether bf16 products run at the fp32 rate, as on hardware with fp16 only (Volta, Turing)."""
    return accelerator.fp16_tflops is not None and accelerator.bf16_tflops is None


def says_bf16(precision: str) -> bool:
    """Return whether a publication names bf16, and not either 16-bit format ("fp16/bf16")."""
    text = precision.casefold()
    return ("bf16" in text or "bfloat" in text) and "fp16/" not in text and "/fp16" not in text


def on_ordinary_cores(accelerator: Accelerator, number_format: str) -> bool:
    """Return whether products run without tensor cores, as in fp32 and in formats that fall back to it."""
    if number_format == "bf16" and emulates_bf16(accelerator):
        return True
    if number_format in SIXTEEN_BITS:
        return accelerator.fp16_tflops is None and accelerator.bf16_tflops is None
    return number_format == "fp32"


def generation_of(accelerator: Accelerator) -> str:
    """Return the group of architectures, one of GENERATIONS, to which an accelerator belongs."""
    name = accelerator.architecture.casefold()
    return next((known for known in GENERATIONS if name.startswith(known)), "other")


def chip_of(accelerator: Accelerator) -> str:
    """Return the name under which accelerators with one chip are pooled: architecture, and two digits of the peak.

    H100 and H800 (SXM), H200 and GH200 all have a peak of 989 dense TFLOP/s in bf16, and reach the same share of it.
    """
    peak = peak_flops(accelerator, "16bit")
    return accelerator.architecture if peak is None else f"{accelerator.architecture} {peak / 1e12:.2g}"


def power_budget(accelerator: Accelerator) -> float:
    """Return watts per FLOP/s of 16-bit peak, over those of the generation's common card; 1 if either is not known.

    An RTX 4090 has 2.8 times the budget of an L40S, which has 2.2 times the peak at less power.
    """
    usual, peak = USUAL_WATTS.get(generation_of(accelerator)), peak_flops(accelerator, "16bit")
    if usual is None or peak is None or accelerator.tdp_w is None:
        return 1.0
    return accelerator.tdp_w / (peak / 1e12) / usual


def accelerator_facts(accelerator: Accelerator, number_format: str) -> dict[str, float]:
    """Return the fields of `Configs` that describe one accelerator in one number format."""
    peak = peak_flops(accelerator, number_format)
    sixteen = peak_flops(accelerator, "bf16")
    assert peak is not None
    assert accelerator.hbm_gb_per_s is not None
    return {
        "peak": peak,
        "peak16": (sixteen or peak) if number_format in FORMAT_STEPS else peak,
        "format_step": FORMAT_STEPS.get(number_format, 0.0),
        "vector_rate": float(on_ordinary_cores(accelerator, number_format)),
        "power": power_budget(accelerator),
        "hbm": accelerator.hbm_gb_per_s * 1e9,
        "generation": float(GENERATIONS.index(generation_of(accelerator))),
        "number_bytes": 4.0 if number_format in ("tf32", "fp32") else 2.0,
    }


ALIGNED = 8
"""Tensor cores need 16-bit matrix sizes that are multiples of this. Source: NVIDIA, Matrix Multiplication Background
User's Guide."""


NARROW = {step: name for name, step in FORMAT_STEPS.items()}


def format_of(facts: Mapping[str, float]) -> str:
    """Return the format of a training's products. Both 16-bit formats count as one, and so do MX and plain fp8."""
    return _format(facts["number_bytes"], facts["format_step"], facts["vector_rate"])


def formats_of(configs: Configs) -> list[str]:
    """Return the format and generation of each configuration, as in "fp8 on hopper"."""
    return [format_named(code) for code in format_codes(configs).tolist()]


def format_codes(configs: Configs) -> Array:
    """Return a code for each configuration; configurations of one format and generation have the same code."""
    format_code = (configs.number_bytes * 4 + configs.format_step) * 2 + configs.vector_rate
    return format_code * len(GENERATIONS) + configs.generation


@cache
def format_named(code: float) -> str:
    """Return the format and generation of a code from `format_codes`."""
    format_code, generation = divmod(int(code), len(GENERATIONS))
    size_code, vector_rate = divmod(format_code, 2)
    number_bytes, format_step = divmod(size_code, 4)
    return f"{_format(number_bytes, format_step, vector_rate)} on {GENERATIONS[generation]}"


def _format(number_bytes: float, format_step: float, vector_rate: float) -> str:
    if format_step:
        return NARROW[format_step]
    if number_bytes == 2:
        return "16bit"
    return "fp32" if vector_rate else "tf32"


def uses_autocast(strategy: Strategy, *, precision: Precision, adapters: Adapters | None = None) -> bool:
    """Return whether fp32 weights are cast for every 16-bit product, as in plain DDP.

    Other strategies store 16-bit weights, and so do adapters' frozen weights that have a stated format.
    """
    frozen = adapters.frozen if adapters else None
    return strategy is Strategy.DDP and bytes_per_number(precision) == 2 and frozen is None
