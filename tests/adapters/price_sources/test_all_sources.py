"""All sources of a refresh: at the same time, each as soon as it has answered, each with its own failure."""

from __future__ import annotations

from threading import Barrier, Event

import pytest

from planner.adapters.price_sources import all_sources
from planner.adapters.price_sources.all_sources import SourceChoice, source_answers
from planner.adapters.price_sources.source import SourceAnswer
from planner.errors import PriceSourceError
from planner.model.prices.offer import PriceKind
from tests.bundled import bundled_catalog
from tests.conftest import NOON

CATALOG = bundled_catalog()
P5 = next(row for row in CATALOG.prices if row.node == "aws/p5.48xlarge" and row.price_kind is PriceKind.ON_DEMAND)
PATIENCE_S = 20


@pytest.fixture
def said(monkeypatch):
    """Let each source do what is told here; the others answer with nothing. Returns what is answered, by source."""
    answers = as_answered(monkeypatch)
    return lambda choice=SourceChoice.ALL, **told: dict(answers(choice, **told))


@pytest.fixture
def answering(monkeypatch):
    """Fetch the same, each answer as it comes."""
    return as_answered(monkeypatch)


def as_answered(monkeypatch):
    def ask(choice=SourceChoice.ALL, **told):
        def nothing():
            return SourceAnswer()

        def fetcher(source):
            return lambda *_: told.get(source.name, nothing)()

        monkeypatch.setattr(
            all_sources,
            "_FETCHERS",
            {choice: fetcher(choice) for choice in SourceChoice if choice is not SourceChoice.ALL},
        )
        return ((source.value, answer) for source, answer in source_answers(choice, CATALOG, NOON, (), 1.0))

    return ask


def one_price(usd: float = 50.0) -> SourceAnswer:
    return SourceAnswer(prices=[P5.model_copy(update={"usd_per_hour": usd})])


def test_all_are_asked_at_the_same_time(said):
    """Each answers when all five have been asked."""
    met = Barrier(5)

    def answer():
        met.wait(PATIENCE_S)
        return one_price()

    told = dict.fromkeys(("AWS", "AZURE", "GPUHUNT", "LAMBDA", "SKYPILOT"), answer)
    assert {name: len(of.prices) for name, of in said(**told).items()} == {
        "aws": 1, "azure": 1, "gpuhunt": 1, "lambda": 1, "skypilot": 1,
    }  # fmt: skip


def test_who_answers_first_waits_for_no_other(answering):
    """AWS, first of all in the list, answers only when the four others have been heard."""
    heard = Event()

    def slow():
        assert heard.wait(PATIENCE_S)
        return one_price()

    answers = answering(AWS=slow, SKYPILOT=one_price)
    assert {next(answers)[0] for _ in range(4)} == {"azure", "gpuhunt", "lambda", "skypilot"}
    heard.set()
    assert [(name, len(of.prices)) for name, of in answers] == [("aws", 1)]


def test_the_public_list_stands_in_where_aws_has_nothing(said):
    def no_key():
        raise PriceSourceError("AWS: no credentials were found.")

    answers = said(AWS=no_key, AWS_LIST=one_price)
    assert answers["aws"].problems == ["AWS: no credentials were found."]
    assert len(answers["aws-list"].prices) == 1
    assert "aws-list" not in said(AWS=one_price, AWS_LIST=one_price)
    assert list(said(SourceChoice.AWS_LIST, AWS=one_price, AWS_LIST=one_price)) == ["aws-list"]


def test_an_implausible_price_does_not_keep_the_list_away(said):
    """Per month in place of per hour: 730 times as much."""
    answers = said(AWS=lambda: one_price(50.0 * 730), AWS_LIST=one_price)
    assert answers["aws"].prices == []
    assert "a price per month?" in next(iter(answers["aws"].left_out))
    assert len(answers["aws-list"].prices) == 1


def test_an_answer_that_breaks_our_reading_loses_itself_alone(said):
    def broken():
        raise KeyError("gpu_name")

    answers = said(GPUHUNT=broken, SKYPILOT=one_price)
    assert answers["gpuhunt"].problems == ["gpuhunt: its answer cannot be read: KeyError('gpu_name')."]
    assert len(answers["skypilot"].prices) == 1
