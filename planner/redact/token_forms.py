"""Tokens that begin in a known way, and secrets that stand behind their provider's name.

The data files name the character sets of tokens (`ALPHABETS`).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from planner.redact.randomness import changes_of_case, has_digit, is_mixed
from planner.redact.views import View

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


FOLDER = Path(__file__).parent
LONGEST = 500
"""Characters examined of one token before it is known to be one; the rest of it is hidden all the same."""
FEW_CHANGES = 3
"""Capitals that names in camel case have inside."""
_SEPARATED = r"[ \t\w.-]{0,20}?[\s\"'`\[\](){}=:>|\u2502\u2503,\\+-]{1,40}b?[\"']?"
"""Between a provider's name and the secret: the rest of a name, then an operator, quotes or the edge of a cell."""


@dataclass(frozen=True)
class TokenForm:
    """Tokens of one provider that begin alike."""

    id: str
    begins: tuple[str, ...]
    characters: str
    least: int
    before: str = ""
    """Characters in front of the beginning, and how many: `hex*32`."""

    @cached_property
    def whole(self) -> re.Pattern[str]:
        """The token from its beginning on."""
        return re.compile(f"{class_of(self.characters)}{{{self.least},{LONGEST}}}" if self.least else "")

    @cached_property
    def rest(self) -> re.Pattern[str]:
        """Return the pattern after a token that is longer than examined."""
        return re.compile(f"{class_of(self.characters)}*")

    @cached_property
    def front(self) -> tuple[re.Pattern[str], int] | None:
        """Return the pattern before the beginning, and its most characters."""
        if not self.before:
            return None
        characters, _, length = self.before.partition("*")
        least, full = least_and_full(length) if "-" in length else (int(length), int(length))
        return re.compile(f"{class_of(characters)}{{{least},{full}}}$"), full

    def is_drawn(self, part: str) -> bool:
        """Return whether the part behind the beginning is none that a person would write: `hf_transformers`."""
        if self.characters in ("none", "digit", "hex", "hexdash"):
            return True
        if self.characters in ("alnum", "base64", "lower", "upper"):
            return part.lower() != part or has_digit(part)
        return has_digit(part) or changes_of_case(part) > FEW_CHANGES


@dataclass(frozen=True)
class NamedForm:
    """Secrets of one provider, behind its name."""

    id: str
    names: tuple[str, ...]
    characters: str
    least: int
    full: int

    @cached_property
    def behind(self) -> re.Pattern[str]:
        """Everything from the end of the name to the end of the secret, which is group 1."""
        letter = class_of(self.characters)
        return re.compile(rf"{_SEPARATED}({letter}{{{self.least},{self.full}}})(?![0-9A-Za-z_(])")


@cache
def token_forms() -> tuple[TokenForm, ...]:
    """Return the known tokens, read once."""
    return tuple(
        TokenForm(
            id=row["id"],
            begins=tuple(row["begins"].split()),
            characters=row["characters"],
            least=least_and_full(row["length"])[0],
            before=row["before"],
        )
        for row in _rows("token_forms.csv")
    )


@cache
def named_forms() -> tuple[NamedForm, ...]:
    """Return the secrets known by their provider's name, read once."""
    return tuple(
        NamedForm(row["id"], tuple(row["names"].split()), row["characters"], *least_and_full(row["length"]))
        for row in _rows("named_forms.csv")
    )


def tokens(view: View) -> Iterator[tuple[int, int]]:
    """Yield where tokens stand that begin in a known way."""
    for form in token_forms():
        for beginning in form.begins:
            at = view.text.find(beginning)
            while at >= 0:
                end = at + 1
                span = _token_at(view, form, at, at + len(beginning))
                if span is not None:
                    yield span
                    end = span[1]
                at = view.text.find(beginning, end)


def _token_at(view: View, form: TokenForm, at: int, behind: int) -> tuple[int, int] | None:
    start = at
    if form.front is not None:
        pattern, most = form.front
        found = pattern.search(view.text, max(0, at - most), at)
        if found is None:
            return None
        start = found.start()
    elif view.text[at].isalnum() and not view.begins_word(at):
        return None
    part = form.whole.match(view.text, behind)
    if part is None or not form.is_drawn(part[0]):
        return None
    rest = form.rest.match(view.text, part.end())
    return start, rest.end() if rest and form.least else part.end()


def named_tokens(view: View) -> Iterator[tuple[int, int]]:
    """Yield where secrets stand behind the name of their provider."""
    for form in named_forms():
        for name in form.names:
            at = view.lower.find(name)
            while at >= 0:
                found = form.behind.match(view.text, at + len(name))
                if found is not None and is_mixed(found[1]):
                    yield found.span(1)
                at = view.lower.find(name, at + len(name))


def _rows(name: str) -> list[dict[str, str]]:
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))
