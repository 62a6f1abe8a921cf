"""Shell text as statements with their variables filled in: continued lines, quotes, arrays, plain arithmetic."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

LONGEST_SCRIPT = 200_000
"""Most characters of a script that are read."""
MOST_FILLED = 20_000
"""Most characters that variables may add to one statement, because they may refer to each other."""
_VARIABLE = re.compile(r"\$(?:\{(\w{1,60})(?:\[[@*]\])?(?::?[-=]([^{}]{0,200})|[#%/:][^{}]{0,200})?\}|(\w{1,60}))")
_QUOTED_ARRAY = re.compile(r"\"(\$\{\w{1,60}\[@\]\})\"")
"""Array in quotes. Its words stay separate words."""
_ASSIGNED = re.compile(
    r"\s*(?:export\s+|local\s+|readonly\s+)?([A-Za-z_]\w{0,60})(\+?)=(?:\((.*)\)|\"(.*)\"|'(.*)'|(\S*))\s*", re.DOTALL
)
_SUM = re.compile(r"\$\(\(([\w\s*/+$-]{1,200})\)\)|\$\(\s*expr\s+([\w\s*/+\\$-]{1,200})\)|`\s*expr\s+([^`]{1,200})`")
_TERM = re.compile(r"\d{1,12}|[*/+-]")


def statements(text: str, known: dict[str, str]) -> Iterator[str]:
    """Return the commands of a text, each on one line with its variables filled in.

    Assignments are added to `known`.
    """
    for line in _logical_lines(text[:LONGEST_SCRIPT].replace("\r\n", "\n")):
        found = _ASSIGNED.fullmatch(line)
        if found is None:
            yield filled(line, known)
            continue
        value = filled(next((part for part in found.groups()[2:] if part is not None), ""), known).strip()
        known[found[1]] = f"{known.get(found[1], '')} {value}".strip() if found[2] else value


def filled(text: str, known: Mapping[str, str]) -> str:
    """Return a text with variables and integer sums replaced by their values. An unknown variable is empty."""
    left = MOST_FILLED

    def value(found: re.Match[str]) -> str:
        nonlocal left
        text = known.get(found[1] or found[3], (found[2] or "").strip("\"'"))[:left]
        left -= len(text)
        return text

    def result(found: re.Match[str]) -> str:
        named = re.sub(r"[A-Za-z_]\w*", lambda name: known.get(name[0], name[0]), found[1] or found[2] or found[3])
        total = _total(named)
        return found[0] if total is None else str(total)

    once = _VARIABLE.sub(value, _QUOTED_ARRAY.sub(r"\1", text))
    return _SUM.sub(result, once)


def _total(text: str) -> int | None:
    """Return the value of whole numbers joined by signs, products first; None for anything else."""
    terms = _TERM.findall(text)
    if _TERM.sub("", text).strip(" \\\t\n") or len(terms) % 2 == 0 or not all(term.isdigit() for term in terms[::2]):
        return None
    total, product, sign = 0, int(terms[0]), 1
    for operator, term in zip(terms[1::2], terms[2::2], strict=True):
        number = int(term)
        if operator == "*":
            product *= number
        elif operator == "/":
            if number == 0:
                return None
            product //= number
        elif operator in "+-":
            total, product, sign = total + sign * product, number, 1 if operator == "+" else -1
        else:
            return None
    return total + sign * product


def _logical_lines(text: str) -> Iterator[str]:
    """Return statements as the shell splits them. A line continues in quotes, in an array, and after a backslash."""
    line, quote, depth, place = "", "", 0, 0
    while place < len(text):
        char, following = text[place], text[place + 1 : place + 2]
        place += 1
        if char == "\\" and quote != "'":
            line += " " if following == "\n" else char + following
            place += 1
        elif quote:
            quote = "" if char == quote else quote
            line += " " if char == "\n" else char
        elif char == "#" and (not line or line[-1].isspace()):
            end = text.find("\n", place)
            place = len(text) if end < 0 else end
        elif char in "\"'":
            quote = char
            line += char
        elif char == "(" or (char == ")" and depth):
            depth += 1 if char == "(" else -1
            line += char
        elif char == "\n" and not depth:
            if line.strip():
                yield line.strip()
            line = ""
        else:
            line += " " if char == "\n" else char
    if line.strip():
        yield line.strip()
