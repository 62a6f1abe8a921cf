"""Numbers on the command line are written 0-9: Python would read the digits of every script."""

from __future__ import annotations

import re
from collections.abc import Sequence

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
