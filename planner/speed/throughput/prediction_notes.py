"""What stands beside a prediction: parts of a step by name, what is trained and by what, which network joins nodes."""

from __future__ import annotations

from planner.model.network.training_method import Reference, TrainingMethod
from planner.network.flops import parameters
from planner.network.lora_memory import adapter_parameters
from planner.scenario.candidate import Candidate
from planner.scenario.job import Job

SMALLEST_SHARE = 0.02
"""Of a step, for a part to be named."""
_OF_TEXT = {
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
    "engine": "DeepSpeed's host work",
    "split": "TP/PP/CP/EP communication",
    "sharding": "exposed FSDP/ZeRO gathers",
    "gradients": "exposed gradient all-reduce",
    "optimizer": "optimizer",
    "overhead": "step overhead",
    "waiting": "stragglers",
}
"""By the part's name in documents: as a reader of a profile calls it."""
_OF_IMAGES = _OF_TEXT | {
    "products": "convolutions and GEMMs",
    "elementwise": "norms and element-wise kernels",
    "input": "data loading",
}


def part_names(sample: str | None) -> dict[str, str]:
    """Return what the parts of a step are called in networks with samples of a kind."""
    return _OF_IMAGES if sample == "image" else _OF_TEXT


PREDICTED_KINDS = (TrainingMethod.DPO, TrainingMethod.ORPO, TrainingMethod.REWARD)
"""Methods of which published trainings were predicted (catalogs/evidence/preferences.csv)."""
REFERENCES = {
    Reference.MODEL: "a second model as its reference", Reference.ADAPTERS_OFF: "its adapters off for the reference",
    Reference.PRECOMPUTED: "its reference computed beforehand", Reference.NONE: "no reference",
}  # fmt: skip


def method_notes(job: Job) -> list[str]:
    """Return what is optimized where it is not the next token, and how far measurements tell of it."""
    objective = job.setup.objective
    if objective.method is None:
        return []
    with_reference = f" with {REFERENCES[objective.reference]}" if objective.reference is not None else ""
    known = (
        "published trainings of this kind were predicted, and none calibrates it (docs/preferences.md)"
        if objective.method in PREDICTED_KINDS
        else "no measurement of this kind"
    )
    return [f"trains by {objective.method.value}{with_reference}", f"modelled; {known}"]


def training_notes(job: Job) -> list[str]:
    """Return what is trained where not all weights are, and by what where not by the benchmark."""
    network, notes = job.setup.network, []
    if job.setup.adapters is not None and network is not None:
        trained = adapter_parameters(network, job.setup.adapters)
        frozen = f" at {job.setup.adapters.frozen.value}" if job.setup.adapters.frozen else ""
        notes.append(
            f"trains {job.setup.adapters.kind.written} adapters of rank {job.setup.adapters.rank} on "
            f"{', '.join(job.setup.adapters.targets)}: "
            f"{trained:,} parameters beside {parameters(network):,} frozen{frozen}"
        )
    if job.setup.framework is not None:
        notes.append(f"as trained by {job.setup.framework}")
    if job.setup.settings.stated:
        notes.append(
            "trains with " + ", ".join(f"{name} {value.value}" for name, value in job.setup.settings.stated.items())
        )
    return notes


def network_note(candidate: Candidate) -> list[str]:
    """Return the network between nodes where the plan states it, or where nothing more than its range is known."""
    gbit, within = candidate.option.network_gbit_per_s, candidate.node.network_range
    if candidate.nodes == 1:
        return []
    if gbit is not None:
        return [f"{gbit:g} Gbit/s between nodes, of each: the plan's word"]
    if within is None:
        return []
    taken = f"{candidate.node.network_gbit_per_s:g} Gbit/s between nodes, of each: {within[0]:g} to {within[1]:g}"
    return [f"{taken} {candidate.node.network_source or 'assumed'}"]
