"""Signals that become one exception, and go back to what they were."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from planner.cli.stop_signals import StopSignal, stop_signals

ALL = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in ALL}
    for number in ALL:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", ALL, ids=lambda number: number.name)
def test_the_first_signal_is_raised_and_later_ones_do_not_disturb_the_clean_up(number: signal.Signals) -> None:
    cleaned_up: list[bool] = []

    def stopped_while_it_works() -> None:
        with stop_signals():
            try:
                signal.raise_signal(number)
            finally:
                for again in ALL:
                    signal.raise_signal(again)
                cleaned_up.append(True)

    with pytest.raises(StopSignal) as stopped:
        stopped_while_it_works()
    assert (stopped.value.number, cleaned_up) == (number, [True])
    assert [signal.getsignal(number) for number in ALL] == [signal.SIG_DFL] * 3


def test_a_signal_that_nohup_keeps_away_is_ignored() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with stop_signals():
        signal.raise_signal(signal.SIGHUP)
