"""Cells that no spreadsheet computes and every reader gives back."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.text.visible_text import guarded, table_text, unguarded


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        pytest.param("=1+1", "'=1+1", id="formula"),
        pytest.param("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0", id="plus"),
        pytest.param("-2+3", "'-2+3", id="minus"),
        pytest.param("@SUM(A1)", "'@SUM(A1)", id="at"),
        pytest.param("\t=1", "'\t=1", id="tab"),
        pytest.param("\r=1", "'\r=1", id="carriage return"),
        pytest.param("-3 USD", "'-3 USD", id="a text that begins with a number"),
        pytest.param("-12.5", "-12.5", id="negative number"),
        pytest.param("+3.2", "+3.2", id="number with a plus"),
        pytest.param("-1e-05", "-1e-05", id="small number"),
        pytest.param("-1,250.00", "-1,250.00", id="number in thousands"),
        pytest.param("-", "-", id="not known"),
        pytest.param("12.5", "12.5", id="number"),
        pytest.param("'=1", "''=1", id="an apostrophe of its own is kept"),
        pytest.param("'quoted'", "'quoted'", id="an apostrophe before a word"),
        pytest.param("a=b", "a=b", id="not at the start"),
        pytest.param("", "", id="empty"),
    ],
)
def test_a_text_that_could_be_a_formula_has_an_apostrophe(cell, written):
    assert guarded(cell) == written


def test_only_what_must_be_is_quoted():
    rows = [["a b", "c,d"], ['say "x"', "two\nlines"], ["back\rhere", "tab\tcell"]]
    assert table_text(rows, ",") == 'a b,"c,d"\n"say ""x""","two\nlines"\n"back\rhere",tab\tcell\n'
    assert table_text(rows[2:], "\t") == '"back\rhere"\t"tab\tcell"\n'


CELLS = st.one_of(st.text(st.characters(exclude_categories=["Cs"])), st.text("=+-@\t\r\n\"',;1. \x0b\x85\u2028"))


@given(st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(CELLS, min_size=n, max_size=n))), st.sampled_from(",\t"))
def test_a_second_reader_gives_back_every_cell(rows, separator):
    text = table_text(rows, separator)
    read = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
    assert read == [[guarded(cell) for cell in row] for row in rows]
    by_lines = list(csv.reader(text.splitlines(keepends=True), delimiter=separator, strict=True))
    assert by_lines == read


@given(CELLS)
def test_what_is_guarded_begins_no_formula_and_can_be_undone(cell):
    written = guarded(cell)
    assert written in (cell, f"'{cell}")
    if written[:1] in tuple("=+-@\t\r"):
        assert written == "-" or float(written.replace(",", "")) is not None
    assert unguarded(written) == cell
