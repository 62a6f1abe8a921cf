"""Notes on a prediction: the step's parts, the training, the input, the network, and the phases of rollouts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner.model.answer.rollout_estimate import RolloutEstimate
from planner.model.network.training_method import Reference, TrainingMethod
from planner.network.flops import parameters
from planner.network.lora_memory import adapter_parameters
from planner.scenario.candidate import Candidate
from planner.scenario.job import Job
from planner.speed.estimator.network_kind import kind_of_sample

if TYPE_CHECKING:
    from planner.model.evidence.calibration import Calibration
    from planner.speed.physics.observation import Observation

SMALLEST_SHARE = 0.02
"""Smallest share of a step for a part to be named."""
DECODED_PER_WORKER = 190
"""Images/s that one CPU core decodes and crops for ImageNet. Ten workers with Pillow loaded 1,923 images/s for an A100
that could train 2,600. Source: huggingface/pytorch-image-models issue 1491, October 2022."""
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
"""Names of parts as profilers show them, by the part's name in documents."""
_OF_IMAGES = _OF_TEXT | {
    "products": "convolutions and GEMMs",
    "elementwise": "norms and element-wise kernels",
    "input": "data loading",
}


def part_names(sample: str | None) -> dict[str, str]:
    """Return the names of a step's parts for networks with a kind of samples."""
    return _OF_IMAGES if sample == "image" else _OF_TEXT


PREDICTED_KINDS = (TrainingMethod.DPO, TrainingMethod.ORPO, TrainingMethod.REWARD)
"""Methods with published trainings that were predicted (catalogs/evidence/preferences.csv)."""
REFERENCES = {
    Reference.MODEL: "a second model as its reference", Reference.ADAPTERS_OFF: "its adapters off for the reference",
    Reference.PRECOMPUTED: "its reference computed beforehand", Reference.NONE: "no reference",
}  # fmt: skip


def method_notes(job: Job) -> list[str]:
    """Return notes on the training method, and on the measurements of its kind; none for next-token training."""
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
    """Return notes on adapters, on the framework unless it is the benchmark, and on stated settings."""
    setup, notes = job.setup, []
    if setup.adapters is not None and setup.network is not None:
        trained = adapter_parameters(setup.network, setup.adapters)
        frozen = f" at {setup.adapters.frozen.value}" if setup.adapters.frozen else ""
        notes.append(
            f"trains {setup.adapters.kind.written} adapters of rank {setup.adapters.rank} on "
            f"{', '.join(setup.adapters.targets)}: "
            f"{trained:,} parameters beside {parameters(setup.network):,} frozen{frozen}"
        )
    if setup.framework is not None:
        notes.append(f"as trained by {setup.framework}")
    if setup.settings.stated:
        stated = ", ".join(f"{name} {value.value}" for name, value in setup.settings.stated.items())
        notes.append(f"trains with {stated}")
    return notes


def network_note(candidate: Candidate) -> list[str]:
    """Return a note on the network between nodes if the plan states it, or if only its range is known."""
    gbit, within = candidate.option.network_gbit_per_s, candidate.node.network_range
    if candidate.nodes == 1:
        return []
    if gbit is not None:
        return [f"{gbit:g} Gbit/s between nodes, of each: the plan's word"]
    if within is None:
        return []
    assumed = f"{candidate.node.network_gbit_per_s:g} Gbit/s between nodes, of each: {within[0]:g} to {within[1]:g}"
    return [f"{assumed} {candidate.node.network_source or 'assumed'}"]


def input_note(images_per_s: float, candidate: Candidate) -> str:
    """Return a note on the CPU cores that decode a node's images, which the estimate does not include."""
    per_node = images_per_s / candidate.nodes
    return (
        f"decoding its images is not counted: JPEG files at {per_node:,.0f} images/s take each node about "
        f"{per_node / DECODED_PER_WORKER:,.0f} CPU cores, or a decoder on the device"
    )


def source_text(observation: Observation, calibration: Calibration, rate: float, evidence: str) -> str:
    """Return the source of an estimate: its evidence, and the seconds of a step with the shares of its parts.

    `rate` is in tokens/s or images/s of all accelerators.
    """
    kind, names = kind_of_sample(observation.sample, calibration), part_names(observation.sample)
    shares = part_shares(observation, calibration)
    shown = ", ".join(f"{names[name]} {share:.0%}" for name, share in shares.items() if share >= SMALLEST_SHARE)
    size, _ = kind.size(observation)
    return (
        f"estimated from {evidence} ({kind.name} of {calibration.made_on}): a step of {size:,.0f} {kind.unit}"
        f"{kind.each(observation)} takes {size / rate:.4g} s, of that {shown}"
    )


def part_shares(observation: Observation, calibration: Calibration) -> dict[str, float]:
    """Return the share of each part of one step, with the effects of the accelerator's and framework's labels."""
    from planner.speed.estimator.text_estimator import fitted

    shares = kind_of_sample(observation.sample, calibration).model(fitted(calibration), [observation]).place.shares
    whole = sum(float(share[0]) for share in shares.values())
    return {name: float(share[0]) / whole for name, share in shares.items()}


LEAST_SHOWN_SHARE = 0.005
"""Smallest share of a step for which a phase is named."""


def shares_text(estimate: RolloutEstimate) -> str:
    """Return the phases with their shares, the longest first: `generation 62 %, training 30 %, waiting 8 %`."""
    shares = estimate.shares.items()
    return ", ".join(
        f"{name.replace('_', ' ')} {100 * share:.0f} %" for name, share in shares if share >= LEAST_SHOWN_SHARE
    )


def phases_text(estimate: RolloutEstimate) -> str:
    """Return the seconds of a step and its phases in one line."""
    return f"a step of {estimate.prompts} prompts takes {estimate.step_seconds:,.3g} s: {shares_text(estimate)}"


def memory_text(estimate: RolloutEstimate) -> str:
    """Return the memory that each phase needs on one device, with its parts."""
    phases = [
        f"{need.phase} {need.total_gib:.0f} GiB ({', '.join(f'{name} {gib:.1f}' for name, gib in need.parts.items())})"
        for need in estimate.memory
    ]
    return f"memory per device: {'; '.join(phases)}"


def changes_text(estimate: RolloutEstimate) -> str:
    """Return the seconds of a step under each other setting, and its prompts per second relative to the plan's."""
    changes = [
        f"{change.what}: {change.step_seconds:,.3g} s (x{change.prompts_ratio:.2g})" for change in estimate.instead
    ]
    return f"a step with other settings: {'; '.join(changes)}"
