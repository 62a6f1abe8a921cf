"""What stands beside a prediction: parts of a step by name, the evidence behind it, what is trained and by what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner.model.network.architecture import TextModel
from planner.network.flops import parameters
from planner.network.lora_memory import adapter_parameters
from planner.scenario.job import Job
from planner.speed.physics.observation import Observation

if TYPE_CHECKING:
    from planner.model.evidence.calibration import Calibration
    from planner.speed.physics.observation import Labels

MOST_RUNS = 64
"""Of the user's own that one answer conditions on: the nearest."""
SMALLEST_SHARE = 0.02
"""Of a step, for a part to be named."""
PART_NAMES = {
    "products": "matrix products (GEMMs)",
    "traffic": "GEMM memory traffic",
    "expansion": "dequantizing 4-bit weights",
    "attention": "attention",
    "elementwise": "element-wise kernels",
    "adapters": "adapters",
    "routing": "routing tokens to experts",
    "tail": "kernel gaps",
    "logits": "logits and loss",
    "host": "exposed kernel launches",
    "split": "TP/PP/CP/EP communication",
    "sharding": "exposed FSDP/ZeRO gathers",
    "gradients": "exposed gradient all-reduce",
    "optimizer": "optimizer",
    "overhead": "step overhead",
    "waiting": "stragglers",
}
"""By the part's name in documents: as a reader of a profile calls it."""
IMAGE_PART_NAMES = PART_NAMES | {
    "products": "convolutions and GEMMs",
    "elementwise": "norms and element-wise kernels",
    "input": "data loading",
}


def training_notes(job: Job) -> list[str]:
    """Return what is trained where not all weights are, and by what where not by the benchmark."""
    network, notes = job.network, []
    if job.adapters is not None and isinstance(network, TextModel):
        trained = adapter_parameters(network, job.adapters)
        frozen = f" at {job.adapters.frozen.value}" if job.adapters.frozen else ""
        notes.append(
            f"trains {job.adapters.kind.written} adapters of rank {job.adapters.rank} on "
            f"{', '.join(job.adapters.targets)}: "
            f"{trained:,} parameters beside {parameters(network):,} frozen{frozen}"
        )
    if job.framework is not None:
        notes.append(f"as trained by {job.framework}")
    return notes


def nearest_evidence(label: Labels, group: str, calibration: Calibration, own: list[Observation]) -> str:
    """Write in one sentence which evidence stands behind a number, and how far it is."""
    here = sum(one.labels.accelerator == label.accelerator for one in own)
    mine = f"{here} of your runs on {label.accelerator}"
    if own and not here:
        mine = f"{len(own)} of your runs, none on {label.accelerator}"
    seen = calibration.seen["accelerator"].get(label.accelerator)
    if seen is not None:
        published = f"{seen.rows} published runs on {label.accelerator}"
    else:
        generation = calibration.seen["generation"].get(label.generation)
        near = f"{generation.rows} on other {label.generation} accelerators" if generation else "none of its generation"
        published = f"no published run on {label.accelerator}, {near}"
    return f"{group}: {mine + ', ' if own else ''}{published}"
