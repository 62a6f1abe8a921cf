"""What a data sheet says of an accelerator, in the terms of generation."""

from __future__ import annotations

from planner.model.hardware.machines import Accelerator
from planner.speed.generation.engine import GIB, EngineDevice
from planner.speed.physics.accelerator_facts import peak_flops
from planner.speed.physics.interconnect import PCIE_GB_PER_S, pcie_generation

FORMATS = {16: "16bit", 8: "fp8"}


def engine_device(accelerator: Accelerator, *, weight_bits: int = 16) -> EngineDevice | None:
    """Return the rates of an accelerator; None where bandwidth, peak or memory is not known.

    Without a link of its own it talks through its slot.
    """
    peak = peak_flops(accelerator, FORMATS[weight_bits]) or peak_flops(accelerator, FORMATS[16])
    if accelerator.hbm_gb_per_s is None or peak is None or accelerator.training_gib is None:
        return None
    slot = PCIE_GB_PER_S[pcie_generation(accelerator)]
    link = slot if accelerator.link_gb_per_s is None else accelerator.link_gb_per_s / 2
    return EngineDevice(
        bandwidth=accelerator.hbm_gb_per_s * 1e9, peak=peak, memory=accelerator.training_gib * GIB, link=link * 1e9
    )
