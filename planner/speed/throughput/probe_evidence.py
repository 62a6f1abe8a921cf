"""Evidence from probes of a candidate's kind of accelerator, and where it contradicts the user's own runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from planner.model.answer.reason import Reason
from planner.model.catalog import Catalog
from planner.model.evidence.calibration import Calibration
from planner.model.evidence.probe import KIND_NAMES, KernelKind, KernelTime, ProbeRecord
from planner.model.evidence.run import RunHardware, RunRecord
from planner.model.network.architecture import Decoder
from planner.model.network.workload import Precision, Strategy
from planner.scenario.candidate import Candidate
from planner.scenario.machine import machine_of
from planner.scenario.training_setup import TrainingSetup
from planner.speed.physics.observation import LoneKernel, Observation
from planner.speed.physics.planned_config import observed_run
from planner.speed.physics.planned_text_config import labels_of, number_format, planned_text_config
from planner.speed.physics.step import PARTS
from planner.speed.throughput.prediction_notes import SMALLEST_SHARE, part_names

if TYPE_CHECKING:
    from planner.model.hardware.machines import Accelerator

CPU = "CPU"
OWN_NODE = "own/"
"""Prefix of the node of a plan's `own: CARD`, which is the machine that the user probes."""
TRANSFER = {
    KernelKind.PRODUCTS: 0.06,
    KernelKind.ATTENTION: 0.12,
    KernelKind.OPTIMIZER: 0.15,
    KernelKind.LAYER: 0.10,
    KernelKind.LOSS: 0.25,
    KernelKind.LAUNCHES: 0.30,
    KernelKind.ALL_REDUCE: 0.25,
    KernelKind.ALL_GATHER: 0.35,
    KernelKind.REDUCE_SCATTER: 0.35,
    KernelKind.ELEMENTWISE: 0.40,
}
"""Standard deviation of ln(time of a part inside a training / time of the kernel alone), both by one formula.

The values are assumed, because no training with a probe of its machine is published.

- Products run at the clocks of the whole step. On the one H100 that we measured they reached 730 TFLOP/s alone;
  published trainings imply 702.
- Attention and the optimizer are single kernels, called in the same way.
- Constants of the loss, launches, collectives and element-wise passes include other work of frameworks, so they are
  the least certain.

The user's own runs correct the values (`own_runs.with_learnt_transfer`).
"""
OTHER_MACHINE_DEVIATION = 0.10
"""Additional standard deviation for another machine of the kind. Nodes alone differ by 2 %; cooling, power limits and
drivers differ by more."""
MOST_POSITIONS = 1_000_000
PRODUCTS_OF_A_LAYER = 7
"""Products of a decoder layer: query, key, value, output, gate, up and down."""
MOST_PROBES = 4
HEAD = 128


@dataclass(frozen=True)
class ProbeEvidence:
    """Observations from probes that correct a candidate's estimate."""

    observations: tuple[Observation, ...] = ()
    probes: tuple[ProbeRecord, ...] = ()
    of_this_machine: bool = False


NO_PROBE = ProbeEvidence()


def probe_evidence(
    candidate: Candidate, catalog: Catalog, *, precision: Precision | None, compiled: bool
) -> ProbeEvidence:
    """Return the kernels that measure parts of a training in this format on the candidate's accelerators.

    They come from the newest probe of the same machine, or else from the newest probes of other machines of its kind.
    Probes with a bad verdict are not used, and neither are other machines' processors.
    """
    alike = [
        probe for probe in catalog.probes.values() if probe.refers_to(candidate.accelerator.id) and not probe.verdict
    ]
    alike.sort(key=lambda probe: (probe.measured_on, probe.id), reverse=True)
    own_probes = [probe for probe in alike if is_of(probe, candidate)][:1]
    used = own_probes or ([] if candidate.accelerator.id == CPU else alike[:MOST_PROBES])
    chosen_format = number_format(precision or Precision.BF16, candidate.accelerator)
    found = [
        observation
        for probe in used
        for observation in _observed(probe, candidate, chosen_format, compiled=compiled, here=bool(own_probes))
    ]
    return ProbeEvidence(tuple(found), tuple(used) if found else (), bool(own_probes and found))


def is_of(probe: ProbeRecord, candidate: Candidate) -> bool:
    """Return whether a probe measured the candidate's machine: one of its name, or the one that the user owns."""
    return _is_this_machine(probe.hardware, candidate, launched=probe.launch is not None)


def is_run_of(run: RunRecord, candidate: Candidate) -> bool:
    """Return whether a run measured the candidate's machine, by the same rule as `is_of`."""
    return run.hardware.accelerator == candidate.accelerator.id and _is_this_machine(
        run.hardware, candidate, launched=run.launch is not None
    )


def _is_this_machine(hardware: RunHardware, candidate: Candidate, *, launched: bool) -> bool:
    return hardware.node == candidate.node.id or (candidate.node.id.startswith(OWN_NODE) and not launched)


def not_measured(shares: Mapping[str, float], observations: Sequence[Observation]) -> tuple[str, ...]:
    """Return the names of the step's parts that no kernel measures, the largest first; these keep their range."""
    measured = {part for row in observations if row.kernel is not None for part in PARTS[row.kernel.kind]}
    left = {part: share for part, share in shares.items() if part not in measured and share >= SMALLEST_SHARE}
    return tuple(part_names("tokens")[part] for part in sorted(left, key=lambda part: -left[part]))


def _observed(
    probe: ProbeRecord, candidate: Candidate, chosen_format: str, *, compiled: bool, here: bool
) -> Iterable[Observation]:
    for kind in TRANSFER:
        kernels = _chosen(probe.of_kind.get(kind, []), candidate.accelerator, chosen_format, compiled=compiled)
        yield from observed_kind(kind, kernels, candidate, probe.id, here=here)


def observed_kind(
    kind: KernelKind, kernels: Sequence[KernelTime], candidate: Candidate, probe: str, *, here: bool
) -> Iterable[Observation]:
    """Yield the kernels of one kind as one observation; of collectives, those over the most devices.

    `probe`: name of the probe that measured them. `here`: they were measured on the candidate's own machine.
    """
    if kind in (KernelKind.ALL_REDUCE, KernelKind.ALL_GATHER, KernelKind.REDUCE_SCATTER):
        most_devices = max((kernel.devices for kernel in kernels), default=0)
        kernels = [kernel for kernel in kernels if kernel.devices == most_devices]
    shapes = [shape for shape in _shapes(kind, kernels, candidate) if shape is not None]
    if shapes:
        config, _, seconds = shapes[0]
        tokens = config["micro_batch"] * config["micro_batches"] * config["seq_len"]
        yield Observation(
            f"{probe} {kind.value}",
            dict(config),
            labels_of(candidate.accelerator, f"probe, {KIND_NAMES[kind]}"),
            tokens / seconds,
            1.0,
            kernel=LoneKernel(
                kind.value, probe, tuple(shapes), TRANSFER[kind], 0.0 if here else OTHER_MACHINE_DEVIATION
            ),
        )


def _chosen(
    kernels: Sequence[KernelTime], accelerator: Accelerator, chosen_format: str, *, compiled: bool
) -> list[KernelTime]:
    """Return the kernels that a training would call: in its number format, compiled or not, as torch chooses."""
    called = [
        kernel
        for kernel in kernels
        if (kernel.kind is not KernelKind.PRODUCTS or number_format(kernel.precision, accelerator) == chosen_format)
        and (kernel.kind is not KernelKind.ATTENTION or "chosen" in str(kernel.kernel))
    ]
    alike = [kernel for kernel in called if kernel.compiled is compiled]
    return alike or [kernel for kernel in called if not kernel.compiled]


Shape = tuple[dict[str, float], float, float]


def _shapes(kind: KernelKind, kernels: Sequence[KernelTime], candidate: Candidate) -> list[Shape | None]:
    if kind is KernelKind.PRODUCTS:
        layers: dict[tuple[int, int, Precision | None], list[KernelTime]] = defaultdict(list)
        for kernel in kernels:
            layers[kernel.shape["tokens"], kernel.shape["hidden"], kernel.precision].append(kernel)
        return [
            _shape(layer[0], candidate, sum(product.shape["times"] * product.seconds for product in layer))
            for layer in layers.values()
            if sum(product.shape["times"] for product in layer) == PRODUCTS_OF_A_LAYER
        ]
    return [_shape(kernel, candidate, kernel.seconds) for kernel in kernels]


def _shape(kernel: KernelTime, candidate: Candidate, seconds: float) -> Shape | None:
    """Return a kernel as one layer of a decoder in the physics' terms, its bytes, and its seconds; None if unknown."""
    size = kernel.shape
    heads = size.get("heads")
    head_dim = size.get("head_dim") or (HEAD if size.get("hidden", HEAD) % HEAD == 0 else 64)
    hidden = size.get("hidden") or (heads or 1) * head_dim
    heads = heads or max(1, hidden // head_dim)
    decoder = Decoder(
        layers=1, hidden=hidden, heads=heads, kv_heads=max(1, size.get("kv_dim", hidden) // head_dim),
        head_dim=head_dim, ffn_hidden=size.get("ffn_hidden", 4 * hidden), mlp="swiglu", norm="rmsnorm", norm_eps=1e-5,
        bias=False, positions="rope", max_positions=MOST_POSITIONS, rope_theta=1e4, qk_norm=False,
        vocab=size.get("vocabulary", 8), tied_head=False,
    )  # fmt: skip
    setup = TrainingSetup(
        workload="probe",
        network=decoder,
        seq_len=size.get("length") or size.get("tokens") or 1,
        precision=kernel.precision or Precision.FP32,
        strategy=Strategy.DDP,
        compiled=kernel.compiled,
    )
    cluster = replace(candidate.cluster, nodes=1, accelerators_per_node=kernel.devices)
    described = planned_text_config(setup, cluster, micro_batch=float(size.get("batch", 1)), micro_batches=1.0)
    if isinstance(described, Reason):
        return None
    as_called = {"stage_layers": 1.0, "autocast": described["autocast"] * (kernel.kind is KernelKind.LAYER)}
    if kernel.kind is KernelKind.OPTIMIZER:
        as_called["parameters"] = float(size["parameters"])
    return described | as_called, float(size.get("bytes", 0)), seconds


CONTRADICTED_FRACTION = 0.15
"""Smallest half-width of a measurement that a probe contradicts; it is that of a window of seconds."""


def contradiction_text(own: tuple[Observation, ...], calibration: Calibration) -> str | None:
    """Return a note if runs and kernels contradict each other by over two standard deviations; else None."""
    from planner.speed.estimator.text_estimator import contradiction_of

    if not any(observation.kernel for observation in own):
        return None
    found = contradiction_of(own, calibration)
    if found is None:
        return None
    run, ratio = found
    return (
        f"the probe contradicts your run {run}, which takes {ratio:.2g} times as long as its kernels say: the range is "
        "wider; probe or measure again, with nothing else running"
    )


def measurement_contradicted(runs: Sequence[RunRecord], candidate: Candidate, catalog: Catalog) -> str | None:
    """Return a note if runs that measured a machine contradict its probe; None if not, or without a probe of it."""
    first = runs[0]
    network = first.architecture
    if not catalog.probes or catalog.calibration is None or network is None or network.sample != "tokens":
        return None
    probe = probe_evidence(candidate, catalog, precision=first.precision, compiled=bool(first.compiled))
    observed = [observed_run(run, catalog, machine_of(run, catalog)[0]) for run in runs]
    known = [observation for observation in observed if observation is not None]
    if not probe.of_this_machine or len(known) < len(runs):
        return None
    return contradiction_text((*known, *probe.observations), catalog.calibration)
