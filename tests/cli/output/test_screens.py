"""Output of `compare` for each example: one screen, readable at 60 columns, in names that people use."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from planner.adapters.workspace import examples_dir
from planner.model.answer.documents import CampaignDocument, ComparisonDocument, EstimateDocument
from planner.present.answer_screen import (
    Screen,
    campaign_screen,
    comparison_screen,
    estimate_screen,
    screen_lines,
)  # fmt: skip
from planner.present.screen import MOST_LINES
from planner.use_cases import plans
from tests.bundled import bundled_catalog
from tests.conftest import NOON

EXAMPLES = sorted(path.stem for path in examples_dir().glob("*.yaml"))
ANYTHING = 10_000
Document = EstimateDocument | CampaignDocument | ComparisonDocument
DOCUMENTS: dict[str, Callable[..., Document]] = {
    "compare": plans.compare, "campaign": plans.campaign, "estimate": plans.estimate,
}  # fmt: skip


@cache
def answered(command: str, name: str) -> Document:
    plan = plans.read_plan(examples_dir() / f"{name}.yaml")
    return DOCUMENTS[command](plan, bundled_catalog(), today=NOON.date())


def screen(command: str, name: str) -> Screen:
    document = answered(command, name)
    if isinstance(document, ComparisonDocument):
        return comparison_screen(document, plan=f"{name}.yaml")
    if isinstance(document, CampaignDocument):
        return campaign_screen(document, plan=f"{name}.yaml")
    return estimate_screen(document, plan=f"{name}.yaml")


@pytest.mark.parametrize("name", EXAMPLES)
def test_compare_on_a_screen_of_100_columns(planner, golden, monkeypatch: pytest.MonkeyPatch, name):
    monkeypatch.chdir(examples_dir().parent)
    monkeypatch.setenv("COLUMNS", "100")
    answer = planner("compare", Path("examples", f"{name}.yaml"), "--format", "table")
    assert answer.err == ""
    golden.check(f"screens/{name}.txt", answer.out)


@pytest.mark.parametrize("command", DOCUMENTS)
@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("width", [100, 80, 60])
def test_a_screen_holds_the_answer(command, name, width):
    lines = screen_lines(screen(command, name), width=width)
    assert len(lines) <= MOST_LINES == 30
    assert [line for line in lines if len(line) > width] == []
    assert all(line.isascii() and line == line.rstrip() for line in lines)


@pytest.mark.parametrize("command", DOCUMENTS)
@pytest.mark.parametrize("name", EXAMPLES)
def test_no_word_is_cut_at_60_columns(command, name):
    whole = screen_lines(screen(command, name), width=ANYTHING, whole=True)
    words = {word for line in whole for word in line.split()}
    count = re.compile(r"and|\d+|more|--all")
    for line in screen_lines(screen(command, name), width=60):
        shown = [word.removesuffix(":") if word not in words else word for word in line.split()]  # "8x H200: late"
        assert [word for word in shown if word not in words and not count.fullmatch(word)] == []


@pytest.mark.parametrize("command", DOCUMENTS)
@pytest.mark.parametrize("name", EXAMPLES)
def test_no_id_is_shown(command, name):
    text = "\n".join(screen_lines(screen(command, name), width=ANYTHING, whole=True))
    *body, _ = text.split("planner explain" if command == "compare" else "planner compare")
    shown = re.split(r"[\s,;]+", " ".join(body))
    assert {option.id for option in answered(command, name).options}.isdisjoint(shown)


@pytest.mark.parametrize("name", EXAMPLES)
def test_all_rows_are_there_where_all_are_wanted(name):
    document = answered("compare", name)
    lines = screen_lines(screen("compare", name), width=100, whole=True)
    numbers = [int(line.split()[0]) for line in lines if re.match(r" ?\d+ ", line)]
    assert numbers == list(range(1, len(document.options) + 1))
