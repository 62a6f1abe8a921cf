"""A plan that names no framework is estimated as the mean of the frameworks of its stack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from planner.adapters.evidence import evidence_files, read_measurements
from planner.model.answer.reason import Reason
from planner.model.network.workload import Checkpointing, Precision, Strategy
from planner.scenario.cluster import Cluster
from planner.scenario.frameworks import PYTORCH, XLA, stack_of
from planner.scenario.training_setup import TrainingSetup
from planner.speed.estimator.expected_error import FEW_ROWS
from planner.speed.estimator.text_estimator import OF_TEXT
from planner.speed.physics import kernels
from planner.speed.physics.config_arrays import from_rows
from planner.speed.physics.observation import Labels
from planner.speed.physics.planned_text_config import labels_of, planned_text_config
from tests.bundled import bundled_catalog


def planned(machine: str, framework: str | None) -> tuple[dict[str, float], Labels]:
    """Return Llama 3 8B with sharded weights on one machine of eight."""
    catalog = bundled_catalog()
    node = catalog.nodes[machine]
    accelerator = catalog.accelerators[node.accelerator]
    found = planned_text_config(
        TrainingSetup(
            workload="asked",
            network=catalog.presets["llama3-8b"].architecture,
            seq_len=4096,
            precision=Precision.BF16,
            checkpointing=Checkpointing.FULL,
            strategy=Strategy.FSDP2,
            framework=framework,
            compiled=False,
        ),
        Cluster(accelerator, node, 1, node.accelerators),
        micro_batch=1,
        micro_batches=1,
    )
    assert not isinstance(found, Reason)
    return found, labels_of(accelerator, "llama3-8b", framework)


def rates(config: dict[str, float], labels: Sequence[Labels]) -> list[float]:
    calibration = bundled_catalog().calibration
    assert calibration is not None
    found = OF_TEXT.estimate(from_rows([config] * len(labels)), labels, calibration, own=())
    return [float(rate) for rate in found.tokens_per_s_per_gpu]


def test_without_a_name_none_is_faster_than_all() -> None:
    """The rate lies amid those of frameworks that shard weights in three sources or more, with equal kernels."""
    calibration = bundled_catalog().calibration
    assert calibration is not None
    config, unnamed = planned("aws/p5.48xlarge", None)
    named = [
        framework
        for framework, seen in calibration.seen["framework"].items()
        if seen.rows >= FEW_ROWS and seen.sources >= FEW_ROWS and stack_of(framework) == PYTORCH
        and abs(calibration.effects["sharding"].get(framework, 0.0)) > 0.01
    ]  # fmt: skip
    assert len(named) >= 5
    mine, *theirs = rates(config, [unnamed, *(replace(unnamed, framework=framework) for framework in named)])
    assert min(theirs) < mine < max(theirs)
    assert mine == pytest.approx(float(np.exp(np.mean(np.log(theirs)))), rel=0.1)


@pytest.mark.parametrize(
    ("family", "stack"),
    [
        ("torchtitan", PYTORCH), ("hf trainer", PYTORCH), ("not stated", PYTORCH), ("jax", XLA), ("neuron", XLA),
        ("torch xla torchprime", XLA), ("llm.c", "hand-written"), ("tensorflow ngc", "other graphs"),
    ],
)  # fmt: skip
def test_what_a_framework_is_written_in(family: str, stack: str) -> None:
    assert stack_of(family) == stack


def test_where_xla_alone_compiles_it_has_compiled() -> None:
    catalog = bundled_catalog()
    tpu = next(
        node.id for node in catalog.nodes.values() if catalog.accelerators[node.accelerator].architecture == "TPU"
    )
    config, label = planned(tpu, None)
    assert (config["compiled"], label.stack) == (1, XLA)
    assert config["compiled"] == planned(tpu, "JAX")[0]["compiled"]


def test_no_name_of_one_source_is_a_feature() -> None:
    """Each library and compiler that the physics knows by name occurs in two sources. Words for work are excluded."""
    said: dict[str, set[str]] = {}
    descriptions = {"hpu graph", "triton lora", "fused lora"}
    words = {*kernels.FULLY_FUSED, *kernels.LITTLE_FUSED_IN, *kernels.ADAPTER_KERNELS, *kernels.DISPATCHERS}
    for path in evidence_files():
        for row in read_measurements(path):
            text = kernels.kernel_words(f"{row.compile_kernels} {row.framework} {row.method} {row.parallelism}")
            for word in words - descriptions:
                if word in text or word in text.replace("-", "").replace(" ", ""):
                    said.setdefault(word, set()).add(row.source)
    assert {word: sources for word in words - descriptions if len(sources := said.get(word, set())) < 2} == {}
