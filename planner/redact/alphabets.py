"""Character sets of tokens, under the names that the data files use."""

from __future__ import annotations

ALPHABETS = {
    "none": "",
    "digit": "0-9",
    "hex": "0-9A-Fa-f",
    "hexdash": "0-9A-Fa-f-",
    "hexcolon": "0-9A-Fa-f:",
    "lower": "0-9a-z",
    "upper": "0-9A-Z",
    "alnum": "0-9A-Za-z",
    "word": "0-9A-Za-z_",
    "url": "0-9A-Za-z_-",
    "dot": "0-9A-Za-z_.=-",
    "tilde": "0-9A-Za-z_.~-",
    "dollar": "0-9A-Za-z$",
    "base64": "0-9A-Za-z+/=",
    "base64dash": "0-9A-Za-z+/=_,-",
    "base64word": "0-9A-Za-z+/=_",
    "jwt": "0-9A-Za-z_.+/=-",
    "path": "0-9A-Za-z_.+/=:%-",
    "teams": "0-9A-Za-z_/@-",
}
"""Alphabets, each as the inside of a character class of a regular expression."""


def class_of(name: str) -> str:
    """Return the character class of a named alphabet."""
    return f"[{ALPHABETS[name]}]" if ALPHABETS[name] else "(?:)"


def least_and_full(length: str) -> tuple[int, int]:
    """Return the least and the full length of `20`, `12-20` or `32 64`. By default half of the shortest is enough."""
    if "-" in length:
        least, _, full = length.partition("-")
        return int(least), int(full)
    lengths = [int(part) for part in length.split()]
    return (min(lengths) + 1) // 2, max(lengths)
