"""Trainings on preferences on the command line: what is asked, what is answered, and what is refused."""

from __future__ import annotations

import json

import pytest

DPO = ("ask", "llama3-8b", "--method", "dpo", "--data", "60000x300", "--completion", "400", "--own", "8xH100-SXM")


def test_pairs_are_counted_with_both_answers(planner) -> None:
    """60,000 pairs x 2 x (300 + 400) tokens."""
    answer = planner(*DPO, "--on", "p5", "--json")
    (owned, *_) = json.loads(answer.out)["options"]
    assert "60,000 pairs of 2 x 700 tokens" in owned["training_hours"]["source"]
    assert "trains by dpo with a second model as its reference" in owned["notes"]
    assert (
        "modelled; published trainings of this kind were predicted, and none calibrates it (docs/preferences.md)"
        in (owned["notes"])
    )
    rate = owned["throughput"]
    assert rate["high"] >= 2 * rate["value"] >= 4 * rate["low"]


@pytest.mark.parametrize(
    ("options", "note"),
    [
        pytest.param(("--lora-rank", "16"), "its adapters off for the reference", id="adapters need no second model"),
        pytest.param(("--reference", "precomputed"), "its reference computed beforehand", id="one pass beforehand"),
    ],
)
def test_a_reference_is_named(planner, options, note) -> None:
    answer = planner(*DPO, *options, "--on", "p5", "--json")
    assert any(note in text for text in json.loads(answer.out)["options"][0]["notes"])


def test_a_method_without_published_trainings_says_so(planner) -> None:
    answer = planner("ask", "llama3-8b", "--method", "kto", "--data", "60000x700", "--own", "8xH100-SXM", "--on", "p5",
                     "--json")  # fmt: skip
    assert "modelled; no measurement of this kind" in json.loads(answer.out)["options"][0]["notes"]


def test_one_pass_over_the_reference_takes_a_step_longer(planner) -> None:
    """A second forward pass takes longer, and one that was made beforehand is made in one epoch all the same."""

    def hours(*options: str) -> float:
        answer = planner(*DPO, "--on", "p5", "--strategy", "fsdp2", *options, "--json")
        return json.loads(answer.out)["options"][0]["training_hours"]["value"]

    assert hours("--reference", "none") < hours("--reference", "precomputed", "--epochs", "1")
    two = hours("--reference", "precomputed", "--epochs", "2")
    assert two < 2 * hours("--reference", "precomputed", "--epochs", "1")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param(
            ("--method", "dpo", "--group", "8"), "--group belongs to grpo, rloo, and the method is dpo", id="group"
        ),
        pytest.param(("--method", "orpo", "--reference", "model"), "--reference belongs to dpo, kto", id="reference"),
        pytest.param(("--completion", "300"), "and no method is stated", id="answers of nothing"),
        pytest.param(
            ("--method", "lora", "--completion", "300"), "and no method is stated", id="weights are no method"
        ),
        pytest.param(
            ("--method", "dpo", "--completion", "few"), "--completion few: is not a number of tokens", id="words"
        ),
        pytest.param(("--method", "dpo", "--completion", "900-512"), "longer than the longest", id="mean over most"),
        pytest.param(("--method", "dpo", "--reference", "adapters_off"), "needs adapters", id="no adapters"),
        pytest.param(("--method", "dpo", "--packed"), "are not joined: leave packing out", id="packed pairs"),
    ],
)
def test_what_does_not_belong_together_is_one_error(planner, options, message) -> None:
    answer = planner("ask", "llama3-8b", "--data", "8000x300", *options)
    assert answer.code == 2
    assert message in answer.err
    assert answer.err.count("Error") == 1


def test_memory_names_the_reference_and_the_pair(planner) -> None:
    """2 bytes x 8,030,261,248 parameters beside those that zero2 shards; 2 x 1,024 tokens."""
    answer = planner("memory", "llama3-8b", "--method", "dpo", "--on", "8xH100-SXM", "--strategy", "zero2",
                     "--seq-len", "1024", "--json")  # fmt: skip
    document = json.loads(answer.out)
    assert "+ 1 x 2 bytes x 8,030,261,248 of the reference model" in document["states_gib"]["source"]
    assert document["states_gib"]["value"] == pytest.approx((3.5 + 2) * 8_030_261_248 / 2**30)
    assert document["activations_gib"]["source"].startswith("2,048 tokens x")


def test_the_benchmark_refuses_what_it_does_not_train(planner, example) -> None:
    answer = planner("bench", example("dpo_8b"), "--gpus", "1")
    assert answer.code == 2
    assert "this is dpo training; the benchmark trains on the next token" in answer.err


def test_adapters_that_would_make_it_fit_need_no_second_model(planner) -> None:
    """16 GB of frozen weights fit 40 GB; 112 GB of states and a second 16 GB do not."""
    answer = planner("memory", "llama3-8b", "--method", "dpo", "--on", "A100-40GB-SXM", "--seq-len", "1024", "--json")
    document = json.loads(answer.out)
    assert document["fits"] == "no"
    adapters = next(remedy for remedy in document["remedies"] if "LoRA" in remedy["change"])
    assert adapters["option"] == "--lora-rank 16"
    assert document["remedies"][-1]["chance"] > 0.8


def test_a_reference_that_is_computed_beforehand_frees_its_memory(planner) -> None:
    """zero2 leaves 5.5 bytes x 8.03e9 parameters on each card, 41 GiB of 44; without the second model 26."""
    settings = ("--checkpointing", "full", "--loss", "chunked", "--kernels", "fused")
    answer = planner("memory", "llama3-8b", "--method", "dpo", "--on", "8xL40S", "--strategy", "zero2",
                     "--seq-len", "1024", *settings, "--json")  # fmt: skip
    remedies = {remedy["option"]: remedy["chance"] for remedy in json.loads(answer.out)["remedies"]}
    assert remedies["--reference precomputed"] > 0.8
