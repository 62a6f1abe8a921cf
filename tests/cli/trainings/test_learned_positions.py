"""A network that learns a vector for each position trains no samples with more tokens than that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

GPT2 = {
    "model_type": "gpt2", "n_layer": 12, "n_embd": 768, "n_head": 12, "vocab_size": 50_257, "n_positions": 1024,
}  # fmt: skip
ASKED = ("--own", "1xRTX-3090", "--tokens", "1e8")


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("ask", "gpt2", *ASKED, "--seq-len", "1025"), id="ask"),
        pytest.param(("memory", "gpt2", "--on", "RTX-3090", "--seq-len", "1025"), id="memory"),
        pytest.param(("strategies", "gpt2", "--on", "RTX-3090", "--seq-len", "1025"), id="strategies"),
        pytest.param(("ask", "bert-base-uncased", *ASKED, "--seq-len", "1025"), id="an encoder"),
    ],
)
def test_samples_longer_than_the_learned_positions_are_refused(planner: Any, words: tuple[str, ...]) -> None:
    found = planner(*words)
    assert found.code == 2
    assert "1,025 tokens are more than the" in found.err
    assert "n_positions in its config.json" in found.err


@pytest.mark.parametrize(
    ("positions", "tokens", "exit_code"),
    [pytest.param(1024, 1024, 0, id="as many"), pytest.param(4096, 4096, 0, id="a configuration with more"),
     pytest.param(2048, 4096, 2, id="more, but not enough")],
)  # fmt: skip
def test_a_configuration_says_how_many_positions_are_learned(
    planner: Any, tmp_path: Path, positions: int, tokens: int, exit_code: int
) -> None:
    (tmp_path / "config.json").write_text(json.dumps(GPT2 | {"n_positions": positions}), encoding="utf-8")
    found = planner("memory", str(tmp_path / "config.json"), "--on", "A100-80GB-SXM", "--seq-len", str(tokens))
    assert found.code == exit_code


def test_rotated_positions_have_no_end(planner: Any) -> None:
    """Llama 3 began with 8,192 tokens, and is trained at more."""
    assert planner("memory", "llama3-8b", "--on", "H100-SXM", "--gpus", "8", "--seq-len", "16384").code == 0
