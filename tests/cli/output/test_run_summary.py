"""The last lines of `planner bench`, of results that an H100 80GB SXM gave."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from planner.adapters.catalog import accelerator_aliases
from planner.cli.runs.run_summary import summary
from planner.launcher.collect.record import record_of
from planner.model.evidence.run import Probe, RunRecord
from planner.use_cases.expectations import expect_from
from tests.bundled import bundled_catalog

RESULTS = Path(__file__).resolve().parents[2] / "data" / "h100" / "verdict"
WINDOW = "the window is too short: 30.1 s and 74 steps"
CLOCKS = "step times scatter"


def recorded(name: str, **changes: Any) -> RunRecord:
    """Return the record of a result; its verdict is the test's own business."""
    result = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    record = record_of([result], aliases=accelerator_aliases(), expect=expect_from(bundled_catalog()))
    return record.model_copy(update={"verdict": (), **changes})


def probe(micro_batch: int, samples_per_s: float) -> Probe:
    return Probe(micro_batch=micro_batch, samples_per_s=samples_per_s)


def test_the_headline_ends_with_the_result_the_verdict_and_what_to_do() -> None:
    """592 samples in 30.102 s are 19.667 samples/s, of 4,096 tokens 80,555 tokens/s.

    A token takes 6 x 596.0 million parameters (embeddings once, as the head) and 12 x 28 layers x 4,096 x 2,048 of
    attention: 6.395 GFLOP, with half of the attention 4.985. Of 989.4 TFLOP/s that is 52.1 % and 40.6 %.
    """
    record = recorded("qwen3-0.6b-compiled", verdict=(WINDOW, CLOCKS, "the loss rose"))
    lines = summary(record, "runs/it.json")
    assert lines == [
        "qwen3-0.6b on 1x NVIDIA H100 80GB HBM3, Intel(R) Xeon(R) Processor",
        "Batch (matched): micro-batch 8 x 1 x 1 device(s) = 8 samples a step, synthetic data",
        "Stored as runs/it.json",
        "Result: 19.67 samples/s (measured), 80,555 tokens/s",
        "MFU: 52.1%, full attention of the nominal peak; causal: 40.6%",
        f"Verdict: doubtful because {WINDOW} (and 2 more).",
        f"Next: planner runs show {record.id}  (all reasons, phases, memory)",
        f"Next: planner init plan.yaml --measured {record.id} && planner compare plan.yaml",
    ]


@pytest.mark.parametrize(
    ("reasons", "sentence"),
    [
        pytest.param((), "Verdict: sound; nothing speaks against this measurement.", id="sound"),
        pytest.param((WINDOW,), f"Verdict: doubtful because {WINDOW}.", id="one reason"),
        pytest.param((WINDOW, CLOCKS), f"Verdict: doubtful because {WINDOW} (and 1 more).", id="two reasons"),
    ],
)
def test_the_verdict_is_one_sentence(reasons: tuple[str, ...], sentence: str) -> None:
    lines = summary(recorded("gpt-305m-micro-batch-4", verdict=reasons), "it")
    assert [line for line in lines if line.startswith("Verdict")] == [sentence]


PLAN = "planner init plan.yaml --measured ID && planner compare plan.yaml"
SHOW = "planner runs show ID  (all reasons, phases, memory)"


@pytest.mark.parametrize(
    ("changes", "quick", "steps"),
    [
        pytest.param({}, False, [PLAN], id="sound: plan with it"),
        pytest.param({"verdict": (CLOCKS,)}, False, [SHOW, PLAN], id="doubtful: look, or plan all the same"),
        pytest.param(
            {"verdict": (WINDOW,)},
            True,
            ["the same command without --quick, for a window that others can be compared with", SHOW],
            id="quick",
        ),
        pytest.param(
            {"verdict": (CLOCKS,), "probes": (probe(4, 103.0), probe(8, 160.0))},
            False,
            ["the same command with --micro-batch 8, or with --mode tuned, which searches", SHOW],
            id="the double is faster",
        ),
        pytest.param({"probes": (probe(4, 103.0), probe(8, 105.0))}, False, [PLAN], id="the double is not worth it"),
        pytest.param(
            {"verdict": (CLOCKS,), "memory": {"allocator_retries": 3.0}},
            False,
            ["the same command with a smaller --micro-batch", SHOW],
            id="memory was short",
        ),
    ],
)
def test_what_to_do_next_follows_from_the_record(changes: dict[str, Any], quick: bool, steps: list[str]) -> None:
    record = recorded("gpt-305m-micro-batch-4", **changes)
    said = [line for line in summary(record, "it", quick=quick) if line.startswith("Next: ")]
    assert [line.removeprefix("Next: ").replace(record.id, "ID") for line in said] == steps


def test_images_have_no_tokens_and_no_causal_attention() -> None:
    """17,536 images in 6.0204 s are 2,913 images/s."""
    lines = summary(recorded("vit-b16"), "it")
    assert "Result: 2,913 samples/s (measured), a sample is an image" in lines
    assert "MFU: 31.0% of the nominal peak" in lines
