"""The range that a proposed run is predicted to leave equals the range after that run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from planner.decide.options.next_run import next_runs
from planner.model.catalog import Catalog
from planner.model.evidence.run import RunRecord
from planner.model.network.adapters import Adapters
from planner.model.network.workload import Strategy
from planner.scenario.candidate import Candidate
from planner.scenario.job import Job
from planner.speed.memory.device_fit import fit
from planner.speed.throughput.predict import predict
from planner.speed.throughput.prediction import Prediction
from tests.speed.throughput.asking import asked


def question(
    catalog: Catalog, workload: dict[str, Any], option: dict[str, Any], **training: Any
) -> tuple[Job, Candidate]:
    return asked(catalog, option, workload=workload, training={"precision": "bf16"} | training)


def answer(job: Job, candidate: Candidate, catalog: Catalog) -> Prediction:
    found = predict(job, candidate, catalog, fit(job, candidate, None, catalog))
    assert isinstance(found, Prediction)
    return found


def half_width(found: Prediction) -> float:
    return found.samples_per_s.high / found.samples_per_s.value - 1


def run_on(job: Job, part: Candidate, catalog: Catalog, *, samples_per_s: float) -> RunRecord:
    """Return a run on a part of the machines, as the store keeps it."""
    some, fitting = catalog.runs["seed-003-rtx3090-ddp-x1"], fit(job, part, None, catalog)
    rate = some.throughput.model_copy(
        update={"value": samples_per_s, "low": samples_per_s * 0.98, "high": samples_per_s * 1.02}
    )
    hardware = some.hardware.model_copy(
        update={
            "accelerator": part.accelerator.id, "node": part.node.id, "nodes": part.nodes,
            "accelerators_per_node": part.accelerators_per_node, "accelerators": part.accelerators,
        }
    )  # fmt: skip
    return some.model_copy(
        update={
            "id": "mine", "workload": job.setup.workload, "architecture": job.setup.network,
            "seq_len": job.setup.seq_len, "micro_batch": fitting.micro_batch, "global_batch": None,
            "strategy": part.strategy,
            "precision": job.setup.precision, "checkpointing": fitting.checkpointing, "hardware": hardware,
            "throughput": rate, "compiled": False,
        }
    )  # fmt: skip


LLAMA = {"ref": "llama3-8b", "seq_len": 8192}


@pytest.mark.parametrize("nodes", [2, 8])
def test_the_predicted_range_is_the_range_after_the_run(catalog: Catalog, nodes: int) -> None:
    job, candidate = question(catalog, LLAMA, {"offer": "aws/p5.48xlarge", "nodes": nodes, "strategy": "fsdp2"})
    before = answer(job, candidate, catalog)
    [found] = next_runs(job, candidate, catalog, before.query)
    assert (found.nodes, found.accelerators, found.strategy) == (1, 8, Strategy.FSDP2), "8B fits on no single one"
    part = replace(candidate, nodes=1)
    expected = answer(job, part, catalog).samples_per_s.value
    run = run_on(job, part, catalog, samples_per_s=expected)
    after = answer(job, candidate, catalog.model_copy(update={"runs": catalog.runs | {"mine": run}}))
    assert found.half_width == pytest.approx(half_width(after), rel=1e-6)
    assert found.half_width < half_width(before)
    assert after.samples_per_s.value == pytest.approx(before.samples_per_s.value, rel=1e-6), "nothing unexpected"


@pytest.mark.parametrize(
    "training",
    [
        pytest.param({"framework": "Megatron-LM"}, id="another framework"),
        pytest.param({"framework": "HF Trainer", "adapters": {"frozen": "nf4"}}, id="weights of 4 bits"),
        pytest.param({"framework": "HF Trainer", "adapters": {"kind": "dora"}}, id="a kind that it does not train"),
    ],
)
def test_the_proposed_run_is_one_of_the_benchmark(catalog: Catalog, training: dict[str, Any]) -> None:
    option = {"offer": "aws/p5.48xlarge", "nodes": 8, "strategy": "fsdp2"}
    job, candidate = question(catalog, LLAMA, option, **training)
    before = answer(job, candidate, catalog)
    found = next_runs(job, candidate, catalog, before.query)[-1]
    setup = replace(job.setup, framework=None, adapters=Adapters() if job.setup.adapters else None)
    ours = replace(job, setup=setup)
    part = replace(candidate, nodes=1)
    run = run_on(ours, part, catalog, samples_per_s=answer(ours, part, catalog).samples_per_s.value)
    run = run.model_copy(update={"method": "lora" if job.setup.adapters else "full"})
    after = answer(job, candidate, catalog.model_copy(update={"runs": catalog.runs | {"mine": run}}))
    assert found.half_width == pytest.approx(half_width(after), rel=1e-6)


def test_a_surprise_moves_the_answer_and_not_its_width(catalog: Catalog) -> None:
    """10 % faster than expected is within belief: the width is the same."""
    job, candidate = question(catalog, LLAMA, {"offer": "aws/p5.48xlarge", "nodes": 4, "strategy": "fsdp2"})
    before = answer(job, candidate, catalog)
    [found] = next_runs(job, candidate, catalog, before.query)
    part = replace(candidate, nodes=1)
    run = run_on(job, part, catalog, samples_per_s=1.1 * answer(job, part, catalog).samples_per_s.value)
    after = answer(job, candidate, catalog.model_copy(update={"runs": catalog.runs | {"mine": run}}))
    assert half_width(after) == pytest.approx(found.half_width, rel=1e-6)
    assert after.samples_per_s.value > 1.03 * before.samples_per_s.value


def test_one_accelerator_tells_less_than_a_node(catalog: Catalog) -> None:
    job, candidate = question(catalog, {"ref": "qwen3-0.6b", "seq_len": 4096}, {"offer": "aws/p5.48xlarge", "nodes": 4})
    device, node = next_runs(job, candidate, catalog, answer(job, candidate, catalog).query)
    assert (device.accelerators, node.accelerators) == (1, 8)
    assert node.half_width <= device.half_width


def test_a_run_on_images_is_predicted_too(catalog: Catalog) -> None:
    job, candidate = question(catalog, {"ref": "resnet50"}, {"offer": "aws/p5.48xlarge"})
    before = answer(job, candidate, catalog)
    [found] = next_runs(job, candidate, catalog, before.query)
    assert found.accelerators == 1
    assert found.half_width < half_width(before)


def test_one_accelerator_alone_has_no_part(catalog: Catalog) -> None:
    job, candidate = question(catalog, {"ref": "qwen3-0.6b", "seq_len": 4096}, {"offer": "lambda/gpu_1x_h100_sxm5"})
    assert next_runs(job, candidate, catalog, answer(job, candidate, catalog).query) == ()
