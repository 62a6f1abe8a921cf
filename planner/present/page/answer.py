"""Renders an answer as a page: headline, three figures, bars, and one row per option that opens to its basis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from planner.decide.recommend.phrases import Phrases, nothing_to_pay
from planner.decide.recommend.rank import is_feasible
from planner.decide.recommend.wording import short_duration_parts
from planner.model.answer.documents import ComparisonDocument, FeasiblePlan
from planner.model.answer.option_estimate import OptionEstimate, RankedOption
from planner.model.plan.campaign_limits import CampaignLimits
from planner.model.quantity import Quantity, Unit
from planner.present import facts
from planner.present.columns.entry import Entry, entries_of
from planner.present.columns.registry import LAYOUTS, columns_of
from planner.present.columns.table_column import OptionColumn, OptionTable, short_plain_text
from planner.present.option_marks import marks_explained
from planner.present.page.bars import bars, day_after
from planner.present.page.sentences import notes_text, translated
from planner.present.page.templating import render
from planner.present.page.words import MoneyFormat, Words


@dataclass(frozen=True)
class KeyFigure:
    """One of the three figures: its name, its value, and a line below it."""

    name: str
    value: str
    below: str


def mix_figures(mix: FeasiblePlan, words: Words, money: MoneyFormat, *, asked: float) -> Sequence[KeyFigure]:
    """Return the figures "done by", "to pay" and "how sure"."""
    hours, usd = mix.campaign_hours, mix.campaign_usd
    chances = [chance for chance in (mix.chance_deadline, mix.chance_budget) if chance is not None]
    kept = min(chances, default=asked) if mix.chance_both is None else mix.chance_both
    sure = words("to keep the limits; {asked} asked; {known}", asked=words.percent(asked), known=words("simulated"))
    bill, spread = money.text(usd.value), money.range(usd)
    to_pay, below = bill, words("likely {value}; 90 %: {range}", value=bill, range=spread)
    if mix.usd_confident is not None:
        nothing = nothing_to_pay(mix, bill=usd)
        to_pay = words("at most {usd}", usd=money.most(mix))
        if mix.credits_usd:
            to_pay = words("at most {usd} after credits", usd=money.most(mix))
            below = words("before credits likely {value}; 90 %: {range}", value=bill, range=spread)
        to_pay = words(nothing) if nothing else to_pay
    return [
        KeyFigure(
            words("Done by"),
            words.day(mix.done_by_confident) if mix.done_by_confident else words("not known"),
            words("likely {value}; 90 %: {range}", value=words.hours(hours.value), range=words.hours_range(hours)),
        ),
        KeyFigure(words("To pay"), to_pay, below),
        KeyFigure(words("How sure"), words.percent(kept), sure),
    ]


HOLDS = {"have": "have", "rent": "rent", "buy": "buy", "use": "use"}
NO_FIGURE = "\u2013"
"""Text of a cell with an unknown value."""
FIRST_ROWS = 20
"""Rows that are drawn at first, with their basis. The others are drawn on request."""


@dataclass(frozen=True)
class AnswerPage:
    """An answer with the language of the page."""

    document: ComparisonDocument
    words: Words
    start: date
    """The campaign's first day."""
    more: Sequence[str] = ()
    """Keys of columns of its table besides the usual ones."""

    @property
    def money(self) -> MoneyFormat:
        """Format of its amounts."""
        return MoneyFormat(self.words, self.document.currency)

    @property
    def shown(self) -> RankedOption | None:
        """Recommended option, else the nearest one."""
        wanted = self.document.recommended or self.document.nearest
        return next((option for option in self.document.options if option.id == wanted), None)

    def is_shown(self, option: OptionEstimate) -> bool:
        """Return True if an option is recommended, or takes part in a recommended mix."""
        mix = self.document.mix
        return (
            option is self.shown if mix is None else any(placement.option == option.id for placement in mix.placements)
        )

    def sentences(self) -> list[str]:
        """Return the sentences of the headline; the one sentence of an answer stored before 0.2.0."""
        document = self.document
        said = document.headline if document.confidence is not None else (document.sentence,)
        return [translated(sentence, self.words) for sentence in said]

    def headline_html(self) -> str:
        """Render the sentences of the headline."""
        return self._render("headline", sentences=self.sentences())

    def figures_html(self) -> str:
        """Render the figures "done by", "to pay" and "how sure"."""
        return self._render("figures", figures=self.figures())

    def figures(self) -> Sequence[KeyFigure]:
        """Return the three figures of the shown mix or option."""
        option, words = self.shown, self.words
        if self.document.mix is not None:
            return mix_figures(self.document.mix, words, self.money, asked=self.document.confidence or 0.8)
        if option is None:
            return [KeyFigure(words(name), "-", "") for name in ("Done by", "To pay", "How sure")]
        return [self._done(option), self._to_pay(option), self._sure(option)]

    def bars_html(self) -> str:
        """Render cost bars with the budget, and finish dates with the deadline; empty if there is nothing to draw."""
        drawn = bars(self.document)
        if not drawn.rows:
            return ""
        days = drawn.hours_end >= 96
        end = words_day if (words_day := self.words.day(day_after(self.start, drawn.hours_end))) and days else ""
        return self._render(
            "bars", drawn=drawn, in_days=days, start=self.words.day(self.start) if days else "0",
            end=end or self.words.hours(drawn.hours_end), usd_end=self.money.text(drawn.usd_end),
        )  # fmt: skip

    def rows_html(self, *, every: bool = False) -> str:
        """Render the table of options, each row with its bill, time, formulas and sources."""
        entries = entries_of(self.document)[: None if every else FIRST_ROWS]
        explained = marks_explained([entry.option for entry in entries], lambda usd: self.money.text(usd.value))
        return self._render("rows", entries=entries, explained=[translated(text, self.words) for text in explained])

    def columns(self) -> list[OptionColumn]:
        """Return the columns of the table of options."""
        return columns_of(OptionTable.PAGE, self.more)

    @property
    def added(self) -> list[str]:
        """Keys of the columns that the user added."""
        return [column.key for column in self.columns() if column.key not in LAYOUTS[OptionTable.PAGE]]

    def cell(self, column: OptionColumn, entry: Entry) -> tuple[str, str]:
        """Return the text of a cell and of its 90 % range; a dash if unknown."""
        value, words = column.value(entry), self.words
        if isinstance(value, Quantity):
            if value.unit is Unit.HOURS:
                return words.hours(value.value), words.hours_range(value)
            if value.unit is Unit.USD:
                return self.money.text(value.value), self.money.range(value)
            return words.figure(value), words.figure_range(value)
        if value is None or isinstance(value, date):
            return words.day(value) or ("" if column.share else NO_FIGURE), ""
        if isinstance(value, float) and column.share:
            return words.percent(value), ""
        return column.translated(entry, words) if column.translated else short_plain_text(column, value), ""

    def notes_html(self) -> str:
        """Render the notes on all options, and the answer's id."""
        return self._render("notes", notes=notes_text(self.document, self.words))

    def assumptions_html(self, assumed: Sequence[str]) -> str:
        """Render the assumptions about the question, and the values from the catalog."""
        return self._render("assumptions", assumed=assumed)

    def changes_html(self) -> str:
        """Render the changes that would reverse the answer."""
        return self._render("changes", changes=self.changes())

    def changes(self) -> Sequence[str]:
        """Return the limits under which other options would fit, and the exchange rate at which another is cheaper."""
        document, words = self.document, self.words
        lines = []
        shown = self.shown
        for option in document.options:
            if option is shown or option.usd_confident is None or is_feasible(option):
                continue
            codes = {code.value for code in option.why_not_codes}
            if codes == {"over_budget"}:
                lines.append(
                    words("{name} fits a budget of {usd}.", name=option.display_name,
                          usd=self.money.most(option))
                )  # fmt: skip
            elif codes == {"misses_deadline"} and option.done_by_confident:
                lines.append(
                    words("{name} fits a deadline of {day}.", name=option.display_name,
                          day=words.day(option.done_by_confident))
                )  # fmt: skip
        lines = lines[:3]
        for rate in document.switching_rates[:1]:
            name = next(option.display_name for option in document.options if option.id == rate.option)
            side = "above" if rate.side == "above" else "below"
            lines.append(
                words(f"{{name}} is cheaper {side} {{rate}} {{code}} a USD; today {{today}}.", name=name,
                      rate=words.number(rate.per_usd, digits=4), code=rate.code,
                      today=words.number(rate.today_per_usd, digits=4))
            )  # fmt: skip
        return lines

    def _done(self, option: RankedOption) -> KeyFigure:
        words, limits = self.words, self._limits()
        value = words("not known")
        soon = Phrases(limits, self.document.currency).done_in(option)
        if soon is not None:
            number, unit = short_duration_parts(soon)
            value = words("in {duration}", duration=words(f"{{n}} {unit}", n=number))
        elif option.done_by_confident is not None:
            value = words.day(option.done_by_confident)
        took = option.campaign_hours
        below = ""
        if took is not None:
            below = words("likely {value}; 90 %: {range}", value=words.hours(took.value), range=words.hours_range(took))
        return KeyFigure(words("Done by"), value, below)

    def _to_pay(self, option: RankedOption) -> KeyFigure:
        words, usd = self.words, option.payable_usd
        if option.usd_confident is None or usd is None:
            return KeyFigure(words("To pay"), words("not known"), "")
        nothing = nothing_to_pay(option, bill=option.campaign_usd)
        value = words(nothing) if nothing else words("at most {usd}", usd=self.money.most(option))
        dollars = self.money.dollars_at_most(option.usd_confident)
        below = words("likely {value}; 90 %: {range}", value=self.money.text(usd.value), range=self.money.range(usd))
        return KeyFigure(words("To pay"), value, f"{dollars}; {below}" if dollars else below)

    def _sure(self, option: RankedOption) -> KeyFigure:
        words, chance = self.words, facts.chance_to_keep_limits(option)
        asked = self.document.confidence or 0.8
        basis = option.throughput.basis.value if option.throughput is not None else "assumed"
        known = words(f"speed {basis}")
        name, percent = words("How sure"), words.percent
        if chance is None:
            return KeyFigure(name, percent(asked), words("of these figures; no limits; {known}", known=known))
        return KeyFigure(
            name,
            percent(chance),
            words("to keep the limits; {asked} asked; {known}", asked=percent(asked), known=known),
        )

    def _limits(self) -> CampaignLimits:
        return CampaignLimits(confidence=self.document.confidence or 0.8)

    def _render(self, macro: str, **values: Any) -> str:
        return render("answer.html", macro, self, self.words, **values)


def problem_html(message: str, fix: str, words: Words, *, stands: bool) -> str:
    """Render a problem and its fix. `stands` means that the answer below is the previous one."""
    return render("answer.html", "problem", message.splitlines(), fix, words, stands)
