"""What a probe would leave of an estimate's doubt, before anybody makes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from planner.model.evidence.probe import KernelKind, KernelTime
from planner.model.network.workload import Precision
from planner.scenario.candidate import Candidate
from planner.speed.physics.observation import Observation
from planner.speed.throughput.probe_evidence import TRANSFER, observed_kind

if TYPE_CHECKING:
    from planner.model.evidence.calibration import Calibration
    from planner.speed.estimator.estimator_query import EstimatorQuery


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
        for one in observed_kind(
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
    lone: dict[str, Any] = {"precision": Precision.BF16, "seconds": 1.0, "rounds": 1}
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
