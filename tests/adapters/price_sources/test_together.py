"""Questions at the same time: none waits for another, order and failures are those of asking one by one."""

from __future__ import annotations

from threading import Barrier, Event, Lock

import pytest

from planner.adapters.price_sources.skypilot import COLUMNS, skypilot_prices
from planner.errors import PriceSourceError
from planner.time_limits import asked_together
from tests.adapters.price_sources.conftest import Reply
from tests.conftest import NOON

PATIENCE_S = 20
"""After which a test gives up that would else wait for ever."""


def test_none_waits_for_another():
    """Each goes on when all three have begun."""
    met = Barrier(3)
    answers = asked_together([lambda: met.wait(PATIENCE_S) >= 0] * 3, at_once=3)
    assert [answer.result() for answer in answers] == [True] * 3


def test_the_order_is_that_of_the_questions_whichever_is_answered_first():
    last = Event()

    def quick() -> str:
        last.set()
        return "quick"

    asks = [lambda: "slow" if last.wait(PATIENCE_S) else "never", quick]
    assert [answer.result() for answer in asked_together(asks)] == ["slow", "quick"]


def test_one_that_fails_loses_itself_alone():
    def refuse() -> str:
        raise PriceSourceError("refused")

    first, second, third = asked_together([lambda: "a", refuse, lambda: "c"], at_once=1)
    assert (first.result(), third.result()) == ("a", "c")
    with pytest.raises(PriceSourceError, match="refused"):
        second.result()


@pytest.mark.parametrize(("questions", "at_once"), [(10, 3), (2, 8), (0, 4)])
def test_no_more_than_asked_for_run_at_once(questions, at_once):
    lock, running, most = Lock(), [], []

    def ask() -> int:
        with lock:
            running.append(1)
            most.append(len(running))
        with lock:
            running.pop()
        return len(most)

    answers = [answer.result() for answer in asked_together([ask] * questions, at_once=at_once)]
    assert len(answers) == questions
    assert max(most, default=0) <= min(at_once, questions)


def test_a_source_reads_its_tables_at_once(vendor, names, monkeypatch):
    """The server answers when it was asked for all three: one after the other would end in time-outs."""
    header = ",".join(COLUMNS)
    met = Barrier(3)

    class Waiting(dict[str, Reply]):
        def get(self, path, default=None):
            met.wait(PATIENCE_S)
            return super().get(path, default)

    vendor.replies = Waiting(
        {
            f"/{cloud}/vms.csv": Reply(f"{header}\n{cloud}-x,H100,8,here,,{usd},\n".encode())
            for cloud, usd in (("aws", 30), ("gcp", 40), ("lambda", 20))
        }
    )
    monkeypatch.setenv("PLANNER_SKYPILOT_CATALOG_URL", vendor.url)
    answer = skypilot_prices(names=names, today=NOON.date())
    assert [(price.provider, price.usd_per_hour) for price in answer.prices] == [("aws", 30.0), ("lambda", 20.0)]
    assert answer.problems == []
