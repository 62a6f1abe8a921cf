"""Plain values of YAML: the core rules of YAML 1.2, and refusals where programs read different values."""

from __future__ import annotations

from datetime import date

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from planner.adapters.mapping_text import parse_mapping
from planner.adapters.yaml_scalars import CoreDumper
from planner.errors import InputError

CORE = {  # https://yaml.org/spec/1.2.2/#1032-tag-resolution
    "true": True, "FALSE": False, "null": None, "~": None, "0": 0, "12": 12, "-19": -19, "+5": 5, "0o7": 7, "0o17": 15,
    "0x3A": 58, "0.": 0.0, "-0.0": 0.0, ".5": 0.5, "+12e03": 12000.0, "-2E+05": -200000.0, "1e9": 1e9,
    "yes": "yes", "no": "no", "on": "on", "Off": "Off", "y": "y", "1_000": "1_000", "0b11": "0b11", "=": "=",
    "1.2.3": "1.2.3", "12h": "12h", "2027-01-02": date(2027, 1, 2), "\u0661\u0666": "\u0661\u0666", "-": "-",
}  # fmt: skip
AMBIGUOUS = {
    "010": ("'010' is 10 to some programs and 8 to others", "Write 10 or 8"),
    "-017": ("'-017' is -17 to some programs and -15 to others", "Write -17 or -15"),
    "08": ("'08' begins with a zero", "Write 8"),
    "00": ("'00' begins with a zero", "Write 0"),
    "0_10": ("is 10 to some programs and 8 to others", "Write 10 or 8"),
    "10:00:00": ("'10:00:00' is text to some programs and 36000 to others", "Write 36000"),
    "1:30": ("'1:30' is text to some programs and 90 to others", "Write 90"),
    "190:20:30.15": ("is text to some programs and 685230.15 to others", "Write 685230.15"),
    "!!int 010": ("'010' is 10 to some programs and 8 to others", "Write 10 or 8"),
    "!!int '1:30'": ("'1:30' is text to some programs and 90 to others", "Write 90"),
}
WRITTEN = st.characters(categories=["L", "N", "P", "S"])
TEXTS = st.text(st.sampled_from("0123456789_:.eExobn+-~<=yTt "), max_size=8) | st.text(WRITTEN, max_size=8)


@pytest.mark.parametrize("text", CORE)
def test_a_plain_value_is_read_by_the_core_rules(text):
    if text == "-":
        with pytest.raises(InputError):  # a list's item: no value at all
            parse_mapping(f"a: {text}", where="p.yaml")
        return
    read = parse_mapping(f"a: {text}", where="p.yaml")["a"]
    assert (read, type(read)) == (CORE[text], type(CORE[text]))


@pytest.mark.parametrize("text", AMBIGUOUS)
@pytest.mark.parametrize("place", ["a: {}", "a: [1, {}]", "a: {{b: {}}}", "a:\n  - {}"])
def test_what_programs_read_differently_is_refused_with_what_was_meant(text, place):
    problem, fix = AMBIGUOUS[text]
    with pytest.raises(InputError) as caught:
        parse_mapping("x: 1\n" + place.format(text), where="p.yaml")
    lines = 1 + place[: place.index("{}")].count("\n") + 1
    assert caught.value.message.startswith(f"p.yaml:{lines}: ")
    assert problem in caught.value.message
    assert fix in caught.value.fix


@pytest.mark.parametrize("text", [text for text in AMBIGUOUS if not text.startswith("!")])
def test_it_is_text_in_quotes_and_in_the_files_of_others(text):
    assert parse_mapping(f"a: '{text}'", where="p.yaml") == {"a": text}
    assert parse_mapping(f"a: {text}", where="p.yaml", foreign=True) == {"a": text}


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_json_has_no_infinity(word):
    with pytest.raises(InputError, match=f"p.json: {word} is not a number in JSON"):
        parse_mapping(f'{{"a": [{word}]}}', where="p.json")
    assert parse_mapping(f'{{"a": {word}}}', where="p.json", foreign=True)  # configurations of Mamba have it


def test_keys_are_read_by_the_same_rules():
    assert parse_mapping("on: 1\nno: 2", where="p.yaml") == {"on": 1, "no": 2}
    with pytest.raises(InputError, match="'010' is 10"):
        parse_mapping("010: 1", where="p.yaml")


@given(st.dictionaries(TEXTS, TEXTS | st.integers() | st.booleans() | st.none() | st.dates(), max_size=4))
@example({"08": "08", "1:30": "0o17", "a": "1e9", "b": "yes", "c": "2027-01-02"})
def test_what_is_written_is_read_as_the_same_value(tree):
    text = yaml.dump(tree, Dumper=CoreDumper, allow_unicode=True)
    assert parse_mapping(text, where="p.yaml") == tree


@given(TEXTS)
def test_a_plain_value_is_its_text_or_the_number_that_it_shows(text):
    """The second method: a value that is read as a number is the one that Python reads from its digits."""
    try:
        read = parse_mapping(f"a: {text}", where="p.yaml").get("a")
    except InputError:
        return
    if isinstance(read, int) and not isinstance(read, bool):
        assert read == int(text, 0)
    if isinstance(read, float):
        assert read == float(text.replace(".inf", "inf")) or read != read  # noqa: PLR0124  not a number
