"""Content of a report: its two pages and its appendix, in the reader's language. Also writes it as one HTML file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import ClassVar
from urllib.parse import urlsplit

from planner.model.answer.documents import ComparisonDocument
from planner.model.answer.option_estimate import RankedOption
from planner.model.answer.recommendation import RecommendationDocument
from planner.model.quantity import Basis
from planner.present import facts
from planner.present.bills import currency_text
from planner.present.charts import CHART_READING, chart_svg, not_drawn
from planner.present.columns.entry import Entry, entries_of
from planner.present.columns.table_column import OptionColumn
from planner.present.option_marks import marks_explained
from planner.present.page.answer import AnswerPage
from planner.present.page.sentences import notes_text, phrase, translated
from planner.present.page.templating import render, style
from planner.present.page.turns import AnswerTurn, turns_of
from planner.present.page.words import MoneyFormat, Words, terms_of

ROWS = 9
"""Options on the first page. More would not fit."""
CHANGES = 6
LONGEST_SOURCE = 66
WEB = re.compile(r"https?://[^\s;,)\"'<>]{4,300}")
BEFORE_SOURCE = re.compile(r"^(?:\w+ in [\w-]+: |.{0,200}purchase\.\w+: )")
"""Beginning of a price's source that other columns show already: terms and region, or the computed purchase."""


@dataclass(frozen=True)
class PriceLine:
    """Price of an option with its date."""

    name: str
    terms: str
    price: str
    listed: str
    """List price, if the price is net."""
    day: str
    stale: bool
    source: str


@dataclass(frozen=True)
class EvidenceLine:
    """Basis of an option's speed."""

    name: str
    speed: str
    range: str
    basis: Basis | None
    known_from: str
    doubts: int


@dataclass(frozen=True)
class Report:
    """An answer, with advice on changes that would reverse it, if requested."""

    document: ComparisonDocument
    words: Words
    start: date
    """The campaign's first day."""
    written_on: date
    """Day of the answer, from which the age of prices and dates are counted."""
    advice: RecommendationDocument | None = None
    more: Sequence[str] = ()
    """Keys of columns of its table of options besides the usual ones."""
    most_lines: ClassVar[int] = 9
    """Largest number of lines of prices, and of evidence, on the second page."""
    most_assumptions: ClassVar[int] = 15

    @property
    def page(self) -> AnswerPage:
        """The answer as the app shows it."""
        return AnswerPage(self.document, self.words, self.start, self.more)

    @property
    def money(self) -> MoneyFormat:
        """Format of amounts."""
        return MoneyFormat(self.words, self.document.currency)

    def sentences(self) -> list[str]:
        """Return the sentences of the headline."""
        return self.page.sentences()

    def limits(self) -> str:
        """Return the campaign and its limits in one line."""
        words, document = self.words, self.document
        parts = [self.trainings()]
        parts.append(
            words("deadline {day}", day=words.day(document.deadline)) if document.deadline else words("no deadline")
        )
        budget = document.budget_usd
        parts.append(words("no budget") if budget is None else words("budget {usd}", usd=self.money.text(budget)))
        if document.currency is not None:
            rate = words.number(document.currency.per_usd, digits=5)
            day = words.day(document.currency.as_of)
            parts.append(words("{rate} {code} a USD of {day}", rate=rate, code=document.currency.code, day=day))
        parts.append(words("prices and dates as of {day}", day=words.day(self.written_on)))
        if document.answer_id is not None:
            parts.append(words("answer {id}", id=document.answer_id))
        return "; ".join(parts)

    def limited(self) -> bool:
        """Return True if there is a limit that an option can miss."""
        return self.document.deadline is not None or self.document.budget_usd is not None

    def trainings(self) -> str:
        """Return the number of trainings as text."""
        return self.words.trainings(self.document.runs)

    def columns(self) -> list[OptionColumn]:
        """Return the columns of its table of options, without the chance to keep limits if there are none."""
        return [column for column in self.page.columns() if column.key != "chance" or self.limited()]

    def first_entries(self) -> Sequence[Entry]:
        """Return the rows of the first page, including the recommended or nearest options."""
        entries = entries_of(self.document)
        shown = [entry for entry in entries[ROWS:] if self.page.is_shown(entry.option)][:ROWS]
        return [*entries[: ROWS - len(shown)], *shown]

    def runs_of(self, option: RankedOption) -> str:
        """Return the number of trainings of a mix that an option does; empty for none, or without a mix."""
        mix = self.document.mix
        runs = sum(placement.runs for placement in mix.placements if placement.option == option.id) if mix else 0
        return self.words.trainings(runs) if runs else ""

    def marks_explained(self) -> list[str]:
        """Return the meanings of the marks of the first options."""
        explained = marks_explained(
            [entry.option for entry in self.first_entries()], lambda usd: self.money.text(usd.value)
        )
        return [translated(text, self.words) for text in explained]

    def changes(self) -> list[AnswerTurn]:
        """Return changes that would reverse the answer: measurements, turning points, limits that others fit."""
        turns = [] if self.advice is None else turns_of(self.advice, self.words)
        return [*turns, *(AnswerTurn(change, None) for change in self.page.changes())][:CHANGES]

    def prices(self) -> list[PriceLine]:
        """Return one line per price of the options, in their order, without duplicates."""
        lines = [line for option in self.document.options if (line := self._price(option)) is not None]
        return list(dict.fromkeys(lines))

    def _price(self, option: RankedOption) -> PriceLine | None:
        words, name = self.words, facts.name_text(option)
        price, bought = option.price, option.pay_now_usd
        if price is not None:
            listed = words.number(option.list_price, digits=5) if option.list_price else ""
            return PriceLine(
                name, terms_of(option, words), f"{words.number(price.value, digits=5)} {price.unit.value}",
                listed, words.day(price.as_of), bool(option.price_stale), self.short_source(price.source),
            )  # fmt: skip
        if bought is not None:
            amount = f"{words.number(bought.value, digits=5)} USD"
            return PriceLine(
                name, words("purchase"), amount, "", words.day(bought.as_of), False, self.short_source(bought.source)
            )
        return None

    def evidence(self) -> list[EvidenceLine]:
        """Return the basis of every option's speed."""
        return [self._evidence(option) for option in self.document.options]

    def _evidence(self, option: RankedOption) -> EvidenceLine:
        words, speed = self.words, option.throughput
        known = phrase(option.known_from, words) if option.known_from else words("not known")
        name, doubts = facts.name_text(option), len(option.doubts)
        if speed is None:
            return EvidenceLine(name, "", "", None, known, doubts)
        return EvidenceLine(name, words.figure(speed), words.figure_range(speed), speed.basis, known, doubts)

    def notes(self) -> list[str]:
        """Return the notes on all numbers."""
        words, currency = self.words, self.document.currency
        notes = notes_text(self.document, words)
        if currency is not None:
            notes.append(words("{code} counted with {rate}.", code=currency.code, rate=currency_text(currency)))
        return notes

    def reading(self) -> list[str]:
        """Return how to read the numbers, and what they leave out, in the reader's language."""
        return [self.words(line) for line in reading_notes()]

    @staticmethod
    def short_source(source: str) -> str:
        """Return a source that fits on a line, with addresses shortened to their host. The appendix has it in full."""
        text = WEB.sub(lambda found: urlsplit(found[0]).hostname or found[0], BEFORE_SOURCE.sub("", source))
        return text if len(text) <= LONGEST_SOURCE else f"{text[: LONGEST_SOURCE - 1].rstrip()}…"


BASES = (
    "Basis: measured (a run of yours), quoted (a price list or data sheet), modelled (computed from runs "
    "elsewhere), assumed (a usual value, because nothing states it). A computed number carries the weakest basis of "
    "its inputs."
)


def reading_notes() -> tuple[str, ...]:
    """Return how to read the numbers, and what they leave out, in English."""
    return (
        facts.RANGE_MEANS, BASES, facts.WHAT_OWNED_COUNTS, facts.MODELLED_MEANS_ESTIMATED, facts.LEFT_OUT
    )  # fmt: skip


def as_html(report: Report, *, unfolded: bool = False) -> str:
    """Write the report. `unfolded` opens its appendix, so that it is printed too."""
    words = report.words
    undrawn = not_drawn(report.document)
    notes = [words(CHART_READING)] + ([words("Not drawn: {names}.", names="; ".join(undrawn))] if undrawn else [])
    page = render(
        "report.html", "whole", report, words, style=style("page.css", "report.css"),
        chart_svg=chart_svg(report.document), chart_notes=" ".join(notes), unfolded=unfolded,
    )  # fmt: skip
    return f"{page}\n"
