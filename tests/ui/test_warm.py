"""The questions of a first visit are answered before it."""

from __future__ import annotations

import pytest

from planner import clock
from planner.ui.ask.form import STARTS, Start
from planner.ui.ask.question import answer_counted, answer_form
from planner.ui.catalogs import known_catalog
from planner.ui.warm import warm


@pytest.mark.slow
def test_the_starting_points_are_answered_once() -> None:
    answer_counted.cache_clear()
    warm().join()
    asked = answer_counted.cache_info().misses
    assert asked == len(STARTS)
    answer_form(STARTS[Start.TRAIN], known_catalog((), clock.today()), now=clock.now())
    assert answer_counted.cache_info().misses == asked
