"""Write notes on the options that an answer advises: a quote to accept, and memory that may be too small."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date

from planner.decide.options.display_name import name_of
from planner.model.answer.option_estimate import CampaignOption, OptionEstimate
from planner.text.number_text import percent_text

SURELY_FITS = 0.945
"""Chance to fit from which on it is not mentioned: 95 % as written."""


def may_not_fit(option: OptionEstimate) -> bool:
    """Return whether its chance to fit is too low to be taken for granted."""
    return bool(option.fits) and option.fit_chance is not None and option.fit_chance < SURELY_FITS


def fit_notes(options: Iterable[CampaignOption]) -> Iterator[str]:
    """Yield with which chance each option fits its memory, where that is not sure."""
    for option in filter(may_not_fit, options):
        yield f"{name_of(option)} fits its memory with {percent_text(option.fit_chance or 0.0)}: try a step first"


def quote_notes(options: Iterable[CampaignOption], *, start: date | None) -> Iterator[str]:
    """Yield by when each quote behind the options has to be accepted, and what an hour costs without it.

    `start`: the plan's first day of work. Work that begins later than the quote's last day is pointed out.
    """
    for option in options:
        quote = option.open_quote
        if quote is None:
            continue
        begins = max(filter(None, (start, option.ready_on)), default=None)
        before = ", before the work begins" if begins is not None and begins > quote.accept_by else ""
        hour = "an hour beyond the commitment" if quote.beside_commitment else "an hour"
        yield (
            f"accept the quote for {name_of(option)} by {quote.accept_by}{before}: without it {hour} costs "
            f"{quote.otherwise_usd_per_hour:,.4g} USD instead of {quote.usd_per_hour:,.4g}"
        )
