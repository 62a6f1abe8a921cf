"""Large numbers as people write them: 50B tokens, 1.5T, 300M."""

from __future__ import annotations

import math
import re

import typer

NUMBER = re.compile(r"((?:[0-9]{1,3}(?:_[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?) ?([kKmMbBtT]?)")
FACTORS = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}


def short_number(text: str) -> float:
    """Return the number that a text such as `50B`, `1.5T` or `5e10` stands for. Raises BadParameter for any other."""
    found = NUMBER.fullmatch(text.strip())
    if found is None:
        raise typer.BadParameter(f"{text!r} is no number. Write 50B, 1.5T, 300M or 5e10.")
    number = float(found[1].replace("_", "")) * FACTORS[found[2].lower()]
    if not math.isfinite(number):
        raise typer.BadParameter(f"{text!r} is too large.")
    return number
