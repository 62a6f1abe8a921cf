"""Invisible characters are written out; ordinary characters stay as they are."""

from __future__ import annotations

import json
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.text.visible_text import visible_text


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        pytest.param("\x1b[2J", r"\x1b[2J", id="clears the screen"),
        pytest.param("\x1b]0;title\x07", r"\x1b]0;title\x07", id="sets the title"),
        pytest.param("safe\rrm", r"safe\rrm", id="goes back to the start of the line"),
        pytest.param("a\x08b", r"a\x08b", id="backspace"),
        pytest.param("\x00", r"\x00", id="NUL"),
        pytest.param("\x7f", r"\u007f", id="DEL"),
        pytest.param("\x9b31m", r"\u009b31m", id="a sequence in one character"),
        pytest.param("\u202egnp.exe", r"\u202egnp.exe", id="from right to left"),
        pytest.param("\u2066a\u2069", r"\u2066a\u2069", id="isolated direction"),
        pytest.param("pay\u3164pal", r"pay\u3164pal", id="a filler of Hangul"),
        pytest.param("pay\u200bpal", r"pay\u200bpal", id="no width"),
        pytest.param("\ufeffx", r"\ufeffx", id="byte order mark"),
        pytest.param("a\u2028b", r"a\u2028b", id="line separator"),
        pytest.param("caf\udce9", r"caf\udce9", id="a byte of a file name"),
        pytest.param("\U000e0041", r"\udb40\udc41", id="an unseen letter beyond 16 bits"),
        pytest.param("a\tb\nc", "a\tb\nc", id="tab and newline stay"),
        pytest.param(
            "서버 8대, Zürich, 价格, 👍🏽, 3 µs, \u00a0", "서버 8대, Zürich, 价格, 👍🏽, 3 µs, \u00a0", id="letters"
        ),
        pytest.param("", "", id="nothing"),
    ],
)
def test_what_is_shown(text, seen):
    assert visible_text(text) == seen


def test_every_control_character_and_every_one_that_turns_the_direction_is_shown():
    """Reference by the tables of Unicode, character by character."""
    directions = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI", "BN"}
    hidden = [
        chr(code)
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) in {"Cc", "Cs", "Zl", "Zp"}
        or (unicodedata.category(chr(code)) == "Cf" and unicodedata.bidirectional(chr(code)) in directions)
        or chr(code) in "\u200e\u200f\u061c"
    ]
    raw = [character for character in hidden if visible_text(character) == character]
    shorthand = {character for character in raw if 0x1BCA0 <= ord(character) <= 0x1BCA3}
    assert set(raw) - shorthand == {"\t", "\n"}
    assert len(hidden) > 2048 + 65


@given(st.text(st.characters()))
def test_to_show_twice_is_to_show_once(text):
    assert visible_text(visible_text(text)) == visible_text(text)


@given(st.text(st.characters()))
def test_a_document_of_json_stays_one(text):
    document = json.dumps({"name": text}, ensure_ascii=False)
    assert json.loads(visible_text(document)) == json.loads(document)
