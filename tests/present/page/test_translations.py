"""Every message of the pages is translated, its values are kept, and the compiled catalogs are those of the texts."""

from __future__ import annotations

import re
from datetime import date

import pytest

from planner.adapters.workspace import examples_dir
from planner.present.page.sentences import PHRASES, SENTENCES, translated
from planner.present.page.words import DOMAIN, LANGUAGES, LOCALE, Words
from planner.use_cases.catalogs import catalog_for
from planner.use_cases.plans import compare, read_plan
from scripts.page_messages import compiled, messages, translations

OTHERS = [one for one in LANGUAGES if one != "en"]
PLACE = re.compile(r"\{\w+\}")
KO = Words("ko")
TODAY = date(2026, 7, 1)


@pytest.mark.parametrize("language", OTHERS)
def test_every_message_is_translated(language: str) -> None:
    known = translations(language)
    assert sorted(message for message in messages() if not known.get(message)) == []


@pytest.mark.parametrize("language", OTHERS)
def test_a_translation_keeps_the_values_of_its_message(language: str) -> None:
    wrong = [
        one for one, text in translations(language).items() if sorted(PLACE.findall(one)) != sorted(PLACE.findall(text))
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
    assert [one for one in headline if not re.search("[가-힣]", translated(one, KO))] == []


def test_values_stand_in_a_translated_sentence() -> None:
    text = translated("Keep your 2x RTX 3090: done in 20 hours, at most 1.92 USD of electricity, 4 in 5 sure.", KO)
    assert text == "유지: your 2x RTX 3090, 20시간 안에 완료, 전기료 최대 1.92 USD (확률 4/5)."


def test_a_sentence_of_no_known_form_stays() -> None:
    assert translated("Something else altogether.", KO) == "Something else altogether."


@pytest.mark.parametrize("form", [*SENTENCES, *PHRASES])
def test_every_form_is_found_by_itself(form: str) -> None:
    values = {name.strip("{}"): "7" for name in PLACE.findall(form)}
    written = form.format(**values)
    if form in SENTENCES:
        assert re.search("[가-힣]", translated(written, KO))
