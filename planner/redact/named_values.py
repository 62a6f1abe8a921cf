"""Values whose name says that they are secret: `NAME=value`, `"name": "value"`, options, cells of a table, blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from planner.redact.randomness import is_mixed, looks_random
from planner.redact.views import View

LONGEST_NAME = 60
LONGEST_WORD = 20
"""Characters of a word before the telling one."""
LONGEST_VALUE = 4_000
"""Characters of one value."""
_WORDS = ("pass", "pwd", "secret", "token", "cred", "sig", "auth", "jwt", "cookie", "session", "key")
_TAIL = re.compile(
    r"(?:(?P<password>pass(?:word|wd|phrase|code)?|pwd)|secret|token|cred(?:ential)?s?|sig(?:nature)?|auth|jwt|cookie"
    r"|session[_-]?id|(?P<key>key))"
    r"(?:[_-]?(?:id|data|value|base64|b64))?(?![a-z0-9_])"
)
"""Pattern from the beginning of a telling word to the end of the name."""
_NAME_BEFORE = re.compile(r"[\w.-]{0,60}")
"""Start of the name, read backwards in one pass."""
_KIND_OF_KEY = re.compile(
    r"(?:api|access|secret|private|account|auth|master|license|signing|encryption|shared|client|ssh|deploy"
    r"|service)[ _-]?$"
)
_NO_SECRET_WORD = re.compile(
    r"(?:by|com|sur|tres|forward|backward|first|second|third|one|two|multi|single|each|every|last|eval|train)[ _-]?$"
)
"""Words before `pass` that make it no password (`forward_pass=0.12`)."""
_OF_A_TEXT = re.compile(
    r"(?:bos|eos|pad|unk|mask|sep|cls|image|audio|video|vision|begin|end|start|stop|prompt|special|last|next|prev(?:ious)?"
    r"|per|per[_-]?second|think|tool|user|assistant|system|fim|object|box|quad|patch|chat|blank|each|new)[ _-]?$"
)
"""Words before `token` that make it a piece of text (`eos_token`)."""
_SPACE = r"[ \t]{0,40}"
_OPERATOR = re.compile(
    rf"\\?[\"'`]?\s{{0,3}}(?:\[[^\]\n]{{0,40}}\]\s{{0,3}})?(?P<sign>=>|:=|={{1,2}}|->|:)(?P<space>{_SPACE})"
    r"(?:[bru]{0,2}(?P<quote>\\?[\"'`]))?"
)
_QUOTED = re.compile(r"[^\"'`\\\r\n]{1,4000}")
_BARE = re.compile(r"[^\s\"'`&;,<>)\\]{1,4000}")
_BLOCK = re.compile(
    rf"[\"']?{_SPACE}(?:[:=]{_SPACE})?(?:[|>][+-]?\d?{_SPACE})?\\?\r?\n[ \t]{{0,80}}(?:- )?[bru]{{0,2}}[\"'`]?"
)
_BLOCK_LINE = re.compile(r"[ \t]{0,80}[\"']?([A-Za-z0-9+/=_.~!@#$%^&*-]{8,4000})[\"']?(?=\s|$)")
_CELL = re.compile(
    rf"[\"'`]?(?:{_SPACE}[|\u2502\u2503\u2551,;]{{1,2}}{_SPACE}|[ \t]{{1,60}}(?:is{_SPACE})?)[bru]{{0,2}}[\"'`]?"
)
_VARIABLE = re.compile(r"\$\{?\w+\}?|%\w+%|\{\{[^}]{0,80}\}\}|os\.environ\S*")
_CODE = re.compile(
    r"[A-Za-z_][\w.]{0,200}[(\[].*|[A-Za-z_.]{0,80}(?:token|key|secret|password|passwd|credentials?|auth)",
    re.IGNORECASE,
)
"""A call, or a variable named after its content, as in lines of a traceback."""
_NO_VALUE = re.compile(r"true|false|none|null|nil", re.IGNORECASE)
_ORDINARY = re.compile(
    r"\d{1,7}(?:\.\d*)?(?!\w)|(?:true|false|none|null|nil|yes|no|required|optional|unset|missing)(?!\w)|<[^>]{0,60}>$"
    r"|\[[^\]]{0,60}\]$|\*+$|\.+$",
    re.IGNORECASE,
)
SHORTEST_VALUE = 6
"""Smallest number of characters of a value that is hidden for its name alone. Passwords may be shorter."""
BEHIND_A_SPACE = 16
"""Smallest number of characters if only a space or the edge of a cell separates it from its name."""
SHORTEST_PASSWORD = 8
"""Smallest number of characters of a password on its own line."""
FULL_LINE = 40
"""Characters of every line but the last of a long secret."""
MOST_LINES = 200


@dataclass(frozen=True)
class _Name:
    end: int
    is_password: bool
    is_certain: bool
    """True if the name alone says that a secret follows; otherwise the value must look like one."""
    is_option: bool


def named_values(view: View) -> Iterator[tuple[int, int]]:
    """Yield the positions of values whose name says that they are secret."""
    for word in _WORDS:
        at = view.lower.find(word)
        while at >= 0:
            name = _name_at(view, at)
            if name is not None:
                yield from _value_of(view.text, name)
            at = view.lower.find(word, at + len(word))


def _name_at(view: View, at: int) -> _Name | None:
    tail = _TAIL.match(view.lower, at)
    if tail is None:
        return None
    left = view.lower[max(0, at - LONGEST_NAME) : at]
    before = _NAME_BEFORE.match(left[::-1])
    own = before[0][::-1] if before else ""
    left = left[-LONGEST_WORD:]
    is_password = tail["password"] is not None
    is_option = own.startswith("-") and (tail.end() - at + len(own)) > 2
    if (is_password and _NO_SECRET_WORD.search(left)) or (tail[0].startswith("token") and _OF_A_TEXT.search(left)):
        return None
    if tail["key"] is None:
        joined = own == "" or own[-1] in "_.-" or view.text[at].isupper() or tail[0] not in ("pass", "sig", "auth")
        return _Name(tail.end(), is_password, joined, is_option) if joined else None
    return _Name(tail.end(), False, _KIND_OF_KEY.search(left) is not None, is_option)


def _value_of(text: str, name: _Name) -> Iterator[tuple[int, int]]:
    signed = _OPERATOR.match(text, name.end)
    if signed is not None:
        value = (_QUOTED if signed["quote"] else _BARE).match(text, signed.end())
        if value is not None and _is_secret(value[0], name, sign=signed["sign"], quoted=signed["quote"] is not None):
            yield value.span()
            return
    if name.is_option and (found := re.compile(r"\s{1,3}(?!-)[\"']?([^\s\"']{1,500})").match(text, name.end)):
        if name.is_certain:
            yield found.span(1)
        return
    block = _BLOCK.match(text, name.end)
    if block is not None:
        yield from _block(text, block.end(), name)
        return
    cell = _CELL.match(text, name.end)
    if cell is not None:
        value = _BARE.match(text, cell.end())
        apart = len(cell[0].strip(" ")) > 0 or len(cell[0]) > 1
        if value is not None and _is_drawn(value[0], BEHIND_A_SPACE if apart else BEHIND_A_SPACE + 4, name):
            yield value.span()


def _is_secret(value: str, name: _Name, *, sign: str, quoted: bool) -> bool:
    if _VARIABLE.fullmatch(value) or (not quoted and _CODE.fullmatch(value)):
        return False
    if not name.is_certain:
        return looks_random(value, BEHIND_A_SPACE)
    if name.is_password and sign != ":":
        return _NO_VALUE.fullmatch(value) is None
    if _ORDINARY.match(value) or (value.startswith(("/", "./", "~/")) and not looks_random(value)):
        return False
    if quoted or sign != ":":
        return len(value) >= (4 if quoted else SHORTEST_VALUE)
    return len(value) >= SHORTEST_VALUE and is_mixed(value)


def _is_drawn(value: str, least: int, name: _Name) -> bool:
    return looks_random(value, least if name.is_certain else least + 4)


def _block(text: str, start: int, name: _Name) -> Iterator[tuple[int, int]]:
    """Yield the lines of a YAML block, or the single line after the name."""
    least = SHORTEST_PASSWORD if name.is_password else BEHIND_A_SPACE
    for line in range(MOST_LINES):
        found = _BLOCK_LINE.match(text, start)
        if found is None or not (looks_random(found[1], least) or (line and len(found[1]) >= FULL_LINE)):
            return
        yield found.span(1)
        after = text.find("\n", found.end(), found.end() + 8)
        if after < 0:
            return
        start = after + 1
