"""Names inside Markdown: a reader of Markdown gives back the same text, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from planner.text.markdown_text import inline, line, table
from planner.text.visible_text import visible_text

READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
MARKUP = st.text("|`<>[]()*_#~&;!\\-+=1.: \nab\x1b\u202e\"'$^{}/@ltgampxquo")
HARD = [
    "a|b", "`x`", "<img src=x onerror=alert(1)>", "[click](http://evil)", "![x](http://evil)", "**bold**", "_em_",
    "__init__", "gpt_305m_v2", "# head", "C#", "trailing #", "&lt;", "&#124;", "R&D", "~~gone~~", "~3 h", "- item",
    "+ item", "1. item", "2) item", "---", "===", "> quote", "two\nlines", "\\| back", "<!-- x -->", "a\x1b[2J", "-3 %",
    "1.5 h", "<https://evil>", "    code", "``", "\\",
]  # fmt: skip


def texts_of(tokens) -> list[str]:
    """Return the content of each block, which must hold text and nothing else."""
    inlines = [token for token in tokens if token.type == "inline"]
    for token in inlines:
        assert {child.type for child in token.children} <= {"text", "text_special"}, token
    return ["".join(child.content for child in token.children) for token in inlines]


def seen(text: str) -> str:
    return visible_text(" ".join(text.split()))


def check_text(text: str) -> None:
    tokens = READER.parse(f"# {inline(text)}\n\n{line(text)}\n\n- {line(text)}\n\nWords: {inline(text)}.\n")
    kinds = [token.type for token in tokens if not token.type.endswith("_close") and token.type != "inline"]
    if seen(text):
        assert kinds == ["heading_open", "paragraph_open", "bullet_list_open", "list_item_open"] + 2 * [
            "paragraph_open"
        ]
        assert texts_of(tokens) == [seen(text)] * 3 + [f"Words: {seen(text)}."]


def check_table(texts: list[str]) -> None:
    rows = [{"#": text, "name": "x"} for text in texts]
    tokens = READER.parse(table(rows))
    cells = [cell for text in texts for cell in (seen(text), "x")]
    assert texts_of(tokens) == ["#", "name", *cells]
    assert {token.type.rpartition("_")[0] for token in tokens} <= {"table", "thead", "tbody", "tr", "th", "td", ""}


@pytest.mark.parametrize("text", HARD)
def test_a_name_is_read_as_it_is(text):
    check_text(text)
    check_table([text])


@given(MARKUP)
def test_any_text_is_read_as_it_is(text):
    check_text(text)


@given(st.lists(MARKUP, min_size=1, max_size=3))
def test_a_table_keeps_its_cells(texts):
    check_table(texts)


@pytest.mark.parametrize("text", ["gpt-305m, 4x V100", "train_tokens_per_second", "56.69 h (53.86-59.69, measured)"])
def test_what_is_no_markup_stays_readable(text):
    assert inline(text) == line(text) == text


def test_no_rows_are_no_table():
    assert table([]) == ""
