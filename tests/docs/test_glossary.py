"""Every title of a column, every mark and every main word of an answer stands in the glossary."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from planner.present import option_marks
from planner.present.columns.registry import COLUMNS
from planner.present.columns.year_columns import LOCAL, WRITTEN_OF_YEARS

ROOT = Path(__file__).parents[2]
ROWS = [
    [cell.strip() for cell in line.split("|")[1:-1]]
    for line in (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ")
]
EXPLAINED = {term.casefold() for term, _ in ROWS for term in (term, *term.split(", "))}
SCREENS = ("memory_screen", "recommendation_screen")
"""Modules whose tables are no tables of options: their titles stand in their code."""


def registered_titles() -> set[str]:
    """Return the titles of every column that a table of options or of years can have."""
    of_options = {title for column in COLUMNS.values() for title in (column.title, *column.titles.values())}
    of_years = {
        title for column in WRITTEN_OF_YEARS if column.key != LOCAL for title in (column.title, *column.titles.values())
    }
    return (of_options | of_years) - {""}


def written_titles() -> set[str]:
    """Return the titles of the columns that the other screens' modules write out."""
    return {
        keyword.value.value
        for name in SCREENS
        for node in ast.walk(ast.parse((ROOT / "planner" / "present" / f"{name}.py").read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Column"
        for keyword in node.keywords
        if keyword.arg == "title" and isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, str)
    }


@pytest.mark.parametrize("title", sorted(registered_titles() | written_titles()))
def test_the_title_of_a_column_is_explained(title: str) -> None:
    assert {title.casefold()} <= EXPLAINED or set(title.casefold().split(", ")) <= EXPLAINED


def test_every_mark_is_explained() -> None:
    marks = {value for name, value in vars(option_marks).items() if name.isupper() and isinstance(value, str)}
    assert {mark for mark in marks if len(mark) == 1} <= EXPLAINED


@pytest.mark.parametrize(
    "word",
    [
        "at most", "sure", "known from", "practice", "tuned", "block", "firm", "spot", "chance", "range", "basis",
        "measured", "quoted", "modelled", "assumed", "keep", "rent", "buy", "use", "mix", "<-",
    ],
)  # fmt: skip
def test_a_main_word_is_explained(word: str) -> None:
    assert word in EXPLAINED


def test_an_entry_has_one_or_two_sentences() -> None:
    long = [term for term, meaning in ROWS if meaning.count(". ") + meaning.endswith(".") > 2]
    assert not long
