"""Common behaviour of all models: frozen, no unknown keys, finite numbers."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field

SCHEMA_VERSION = 1

Id = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/@+-]{0,119}$")]
Text = Annotated[str, Field(min_length=1, max_length=2000)]
SMALLEST = 1e-18
"""Smallest positive number. It is far below anything real; smaller numbers would vanish in a product."""


def not_tiny(value: float) -> float:
    """Refuse a positive number below `SMALLEST`."""
    if value < SMALLEST:
        raise ValueError(f"must be at least {SMALLEST:g}")
    return value


SMALLEST_SHARE = 1e-6
"""Smallest share: one in a million. No smaller part of a peak rate, of the hours or of a price is meant."""


def not_a_tiny_share(value: float) -> float:
    """Refuse a positive share below `SMALLEST_SHARE`."""
    if value < SMALLEST_SHARE:
        raise ValueError(f"must be at least {SMALLEST_SHARE:g}")
    return value


Flag = Annotated[bool, Field(strict=True)]
"""true or false. pydantic alone would also accept 1, and the words yes, on and y."""
Number = Annotated[float, Field(strict=True)]
"""A number. pydantic alone would also accept true, and text."""
Positive = Annotated[float, Field(strict=True, gt=0, le=1e18), AfterValidator(not_tiny)]
NonNegative = Annotated[float, Field(strict=True, ge=0, le=1e18)]
Fraction = Annotated[float, Field(strict=True, gt=0, le=1), AfterValidator(not_a_tiny_share)]
MOST_COUNT = 10**15
AnswerId = Annotated[str, Field(pattern=r"^[0-9a-f]{12}$")]
"""Beginning of a SHA-256. `planner.use_cases.answer_ids` says of which inputs."""
Count = Annotated[int, Field(strict=True, ge=1, le=MOST_COUNT)]
_SECONDS = re.compile(r"[-+]?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?")


def not_a_number_for_a_day(value: Any) -> Any:
    """Refuse seconds since 1970, which pydantic would read as a day. Name the day that is meant."""
    if not _is_number(value):
        return value
    raise ValueError(f"must be a date, as {_day_meant(str(value))}")


def not_a_number_for_a_moment(value: Any) -> Any:
    """Refuse seconds since 1970, which pydantic would read as a moment. Name the one that is meant."""
    if not _is_number(value):
        return value
    raise ValueError(f"must be a date and a time with its zone, as {_day_meant(str(value))}T12:00:00+00:00")


def _is_number(value: Any) -> bool:
    if isinstance(value, str):
        return _SECONDS.fullmatch(value) is not None
    return isinstance(value, int | float)


def _day_meant(number: str) -> str:
    """Return the day behind `20270115` or `1800000000`, or an example."""
    for seconds_per_unit in (None, 1.0, 1e-3):
        try:
            if seconds_per_unit is None:
                day = date.fromisoformat(number) if len(number) == len("20270115") else None
            else:
                day = datetime.fromtimestamp(float(number) * seconds_per_unit, UTC).date()
        except (ValueError, OverflowError, OSError):
            continue
        if day is not None and FIRST_DAY < day <= LAST_DAY:
            return day.isoformat()
    return "2027-01-15"


FIRST_DAY, LAST_DAY = date(1990, 1, 1), date(2100, 12, 31)
Day = Annotated[date, Field(ge=FIRST_DAY, le=LAST_DAY), BeforeValidator(not_a_number_for_a_day)]
"""A day that a file states. One far from today is a typing error, and sums with it leave the calendar."""
SourceDay = Annotated[date, BeforeValidator(not_a_number_for_a_day)]
"""Day of a source, however old."""
Moment = Annotated[AwareDatetime, BeforeValidator(not_a_number_for_a_moment)]
"""A moment that a file states, with its zone."""


class Frozen(BaseModel):
    """A value that is checked once, on entry, and never changes.

    pydantic builds a model's checks at its first use: a command needs a part of the 200 models that it imports.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, validate_default=True, defer_build=True)
