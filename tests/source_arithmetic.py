"""The arithmetic with which the source of a quantity begins: `9.8 h x 4 nodes x 7.752 kW; ...`."""

from __future__ import annotations

import re

NUMBER = r"\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?"
WORDS = r"(?: [^\d;:,()x+/ ][^\d;:,()+ ]*)*"
"""Units and names behind a number, none of which holds a digit."""
TERM = rf"{NUMBER}{WORDS}"
ARITHMETIC = re.compile(rf"({TERM}(?: [x/] {TERM})+)(?=; |, \D|: | \(|$)")
FACTOR = re.compile(rf"(?:^| ([x/]) )({NUMBER})")


def recomputed(source: str) -> float | None:
    """Return what the products at the beginning of a source are; None where it begins otherwise."""
    stated = ARITHMETIC.match(source)
    if stated is None:
        return None
    number = 1.0
    for sign, factor in FACTOR.findall(stated[1]):
        value = float(factor.replace(",", ""))
        number = number / value if sign == "/" else number * value
    return number
