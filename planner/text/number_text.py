"""Numbers in text: reads only the digits 0-9 that people wrote, suggests plain spellings, and writes chances."""

from __future__ import annotations

import math
import re
import unicodedata

_PLAIN = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_GROUPED = re.compile(r"[-+]?[0-9]{1,3}(?:[,_' \u00a0\u202f][0-9]{3})+(?:\.[0-9]+)?")
_GROUPS = re.compile(r"[,_' \u00a0\u202f]")
_UNDERSCORES = re.compile(r"(?<=[0-9])_(?=[0-9])")


def read_number(text: str) -> float:
    """Return a finite number. ValueError for anything else, including digits of other scripts and `nan`."""
    if not _PLAIN.fullmatch(text.strip()) or not math.isfinite(number := float(text)):
        raise ValueError(text)
    return number


def read_grouped_number(text: str) -> float:
    """Return a number whose digits may be in groups of three, as `1,000,000` or `1_000`. ValueError for others."""
    plain = text.strip()
    return read_number(_GROUPS.sub("", plain) if _GROUPED.fullmatch(plain) else plain)


def read_whole_number(text: str) -> int:
    """Return a whole number written in the digits 0-9. ValueError for anything else."""
    if not re.fullmatch(r"[-+]?[0-9]{1,18}", text.strip()):
        raise ValueError(text)
    return int(text)


def plain_spelling(text: str) -> str | None:
    """Return the plain digits of a number that is written with other digits or grouped, as `1_000`; otherwise None."""
    western = "".join(_digit(character) for character in text.strip())
    plain = _UNDERSCORES.sub("", western)
    if _GROUPED.fullmatch(plain):
        plain = _GROUPS.sub("", plain)
    return plain if plain != text and _PLAIN.fullmatch(plain) else None


def with_plain_digits(text: str) -> str:
    """Return the text with digits of other scripts written 0-9."""
    return "".join(_digit(character) for character in text)


def _digit(character: str) -> str:
    if character.isascii():
        return character
    value = unicodedata.decimal(character, None)
    if value is not None:
        return str(value)
    return {"\u066b": ".", "\u066c": ",", "\u2212": "-"}.get(character, character)  # Arabic separators, minus


def percent_text(chance: float) -> str:
    """Write a chance in whole percent; never 100 % of what is not certain, nor 0 % of what may be."""
    if 0 < chance < 1:
        return f"{min(99, max(1, round(100 * chance)))} %"
    return f"{100 * chance:.0f} %"
