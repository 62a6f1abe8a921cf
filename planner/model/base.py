"""How every model of ours behaves: frozen, no unknown keys, finite numbers."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

SCHEMA_VERSION = 1

Id = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/@+-]{0,119}$")]
Text = Annotated[str, Field(min_length=1, max_length=2000)]
SMALLEST = 1e-18
"""Far below anything real; smaller numbers would vanish in a product."""


def not_tiny(value: float) -> float:
    """Refuse a positive number below `SMALLEST`."""
    if value < SMALLEST:
        raise ValueError(f"must be at least {SMALLEST:g}")
    return value


SMALLEST_SHARE = 1e-6
"""One in a million: no smaller part of a peak rate, of the hours or of a price is meant."""


def not_a_tiny_share(value: float) -> float:
    """Refuse a positive share below `SMALLEST_SHARE`."""
    if value < SMALLEST_SHARE:
        raise ValueError(f"must be at least {SMALLEST_SHARE:g}")
    return value


Positive = Annotated[float, Field(strict=True, gt=0, le=1e18), AfterValidator(not_tiny)]
NonNegative = Annotated[float, Field(strict=True, ge=0, le=1e18)]
Fraction = Annotated[float, Field(strict=True, gt=0, le=1), AfterValidator(not_a_tiny_share)]
MOST_COUNT = 10**15
Count = Annotated[int, Field(strict=True, ge=1, le=MOST_COUNT)]
Day = Annotated[date, Field(ge=date(1990, 1, 1), le=date(2100, 12, 31))]
"""A day that a file states; one far from today is a slip, and sums with it leave the calendar."""


class Frozen(BaseModel):
    """A value that was checked once, at the door, and never changes."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, validate_default=True)
