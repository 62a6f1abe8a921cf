"""An amount as a document prints it, in English, Korean and others: "1,979 TFLOPS", "7-10일", "$19-25/h", "5만원"."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from planner.model.base import Frozen

MULTIPLIERS = {
    "천": 1e3, "만": 1e4, "십만": 1e5, "백만": 1e6, "천만": 1e7, "억": 1e8, "십억": 1e9, "백억": 1e10, "천억": 1e11,
    "조": 1e12, "万": 1e4, "亿": 1e8, "億": 1e8, "兆": 1e12, "thousand": 1e3, "million": 1e6, "mio": 1e6,
    "billion": 1e9, "bn": 1e9, "mrd": 1e9,
    "trillion": 1e12, "k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12,
}  # fmt: skip
_DIGITS = (
    r"(?:[0-9]{1,3}(?:[ \u00a0\u2009\u202f][0-9]{3})+(?![0-9])|[0-9][0-9.,]*[0-9]|[0-9]|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
)
_LONG = sorted((word for word in MULTIPLIERS if len(word) > 1 or not word.isascii()), key=len, reverse=True)
_WORDS = "|".join(map(re.escape, _LONG))
_TIMES = rf"(?:\s*(?:{_WORDS})|\s*(?-i:[kKMBT])(?=\s|/|$))?"
_ABOUT = (
    r"(?:[~≈≃<>≤≥\u223c약\s]|ca\.?|circa|about|approx\.|approximately|around|roughly|up to|over|at most|최대|최소|대략|"
    r"총|합계|total|etwa|rund)*"
)
_TO = r"(?:[-~\u2013\u2014\u223c\u301c]|to\b|bis\b)"
_CURRENCY = r"(?:US\$|[$€£¥₩])?"
_AMOUNT = re.compile(
    rf"^{_ABOUT}(?P<currency>{_CURRENCY})\s*(?P<low>[-+]?{_DIGITS})(?P<low_times>{_TIMES})"
    rf"(?:\s*{_TO}\s*{_CURRENCY}\s*(?P<high>{_DIGITS})(?P<high_times>{_TIMES}))?\s*\+?(?P<unit>.*)$",
    re.DOTALL | re.IGNORECASE,
)
WANTED = "must be a number with its unit, as 83.5 h or 7-10 days"
MOST_CHARACTERS = 200
Value = Annotated[float, Field(strict=True, ge=-1e30, le=1e30)]


class Amount(Frozen):
    """A number with its unit. If the unit is missing, the audit says so. `high` is the other end of a range."""

    value: Value
    high: Value | None = None
    unit: Annotated[str, Field(max_length=100)] = ""

    @property
    def ends(self) -> tuple[float, float]:
        """Return the lower and the higher end; both are the same for a single number."""
        other = self.value if self.high is None else self.high
        return min(self.value, other), max(self.value, other)


def number_of(text: str) -> float:
    """Read digits with any separators: 1,979 and 1 979 and 1.234.567; 83,5 and 83.5; 1.234,5.

    Groups of three digits are thousands. A single point separates decimals, as in English and Korean.
    """
    digits, exponent, power = re.sub(r"[ \u00a0\u2009\u202f]", "", text).lower().partition("e")
    comma, point = digits.rfind(","), digits.rfind(".")
    if comma >= 0 and point >= 0:
        thousands = "," if point > comma else "."
        digits = digits.replace(thousands, "").replace(",", ".")
    elif digits.count(",") > 1 or digits.count(".") > 1:
        digits = re.sub("[.,]", "", digits)
    elif comma >= 0:
        grouped = len(digits) - comma == 4 and not digits.lstrip("+-").startswith("0")
        digits = digits.replace(",", "" if grouped else ".")
    return float(digits + exponent + power)


def read_amount(data: Any) -> Any:
    """Turn a file's value into the fields of an `Amount`. ValueError if it begins with no number."""
    if data is None or isinstance(data, bool | list):
        raise ValueError(WANTED)
    if isinstance(data, int | float):
        return {"value": data}
    if not isinstance(data, str):
        return data
    match = _AMOUNT.match(data.strip()) if len(data) <= MOST_CHARACTERS else None
    if match is None:
        raise ValueError(WANTED)
    times = [_times(match["low_times"]), _times(match["high_times"])]
    if times[0] == 1 and match["high"]:
        times[0] = times[1]
    high = number_of(match["high"]) * times[1] if match["high"] else None
    return {
        "value": number_of(match["low"]) * times[0], "high": high, "unit": match["currency"] + match["unit"].strip(),
    }  # fmt: skip


def _times(word: str | None) -> float:
    word = (word or "").strip()
    return MULTIPLIERS.get(word, MULTIPLIERS.get(word.casefold(), 1.0))


def read_count(data: Any) -> Any:
    """Turn "8B", "8.03 billion" or "80억" into a number. Other values are left for the check."""
    if not isinstance(data, str):
        return data
    read = read_amount(data.upper() if data[-1:] in "bmtk" else data)
    if read["unit"] or read["high"] is not None:
        raise ValueError("must be one number, as 7.0e9, 7B or 70억")
    return read["value"]


Stated = Annotated[Amount, BeforeValidator(read_amount)]
