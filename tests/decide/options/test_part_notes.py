"""Notes on a quote that has to be accepted, and on memory that may be too small; dates and figures by hand."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from planner.decide.options.part_notes import fit_notes, quote_notes
from planner.model.prices.offer import OpenQuote
from tests.decide.recommend.by_hand import option

LAST = date(2026, 12, 11)
QUOTE: dict[str, Any] = {"accept_by": LAST, "usd_per_hour": 27.5, "otherwise_usd_per_hour": 34.32}


@pytest.mark.parametrize(
    ("start", "ready", "before"),
    [
        pytest.param(None, None, "", id="work without a first day"),
        pytest.param(LAST, None, "", id="work that begins on the last day"),
        pytest.param(date(2026, 12, 12), None, ", before the work begins", id="work that begins on the next day"),
        pytest.param(date(2026, 12, 1), date(2026, 12, 14), ", before the work begins", id="a machine ready later"),
        pytest.param(date(2026, 12, 1), date(2026, 12, 5), "", id="a machine ready earlier"),
    ],
)
def test_a_quote_is_to_be_accepted_by_its_last_day(start: date | None, ready: date | None, before: str) -> None:
    quoted = option("quoted", 10, 10, open_quote=OpenQuote(**QUOTE), ready_on=ready)
    assert list(quote_notes([option("other", 10, 10), quoted], start=start)) == [
        f"accept the quote for quoted by 2026-12-11{before}: without it an hour costs 34.32 USD instead of 27.5"
    ]


def test_instances_beyond_a_commitment_need_the_quote() -> None:
    quoted = option("quoted", 10, 10, open_quote=OpenQuote(**QUOTE, beside_commitment=True))
    (said,) = quote_notes([quoted], start=None)
    assert said.endswith("without it an hour beyond the commitment costs 34.32 USD instead of 27.5")


@pytest.mark.parametrize(
    ("chance", "said"),
    [
        (0.8, ["tight fits its memory with 80 %: try a step first"]),
        (0.944, ["tight fits its memory with 94 %: try a step first"]),
        (0.945, []),
        (None, []),
    ],
)
def test_a_fit_that_is_not_sure_has_its_chance(chance: float | None, said: list[str]) -> None:
    assert list(fit_notes([option("tight", 10, 10, fit_chance=chance)])) == said
