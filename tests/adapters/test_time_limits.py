"""Questions to others end: by their answer, its failure, or the limit."""

from __future__ import annotations

from threading import Event

import pytest

from planner.errors import NodeError, PriceSourceError
from planner.time_limits import all_within, within


@pytest.fixture
def never():
    """Ask a question that is answered when the test is over."""
    over = Event()
    yield over.wait
    over.set()


def test_an_answer_and_a_failure_are_passed_on():
    assert within(lambda: 42, who="somebody") == 42
    with pytest.raises(ZeroDivisionError):
        within(lambda: 1 // 0, who="somebody")


def test_who_never_answers_is_given_up_and_named(never):
    with pytest.raises(NodeError, match=r"EC2: no complete answer within 0\.05 s; it was given up\. Check the network"):
        within(never, who="EC2", limit_s=0.05)
    with pytest.raises(PriceSourceError):
        within(never, who="EC2", limit_s=0.05, error=PriceSourceError)


def test_answers_come_in_the_order_of_the_questions():
    assert all_within(lambda number: number * number, [3, 1, 2], who="somebody", at_once=2) == [9, 1, 4]
    assert all_within(lambda number: number, [], who="somebody") == []


def test_one_failure_ends_the_wait_for_the_others(never):
    def ask(number: int) -> object:
        if number == 0:
            raise PriceSourceError("refused")
        return never()

    with pytest.raises(PriceSourceError, match="refused"):
        all_within(ask, [1, 0, 1], who="somebody", at_once=2)


def test_what_was_not_asked_before_the_limit_is_not_asked_after_it(never):
    asked: list[int] = []

    def ask(number: int) -> object:
        asked.append(number)
        return never()

    with pytest.raises(NodeError, match="given up"):
        all_within(ask, range(10), who="somebody", limit_s=0.05, at_once=1)
    assert asked == [0]
