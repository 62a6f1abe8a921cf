"""Own or rent as a page shows it."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from planner.model.answer.own_or_rent import OwnOrRentDocument
from planner.present.page.money import Money
from planner.present.page.sentences import horizons_text, translated
from planner.present.page.templating import render
from planner.present.page.words import Words


@dataclass(frozen=True)
class YearPage:
    """An answer with the words in which it is shown."""

    document: OwnOrRentDocument
    words: Words

    @property
    def usd(self) -> Money:
        """How dollars are written."""
        return Money(self.words)

    @property
    def local(self) -> Money:
        """How the plan's own currency is written."""
        return Money(self.words, self.document.currency)

    def headline_html(self) -> str:
        """Render what to do, and what to know beside it."""
        return render(
            "answer.html",
            "headline",
            self,
            self.words,
            sentences=[translated(one, self.words) for one in self.document.headline],
        )

    def horizons_html(self) -> str:
        """Render what this campaign and a year of such work ask for; nothing where that is not told."""
        both = self.document.horizons
        if both is None:
            return ""
        return f'<p class="small">{escape(horizons_text(both, self.words))}</p>'

    def ways_html(self) -> str:
        """Render a row a way to do the year's trainings; nothing where their time is not known."""
        year = self.document.by_plan
        if year is None:
            return ""
        names = {option.id: option.display_name for option in year.options}
        own = next(option for option in year.options if option.id == year.owning)
        return render(
            "year.html", "ways", self, self.words, year=year, currency=self.document.currency,
            own=own.display_name, rival=names.get(own.costs_less_than or ""),
        )  # fmt: skip
