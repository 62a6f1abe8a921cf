"""Tables on a screen: columns are removed before words, and no word is cut."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.present.screen import Column, table_lines, wrapped, wrapped_items

MACHINE = Column(key="machine", title="machine", wrap=8)
COLUMNS = (
    Column(key="number", title="#", right=True),
    MACHINE,
    Column(key="usd", title="USD", right=True),
    Column(key="range", title="(90 %)", drop=1, gap=1),
    Column(key="known", title="known from", drop=2),
)
ROWS = (
    {"number": "1", "machine": "DGX Station, 4x V100", "usd": "543", "range": "(426-595)", "known": "measured"},
    {"number": "12", "machine": "Lambda, 1x H100", "usd": "8,540", "range": "(3,400-21,000)", "known": "modelled"},
)


def test_numbers_end_below_each_other_and_words_begin_so():
    """17 + 2 blanks between columns, one before the range, which belongs to the number before it."""
    assert table_lines(COLUMNS, ROWS, width=100) == [
        " #  machine                 USD (90 %)          known from",
        " 1  DGX Station, 4x V100    543 (426-595)       measured",
        "12  Lambda, 1x H100       8,540 (3,400-21,000)  modelled",
    ]


@pytest.mark.parametrize(
    ("width", "lines"), [pytest.param(57, 4, id="one too few"), pytest.param(58, 3, id="all of it")]
)
def test_a_column_that_wraps_gives_way_before_any_other_falls(width, lines):
    """At 57 both names, of 20 and 15 characters, have 19 - and the shorter one fits them."""
    printed = table_lines(COLUMNS, ROWS, width=width)
    assert max(map(len, printed)) <= width
    assert len(printed) == lines
    assert "known from" in printed[0]


def test_the_column_with_the_highest_number_falls_first():
    fixed = [replace(column, wrap=0) for column in COLUMNS]
    assert [line.split()[-1] for line in table_lines(fixed, ROWS, width=57)] == ["%)", "(426-595)", "(3,400-21,000)"]
    assert [line.split()[-1] for line in table_lines(fixed, ROWS, width=30)] == ["USD", "543", "8,540"]


def test_what_always_stays_is_printed_whole_on_a_screen_too_narrow_for_it():
    assert table_lines([replace(MACHINE, wrap=0)], ROWS, width=5)[1:] == ["DGX Station, 4x V100", "Lambda, 1x H100"]


def test_a_cell_breaks_between_words():
    assert table_lines([MACHINE], ROWS[:1], width=12) == ["machine", "DGX Station,", "4x V100"]


def test_a_column_without_cells_and_a_table_without_titles_take_no_room():
    columns = (Column(key="a"), Column(key="b", title="never"), Column(key="c"))
    assert table_lines(columns, ({"a": "x", "c": "y"}, {"a": "long"}), width=80) == ["x     y", "long"]
    assert table_lines(columns, (), width=80) == []


def test_text_breaks_between_words_alone():
    assert wrapped("aws/p5.48xlarge:us-east-1 on demand", width=12, indent="  ") == [
        "aws/p5.48xlarge:us-east-1", "  on demand",
    ]  # fmt: skip


def test_a_number_stays_with_its_percent_sign():
    assert wrapped("keep ours, 99 % sure", width=13) == ["keep ours,", "99 % sure"]


def test_items_stay_whole_where_a_line_holds_them():
    assert wrapped_items(["s spot: may go.", "* old price.", "+ egress."], width=30, separator="  ") == [
        "s spot: may go.  * old price.", "+ egress.",
    ]  # fmt: skip


words = st.text(alphabet="abc12,()-", min_size=1, max_size=9)
cells = st.lists(words, max_size=4).map(" ".join)
tables = st.integers(1, 6).flatmap(
    lambda count: st.tuples(
        st.tuples(
            *(
                st.builds(
                    Column, key=st.just(str(place)), title=cells, right=st.booleans(), drop=st.integers(0, 3),
                    wrap=st.sampled_from((0, 0, 4, 10)), gap=st.integers(1, 2),
                )
                for place in range(count)
            )
        ),
        st.lists(st.fixed_dictionaries({str(place): cells for place in range(count)}), min_size=1, max_size=5),
    )
)  # fmt: skip


def _needed(columns, rows):
    """Return the least width of the columns that are never removed."""
    stay = [column for column in columns if column.drop == 0 and any(row[column.key] for row in rows)]
    total = sum(column.gap for column in stay[1:])
    for column in stay:
        texts = [column.title, *(row[column.key] for row in rows)]
        parts = [column.title, "x" * column.wrap, *(word for text in texts[1:] for word in text.split())]
        total += min(max(map(len, texts)), max(map(len, parts))) if column.wrap else max(map(len, texts))
    return total


@given(tables, st.integers(1, 90))
def test_no_line_is_wider_than_the_screen_where_what_always_stays_fits(table, width):
    columns, rows = table
    limit = max(width, _needed(columns, rows))
    assert all(len(line) <= limit for line in table_lines(columns, rows, width=width))


@given(tables, st.integers(1, 90))
def test_words_are_never_cut_and_what_always_stays_is_there(table, width):
    columns, rows = table
    printed = " ".join(table_lines(columns, rows, width=width)).split()
    known = {word for column in columns for word in column.title.split()} | {
        word for row in rows for cell in row.values() for word in cell.split()
    }
    assert set(printed) <= known
    stays = [word for column in columns if column.drop == 0 for row in rows for word in row[column.key].split()]
    assert all(printed.count(word) >= stays.count(word) for word in stays)


@given(tables, st.integers(1, 90), st.integers(0, 40))
def test_a_wider_screen_shows_no_less(table, width, more):
    columns, rows = table
    narrow, wide = (" ".join(table_lines(columns, rows, width=size)).split() for size in (width, width + more))
    assert all(wide.count(word) >= narrow.count(word) for word in narrow)
