"""Text that programs read differently is refused, and the intended spelling is shown."""

from __future__ import annotations

import json

import pytest

from tests.cli.refusals import GOOD_PLAN, GOOD_RECORD, one_error, replaced

START = "start: 2026-12-01"
RUNS = "runs: 50"
ARABIC = "".join(chr(ord(digit) + 0x630) for digit in "50")  # U+0660 is zero
FULL_WIDTH = "".join(chr(ord(digit) + 0xFEE0) for digit in "50")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        pytest.param(replaced(RUNS, "runs: 010"), ["'010' is 10 to some", "Write 10 or 8"], id="octal"),
        pytest.param(replaced(RUNS, "runs: 050"), ["'050' is 50 to some", "Write 50 or 40"], id="octal of fifty"),
        pytest.param(replaced(RUNS, "runs: 08"), ["'08' begins with a zero", "Write 8"], id="no octal"),
        pytest.param(replaced(RUNS, "runs: 10:00:00"), ["'10:00:00'", "36000"], id="base sixty"),
        pytest.param(replaced(RUNS, "runs: 1_000"), ["campaign.runs", "'1_000'", "Write 1000"], id="underscore"),
        pytest.param(replaced(RUNS, f"runs: {ARABIC}"), ["campaign.runs", "Write 50"], id="Arabic digits"),
        pytest.param(replaced(RUNS, f"runs: {FULL_WIDTH}"), ["campaign.runs", "Write 50"], id="wide digits"),
        pytest.param(replaced(RUNS, "runs: 0b11"), ["campaign.runs", "'0b11'"], id="binary"),
        pytest.param(replaced("epochs: 10", "epochs: 1,000"), ["'000' begins with a zero"], id="comma"),
        pytest.param(replaced(START, "start: 1764547200"), ["campaign.start", "date, as 2025-12-01"], id="seconds"),
        pytest.param(replaced(START, "start: 1764547200000"), ["campaign.start", "2025-12-01"], id="milliseconds"),
        pytest.param(replaced(START, "start: '1764547200'"), ["campaign.start", "2025-12-01"], id="seconds as text"),
        pytest.param(replaced(START, "start: 20261201"), ["campaign.start", "date, as 2026-12-01"], id="no dashes"),
        pytest.param(replaced(START, "start: 1.5"), ["campaign.start", "date, as 2027-01-15"], id="a fraction"),
        pytest.param(replaced(START, "start: -1"), ["campaign.start", "must be a date"], id="before 1970"),
    ],
)
def test_a_plan(planner, plan_file, content, words):
    path = plan_file(content)
    pairs = zip(GOOD_PLAN.splitlines(), content.splitlines(), strict=True)
    line = next(number for number, (good, bad) in enumerate(pairs, 1) if good != bad)
    one_error(planner("estimate", path), f"plan.yaml:{line}: ", *words)


@pytest.mark.parametrize("word", ["Infinity", "-Infinity", "NaN"])
def test_a_record_with_what_is_no_number_in_json(planner, plan_file, word):
    record = json.loads(GOOD_RECORD)
    record["samples_per_s"] = "HERE"
    path = plan_file(json.dumps(record).replace('"HERE"', word), "record.json")
    one_error(planner("runs", "add", path), f"{word} is not a number in JSON")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("ask", "llama-3.1-8b", "--data", f"{ARABIC}x700"), ["--data", "Write --data 50x700"]),
        (("ask", "llama-3.1-8b", f"--data={ARABIC}x700"), ["Write --data 50x700"]),
        (("ask", "llama-3.1-8b", "--own", f"{ARABIC}xRTX-3090"), ["Write --own 50xRTX-3090"]),
        (("ask", "llama-3.1-8b", "--runs", FULL_WIDTH), ["Write --runs 50"]),
        (("ask", "llama-3.1-8b", "--by", f"20{ARABIC}-06-30"), ["Write --by 2050-06-30"]),
        (("launch", "gpt-305m", "--gpus", ARABIC), ["Write --gpus 50"]),
        (("launch", "gpt-305m", "--on", "k8s/lab", "--gpus", f"H100-SXM:{ARABIC}"), ["Write H100-SXM:50"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_command_line(planner, arguments, words):
    one_error(planner(*arguments), *words)


def test_a_name_may_have_any_digits(planner, plan_file):
    path = plan_file(GOOD_PLAN.replace("name: DGX", f"name: {ARABIC} DGX"), f"{ARABIC}-plan.yaml")
    assert planner("estimate", path).code == 0
