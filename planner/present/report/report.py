"""An answer to sign or to hand on: what its two pages and its appendix hold, in the reader's language."""

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
from planner.present.bill_text import currency_text
from planner.present.columns.entry import Entry, entries_of
from planner.present.columns.option_column import OptionColumn
from planner.present.option_marks import marks_explained
from planner.present.page.answer import AnswerPage
from planner.present.page.money import MoneyFormat
from planner.present.page.sentences import notes_text, phrase, translated
from planner.present.page.terms import terms_of
from planner.present.page.turns import AnswerTurn, turns_of
from planner.present.page.words import Words

ROWS = 9
"""Options on the first page: with the others it would be two."""
CHANGES = 6
LONGEST_SOURCE = 66
WEB = re.compile(r"https?://[^\s;,)\"'<>]{4,300}")
BEFORE_SOURCE = re.compile(r"^(?:\w+ in [\w-]+: |.{0,200}purchase\.\w+: )")
"""What stands before a price's source, and in other columns: its terms and region, or what it was computed from."""


@dataclass(frozen=True)
class PriceLine:
    """What an option's price is, and how old."""

    name: str
    terms: str
    price: str
    listed: str
    """The list's price beside a net one."""
    day: str
    stale: bool
    source: str


@dataclass(frozen=True)
class EvidenceLine:
    """What an option's speed rests on."""

    name: str
    speed: str
    range: str
    basis: Basis | None
    known_from: str
    doubts: int


@dataclass(frozen=True)
class Report:
    """An answer, with what would change it where that was asked."""

    document: ComparisonDocument
    words: Words
    start: date
    """The campaign's first day."""
    written_on: date
    """The day of the answer: its prices and dates are counted from it."""
    advice: RecommendationDocument | None = None
    more: Sequence[str] = ()
    """Columns of its table of options beside the usual ones, by their keys."""
    most_lines: ClassVar[int] = 9
    """Of prices and of evidence, on the second page."""
    most_assumptions: ClassVar[int] = 15

    @property
    def page(self) -> AnswerPage:
        """The answer as the app shows it."""
        return AnswerPage(self.document, self.words, self.start, self.more)

    @property
    def money(self) -> MoneyFormat:
        """How amounts are written."""
        return MoneyFormat(self.words, self.document.currency)

    def sentences(self) -> list[str]:
        """Return what to do, and what to know beside it."""
        return self.page.sentences()

    def limits(self) -> str:
        """Return what the campaign is, and its limits, in a line."""
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
        """Return whether there is a limit that an option can miss."""
        return self.document.deadline is not None or self.document.budget_usd is not None

    def trainings(self) -> str:
        """Return how many trainings there are."""
        return self.words.trainings(self.document.runs)

    def columns(self) -> list[OptionColumn]:
        """Return the columns of its table of options: where nothing is limited, none for the chance to keep limits."""
        return [column for column in self.page.columns() if column.key != "chance" or self.limited()]

    def first_entries(self) -> Sequence[Entry]:
        """Return the rows of the first page, with the recommended or nearest options."""
        entries = entries_of(self.document)
        shown = [entry for entry in entries[ROWS:] if self.page.is_shown(entry.option)][:ROWS]
        return [*entries[: ROWS - len(shown)], *shown]

    def runs_of(self, option: RankedOption) -> str:
        """Return how many trainings of a mix an option does; nothing of one that does none, or without a mix."""
        mix = self.document.mix
        runs = sum(placement.runs for placement in mix.placements if placement.option == option.id) if mix else 0
        return self.words.trainings(runs) if runs else ""

    def marks_explained(self) -> list[str]:
        """Return what the marks of the first options mean."""
        explained = marks_explained(
            [entry.option for entry in self.first_entries()], lambda usd: self.money.text(usd.value)
        )
        return [translated(text, self.words) for text in explained]

    def changes(self) -> list[AnswerTurn]:
        """Return what would change the answer: runs worth making, values at which it turns, limits that others fit."""
        turns = [] if self.advice is None else turns_of(self.advice, self.words)
        return [*turns, *(AnswerTurn(change, None) for change in self.page.changes())][:CHANGES]

    def prices(self) -> list[PriceLine]:
        """Return a line a price that the options are counted with, the first options' first; equal ones once."""
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
        """Return what every option's speed rests on."""
        return [self._evidence(option) for option in self.document.options]

    def _evidence(self, option: RankedOption) -> EvidenceLine:
        words, speed = self.words, option.throughput
        known = phrase(option.known_from, words) if option.known_from else words("not known")
        name, doubts = facts.name_text(option), len(option.doubts)
        if speed is None:
            return EvidenceLine(name, "", "", None, known, doubts)
        return EvidenceLine(name, words.figure(speed), words.figure_range(speed), speed.basis, known, doubts)

    def notes(self) -> list[str]:
        """Return what is to be known of all numbers alike."""
        words, currency = self.words, self.document.currency
        notes = notes_text(self.document, words)
        if currency is not None:
            notes.append(words("{code} counted with {rate}.", code=currency.code, rate=currency_text(currency)))
        return notes

    def reading(self) -> list[str]:
        """Return how the numbers are read, and what they leave out."""
        return [self.words(line) for line in reading_notes()]

    @staticmethod
    def short_source(source: str) -> str:
        """Return a source that fits a line: an address by its host; whole, it stands in the appendix."""
        text = WEB.sub(lambda found: urlsplit(found[0]).hostname or found[0], BEFORE_SOURCE.sub("", source))
        return text if len(text) <= LONGEST_SOURCE else f"{text[: LONGEST_SOURCE - 1].rstrip()}…"


BASES = (
    "Basis: measured (a run on this machine), quoted (a price list or data sheet), modelled (computed from runs "
    "elsewhere), assumed (stated, not checked). A computed number carries the weakest basis of its inputs."
)


def reading_notes() -> tuple[str, ...]:
    """Return what the numbers mean and what they leave out."""
    return (
        facts.RANGE_MEANS, BASES, facts.WHAT_OWNED_COUNTS, facts.MODELLED_MEANS_ESTIMATED, facts.LEFT_OUT
    )  # fmt: skip
