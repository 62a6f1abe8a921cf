"""Files that are small and mean much: refused in a moment, by what they would become."""

from __future__ import annotations

import tracemalloc

import pytest

from planner.adapters.documents import parse_model
from planner.adapters.mapping_text import parse_mapping
from planner.errors import InputError
from planner.model.plan.plan import Plan

TENFOLD = "".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]\n" for n in range(1, 9))
MERGED = "".join(f"m{n}: &m{n}\n  <<: [{', '.join([f'*m{n - 1}'] * 9)}]\n  k{n}: 1\n" for n in range(1, 9))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"l0: &l0 [1, 2]\n{TENFOLD}", id="aliases of aliases: 2 x 10^8 values"),
        pytest.param(f"m0: &m0 {{a: 1}}\n{MERGED}", id="merges of merges"),
        pytest.param(f"a: &a {'x' * 100_000}\nb: [{', '.join(['*a'] * 200)}]\n", id="a long text, 200 times"),
    ],
)
def test_a_small_file_that_means_much_is_refused_before_it_is_built(text: str) -> None:
    tracemalloc.start()
    with pytest.raises(InputError, match="with its aliases it holds over 100,000 values"):
        parse_mapping(text, where="plan.yaml")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20e6


def test_aliases_that_mean_little_are_read() -> None:
    text = "base: &base {a: 1, b: 2}\none: {<<: *base, b: 3}\ntwo: [*base, *base]\n"
    assert parse_mapping(text, where="plan.yaml") == {
        "base": {"a": 1, "b": 2}, "one": {"a": 1, "b": 3}, "two": [{"a": 1, "b": 2}] * 2,
    }  # fmt: skip


@pytest.mark.slow
def test_a_large_file_without_aliases_is_read() -> None:
    text = "rows:\n" + "- {a: 1, b: 2}\n" * 30_000
    assert len(parse_mapping(text, where="runs.yaml")["rows"]) == 30_000


def test_a_file_that_would_take_many_seconds_to_read_is_refused() -> None:
    with pytest.raises(InputError, match="it holds over 250,000 values"):
        parse_mapping(f"rows: [{'0,' * 500_000} 0]\n", where="plan.yaml")


def test_an_alias_of_itself_is_refused() -> None:
    with pytest.raises(InputError, match="an alias stands for the value that it is in"):
        parse_mapping("a: &a [1, *a]\n", where="plan.yaml")


def test_a_hundred_thousand_mistakes_are_counted_and_ten_are_shown() -> None:
    """Quick enough for a test only where the work grows with the length of the file."""
    options = [{"node": 1}] * 100_000
    with pytest.raises(InputError) as caught:
        parse_model(Plan, {"schema_version": 1, "workload": "gpt-305m", "options": options}, where="plan.yaml")
    lines = caught.value.message.splitlines()
    assert len(lines) <= 11
    assert lines[-1].startswith("... and ")


@pytest.mark.slow
def test_of_very_many_mistakes_the_first_are_shown_without_their_values() -> None:
    options = [{"node": 1}] * 300_000
    with pytest.raises(InputError) as caught:
        parse_model(Plan, {"schema_version": 1, "options": options}, where="plan.json", text="{}")
    lines = caught.value.message.splitlines()
    assert len(lines) == 11
    assert "plan.json: options.0.node: is not a key that the planner knows; check its spelling or take it out." in lines
    assert int(lines[-1].removeprefix("... and ").removesuffix(" more.").replace(",", "")) >= 300_000 - 10
