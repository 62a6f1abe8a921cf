"""Writes amounts on a page, in dollars or in the plan's own currency at its rate."""

from __future__ import annotations

import math
from dataclasses import dataclass

from planner.decide.recommend.phrases import Promised
from planner.model.currency import Currency
from planner.model.quantity import Quantity
from planner.present.page.words import Words

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
