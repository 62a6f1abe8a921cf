"""The page of plain questions is what the planner answers, and near what was published."""

from __future__ import annotations

import re

import pytest

from planner.adapters.workspace import catalogs_dir
from scripts.plain_questions import QUESTIONS, TARGET, PlainQuestion, _rows, answer, page


@pytest.mark.slow
def test_the_page_is_what_the_planner_answers() -> None:
    assert TARGET.read_text(encoding="utf-8") == page(), "run: make plain-questions"


def test_every_published_row_exists_and_is_of_that_network() -> None:
    published = {row["id"]: row for path in (catalogs_dir() / "evidence").glob("*.csv") for row in _rows(path)}
    for asked in QUESTIONS:
        for name in asked.published:
            assert float(published[name]["num_gpus"]) >= 1


@pytest.mark.parametrize(
    "asked",
    [question for question in QUESTIONS if question.published],
    ids=lambda question: f"{question.what} {question.seq_len}",
)
def test_the_answer_is_within_a_factor_of_what_was_published(asked: PlainQuestion) -> None:
    """Tolerance against runs near the question, not the same: a factor of 3 tells a plausible answer from nonsense."""
    option = answer(asked)
    assert option.fits is not False
    assert option.throughput is not None
    published = {row["id"]: row for path in (catalogs_dir() / "evidence").glob("*.csv") for row in _rows(path)}
    for name in asked.published:
        row = published[name]
        each = float(row["throughput_total"]) / float(row["num_gpus"])
        if asked.seq_len:
            each = float(row["tokens_per_s_per_gpu"])
        ratio = option.throughput.value * (asked.seq_len or 1) / option.accelerators / each
        assert 1 / 3 < ratio < 3


def test_no_cell_breaks_the_table() -> None:
    assert all(
        line.count("|") == 8 for line in TARGET.read_text(encoding="utf-8").splitlines() if re.match(r"\|", line)
    )
