"""A run that an answer asked for names that answer: in the bill, in the ledger, and in the command that is advised."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

PLAN = """\
schema_version: 1
name: a budget that a measurement settles
workload: {ref: gpt-305m}
work: {tokens: 2000000000000}
campaign: {deadline: 2027-03-30, budget_usd: 36000}
options:
  - {offer: aws/p4d.24xlarge}
  - {offer: lambda/gpu_8x_h100_sxm5}
"""


def asked(planner: Any) -> str:
    """Return the id of an answer that is kept."""
    return str(planner("memory", "gpt-305m", "--on", "H100-SXM", "--json").document["answer_id"])


def test_a_launch_names_the_answer_that_asked_for_it(planner: Any) -> None:
    answer = asked(planner)
    command = ("launch", "gpt-305m", "--on", "aws/p4d.24xlarge", "--answer", answer, "--dry-run")
    (launch,) = planner(*command, "--json").document["launches"]
    assert launch["answer_id"] == answer
    assert f"answer       planner show {answer}" in planner(*command, "--details").out


@pytest.mark.parametrize("command", [("launch", "gpt-305m", "--on", "aws/p4d.24xlarge"), ("bench", "gpt-305m")])
@pytest.mark.parametrize(
    ("answer", "says"), [("0" * 12, "there is no answer"), ("latest", "is not the id of an answer")]
)
def test_an_answer_that_is_not_kept_starts_nothing(
    planner: Any, command: tuple[str, ...], answer: str, says: str
) -> None:
    refused = planner(*command, "--answer", answer)
    assert refused.code == 2
    assert says in refused.err


def test_the_advised_command_names_its_answer(planner: Any, tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(PLAN, encoding="utf-8")
    advice = planner("recommend", str(plan), "--json").document
    commands = [measurement["command"] for measurement in advice["measurements"] if measurement["command"]]
    assert commands
    for command in commands:
        (launch,) = planner(*shlex.split(command)[1:], "--dry-run", "--json").document["launches"]
        assert launch["answer_id"] == advice["answer_id"]
