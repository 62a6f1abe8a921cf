"""Parses numbers in logs: 1,234, 12.5k, 01:02:03. Functions return None if there is none."""

from __future__ import annotations

import math
import re
from datetime import datetime

MOST = 1e18
DIGITS = 18
"""Digits of a whole number that is surely within the limit."""
_NUMBER = re.compile(
    r"\s*([-+]?(?:\d{1,3}(?:,\d{3}){1,9}|\d{1,30})?(?:\.\d{0,30})?(?:[eE][-+]?\d{1,4})?)\s?([kKmMbBgGtT]?)\s*", re.ASCII
)
"""Pattern of a number. Commas separate only groups of three digits: programs disagree about `10,5`."""
THOUSANDS = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "g": 1e9, "t": 1e12}


def number(value: object) -> float | None:
    """Return a number of at most 1e18, also from text such as `1,234.5` or `12.5k`. Below 1e-18 it is 0."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return _finite(value)
    text = str(value)
    if text.isascii() and text.isdecimal() and len(text) <= DIGITS:  # most cells of a long table
        return float(text)
    found = _NUMBER.fullmatch(text)
    if found is None:
        return None
    try:
        return _finite(float(found[1].replace(",", "")) * THOUSANDS[found[2].lower()])
    except ValueError:
        return None


def _finite(value: float) -> float | None:
    try:
        small = float(value)
    except OverflowError:
        return None
    if not math.isfinite(small) or abs(small) > MOST:
        return None
    return small if abs(small) >= 1 / MOST else 0.0  # so that ratios of two are finite


def count(value: object) -> int | None:
    """Return a whole number above 0."""
    found = number(value)
    return int(found) if found is not None and found >= 1 and found == int(found) else None


def positive(value: object) -> float | None:
    """Return a number above 0."""
    found = number(value)
    return found if found is not None and found > 0 else None


def number_or_nan(value: object) -> float:
    """Return a number, or NaN if there is none. The loss of a diverged step thus keeps its place in the series."""
    found = number(value)
    return float("nan") if found is None else found


def step_number(value: object) -> int | None:
    """Return a step, also from `5/400` as ms-swift writes it."""
    found = number(value.partition("/")[0] if isinstance(value, str) else value)
    return None if found is None else int(found)


_IN_WORDS = re.compile(r"(?:(\d{1,5})d ?)?(?:(\d{1,6})h ?)?(?:(\d{1,6})m ?)?(?:(\d{1,6}(?:\.\d{1,9})?)s)?")


def clock_s(text: str) -> float | None:
    """Return the seconds of `MM:SS`, `H:MM:SS`, `D days, H:MM:SS` or `1d 2h 3m 4s`."""
    in_words = _IN_WORDS.fullmatch(text.strip()) if text.strip() else None
    if in_words is not None:
        days, hours, minutes, seconds = (float(part or 0) for part in in_words.groups())
        return days * 86_400 + hours * 3_600 + minutes * 60 + seconds
    found = re.fullmatch(r"(?:(\d{1,5}) days?, ?)?(?:(\d{1,6}):)?(\d{1,2}):(\d{2}(?:\.\d{1,9})?)", text.strip())
    if found is None:
        return None
    days, hours, minutes, seconds = (float(part or 0) for part in found.groups())
    return days * 86_400 + hours * 3_600 + minutes * 60 + seconds


def moment_s(value: object) -> float | None:
    """Return a moment in seconds: a number (milliseconds if that large), an ISO date and time, or elapsed time."""
    elapsed = clock_s(str(value))
    found = number(value) if elapsed is None else None
    if found is not None:
        return found / 1e3 if found > 1e11 else found
    if elapsed is not None:
        return elapsed
    text = str(value).strip().replace(",", ".")
    try:
        return datetime.fromisoformat(text).timestamp() if re.match(r"\d{4}-\d\d-\d\d[T ]\d", text) else None
    except (ValueError, OverflowError, OSError):
        return None
