"""Every message of the pages is translated, its values are kept, and the compiled catalogs are those of the texts."""

from __future__ import annotations

import re
from datetime import date

import pytest

from planner.adapters.workspace import examples_dir
from planner.model.answer.documents import ComparisonDocument
from planner.present.page.sentence_forms import SENTENCES
from planner.present.page.sentences import note_text, notes_text, translated
from planner.present.page.words import DOMAIN, LANGUAGES, LOCALE, Words
from planner.use_cases.catalogs import catalog_for
from planner.use_cases.plans import compare, read_plan
from planner.use_cases.recommend import recommend
from scripts.page_messages import compiled, messages, translations

OTHERS = [code for code in LANGUAGES if code != "en"]
PLACE = re.compile(r"\{\w+\}")
KO = Words("ko")
EXAMPLES = {
    "kept": "stays in the budget", "ahead": "the block",
    "done": "done in 3.4 hours", "cost": "at most 1.92 USD", "sure": "4 in 5 sure", "day": "2027-01-02",
    "deadline": "2027-01-01", "unit": "USD a kWh",
    "work": " for 9 trainings", "end": ", 7 USD less than renting", "usd": "4,600 USD",
    "waits": "9 USD", "limit": "in time", "kind": "the firm one", "doing": "Buying",
    "condition": "With a deadline 2 days later", "deed": "keep DGX Station, 4x V100", "limits": "by 2027-01-02",
    "hour": "an hour",
}  # fmt: skip
ENGLISH = re.compile(r"\b(done|at most|sure|hours|none|estimated)\b")
"""Words of phrases that are translated."""
TODAY = date(2026, 7, 1)


@pytest.mark.parametrize("language", OTHERS)
def test_every_message_is_translated(language: str) -> None:
    known = translations(language)
    assert sorted(message for message in messages() if not known.get(message)) == []


@pytest.mark.parametrize("language", OTHERS)
def test_a_translation_keeps_the_values_of_its_message(language: str) -> None:
    wrong = [
        message
        for message, text in translations(language).items()
        if sorted(PLACE.findall(message)) != sorted(PLACE.findall(text))
    ]
    assert wrong == []


@pytest.mark.parametrize("language", OTHERS)
def test_the_compiled_catalog_is_that_of_the_text(language: str) -> None:
    assert (LOCALE / language / "LC_MESSAGES" / f"{DOMAIN}.mo").read_bytes() == compiled(language)


@pytest.mark.parametrize("example", sorted(path.stem for path in examples_dir().glob("*.yaml")))
@pytest.mark.parametrize("budget", [None, 1.0])
def test_every_sentence_of_an_examples_headline_is_korean(example: str, budget: float | None) -> None:
    plan = read_plan(examples_dir() / f"{example}.yaml")
    if budget is not None:
        limits = plan.campaign.model_copy(update={"budget_usd": budget, "budget_local": None})
        plan = plan.model_copy(update={"campaign": limits})
    headline = compare(plan, catalog_for(plan), today=TODAY).headline
    korean = [translated(sentence, KO) for sentence in headline]
    assert [sentence for sentence in korean if not re.search("[가-힣]", sentence) or ENGLISH.search(sentence)] == []


@pytest.mark.parametrize("example", ["station_own_or_rent", "own_8xh200", "dgx_station_v100", "local_pc"])
def test_both_horizons_are_korean(example: str) -> None:
    plan = read_plan(examples_dir() / f"{example}.yaml")
    both = compare(plan, catalog_for(plan), today=TODAY).horizons
    assert both is not None
    korean = [translated(sentence, KO) for sentence in (both.campaign, both.year)]
    assert [
        sentence for sentence in korean if re.search(r"\b(keep|rent|buy|sure|year|such|campaign)\b", sentence)
    ] == []


@pytest.mark.slow
@pytest.mark.parametrize("example", sorted(path.stem for path in examples_dir().glob("*.yaml")))
def test_every_line_that_would_change_an_examples_answer_is_korean(example: str) -> None:
    plan = read_plan(examples_dir() / f"{example}.yaml")
    said = recommend(plan, catalog_for(plan), today=TODAY, plan_words="plan.yaml")
    lines = [measurement.sentence for measurement in said.measurements] + [
        point.sentence for point in said.turning_points
    ]
    korean = [translated(line, KO) for line in lines]
    assert [
        line for line in korean if not re.search("[가-힣]", line) or re.search(r"\b(wins|If|Measure)\b", line)
    ] == []


def test_values_stand_in_a_translated_sentence() -> None:
    text = translated("Keep your 2x RTX 3090: done in 20 hours, at most 1.92 USD of electricity, 4 in 5 sure.", KO)
    assert text == "유지: your 2x RTX 3090, 20시간 안에 완료, 전기료 최대 1.92 USD (확률 4/5)."


def test_a_sentence_of_no_known_form_stays() -> None:
    assert translated("Something else altogether.", KO) == "Something else altogether."


@pytest.mark.parametrize("form", SENTENCES)
def test_every_form_is_found_by_itself(form: str) -> None:
    values = {name.strip("{}"): EXAMPLES.get(name.strip("{}"), "7") for name in PLACE.findall(form)}
    assert re.search("[가-힣]", translated(form.format(**values), KO))


def test_a_name_with_commas_is_a_name() -> None:
    text = translated("Sooner: Lambda, 1x H100, done by 2026-12-22, at most 4,370,000 KRW.", KO)
    assert text == "더 빠른 선택지: Lambda, 1x H100, 2026-12-22까지 완료, 최대 4,370,000 KRW."


def test_notes_are_translated_without_their_full_stop() -> None:
    """Notes of an answer are sentences without a full stop."""
    note = "the exchange rate, 1,439 KRW a USD, is 332 days old: write today's under currency in the plan"
    answer = ComparisonDocument(
        plan="p", assumptions=(), notes=(note,), runs=1, deadline=None, deadline_hours=None, budget_usd=None,
        recommended=None, nearest=None, sentence="", options=(),
    )  # fmt: skip
    [text] = notes_text(answer, KO)
    assert text == "환율(1달러당 1,439 KRW)이 332일 전 것입니다. 계획의 currency에 오늘 환율을 쓰십시오"


@pytest.mark.parametrize(
    ("note", "korean"),
    [
        pytest.param(
            "waiting at 2.00 USD an hour counts 158 USD with RunPod, 1x RTX 4090 and 1,062 USD with PC, 1x RTX 4090, "
            "which would be first without it",
            "대기 1시간을 2.00 USD로 셉니다: RunPod, 1x RTX 4090에 158 USD, PC, 1x RTX 4090에 1,062 USD. "
            "대기를 세지 않으면 뒤의 것이 첫째입니다",
            id="waiting",
        ),
        pytest.param(
            "to keep the deadline, several trainings run at once: AWS p5en, 8x H200, 2 at once (in time with 93 %); "
            "RunPod, 8x H200, 2 at once (in time with 83 %, below the 90 % asked), and 2 more",
            "마감을 지키려고 여러 학습을 동시에 실행합니다: AWS p5en, 8x H200, 2 at once (기한 내 93 %); "
            "RunPod, 8x H200, 2 at once (기한 내 83 %, 요청한 90 % 미만) 외 2개",
            id="several trainings at once",
        ),
    ],
)
def test_a_note_is_korean_with_its_values(note: str, korean: str) -> None:
    assert note_text(note, KO) == korean
