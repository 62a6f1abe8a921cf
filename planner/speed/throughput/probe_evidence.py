"""What probes say of a candidate: kernels of its kind of accelerator, as measurements of parts of a step."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from planner.model.answer.reason import Reason
from planner.model.catalog import Catalog
from planner.model.evidence.probe import KIND_NAMES, KernelKind, KernelTime, ProbeRecord
from planner.model.network.architecture import Decoder
from planner.model.network.workload import Precision, Strategy
from planner.scenario.candidate import Candidate
from planner.scenario.training_setup import TrainingSetup
from planner.speed.physics.lone_kernels import PARTS
from planner.speed.physics.observation import LoneKernel, Observation
from planner.speed.physics.planned_text_config import labels_of, number_format, planned_text_config
from planner.speed.throughput.prediction_notes import SMALLEST_SHARE, part_names

if TYPE_CHECKING:
    from planner.model.evidence.calibration import Calibration
    from planner.model.hardware.machines import Accelerator
    from planner.speed.estimator.estimator_query import EstimatorQuery

CPU = "CPU"
OWN_NODE = "own/"
"""Begins the node of a plan's `own: CARD`, which is the machine that its owner probes."""
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
"""Standard deviation of ln(time of a part inside a training / time of the kernel alone, by one formula). Stated, as no
training with a probe beside it is published: products run at the clocks of the whole step, and on the one H100 that we
measured reached 730 TFLOP/s alone where published trainings imply 702; attention and optimizer are one kernel, called
in the same way; constants of the loss, of launches, collectives and element-wise passes are sums over what frameworks
do beside the kernel, so they are the least sure. The user's own runs correct them (`own_runs.with_learnt_transfer`)."""
ELSEWHERE = 0.10
"""On top, of another machine of the kind: nodes differ by 2 % alone, cooling, power limits and drivers by more."""
MOST_PROBES = 4
HEAD = 128


@dataclass(frozen=True)
class ProbeEvidence:
    """What probes say of a candidate."""

    observations: tuple[Observation, ...] = ()
    probes: tuple[ProbeRecord, ...] = ()
    of_this_machine: bool = False


NO_PROBE = ProbeEvidence()


def probe_evidence(
    candidate: Candidate, catalog: Catalog, *, precision: Precision | None, compiled: bool
) -> ProbeEvidence:
    """Return the kernels that measure parts of a training in this format on the candidate's accelerators.

    The newest probe of the same machine, else the newest of others of its kind. Those that something was found wrong
    with say nothing, and nor does a processor of somebody else's.
    """
    alike = [one for one in catalog.probes.values() if one.refers_to(candidate.accelerator.id) and not one.verdict]
    alike.sort(key=lambda one: (one.measured_on, one.id), reverse=True)
    here = [one for one in alike if is_of(one, candidate)][:1]
    taken = here or ([] if candidate.accelerator.id == CPU else alike[:MOST_PROBES])
    asked = number_format(precision or Precision.BF16, candidate.accelerator)
    found = [
        observed for one in taken for observed in _observed(one, candidate, asked, compiled=compiled, here=bool(here))
    ]
    return ProbeEvidence(tuple(found), tuple(taken) if found else (), bool(here and found))


def is_of(probe: ProbeRecord, candidate: Candidate) -> bool:
    """Return whether a probe was made on the candidate's machine: by its name, or as the one that the user owns."""
    if probe.hardware.node == candidate.node.id:
        return True
    return candidate.node.id.startswith(OWN_NODE) and probe.launch is None


def not_measured(shares: Mapping[str, float], observations: Sequence[Observation]) -> tuple[str, ...]:
    """Return the parts of a step that no kernel measures, by name, the largest first; they keep their range."""
    measured = {part for one in observations if one.kernel is not None for part in PARTS[one.kernel.kind]}
    left = {part: share for part, share in shares.items() if part not in measured and share >= SMALLEST_SHARE}
    return tuple(part_names("tokens")[part] for part in sorted(left, key=lambda part: -left[part]))


def _observed(
    probe: ProbeRecord, candidate: Candidate, asked: str, *, compiled: bool, here: bool
) -> Iterable[Observation]:
    for kind in TRANSFER:
        kernels = _chosen(probe.of_kind.get(kind, []), candidate.accelerator, asked, compiled=compiled)
        yield from _of_kind(kind, kernels, candidate, probe.id, here=here)


def _of_kind(
    kind: KernelKind, kernels: Sequence[KernelTime], candidate: Candidate, probe: str, *, here: bool
) -> Iterable[Observation]:
    """Yield the kernels of one kind as one observation: of collectives those among most devices."""
    if kind in (KernelKind.ALL_REDUCE, KernelKind.ALL_GATHER, KernelKind.REDUCE_SCATTER):
        kernels = [one for one in kernels if one.devices == max(other.devices for other in kernels)]
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
            kernel=LoneKernel(kind.value, probe, tuple(shapes), TRANSFER[kind], 0.0 if here else ELSEWHERE),
        )


def _chosen(kernels: Sequence[KernelTime], accelerator: Accelerator, asked: str, *, compiled: bool) -> list[KernelTime]:
    """Return the kernels in the asked number format that a training would call: compiled or not, as torch chooses."""
    of_format = [
        one
        for one in kernels
        if one.kind is not KernelKind.PRODUCTS or number_format(one.precision, accelerator) == asked
    ]
    by_torch = [one for one in of_format if one.kind is not KernelKind.ATTENTION or "chosen" in str(one.kernel)]
    alike = [one for one in by_torch if one.compiled is compiled]
    return alike or [one for one in by_torch if not one.compiled]


Shape = tuple[dict[str, float], float, float]


def _shapes(kind: KernelKind, kernels: Sequence[KernelTime], candidate: Candidate) -> list[Shape | None]:
    if kind is KernelKind.PRODUCTS:
        layers: dict[tuple[int, int, Precision | None], list[KernelTime]] = defaultdict(list)
        for one in kernels:
            layers[one.shape["tokens"], one.shape["hidden"], one.precision].append(one)
        whole = [group for group in layers.values() if sum(one.shape["times"] for one in group) == PRODUCTS_OF_A_LAYER]
        return [_shape(group[0], candidate, sum(one.shape["times"] * one.seconds for one in group)) for group in whole]
    return [_shape(one, candidate, one.seconds) for one in kernels]


PRODUCTS_OF_A_LAYER = 7
"""Query, key, value, output, gate, up and down."""


def _shape(kernel: KernelTime, candidate: Candidate, seconds: float) -> Shape | None:
    """Return a kernel as one layer of a decoder in the physics' terms, its bytes, and its seconds."""
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


MOST_POSITIONS = 1_000_000


def left_after_probe(asked: EstimatorQuery, candidate: Candidate, calibration: Calibration) -> float:
    """Return the standard deviation of an estimate's error after a probe of its machine, against that before it.

    The probe is one of the training's own sizes: what it leaves does not depend on what it measures.
    """
    import numpy as np

    from planner.speed.estimator.network_kind import kind_of
    from planner.speed.estimator.own_runs import update
    from planner.speed.estimator.text_estimator import fitted

    if asked.sample == "image":
        return 1.0
    kernels = kernels_of(asked.observation.config)
    rows = [
        one
        for kind in TRANSFER
        for one in _of_kind(
            kind, [kernel for kernel in kernels if kernel.kind is kind], candidate, "before it", here=True
        )
    ]
    kind, learnt = kind_of(asked, calibration), fitted(calibration)
    place = kind.model(learnt, [asked.observation]).place

    def left(anchors: Sequence[Observation]) -> float:
        return (
            float(update(place, kind.model(learnt, anchors).place, np.zeros(len(anchors))).left[0]) if anchors else 1.0
        )

    return left([*asked.own, *rows]) / left(list(asked.own))


def kernels_of(config: Mapping[str, float]) -> list[KernelTime]:
    """Return the kernels of a training's own sizes, of a second each."""
    sizes = {name: int(config[name]) for name in ("hidden", "kv_dim", "ffn_hidden")}
    tokens, heads = int(config["seq_len"] * config["micro_batch"]), max(1, int(config["heads"]))
    hidden, ffn = sizes["hidden"], sizes["ffn_hidden"]
    lone = {"precision": Precision.BF16, "seconds": 1.0, "rounds": 1}
    shapes: list[tuple[KernelKind, dict[str, int], dict[str, Any]]] = [
        *(
            (KernelKind.PRODUCTS, {**sizes, "tokens": tokens, "inputs": one, "outputs": other, "times": times}, {})
            for one, other, times in (
                (hidden, hidden, 2),
                (hidden, sizes["kv_dim"], 2),
                (hidden, ffn, 2),
                (ffn, hidden, 1),
            )
        ),
        (KernelKind.ELEMENTWISE, {**sizes, "tokens": tokens}, {}),
        (KernelKind.LOSS, {"tokens": tokens, "hidden": hidden, "vocabulary": int(config["vocab"])}, {}),
        (KernelKind.OPTIMIZER, {"parameters": int(config["parameters"])}, {}),
    ]
    head_dim = max(1, int(config["q_dim"]) // heads)
    passed = {"batch": max(1, int(config["micro_batch"])), "length": int(config["seq_len"])}
    shapes += [
        (KernelKind.ATTENTION, {**passed, "heads": heads, "head_dim": head_dim}, {"kernel": "chosen: flash"}),
        (KernelKind.LAYER, {**passed, **sizes, "head_dim": head_dim}, {}),
        (KernelKind.LAUNCHES, {**passed, **sizes, "head_dim": head_dim}, {}),
    ]
    return [KernelTime(kind=kind, shape=shape, **lone, **beside) for kind, shape, beside in shapes]


def probed_processor(candidate: Candidate, catalog: Catalog) -> Accelerator | None:
    """Return this machine's processor with peaks and memory bandwidth as a probe found them; None without one.

    A processor has no data sheet that all others of its name keep, so its best products and copies stand for it.
    """
    probes = [
        one for one in catalog.probes.values() if one.refers_to(CPU) and not one.verdict and is_of(one, candidate)
    ]
    if not probes:
        return None
    newest = max(probes, key=lambda one: (one.measured_on, one.id))
    peaks = {precision: _best_tflops(newest, precision) for precision in (Precision.FP32, Precision.BF16)}
    copies = newest.of_kind.get(KernelKind.COPY, [])
    if peaks[Precision.FP32] is None or not copies:
        return None
    copied = max(2 * one.shape["bytes"] / one.seconds for one in copies)
    return candidate.accelerator.model_copy(
        update={
            "fp32_tflops": peaks[Precision.FP32],
            "bf16_tflops": peaks[Precision.BF16],
            "hbm_gb_per_s": copied / 1e9,
            "source": f"probe {newest.id}",
            "as_of": newest.measured_on,
        }
    )


def _best_tflops(probe: ProbeRecord, precision: Precision) -> float | None:
    rates = [
        6.0 * one.shape["tokens"] * one.shape["inputs"] * one.shape["outputs"] / one.seconds / 1e12
        for one in probe.of_kind.get(KernelKind.PRODUCTS, [])
        if one.precision is precision
    ]
    return max(rates, default=None)
