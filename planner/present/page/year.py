"""Renders "own or rent" as a page."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from planner.model.answer.own_or_rent import OwnOrRentDocument
from planner.model.quantity import Quantity, Unit
from planner.present.columns.table_column import short_plain_text
from planner.present.columns.year_columns import YearColumn, YearEntry, YearTable, year_columns, year_entries
from planner.present.page.sentences import horizons_text, translated
from planner.present.page.templating import render
from planner.present.page.words import MoneyFormat, Words
from planner.present.table import NOT_KNOWN


@dataclass(frozen=True)
class YearPage:
    """An "own or rent" answer with the language of the page."""

    document: OwnOrRentDocument
    words: Words

    def headline_html(self) -> str:
        """Render the sentences of the headline."""
        return render(
            "answer.html",
            "headline",
            self,
            self.words,
            sentences=[translated(sentence, self.words) for sentence in self.document.headline],
        )

    def horizons_html(self) -> str:
        """Render the sentences about this campaign and about a year of such work; empty if there are none."""
        both = self.document.horizons
        if both is None:
            return ""
        return f'<p class="small">{escape(horizons_text(both, self.words))}</p>'

    def ways_html(self) -> str:
        """Render one row per way to do the year's trainings; empty if their time is unknown."""
        year = self.document.by_plan
        if year is None:
            return ""
        names = {option.id: option.display_name for option in year.options}
        own = next(option for option in year.options if option.id == year.owning)
        columns = year_columns(YearTable.PAGE, local=self.document.currency is not None)
        return render(
            "year.html", "ways", self, self.words, columns=columns, entries=year_entries(self.document), year=year,
            own=own.display_name, rival=names.get(own.costs_less_than or ""),
        )  # fmt: skip

    def head(self, column: YearColumn) -> str:
        """Return a column's title."""
        currency = self.document.currency
        return self.words(column.head(YearTable.PAGE), code=currency.code if currency else "")

    def cells(self, column: YearColumn, entry: YearEntry) -> tuple[str, ...]:
        """Return the text of a cell, with that of the 90 % range for a quantity."""
        value, words = column.value(entry), self.words
        if isinstance(value, Quantity) and value.unit in (Unit.USD, Unit.USD_PER_YEAR):
            usd = MoneyFormat(words)
            return usd.text(value.value), usd.range(value)
        if isinstance(value, Quantity):
            return words.figure(value), words.figure_range(value)
        if isinstance(value, float) and column.share:
            return (words.percent(value),)
        text = column.translated(entry, words) if column.translated else short_plain_text(column, value)
        return (text or NOT_KNOWN, "") if column.quantity else (text or NOT_KNOWN,)
