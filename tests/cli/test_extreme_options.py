"""Options far beyond anything real: one clear error each, and nothing is stored."""

from __future__ import annotations

import pytest

MEMORY = ("memory", "llama3-8b", "--on", "H100-SXM")
STRATEGIES = ("strategies", "llama3-8b", "--on", "aws/p5.48xlarge", "--json")
ASK = ("ask", "llama3-8b", "--own", "2xRTX-3090", "--data", "50000x700")
ENDLESS = "9" * 30


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param((*MEMORY, "--gpus", ENDLESS), "--gpus is over 1,000,000,000,000,000", id="accelerators"),
        pytest.param((*MEMORY, "--seq-len", ENDLESS), "--seq-len is over", id="tokens"),
        pytest.param((*MEMORY, "--micro-batch", ENDLESS), "--micro-batch is over", id="samples"),
        pytest.param((*MEMORY, "--method", "lora", "--lora-rank", ENDLESS), "--lora-rank is over", id="a rank"),
        pytest.param((*MEMORY[:3], ""), "--on : is not a machine", id="no accelerator"),
        pytest.param((*MEMORY[:3], "x" * 3000), "--on xxx", id="a long name"),
        pytest.param((*STRATEGIES, "--network-gbit-per-s", "nan"), "'nan' is not a valid float", id="no number"),
        pytest.param((*STRATEGIES, "--network-gbit-per-s", "inf"), "'inf' is not a valid float", id="no end"),
        pytest.param((*MEMORY, "--gpus", "1_0"), "'1_0' is not a valid integer. Write 10", id="grouped digits"),
        pytest.param((*MEMORY[:3], "x" * 10_001), "has 10,001 characters; at most 10,000", id="an endless name"),
        pytest.param((*ASK, "--by", "9999-12"), "2100-12-31", id="the last month"),
        pytest.param((*ASK, "--by", "0000-12"), "is not a date", id="a year before all"),
        pytest.param((*ASK, "--by", "2027-13"), "is not a date", id="a thirteenth month"),
    ],
)
def test_one_clear_error(planner, arguments, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = planner(*arguments)
    assert (answer.code, answer.err.count("Error: ") or answer.out.count('"error"')) == (2, 1)
    assert words in answer.err + answer.out
    assert "Traceback" not in answer.err
    assert list(tmp_path.glob("*.yaml")) == []
