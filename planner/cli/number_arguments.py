"""Numbers on the command line: short ones such as 50B, and none in digits other than 0-9, which Python would read."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import typer

from planner.errors import InputError
from planner.text.number_text import with_plain_digits

_NUMBERS = re.compile(r"[-+]?[0-9][0-9.,_:xX*eE+ -]*")
"""A number, a list, a date, or samples x tokens."""


def check_digits(arguments: Sequence[str]) -> None:
    """Refuse a number in digits other than 0-9, and show how it is written."""
    for before, argument in zip(["", *arguments], arguments, strict=False):
        option, sign, value = argument.partition("=") if argument.startswith("--") else ("", "", argument)
        plain = with_plain_digits(value)
        if plain != value and _NUMBERS.fullmatch(plain):
            name = option if sign else before if before.startswith("-") else ""
            raise InputError(
                f"{name} {value}: has digits other than 0-9.".strip(), fix=f"Write {f'{name} {plain}'.strip()}"
            )


NUMBER = re.compile(r"([0-9][0-9_]*(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?) ?([kKmMbBtT]?)")
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
