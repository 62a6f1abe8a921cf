"""A backtracking matcher over the parse tree of a regular expression that counts its steps.

It tries what `re` tries, in the same order, one character or choice a step. So the count tells whether a pattern
backtracks out of hand, without a clock.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from re import _constants as op  # type: ignore[attr-defined]  # what `re` itself compiles
from re import _parser  # type: ignore[attr-defined]
from typing import Any


class StepCounter:
    """Matches one pattern and counts."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.tree = list(_parser.parse(pattern.pattern, pattern.flags))
        self.flags = pattern.flags
        self.steps = 0
        self._text = ""

    def match_end(self, text: str, start: int) -> int | None:
        """Return where a match from `start` ends, and add its steps to `steps`."""
        self._text = text
        return next(self._sequence(self.tree, 0, start), None)

    def _sequence(self, items: list[Any], index: int, at: int) -> Iterator[int]:
        if index == len(items):
            yield at
            return
        for end in self._item(items[index], at):
            yield from self._sequence(items, index + 1, end)

    def _item(self, item: tuple[Any, Any], at: int) -> Iterator[int]:
        self.steps += 1
        kind, value = item
        if kind in (op.LITERAL, op.NOT_LITERAL, op.IN, op.ANY):
            if at < len(self._text) and self._is_one(kind, value, self._text[at]):
                yield at + 1
        elif kind is op.BRANCH:
            for branch in value[1]:
                yield from self._sequence(list(branch), 0, at)
        elif kind is op.SUBPATTERN:
            yield from self._sequence(list(value[3]), 0, at)
        elif kind in (op.MAX_REPEAT, op.MIN_REPEAT):
            yield from self._repeat(kind is op.MAX_REPEAT, value, at)
        elif self._is_held(kind, value, at):
            yield at

    def _is_held(self, kind: Any, value: Any, at: int) -> bool:
        """Return whether a condition that takes no character holds."""
        if kind is op.AT:
            return self._is_at(value, at)
        if kind not in (op.ASSERT, op.ASSERT_NOT):
            raise NotImplementedError(str(kind))
        return self._holds(value[0], list(value[1]), at) == (kind is op.ASSERT)

    def _repeat(self, greedy: bool, value: tuple[int, int, Any], at: int) -> Iterator[int]:
        least, most, body = value
        items = list(body)
        if len(items) == 1 and items[0][0] in (op.LITERAL, op.NOT_LITERAL, op.IN, op.ANY):
            yield from self._repeat_one(greedy, least, most, items[0], at)
        else:
            yield from self._repeat_many(greedy, least, most, items, at, 0)

    def _repeat_one(self, greedy: bool, least: int, most: int, item: tuple[Any, Any], at: int) -> Iterator[int]:
        count = 0
        if not greedy and least == 0:
            yield at
        while count < most and at + count < len(self._text) and self._is_one(*item, self._text[at + count]):
            count += 1
            self.steps += 1
            if not greedy and count >= least:
                yield at + count
        if greedy:
            for taken in range(count, least - 1, -1):
                self.steps += 1
                yield at + taken

    def _repeat_many(self, greedy: bool, least: int, most: int, items: list[Any], at: int, done: int) -> Iterator[int]:
        if not greedy and done >= least:
            yield at
        if done < most:
            for end in self._sequence(items, 0, at):
                if end > at or done < least:
                    yield from self._repeat_many(greedy, least, most, items, end, done + 1)
        if greedy and done >= least:
            yield at

    def _holds(self, direction: int, items: list[Any], at: int) -> bool:
        if direction > 0:
            return next(self._sequence(items, 0, at), None) is not None
        width = sum(1 if item[0] is not op.BRANCH else len(item[1][1][0]) for item in items if item[0] is not op.AT)
        return at >= width and next((end for end in self._sequence(items, 0, at - width) if end == at), None) == at

    def _is_one(self, kind: Any, value: Any, character: str) -> bool:
        if kind is op.ANY:
            return character != "\n"
        if kind is op.IN:
            return self._is_in(value, character)
        same = character == chr(value) or (bool(self.flags & re.IGNORECASE) and character.lower() == chr(value).lower())
        return same == (kind is op.LITERAL)

    def _is_in(self, items: list[Any], character: str) -> bool:
        cases = {character, character.lower(), character.upper()} if self.flags & re.IGNORECASE else {character}
        found = False
        negate = False
        for kind, value in items:
            if kind is op.NEGATE:
                negate = True
            elif kind is op.LITERAL:
                found = found or chr(value) in cases
            elif kind is op.RANGE:
                found = found or any(chr(value[0]) <= case <= chr(value[1]) for case in cases)
            else:
                found = found or re.fullmatch(_CATEGORIES[value], character) is not None
        return found != negate

    def _is_at(self, where: Any, at: int) -> bool:
        if where in (op.AT_BOUNDARY, op.AT_NON_BOUNDARY):
            edge = self._is_word(at - 1) != self._is_word(at)
            return edge == (where is op.AT_BOUNDARY)
        if where is op.AT_BEGINNING:
            return at == 0 or (bool(self.flags & re.MULTILINE) and self._text[at - 1] == "\n")
        return at == len(self._text) or self._text[at:] == "\n" or (
            bool(self.flags & re.MULTILINE) and self._text[at] == "\n"
        )  # fmt: skip

    def _is_word(self, at: int) -> bool:
        return 0 <= at < len(self._text) and re.fullmatch(r"\w", self._text[at]) is not None


_CATEGORIES = {
    op.CATEGORY_DIGIT: r"\d",
    op.CATEGORY_NOT_DIGIT: r"\D",
    op.CATEGORY_SPACE: r"\s",
    op.CATEGORY_NOT_SPACE: r"\S",
    op.CATEGORY_WORD: r"\w",
    op.CATEGORY_NOT_WORD: r"\W",
}
