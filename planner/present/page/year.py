"""Own or rent as a page shows it."""

from __future__ import annotations

from dataclasses import dataclass

from planner.model.answer.own_or_rent import OwnOrRentDocument
from planner.present.page.money import Money
from planner.present.page.sentences import translated
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

    def ways_html(self) -> str:
        """Render a row a way to do the year's trainings; nothing where their time is not known."""
        year = self.document.by_plan
        if year is None:
            return ""
        return render("year.html", "ways", self, self.words, year=year, currency=self.document.currency)
