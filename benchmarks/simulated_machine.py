"""Simulates a machine whose parts differ from the physics by known factors, its trainings, and a probe of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import numpy as np

from planner.model.catalog import Catalog
from planner.model.evidence.probe import KernelTime, ProbeRecord
from planner.model.evidence.run import RunHardware
from planner.scenario.candidate import Candidate
from planner.speed.estimator.fit_sample import Fit
from planner.speed.estimator.text_estimator import fitted
from planner.speed.estimator.text_fit import with_label_effects
from planner.speed.physics.config_arrays import from_rows
from planner.speed.physics.observation import Observation
from planner.speed.physics.planned_text_config import labels_of
from planner.speed.physics.step import lone_parts
from planner.speed.throughput.probe_evidence import TRANSFER, probe_evidence
from planner.workloads.probe.plan import ON_CUDA

CONSTANTS = {
    "products": (("gemm_hopper", -1),),
    "traffic": (("gemm_bytes", 1),),
    "attention": (("attention_newer", -1),),
    "elementwise": (("elementwise", 1),),
    "tail": (("tail_us", 1),),
    "logits": (("logits", 1),),
    "host": (("host_us", 1),),
    "optimizer": (("optimizer", 1),),
    "overhead": (("step_ms", 1),),
}
"""Constants of the physics that make a part take e^factor times as long, with their sign.

Those of the logits change their passes, not the product.
"""
UNIT_SECONDS = 1.0


@dataclass(frozen=True)
class SimulatedMachine:
    """A simulated machine. `factors` holds ln(real seconds / seconds by the physics) for each part."""

    catalog: Catalog
    candidate: Candidate
    factors: dict[str, float]

    @property
    def fit(self) -> Fit:
        """Fit of the physics for other machines."""
        assert self.catalog.calibration is not None
        return fitted(self.catalog.calibration)

    @property
    def truth(self) -> Fit:
        """Fit of the physics with this machine's own constants."""
        constants = dict(self.fit.constants)
        for part, factor in self.factors.items():
            for name, sign in CONSTANTS[part]:
                constants[name] *= float(np.exp(sign * factor))
        return replace(self.fit, constants=constants)

    def probe(self, errors: dict[str, float] | None = None) -> ProbeRecord:
        """Return the result of a probe. `errors` holds ln(seconds alone / seconds in training) by kind of kernel."""
        blank = ProbeRecord(
            schema_version=1, id="probe-simulated", measured_on=date(2026, 11, 27), kernels=tuple(_blank_kernels()),
            hardware=RunHardware(
                accelerator=self.candidate.accelerator.id, node=self.candidate.node.id, nodes=1,
                accelerators_per_node=1,
            ),
            seconds=60.0,
        )  # fmt: skip
        seconds = {}
        for observation in self.observations(blank):
            assert observation.kernel is not None
            configs = from_rows([config for config, _, _ in observation.kernel.shapes])
            scaled = with_label_effects(self.truth, configs, [observation.labels] * len(configs))
            sizes = np.array([size for _, size, _ in observation.kernel.shapes])
            total = sum(lone_parts(observation.kernel.kind, scaled, self.truth.constants, sizes).values())
            seconds[observation.kernel.kind] = np.asarray(total) * np.exp(
                (errors or {}).get(observation.kernel.kind, 0.0)
            )
        return blank.model_copy(update={"kernels": tuple(_timed(blank.kernels, seconds))})

    def observations(self, probe: ProbeRecord) -> tuple[Observation, ...]:
        """Return the planner's observations from a probe for an uncompiled training in bf16."""
        known = self.catalog.model_copy(update={"probes": {probe.id: probe}})
        return probe_evidence(self.candidate, known, precision=None, compiled=False).observations

    def training(self, config: dict[str, float], workload: str) -> Observation:
        """Return a training without a rate."""
        return Observation(workload, config, labels_of(self.candidate.accelerator, workload), 1.0, 1.0)


def _blank_kernels() -> list[KernelTime]:
    kernels: list[KernelTime] = []

    def add(kind: str, shape: dict[str, int], **beside: Any) -> None:
        kernels.append(KernelTime(kind=kind, shape=shape, seconds=UNIT_SECONDS, rounds=3, **beside))

    for layer in ON_CUDA.products:
        shared = {
            "tokens": layer.tokens, "hidden": layer.hidden, "kv_dim": layer.kv_dim, "ffn_hidden": layer.ffn_hidden,
        }  # fmt: skip
        maps = ((layer.hidden, layer.hidden, 2), (layer.hidden, layer.kv_dim, 2), (layer.hidden, layer.ffn_hidden, 2))
        for inputs, outputs, times in (*maps, (layer.ffn_hidden, layer.hidden, 1)):
            add("products", {**shared, "inputs": inputs, "outputs": outputs, "times": times}, precision="bf16")
        add("elementwise", shared, precision="bf16")
    for scores in ON_CUDA.attention:
        add(
            "attention",
            {"batch": scores.batch, "heads": scores.heads, "head_dim": scores.head_dim, "length": scores.length},
            precision="bf16",
            kernel="chosen: flash",
        )
    for vocabulary in ON_CUDA.vocabularies:
        add("loss", {"tokens": 4096, "hidden": 1024, "vocabulary": vocabulary}, precision="bf16")
    add("optimizer", {"parameters": ON_CUDA.optimizer_parameters}, kernel="fused")
    sizes = {"hidden": 4096, "kv_dim": 1024, "ffn_hidden": 14336, "head_dim": 128}
    add("layer", {"batch": 1, "length": 2048, **sizes}, precision="bf16")
    add("launches", {"batch": 1, "length": 32, **sizes}, precision="bf16")
    return kernels


def _timed(blank: tuple[KernelTime, ...], seconds: dict[str, Any]) -> list[KernelTime]:
    """Spread the seconds of each shape over its kernels. Those of a layer's products are spread by FLOPs."""
    timed, at = [], dict.fromkeys(TRANSFER, 0)
    for kernel in blank:
        if kernel.kind.value != "products":
            took = float(seconds[kernel.kind.value][at[kernel.kind]])
            at[kernel.kind] += 1
        else:
            layer = [
                other
                for other in blank
                if other.kind == kernel.kind and other.shape["tokens"] == kernel.shape["tokens"]
                and other.shape["hidden"] == kernel.shape["hidden"]
            ]  # fmt: skip
            flops = [other.shape["inputs"] * other.shape["outputs"] * other.shape["times"] for other in layer]
            here = kernel.shape["inputs"] * kernel.shape["outputs"]
            products = [other.shape for other in blank if other.kind == kernel.kind]
            layers = list(dict.fromkeys((shape["tokens"], shape["hidden"]) for shape in products))
            place = layers.index((kernel.shape["tokens"], kernel.shape["hidden"]))
            took = float(seconds["products"][place]) * here / sum(flops)
        timed.append(kernel.model_copy(update={"seconds": took}))
    return timed
