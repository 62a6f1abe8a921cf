"""Distinguishes generated text from words, paths, dates and numbers."""

from __future__ import annotations

import re

LEAST_CHARACTERS = 12
_OF_A_KEY = re.compile(r"[A-Za-z0-9_+/=.~!@#$%^&*:-]+")
_CHANGE = re.compile(r"(?<=[a-z])(?=[A-Z0-9])|(?<=[A-Z])(?=[a-z0-9])|(?<=[0-9])(?=[A-Za-z])")
_DIGIT = re.compile(r"[0-9]")
_LETTER = re.compile(r"[A-Za-z]")
_EXAMINED = 200
"""Characters examined of a longer value."""
_WORDY = 6
"""Characters within which a random value changes between small letters, capitals and digits at least once."""
_WITHOUT_DIGITS = 2.2
"""Such characters for a value without digits. Words in camel case change less often."""


def looks_random(value: str, least: int = LEAST_CHARACTERS) -> bool:
    """Return whether a value of at least `least` characters mixes letters and digits like a random one."""
    examined = value[:_EXAMINED]
    if len(value) < least or not _OF_A_KEY.fullmatch(examined) or not _LETTER.search(examined):
        return False
    changes = len(_CHANGE.findall(examined))
    return changes * (_WORDY if has_digit(examined) else _WITHOUT_DIGITS) >= len(examined)


def is_mixed(value: str) -> bool:
    """Return whether a value has letters and digits, or capitals in many places: enough where its form is known."""
    return _LETTER.search(value) is not None and (has_digit(value) or changes_of_case(value) * 4 >= len(value))


def has_digit(value: str) -> bool:
    """Return whether a value has an ASCII digit."""
    return _DIGIT.search(value) is not None


def changes_of_case(value: str) -> int:
    """Return how often a capital follows a small letter, or the reverse."""
    return len(_CHANGE.findall(value[:_EXAMINED]))
