"""Writes words, numbers, dates and the terms of a machine in the reader's language, with gettext and babel."""

from __future__ import annotations

import gettext
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path

from planner.model.answer.option_estimate import OptionEstimate
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
