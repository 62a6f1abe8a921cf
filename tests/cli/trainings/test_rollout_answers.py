"""Questions about trainings on their own completions, from the command line to the screen and the document."""

from __future__ import annotations

import json

import pytest

from planner.adapters.workspace import examples_dir
from tests.cli.refusals import one_error

ASK = (
    "ask", "llama3-8b", "--method", "grpo", "--data", "8000x300", "--completion", "900", "--on",
    "lambda/gpu_8x_h100_sxm5",
)  # fmt: skip
EXAMPLE = str(examples_dir() / "grpo_7b.yaml")
KEPT = "DGX A100 640 GB, 8x A100"
"""Both the cheapest machine and the recommended one."""


def test_a_question_is_answered_with_phases_and_the_cost_of_prompts(planner):
    """One line says where a step goes; unstated facts are assumed in one line."""
    answer = planner(*ASK)
    screen = " ".join((answer.out + answer.err).split())
    assert "a step of 512 completions" in screen
    assert "generation" in screen
    assert "waiting" in screen
    assert "1,000 prompts cost" in screen
    assert "Assumed: 8 completions of a prompt, 64 prompts a step, written by vllm on the devices that train" in screen
    (option,) = json.loads(planner(*ASK, "--json").out)["options"]
    step = option["rollout"]
    assert sum(step["shares"].values()) == pytest.approx(1)
    assert (step["prompts"], step["completions"]) == (64, 512)
    assert step["usd_per_1000_prompts"]["value"] * 8 == pytest.approx(option["usd_total"]["value"])


@pytest.mark.parametrize("command", ["estimate", "compare", "campaign"])
def test_every_answer_of_a_plan_has_the_step(planner, command):
    """Each option carries its phases, the memory of generation and training, and two other arrangements."""
    document = json.loads(planner(command, EXAMPLE, "--json").out)
    options = document["options"]
    assert len(options) == 3
    assert [note.split(": a step of ")[0] for note in document["notes"] if ": a step of " in note] == [KEPT]
    for option in options:
        step = option["rollout"]
        assert {phase["phase"] for phase in step["memory"]} == {"generation", "training"}
        assert [change["what"] for change in step["instead"]] == [
            "completions half as long", "generation one step ahead on 8 more devices",
        ]  # fmt: skip
        assert all(change["prompts_ratio"] > 1 for change in step["instead"])


def test_an_explanation_names_the_phases(planner):
    """The source of the speed is the step with its phases, and the passes behind it."""
    text = " ".join(planner("explain", EXAMPLE, "--all").out.split())
    assert "a step of 64 prompts takes" in text
    assert "its training passes: estimated from" in text


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        pytest.param(("--method", "grpo", "--data", "8000x300"), "--completion", id="no lengths"),
        pytest.param(("--method", "grpo", "--data", "8000", "--completion", "900"), "--data 8000x300", id="no prompts"),
        pytest.param(
            ("--method", "grpo", "--data", "8000x300", "--completion", "900-500"), "longer than the longest",
            id="mean over most",
        ),
    ],
)  # fmt: skip
def test_one_error_for_a_question_that_cannot_be_answered(planner, flags, says):
    """Exit code 2, and what to write."""
    one_error(planner("ask", "llama3-8b", "--on", "lambda/gpu_8x_h100_sxm5", *flags), says)


def test_a_script_of_verl_is_answered_with_its_engine(planner, tmp_path) -> None:
    """Its share counts, the remedies make it smaller, and no reference of new completions is precomputed."""
    script = tmp_path / "run.sh"
    script.write_text(
        "python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo data.max_response_length=1024 "
        "actor_rollout_ref.model.path=Qwen/Qwen2.5-7B actor_rollout_ref.rollout.gpu_memory_utilization=0.9 "
        "actor_rollout_ref.model.enable_gradient_checkpointing=True trainer.n_gpus_per_node=8\n"
    )
    answer = json.loads(planner("memory", str(script), "--on", "A100-80GB-SXM", "--json").out)
    assert answer["fullest_at"] == "generation"
    assert any("GiB of the engine that generates on the same device" in note for note in answer["notes"])
    options = [remedy["option"] for remedy in answer["remedies"]]
    assert "gpu_memory_utilization 0.5" in options
    assert "--reference precomputed" not in options
