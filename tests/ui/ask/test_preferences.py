"""A preference training in the app: the form's question, pasted commands, and the page in both languages."""

from __future__ import annotations

from datetime import date

import pytest

from planner.model.network.training_method import CompletionTokens, MethodSettings, TrainingMethod
from planner.ui.ask.form import STARTS, Start
from planner.ui.ask.paste import understood
from planner.ui.ask.question import question_of
from planner.use_cases.asking.ask import plan_of_question
from planner.use_cases.asking.question import MissingAnswerError
from tests.bundled import bundled_catalog

pytest.importorskip("streamlit")

from streamlit.testing.v1 import AppTest

TODAY = date(2026, 11, 27)
FORM = STARTS[Start.TRAIN].changed(find=False, learns=TrainingMethod.DPO, completion=300, mean=200)


def test_the_form_asks_for_pairs_whose_prompts_and_answers_are_said() -> None:
    asked = plan_of_question(question_of(FORM, today=TODAY), bundled_catalog(), today=TODAY)
    assert asked.plan.training.of_the_method == MethodSettings(
        method=TrainingMethod.DPO, completion_tokens=CompletionTokens(mean=300.0)
    )
    assert asked.plan.work.tokens_per_sample == 200
    assert asked.plan.workload.seq_len == 1024  # room for two of 500
    assert "a prompt with its answer has at most 1,024 tokens (--seq-len)" in asked.assumed


def test_the_form_asks_for_answers_that_the_model_writes() -> None:
    form = FORM.changed(learns=TrainingMethod.GRPO)
    asked = plan_of_question(question_of(form, today=TODAY), bundled_catalog(), today=TODAY)
    assert asked.plan.training.method is TrainingMethod.GRPO
    assert any(assumption.startswith("8 completions of a prompt, 64 prompts a step") for assumption in asked.assumed)


def test_the_form_says_that_the_length_of_answers_is_missing() -> None:
    form = FORM.changed(learns=TrainingMethod.GRPO, completion=None)
    with pytest.raises(MissingAnswerError, match="how long its completions are"):
        plan_of_question(question_of(form, today=TODAY), bundled_catalog(), today=TODAY)


def test_a_pasted_command_says_what_is_optimized() -> None:
    found = understood("trl orpo --model_name_or_path Qwen/Qwen2.5-7B --use_peft", FORM, bundled_catalog())
    assert found.changes["learns"] == "orpo"
    assert "learns: orpo" in found.lines


def ask_page() -> None:
    from planner.ui.ask import page

    page.render()


@pytest.mark.parametrize(
    ("language", "learns", "answer"),
    [
        pytest.param("en", "Learns from", "Tokens of an answer", id="English"),
        pytest.param("ko", "학습 자료", "답변의 토큰 수", id="Korean", marks=pytest.mark.slow),
    ],
)
def test_the_page_asks_for_answers_only_where_they_are_compared(language: str, learns: str, answer: str) -> None:
    page = AppTest.from_function(ask_page, default_timeout=60)
    page.query_params["lang"] = language
    page.run()
    chosen = next(box for box in page.selectbox if box.label == learns)
    assert answer not in [box.label for box in page.number_input]
    chosen.set_value(chosen.options[1]).run()
    assert not page.exception
    assert answer in [box.label for box in page.number_input]
