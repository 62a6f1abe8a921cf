"""Configurations of published measurements of image networks for the physics, or reasons for refusing them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from planner.model.evidence.measurement import Measurement
from planner.model.hardware.machines import Accelerator
from planner.model.network.image_network import ImageNetwork
from planner.network.image_blocks import Operator
from planner.network.image_operators import operators_of, training_macs
from planner.speed.evidence.measured_text_config import machine_of
from planner.speed.physics.accelerator_facts import SIXTEEN_BITS, chip_of, generation_of, peak_flops, says_bf16
from planner.speed.physics.interconnect import parse_network_gbit
from planner.speed.physics.observation import Labels, Observation, Refusal
from planner.speed.physics.planned_config import FIELDS_OF_OTHERS, format_facts

FUSED_ATTENTION_YEAR = 2023
"""First year in which the usual frameworks call a fused attention kernel (PyTorch 2.0)."""
LAYOUT_NOT_STATED = 0.3
"""Assumed share of channels-last if the layout is not stated. Planes are torch's default; fast recipes choose
channels-last."""
LARGEST_GUESSED_BATCH = 256
"""Largest micro-batch that is guessed from half of the memory: that of NVIDIA's ResNet-50 recipe."""
FEWEST_MULTIPLICATIONS = 1 / 2.25
"""Smallest share of the multiplications of fp32 convolutions on ordinary cores, with Winograd's algorithm (Lavin and
Gray 2015)."""
IMAGE_UNITS = ("images/s", "imgs/s", "img/s", "image/s")
STATIC = ("mxnet", "tensorflow", "jax", "xla")
"""Frameworks that choose the layout in memory themselves."""


def by_name(networks: Iterable[ImageNetwork]) -> dict[str, ImageNetwork]:
    """Return networks by each of their names in lower case."""
    return {name.casefold(): network for network in networks for name in (network.id, *network.names)}


def find_network(name: str, networks: Mapping[str, ImageNetwork]) -> ImageNetwork | None:
    """Find a network by id or other spelling, also behind a path (`Classification/ConvNets/resnet50v1.5`)."""
    spelling = name.strip().casefold()
    return networks.get(spelling) or networks.get(spelling.rpartition("/")[2])


def is_of_images(row: Measurement, networks: Mapping[str, ImageNetwork]) -> bool:
    """Return whether a row measures images, by its unit or by a known image network."""
    return row.unit.casefold() in IMAGE_UNITS or find_network(row.model, networks) is not None


def observe_image(
    row: Measurement, accelerator: Accelerator | None, networks: Mapping[str, ImageNetwork]
) -> Observation | Refusal:
    """Describe a row for the physics. Fields that the row omits get usual values, never values from its result."""
    network = find_network(row.model, networks)
    refused = _refusal(row, accelerator, network)
    if refused is not None:
        return Refusal(row.id, refused)
    assert accelerator is not None
    assert network is not None
    assert row.throughput_total is not None
    chosen = _format(row.precision)
    operators = operators_of(network)
    facts = format_facts(accelerator, chosen)
    facts |= machine_of(row, accelerator, network_gbit_per_s=parse_network_gbit(row.interconnect_inter))
    facts |= _training(row, chosen) | FIELDS_OF_OTHERS
    facts |= {"dp": float(row.num_gpus), "flops": 2 * training_macs(operators)}
    facts |= _batches(row, operators, facts, accelerator)
    rate = row.throughput_total / row.num_gpus
    fewest = FEWEST_MULTIPLICATIONS if facts["vector_rate"] else 1.0
    if facts["flops"] * rate * fewest > facts["peak"]:
        return Refusal(row.id, "faster than the accelerator's peak: something in the row is wrong")
    labels = Labels(
        accelerator.id, generation_of(accelerator), _framework(row), row.origin, network.id, chip_of(accelerator)
    )
    return Observation(row.id, facts, labels, rate, float(row.num_gpus), operators)


def _refusal(row: Measurement, accelerator: Accelerator | None, network: ImageNetwork | None) -> str | None:
    if row.metric == "time_to_train":
        return "time to train, not speed"
    if accelerator is None:
        return "accelerator not known"
    if accelerator.hbm_gb_per_s is None:
        return "accelerator's bandwidth not known"
    if network is None:
        return "image network not known"
    if peak_flops(accelerator, _format(row.precision)) is None:
        return "accelerator's peak not known"
    return None if row.throughput_total is not None else "no throughput in images"


def _format(text: str) -> str:
    """Return the number format of the products. A table without a statement means 16-bit mixed precision."""
    lowered = text.casefold()
    if says_bf16(text):
        return "bf16"
    if "tf32" in lowered:
        return "tf32"
    sixteen = any(word in lowered for word in ("16", "amp", "mixed", "half", "fp8"))
    return "16bit" if sixteen or not lowered else "fp32"


def _training(row: Measurement, chosen: str) -> dict[str, float]:
    software = f"{row.compile_kernels} {row.framework} {row.method}".casefold()
    spread = row.parallelism.casefold()
    sixteen = chosen in SIXTEEN_BITS
    compiled = any(word in software for word in ("xla", "torch.compile", "inductor", "dynamo"))
    year = row.source_date[:4]
    return {
        "recompute": 1.0 if row.activation_checkpointing.casefold().startswith("full") else 0.0,
        "channels_last": _layout(software, sixteen=sixteen),
        "fused": float(compiled or ("mxnet" in software and sixteen)),
        "flash": float("flash" in software or (year.isdecimal() and int(year) >= FUSED_ATTENTION_YEAR)),
        "gradient_bytes": 2.0 if "pure" in row.precision else 4.0,
        "zero": float(row.zero[:1]) if row.zero[:1].isdecimal() else 0.0,
        "one_process": float("dataparallel" in spread and "distributed" not in spread),
        "loader": 0.0,
    }


def _layout(software: str, *, sixteen: bool) -> float:
    if re.search(r"channels[_ -]?last|nhwc", software):
        return 1.0
    if re.search(r"contiguous|nchw", software):
        return 0.0
    return 1.0 if sixteen and any(word in software for word in STATIC) else LAYOUT_NOT_STATED


def _batches(
    row: Measurement, operators: tuple[Operator, ...], facts: Mapping[str, float], accelerator: Accelerator
) -> dict[str, float]:
    micro, accumulated = row.micro_batch, row.grad_accum
    if micro is None and row.global_batch is not None:
        micro = max(1.0, row.global_batch / row.num_gpus / (accumulated or 1))
    if micro is None:
        kept = sum(operator.outputs + operator.forward / 3 for operator in operators) * facts["number_bytes"]
        free = 0.5 * (accelerator.hbm_gib or 16) * 2**30
        micro = float(min(LARGEST_GUESSED_BATCH, 2 ** max(0, int(free / kept).bit_length() - 1)))
    if accumulated is None:
        accumulated = max(1.0, (row.global_batch or 0) / row.num_gpus / micro)
    return {"micro_batch": micro, "micro_batches": max(1.0, accumulated)}


def _framework(row: Measurement) -> str:
    """Return the family of frameworks that launch and fuse kernels alike."""
    lowered = row.framework.casefold()
    families = ("mxnet", "tensorflow", "jax", "timm", "oneflow", "paddle", "tinygrad")
    known = next((family for family in families if family in lowered), None)
    if known is None and ("ngc" in lowered or "nvidia" in lowered):
        return "pytorch ngc" if "pytorch" in lowered else "ngc"
    return known or ("pytorch" if "torch" in lowered else re.sub(r"[^a-z]+", " ", lowered).strip() or "not stated")
