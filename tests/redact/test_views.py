"""A view reads as plain text, and each of its characters is found again in what was written."""

from __future__ import annotations

import itertools
import json
import sys

from hypothesis import given
from hypothesis import strategies as st

from planner.redact import HIDDEN, clean
from planner.redact.views import lower_case, views

TEXTS = st.text(st.sampled_from("ab1:=\"'\\/nux0036\x1b[]m;K \n\u0130é"), max_size=60)


@given(TEXTS)
def test_every_span_of_a_view_stands_in_the_text_in_the_same_order(text):
    for view in views(text):
        assert len(view.lower) == len(view.text)
        spans = [view.original(at, at + 1) for at in range(len(view.text))]
        assert all(0 <= start < end <= len(text) for start, end in spans)
        assert all(span[1] <= two[0] for span, two in itertools.pairwise(spans))
        if spans:
            assert view.original(0, len(view.text)) == (spans[0][0], spans[-1][1])


@given(st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"]), max_size=40))
def test_json_inside_json_reads_as_the_text(text):
    written = json.dumps(json.dumps(text))
    plain = text.replace("\\", "")  # what looks like an escape in the text itself is undone too
    assert any(plain in view.text for view in views(written)) or "\\" in text or "\x1b" in text


@given(st.text(max_size=200))
def test_cleaning_is_stable_and_never_fails(text):
    cleaned = clean(text)
    assert clean(cleaned).count(HIDDEN) >= cleaned.count(HIDDEN)


def test_only_the_dotted_capital_i_grows_in_lower_case():
    every = "".join(chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000)
    assert len(lower_case(every)) == len(every)
