"""An ordinary team's question, `examples/qlora_llama3_8b.yaml`: adapters fit where the whole network does not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PC, TEN, ONE_OF_TEN, H100, SERVICE = (
    "pc-rtx4090", "rtx3090-x10", "rtx3090-x10:x1", "lambda/gpu_1x_h100_sxm5:any:on_demand",
    "ori/lora-up-to-10b:any:hosted_training",
)  # fmt: skip


def by_id(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {option["id"]: option for option in document["options"]}


def test_adapters_fit_everywhere_and_are_said(planner: Any, example: Callable[[str], Path]) -> None:
    options = by_id(planner("compare", example("qlora_llama3_8b"), "--json").document)
    assert all(option["throughput"] is not None for name, option in options.items() if name != SERVICE)
    notes = options[PC]["notes"]
    assert any("13,631,488 parameters beside 8,030,261,248 frozen at nf4" in note for note in notes)
    assert "as trained by HF Trainer, liger" in notes
    assert options[TEN]["throughput"]["value"] > 5 * options[ONE_OF_TEN]["throughput"]["value"]


def test_all_weights_of_the_same_plan_do_not_fit_one_card(planner: Any, changed: Callable[..., Path]) -> None:
    plan = changed("qlora_llama3_8b", {"training.adapters": None})
    options = by_id(planner("compare", plan, "--json").document)
    for name in (PC, ONE_OF_TEN, H100):
        assert options[name]["throughput"] is None
        assert "does not fit" in str(options[name])


def test_the_service_costs_its_tokens(planner: Any, example: Callable[[str], Path]) -> None:
    """Ten times 20 million tokens at 0.46 USD a million."""
    document = planner("compare", example("qlora_llama3_8b"), "--json").document
    assert by_id(document)[SERVICE]["campaign_usd"]["value"] == pytest.approx(10 * 20 * 0.46)
