"""Error that an estimate would have after a probe, computed before anyone runs the probe."""

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
    from planner.speed.estimator.network_kind import EstimatorQuery


def left_after_probe(query: EstimatorQuery, candidate: Candidate, calibration: Calibration) -> float:
    """Return the standard deviation of an estimate's error after a probe of its machine, over that before it.

    The probe is assumed to measure kernels of the training's own sizes. The result does not depend on the measured
    times. It is 1 for images, which probes do not measure.
    """
    import numpy as np

    from planner.speed.estimator.network_kind import kind_of
    from planner.speed.estimator.own_runs import update
    from planner.speed.estimator.text_estimator import fitted

    if query.sample == "image":
        return 1.0
    kernels = kernels_of(query.observation.config)
    probed = [
        observation
        for kind in TRANSFER
        for observation in observed_kind(
            kind, [kernel for kernel in kernels if kernel.kind is kind], candidate, "before it", here=True
        )
    ]
    network_kind, constants = kind_of(query, calibration), fitted(calibration)
    place = network_kind.model(constants, [query.observation]).place

    def left(measurements: Sequence[Observation]) -> float:
        if not measurements:
            return 1.0
        measured = network_kind.model(constants, measurements).place
        return float(update(place, measured, np.zeros(len(measurements))).left[0])

    return left([*query.own, *probed]) / left(list(query.own))


def kernels_of(config: Mapping[str, float]) -> list[KernelTime]:
    """Return kernels of a training's own sizes, each with a placeholder time of one second."""
    sizes = {name: int(config[name]) for name in ("hidden", "kv_dim", "ffn_hidden")}
    tokens, heads = int(config["seq_len"] * config["micro_batch"]), max(1, int(config["heads"]))
    hidden, ffn = sizes["hidden"], sizes["ffn_hidden"]
    maps = ((hidden, hidden, 2), (hidden, sizes["kv_dim"], 2), (hidden, ffn, 2), (ffn, hidden, 1))
    shapes: list[tuple[KernelKind, dict[str, int], dict[str, Any]]] = [
        *(
            (KernelKind.PRODUCTS, {**sizes, "tokens": tokens, "inputs": inputs, "outputs": outputs, "times": times}, {})
            for inputs, outputs, times in maps
        ),
        (KernelKind.ELEMENTWISE, {**sizes, "tokens": tokens}, {}),
        (KernelKind.LOSS, {"tokens": tokens, "hidden": hidden, "vocabulary": int(config["vocab"])}, {}),
        (KernelKind.OPTIMIZER, {"parameters": int(config["parameters"])}, {}),
    ]
    head_dim = max(1, int(config["q_dim"]) // heads)
    batch = {"batch": max(1, int(config["micro_batch"])), "length": int(config["seq_len"])}
    shapes += [
        (KernelKind.ATTENTION, {**batch, "heads": heads, "head_dim": head_dim}, {"kernel": "chosen: flash"}),
        (KernelKind.LAYER, {**batch, **sizes, "head_dim": head_dim}, {}),
        (KernelKind.LAUNCHES, {**batch, **sizes, "head_dim": head_dim}, {}),
    ]
    return [
        KernelTime(kind=kind, shape=shape, precision=Precision.BF16, seconds=1.0, rounds=1, **others)
        for kind, shape, others in shapes
    ]
