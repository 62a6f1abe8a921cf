"""Reading of YAML and JSON text: numbers as people write them, keys once, and errors that name their place."""

from __future__ import annotations

import contextlib
import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.adapters.documents import parse_model, read_text
from planner.adapters.mapping_text import parse_mapping
from planner.errors import InputError
from planner.model.quantity import Quantity

LETTERS = st.characters(categories=["L", "N", "P", "S"], max_codepoint=0xD7A3)  # to the last Korean syllable
KEYS = st.text(LETTERS, min_size=1, max_size=6)
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(LETTERS)
)
INNER = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner), max_leaves=8)
TREES = st.dictionaries(KEYS, INNER, max_size=4)
FEW = settings(max_examples=50, deadline=None)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("1.0e11", 1e11, id="no sign in the exponent, which YAML 1.1 reads as text"),
        pytest.param("1.0e+11", 1e11, id="with a sign"),
        pytest.param("1e9", 1e9, id="no point"),
        pytest.param("1E9", 1e9, id="capital E"),
        pytest.param("1e-3", 1e-3, id="negative exponent"),
        pytest.param("-2.5e3", -2500.0, id="negative"),
        pytest.param("+2.e3", 2000.0, id="a bare point"),
        pytest.param("10", 10, id="a whole number"),
        pytest.param("0.12", 0.12, id="a fraction"),
    ],
)
def test_a_number(text, value):
    read = parse_mapping(f"a: {text}", where="plan.yaml")["a"]
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize("text", ["1e", "e9", "1e9x", "p5e.48xlarge", "1.0e11 tokens", "'1e9'", '"1.0e11"', "1_0e"])
def test_text_stays_text(text):
    assert isinstance(parse_mapping(f"a: {text}", where="plan.yaml")["a"], str)


@pytest.mark.parametrize("text", [".inf", ".nan", "1e999"])
def test_what_is_not_finite_is_left_to_the_model(text):
    assert not math.isfinite(parse_mapping(f"a: {text}", where="plan.yaml")["a"])


@FEW
@given(TREES)
def test_json_reads_the_same_as_json_and_as_yaml(tree):
    text = json.dumps(tree)
    assert parse_mapping(text, where="plan.json") == parse_mapping(text, where="plan.yaml") == tree


@pytest.mark.parametrize("where", ["plan.yaml", "plan.json"])
@FEW
@given(text=st.text(max_size=60) | st.text("{}[]:,-&*!|>%@`'\"#? \n\t0a", max_size=30))
def test_any_text_is_a_mapping_or_one_clear_error(where, text):
    with contextlib.suppress(InputError):
        assert isinstance(parse_mapping(text, where=where), dict)


@FEW
@given(TREES, st.data())
def test_a_truncated_document_is_an_error(tree, data):
    text = json.dumps(tree, indent=1)
    cut = text[: data.draw(st.integers(1, len(text) - 1))]
    with pytest.raises(InputError, match="ends too early"):
        parse_mapping(cut, where="record.json")


@pytest.mark.parametrize(
    ("text", "where", "words"),
    [
        pytest.param("a: 1\nb: 2\na: 3\n", "p.yaml", "p.yaml:3: .*'a' appears twice", id="YAML"),
        pytest.param("x:\n  a: 1\n  a: 1\n", "p.yaml", "p.yaml:3: .*'a' appears twice", id="YAML, inside, equal"),
        pytest.param('{"x": {"a": 1, "a": 1}}', "p.json", "p.json: .*'a' appears twice", id="JSON"),
        pytest.param("1: a\n1: b\n", "p.yaml", "p.yaml:2: .*'1' appears twice", id="a number as key"),
    ],
)
def test_a_key_stands_once(text, where, words):
    with pytest.raises(InputError, match=words):
        parse_mapping(text, where=where)


def test_a_merged_key_may_be_given_again():
    text = "base: &base {a: 1, b: 2}\nmine: {<<: *base, b: 3}\n"
    assert parse_mapping(text, where="p.yaml")["mine"] == {"a": 1, "b": 3}


@pytest.mark.parametrize(
    "text", ["a: 2027-02-30", "a: 2027-13-01", "a: 2027-01-01 25:00:00"], ids=["30 February", "month 13", "hour 25"]
)
def test_a_date_that_does_not_exist(text):
    with pytest.raises(InputError, match=r"p.yaml:1: .*is not a date"):
        parse_mapping(text, where="p.yaml")


@pytest.mark.parametrize("depth", [101, 5_000, 100_000])
@pytest.mark.parametrize("bracket", ["[]", "{}"])
def test_deep_nesting_is_an_error_and_no_crash(depth, bracket):
    text = "a: " + (bracket[0] if bracket == "[]" else "{a: ") * depth + bracket[1] * depth
    with pytest.raises(InputError, match="nested too deeply"):
        parse_mapping(text, where="p.yaml")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param('{"a": 1,}', "Expecting property name|trailing comma", id="a comma too many"),
        pytest.param('{"a": 1}}', "Extra data", id="a brace too many"),
        pytest.param("{'a': 1}", "double quotes", id="single quotes"),
        pytest.param('{"a" 1}', "Expecting ':'", id="a colon missing"),
    ],
)
def test_wrong_json_is_not_called_truncated(text, words):
    with pytest.raises(InputError, match=words):
        parse_mapping(text, where="plan.json")


def test_a_file_at_the_limit_is_read_and_one_byte_more_is_not(tmp_path):
    path = tmp_path / "plan.yaml"
    path.write_bytes(b"x" * 1000)
    assert len(read_text(path, limit_bytes=1000)) == 1000
    with pytest.raises(InputError, match="at most"):
        read_text(path, limit_bytes=999)


def test_the_line_of_a_wrong_key_is_found_below_others():
    text = "value: 1.0\nlow: 1.0\nhigh: 1.0\nunit: parsec\nbasis: measured\nsource: me\n"
    with pytest.raises(InputError, match=r"q.yaml:4: unit: must be 'h'"):
        parse_model(Quantity, parse_mapping(text, where="q.yaml"), where="q.yaml", text=text)


@pytest.mark.parametrize("version", [2, 10**30])
def test_a_newer_file_is_not_taken_for_a_wrong_one(version):
    with pytest.raises(InputError, match="newer") as caught:
        parse_model(Quantity, {"schema_version": version, "new_key": 1}, where="q.yaml")
    assert "Update" in caught.value.fix
