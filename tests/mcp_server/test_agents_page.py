"""The page for agents: each of its three jobs is done by its own calls, at most four."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.mcp_server.agent import ROOT, connected

PAGE = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
JOBS = re.findall(r"### (.+?)\n\n```json\n(.*?)```", PAGE, re.DOTALL)
MOST = 4


def calls_of(block: str) -> list[dict[str, Any]]:
    """Read the documents that stand one behind the other."""
    found, place, text = [], 0, block.strip()
    while place < len(text):
        document, end = json.JSONDecoder().raw_decode(text, place)
        found.append(document)
        place = end + len(text[end:]) - len(text[end:].lstrip())
    return found


def test_there_are_three_jobs() -> None:
    assert len(JOBS) == 3


@pytest.mark.slow
@pytest.mark.parametrize("block", [block for _, block in JOBS], ids=[title[:40] for title, _ in JOBS])
def test_a_job_is_done_in_four_calls(block: str, tmp_path: Path) -> None:
    calls = calls_of(block)
    assert 1 <= len(calls) <= MOST
    (tmp_path / "folder").mkdir()
    with connected(tmp_path / "folder", tmp_path) as agent:
        last = ""
        for call in calls:
            arguments = {name: last if value == "ID" else value for name, value in call["arguments"].items()}
            answer = agent.answer(call["tool"], **arguments)
            assert answer["headline"]
            assert answer["rows"]
            last = answer["answer_id"]
            if call["tool"] == "ask":
                machines = " ".join(row["machine"] for row in answer["rows"])
                asked = arguments.get("own", []) + arguments.get("on", [])
                assert all(
                    re.search(re.sub(r"^\d+x|-v100$", "", argument).replace("-", "[- ]"), machines, re.IGNORECASE)
                    for argument in asked
                ), machines


@pytest.mark.slow
def test_every_tool_of_the_page_is_there_and_the_other_way_round(tmp_path: Path) -> None:
    table = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)
    skill = (ROOT / "skills" / "training-planner" / "SKILL.md").read_text(encoding="utf-8")
    with connected(tmp_path, tmp_path) as agent:
        tools = set(agent.tools())
    assert set(table) == tools
    assert set(re.findall(r"tool `(\w+)`", skill)) == tools


def test_the_skill_says_who_it_is_for() -> None:
    import yaml

    skill = (ROOT / "skills" / "training-planner" / "SKILL.md").read_text(encoding="utf-8")
    head = yaml.safe_load(skill.split("---")[1])
    assert head["name"] == "training-planner"
    assert 40 < len(head["description"]) < 1024
