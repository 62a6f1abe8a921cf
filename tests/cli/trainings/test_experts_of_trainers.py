"""Experts that a trainer calls one by one: by its version, and by an assumption where none is stated."""

from __future__ import annotations

import pytest

from planner.scenario.trainers import ExpertProducts, expert_products


@pytest.mark.parametrize(
    ("framework", "products"),
    [
        pytest.param(None, ExpertProducts.GROUPED, id="the planner's own benchmark"),
        pytest.param("Megatron-LM", ExpertProducts.GROUPED, id="Megatron's grouped products"),
        pytest.param("HF Trainer 4.51", ExpertProducts.ONE_BY_ONE, id="transformers 4"),
        pytest.param("HF Trainer 5.2", ExpertProducts.GROUPED, id="transformers 5"),
        pytest.param("LLaMA-Factory 0.9, transformers 4.57", ExpertProducts.ONE_BY_ONE, id="named beside its trainer"),
        pytest.param("LLaMA-Factory 0.9", ExpertProducts.ASSUMED_GROUPED, id="its own version says nothing of it"),
        pytest.param("ms-swift", ExpertProducts.ASSUMED_GROUPED, id="calls transformers too"),
        pytest.param("HF Trainer 4.51, unsloth", ExpertProducts.GROUPED, id="kernels of unsloth"),
    ],
)
def test_the_version_says_how_experts_are_multiplied(framework: str | None, products: ExpertProducts) -> None:
    assert expert_products(framework) is products


def rates(planner, plan_of, workload: str, framework: str) -> dict[str, float]:
    plan = plan_of(workload, framework)
    [option] = planner("estimate", plan, "--json").document["options"]
    return option["throughput"] | {"notes": " ".join(option["notes"])}


@pytest.fixture
def plan_of(tmp_path):
    def write(workload: str, framework: str):
        path = tmp_path / "plan.yaml"
        path.write_text(
            f"""schema_version: 1
name: experts
workload: {{ref: {workload}, seq_len: 2048}}
work: {{tokens: 1.0e+8}}
training: {{framework: "{framework}", micro_batch: 1, checkpointing: full, strategy: zero3, precision: bf16,
  adapters: {{rank: 8, targets: [query, key, value, out]}}}}
options: [{{own: A100-80GB-SXM, count: 8}}]
""",
            encoding="utf-8",
        )
        return path

    return write


def test_a_loop_over_experts_is_slower_than_a_dense_network_of_ten_times_the_work(planner, plan_of) -> None:
    """LoRA under ZeRO-3 on one machine: QwQ-32B took 2.5 hours, Qwen3-30B-A3B nearly four (LlamaFactory issue 7921)."""
    trainer = "LLaMA-Factory, transformers 4.51"
    dense, mixture = (rates(planner, plan_of, name, trainer)["value"] for name in ("qwen2.5-32b", "qwen3-30b-a3b"))
    assert dense / mixture > 4 / 2.5


def test_a_micro_batch_of_a_loop_takes_as_long_as_people_saw(planner, plan_of) -> None:
    """LoRA: over 5 minutes a step of eight micro-batches (LlamaFactory issue 8038); full: 127 s (shisa-v2, MI300X)."""
    found = rates(planner, plan_of, "qwen3-30b-a3b", "LLaMA-Factory, transformers 4.51")
    assert 5 * 60 / 8 < 8 / found["value"] < 127


def test_where_no_version_is_stated_the_range_holds_both_ways(planner, plan_of) -> None:
    grouped, looped, unsaid = (
        rates(planner, plan_of, "qwen3-30b-a3b", f"HF Trainer{version}") for version in (" 5.0", " 4.51", "")
    )
    assert unsaid["value"] == pytest.approx(grouped["value"])
    assert unsaid["low"] <= looped["value"] < grouped["low"]
    assert "transformers has them from 5 on" in unsaid["notes"]
    assert "grouped products" not in grouped["notes"]
