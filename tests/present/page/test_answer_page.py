"""The page of an answer names the answer's id: that of the same plan asked at the command line."""

from __future__ import annotations

from datetime import date

import pytest

from planner.adapters.workspace import examples_dir
from planner.present.page.answer import AnswerPage
from planner.present.page.words import Words
from planner.use_cases.catalogs import open_catalog
from planner.use_cases.plans import compare, read_plan

TODAY = date(2026, 7, 1)


@pytest.mark.parametrize(("language", "says"), [("en", "answer {id}"), ("ko", "답변 번호 {id}")])
def test_the_notes_end_with_the_id_of_the_answer(language: str, says: str) -> None:
    document = compare(read_plan(examples_dir() / "dgx_station_v100.yaml"), open_catalog(), today=TODAY)
    html = AnswerPage(document, Words(language), TODAY).notes_html()
    assert html.rstrip().endswith(f"<li>{says.format(id=document.answer_id)}</li></ul>")


def test_an_answer_of_before_there_were_ids_has_none() -> None:
    document = compare(read_plan(examples_dir() / "dgx_station_v100.yaml"), open_catalog(), today=TODAY)
    older = document.model_copy(update={"answer_id": None})
    assert "answer" not in AnswerPage(older, Words("en"), TODAY).notes_html().split("<li>")[-1]
