"""Cleaning takes steps in proportion to the length of a text: counted, not timed."""

from __future__ import annotations

import re

import pytest

from planner.redact import cleaning, contexts, named_values, token_forms
from tests.redact.step_counter import StepCounter

CHARACTERS = 3_000
FILLINGS = (
    "a",
    "1",
    " ",
    "=",
    "\n  ",
    "-",
    "/",
    '"',
    "\\",
    "aB1",
    "a=",
    'a"',
    " a",
    "a:",
    ": ",
    "a@",
    "|  ",
    "login x ",
)
WORDS = {
    **{f"context {number}": (pattern, words) for number, (words, pattern, _) in enumerate(contexts._compiled())},
    **{f"named {form.id}": (form.behind, ("",)) for form in token_forms.named_forms()},
    **{f"token {form.id}": (form.whole, ("",)) for form in token_forms.token_forms()},
    "name": (named_values._TAIL, named_values._WORDS),
    "operator": (named_values._OPERATOR, ("",)),
    "block": (named_values._BLOCK, ("",)),
    "block line": (named_values._BLOCK_LINE, ("",)),
    "cell": (named_values._CELL, ("",)),
    "ordinary": (named_values._ORDINARY, ("",)),
    "code": (named_values._CODE, ("",)),
    "body of a key": (cleaning._BODY, ("",)),
    "user before a host": (contexts._USER, ("",)),
    "cut off": (contexts._CUT_OFF, ("",)),
    "begin of a key": (cleaning._BEGINS, ("-----BEGIN",)),
}
MOST_STEPS = 8 * CHARACTERS
"""Limit of steps of one try of a pattern at one of its words. A quadratic pattern takes over a million here."""


@pytest.mark.parametrize("name", WORDS)
def test_a_try_at_a_word_takes_steps_in_proportion_to_the_text(name):
    pattern, words = WORDS[name]
    worst = 0
    for word in words:
        for filling in FILLINGS:
            text = word + filling * (CHARACTERS // len(filling))
            counter = StepCounter(pattern)
            end = counter.match_end(text, 0)
            found = pattern.match(text)
            assert end == (found.end() if found else None)  # it tries what `re` tries
            worst = max(worst, counter.steps)
    assert worst <= MOST_STEPS


def test_the_counter_counts_what_backtracks_out_of_hand():
    counter = StepCounter(re.compile(r"(?:a{1,50}){1,50}b"))
    assert counter.match_end("a" * 18, 0) is None
    assert counter.steps > 2**17  # a choice at every character
