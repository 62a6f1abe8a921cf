"""A plan's own currency: its rate against the US dollar with a range, a date and a source."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from planner.model.base import Day, Frozen, Positive, Text
from planner.model.currency_codes import MINOR_DIGITS, known_code

CurrencyCode = Annotated[
    str,
    Field(max_length=20),
    AfterValidator(known_code),
    WithJsonSchema({"type": "string", "enum": sorted(MINOR_DIGITS)}),
]
"""Currency code of ISO 4217."""


class Currency(Frozen):
    """Units of a currency for one US dollar. The planner computes in USD and shows amounts in both."""

    code: CurrencyCode
    """ISO 4217 code, such as EUR."""
    per_usd: Positive
    """Units of the currency for one US dollar."""
    low: Positive | None = None
    """Low end of the 90 % range of the rate. Default: the rate itself."""
    high: Positive | None = None
    """High end of the 90 % range of the rate. Default: the rate itself."""
    as_of: Day
    """Date of the rate."""
    source: Text
    """Source of the rate."""

    @model_validator(mode="after")
    def _a_rate_of_another_currency(self) -> Self:
        if self.code == "USD":
            raise ValueError("code USD is what the planner counts in: leave currency out")
        if not self.lowest <= self.per_usd <= self.highest:
            raise ValueError(f"per_usd {self.per_usd:g} lies outside its range {self.lowest:g} to {self.highest:g}")
        return self

    @property
    def lowest(self) -> float:
        """Low end of the rate."""
        return self.per_usd if self.low is None else self.low

    @property
    def highest(self) -> float:
        """High end of the rate."""
        return self.per_usd if self.high is None else self.high


class LocalAmount(Frozen):
    """An amount in the plan's own currency, in its smallest unit: whole won, cents of a euro.

    Its range covers only the uncertainty of the amount, at today's rate.
    """

    code: str
    value: float
    low: float
    high: float
