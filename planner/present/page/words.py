"""Writes words, numbers, dates, amounts and terms in the reader's language, with gettext and babel."""

from __future__ import annotations

import gettext
import math
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path

from planner.decide.recommend.phrases import Promised
from planner.model.answer.option_estimate import OptionEstimate
from planner.model.currency import Currency
from planner.model.prices.offer import PriceKind
from planner.model.quantity import Quantity, Unit
from planner.present.facts import terms_and_region

LANGUAGES = {"en": "English", "ko": "한국어"}
LOCALE = Path(__file__).with_name("locale")
DOMAIN = "planner"
MOST_PERCENT, LEAST_PERCENT = 99, 1


@dataclass(frozen=True)
class Words:
    """Messages, numbers and dates in one language. A message without a translation stays English."""

    language: str = "en"

    def __call__(self, message: str, **values: object) -> str:
        """Translate a message, and insert its values."""
        text = _catalog(self.language).gettext(message)
        return text.format(**values) if values else text

    def day(self, day: date | None) -> str:
        """Write a date; empty for None."""
        from babel.dates import format_date

        return "" if day is None else str(format_date(day, format="medium", locale=self.language))

    def number(self, value: float, *, digits: int = 3, most_decimals: int = 2) -> str:
        """Write a number with a number of significant digits."""
        from babel.numbers import format_decimal

        rounded = float(f"{value:.{digits}g}")
        pattern = "#,##0" + ("." + "#" * most_decimals if abs(rounded) < 100 else "")
        return str(format_decimal(rounded, format=pattern, locale=self.language))

    def percent(self, share: float) -> str:
        """Write a chance in whole percent, never 0 or 100 %, because it comes from ranges."""
        return f"{min(MOST_PERCENT, max(LEAST_PERCENT, round(100 * share)))} %"

    def trainings(self, runs: int) -> str:
        """Write a number of trainings."""
        return self("1 training") if runs == 1 else self("{n} trainings", n=f"{runs:,}")

    def hours(self, hours: float) -> str:
        """Write a duration in minutes, hours, or from 48 hours on in days, with two digits below 100."""
        divisor, unit = _unit(hours)
        return self(f"{{n}} {unit}", n=self._short(hours / divisor))

    def hours_range(self, hours: Quantity) -> str:
        """Write the 90 % range of a duration in one unit; empty if there is none."""
        if hours.low == hours.high:
            return ""
        divisor, unit = _unit(hours.high)
        return self(f"{{n}} {unit}", n=f"{self._short(hours.low / divisor)}-{self._short(hours.high / divisor)}")

    def figure(self, quantity: Quantity) -> str:
        """Write a value with three digits, and its unit; a ratio has none."""
        number = self.number(quantity.value, most_decimals=4)
        return number if quantity.unit is Unit.RATIO else f"{number} {quantity.unit.value}"

    def figure_range(self, quantity: Quantity) -> str:
        """Write the 90 % range of a value; empty if there is none."""
        low, high = (self.number(end, digits=2, most_decimals=4) for end in (quantity.low, quantity.high))
        return "" if quantity.low == quantity.high else f"{low}-{high}"

    def _short(self, value: float) -> str:
        return self.number(value, digits=2 if value < 100 else 3)


def _unit(hours: float) -> tuple[float, str]:
    """Return the hours of the unit for a duration, and the unit's name."""
    return (1 / 60, "minutes") if hours < 1 else (1.0, "hours") if hours < 48 else (24.0, "days")


@cache
def _catalog(language: str) -> gettext.NullTranslations:
    return gettext.translation(DOMAIN, LOCALE, languages=[language], fallback=True)


TERMS = ("to be bought", "leased", "there already", "rented", *(kind.value.replace("_", " ") for kind in PriceKind))


def terms_of(option: OptionEstimate, words: Words) -> str:
    """Write the terms, with the region of a rented machine."""
    terms, region = terms_and_region(option)
    return ", ".join(filter(None, (words(terms), region)))


MILLION = 1e6
IN_MILLIONS = 10 * MILLION


@dataclass(frozen=True)
class MoneyFormat:
    """Format of amounts in one language and currency."""

    words: Words
    currency: Currency | None = None

    @property
    def code(self) -> str:
        """Code of the currency of all amounts."""
        return self.currency.code if self.currency else "USD"

    def text(self, usd: float) -> str:
        """Write an amount with three digits: 4,600 USD; 52.6 million KRW."""
        return self._written(usd * self._per_usd)

    def most(self, plan: Promised) -> str:
        """Write the upper bound of a plan's cost at the confidence, rounded up."""
        assert plan.usd_confident is not None, "its cost is known"
        amount = plan.usd_confident * self._per_usd if plan.local_confident is None else plan.local_confident
        return self._written(_rounded_up(amount))

    @property
    def _per_usd(self) -> float:
        return self.currency.per_usd if self.currency else 1.0

    def _written(self, amount: float) -> str:
        if self.currency is not None and abs(amount) >= IN_MILLIONS:
            return self.words("{n} million {code}", n=self.words.number(amount / MILLION), code=self.code)
        return f"{self.words.number(amount)} {self.code}"

    def range(self, usd: Quantity) -> str:
        """Write the 90 % range with two digits; empty if there is none."""
        if usd.low == usd.high:
            return ""
        low, high = (max(0.0, end) * self._per_usd for end in (usd.low, usd.high))
        if self.currency is not None and high >= IN_MILLIONS:
            return self.words("{n} million {code}", n=self._ends(low / MILLION, high / MILLION), code=self.code)
        return f"{self._ends(low, high)} {self.code}"

    def _ends(self, low: float, high: float) -> str:
        return f"{self.words.number(low, digits=2)}-{self.words.number(high, digits=2)}"

    def dollars_at_most(self, usd: float) -> str:
        """Write an upper bound in dollars to add to another currency; empty if the currency is the dollar."""
        return "" if self.currency is None else f"{self.words.number(_rounded_up(usd))} USD"


def _rounded_up(amount: float) -> float:
    """Round an amount up to three digits."""
    step = 10.0 ** (math.floor(math.log10(amount)) - 2) if amount > 0 else 1.0
    return math.ceil(amount / step - 1e-9) * step
