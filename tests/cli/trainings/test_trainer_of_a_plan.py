"""`training: {optimizer, loss, kernels, weights, offload}` of a plan: the same in every command that reads it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

PLAN = """
schema_version: 1
name: Llama 3 8B on one card
workload: {{ref: llama3-8b, seq_len: 2048}}
work: {{tokens: 2.0e8}}
training: {{precision: bf16{training}}}
options: [{{offer: lambda/gpu_1x_h100_sxm5}}]
"""
LEAN = ", optimizer: adamw-8bit, weights: 16bit"


@pytest.fixture
def write(tmp_path: Path):
    def written(training: str) -> Path:
        path = tmp_path / "plan.yaml"
        path.write_text(PLAN.format(training=training), encoding="utf-8")
        return path

    return written


def only_option(document: dict[str, Any]) -> dict[str, Any]:
    (option,) = document["options"]
    return option


def test_an_8_bit_optimizer_makes_it_fit(planner, write):
    usual = only_option(planner("estimate", write(""), "--json").document)
    assert "memory_too_small" in usual["why_not_codes"]
    lean = only_option(planner("estimate", write(LEAN), "--json").document)
    assert lean["throughput"] is not None
    assert "trains with optimizer adamw-8bit, weights 16bit" in lean["notes"]


def test_memory_reads_them_from_the_plan(planner, write):
    document = planner("memory", write(LEAN), "--on", "H100-SXM", "--json").document
    assert (document["trainer"]["optimizer"], document["trainer"]["weights"]) == ("adamw-8bit", "16bit")
    other = planner("memory", write(LEAN), "--on", "H100-SXM", "--optimizer", "sgd", "--json").document
    assert (other["trainer"]["optimizer"], other["trainer"]["weights"]) == ("sgd", "16bit")


def test_strategies_read_them_too_or_take_options(planner, write):
    machine = ("--on", "aws/p5.48xlarge", "--accelerators", "1")
    assert planner("strategies", write(""), *machine).code == 3
    of_plan = json.loads(planner("strategies", write(LEAN), *machine, "--json").out)
    options = ("--optimizer", "adamw-8bit", "--weights", "16bit")
    of_options = json.loads(planner("strategies", write(""), *machine, *options, "--json").out)
    assert of_plan["ways"] == of_options["ways"] != []


def test_a_framework_s_loss_counts_in_memory(planner, write):
    document = planner("memory", write(", framework: 'HF Trainer, liger'"), "--on", "H100-SXM", "--json").document
    assert (document["trainer"]["loss"], document["trainer"]["kernels"]) == ("chunked", "fused")
    assert document["unstated"] == ["fused_step"]


def test_offloaded_weights_have_hours(planner, write):
    """Takes as long as with the optimizer alone on the host; the command that divides networks takes them too."""
    rates = [
        only_option(
            planner("estimate", write(f", offload: {what}, micro_batch: 1, checkpointing: full"), "--json").document
        )["throughput"]
        for what in ("all", "optimizer")
    ]
    assert rates[0]["value"] == rates[1]["value"]
    assert planner("strategies", write(", offload: all"), "--on", "aws/p5.48xlarge").code == 0


@pytest.mark.parametrize(
    ("training", "said"),
    [
        pytest.param(", optimizer: adam-8bit", ["training.optimizer: ", "'adamw-8bit'"], id="optimizer"),
        pytest.param(", loss: liger", ["training.loss: ", "'chunked'"], id="loss"),
        pytest.param(", offload: cpu", ["training.offload: ", "'optimizer'"], id="offload"),
        pytest.param(
            ", quantize: int8", ["training.quantize", "is not a key that the planner knows"], id="no such key"
        ),
        pytest.param(
            ", adapters: {frozen: int4}", ["training.adapters.frozen: ", "'int8'"], id="no such format of weights"
        ),
    ],
)
def test_wrong_values_are_said_with_the_right_ones(planner, write, training, said):
    answer = planner("estimate", write(training))
    assert answer.code == 2
    for words in said:
        assert words in answer.err


def test_a_lock_holds_them(planner, write):
    plan = write(LEAN)
    assert planner("estimate", plan, "--freeze").code == 0
    (lock,) = plan.parent.glob("*.lock.json")
    training = json.loads(lock.read_text(encoding="utf-8"))["plan"]["training"]
    assert (training["optimizer"], training["weights"]) == ("adamw-8bit", "16bit")
