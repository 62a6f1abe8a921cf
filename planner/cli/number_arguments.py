"""Numbers on the command line are plain digits, or short as 50B: Python would read `1_0` as 10, `nan`, and digits of
every script.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import typer

from planner.errors import InputError
from planner.text.number_text import plain_spelling, read_number, with_plain_digits

_NUMBERS = re.compile(r"[-+]?[0-9][0-9.,_:xX*eE+ -]*")
"""A number, a list, a date, or samples x tokens."""
_WHOLE = re.compile(r"[-+]?[0-9]{1,300}")


def check_arguments(arguments: Sequence[str], *, longest: int) -> None:
    """Refuse arguments that are far too long, and numbers in digits other than 0-9.

    The message shows the right form.
    """
    for argument in arguments:
        if len(argument) > longest:
            raise InputError(
                f"{argument[:40]}...: has {len(argument):,} characters; at most {longest:,} are read.",
                fix="Write a long text into a file, and name the file.",
            )
    for before, argument in zip(["", *arguments], arguments, strict=False):
        option, sign, value = argument.partition("=") if argument.startswith("--") else ("", "", argument)
        plain = with_plain_digits(value)
        if plain != value and _NUMBERS.fullmatch(plain):
            name = option if sign else before if before.startswith("-") else ""
            raise InputError(
                f"{name} {value}: has digits other than 0-9.".strip(), fix=f"Write {f'{name} {plain}'.strip()}"
            )


NUMBER = re.compile(r"((?:[0-9]{1,3}(?:_[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?) ?([kKmMbBtT]?)")
FACTORS = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}


def short_number(text: str) -> float:
    """Return the number that a text such as `50B`, `1.5T` or `5e10` stands for. Raises BadParameter for any other."""
    found = NUMBER.fullmatch(text.strip())
    if found is None:
        raise typer.BadParameter(f"{text!r} is not a number. Write 50B, 1.5T, 300M or 5e10.")
    number = float(found[1].replace("_", "")) * FACTORS[found[2].lower()]
    if not math.isfinite(number):
        raise typer.BadParameter(f"{text!r} is too large.")
    return number


def whole_number(text: str | int) -> int:
    """Return a whole number that was typed, or the option's default. BadParameter for anything else."""
    if isinstance(text, int):
        return text
    if not _WHOLE.fullmatch(text.strip()):
        raise typer.BadParameter(f"{text!r} is not a valid integer.{_hint(text)}")
    return int(text)


def number(text: str | float) -> float:
    """Return a number that was typed, or the option's default.

    BadParameter for anything else, including `nan` and `inf`.
    """
    if isinstance(text, int | float):
        return text
    try:
        return read_number(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a valid float.{_hint(text)}") from None


def _hint(text: str) -> str:
    plain = plain_spelling(text[:60])
    return f" Write {plain}" if plain else ""
