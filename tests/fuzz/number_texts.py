"""Made texts in the place of numbers, days and yes or no: a reader refuses one, or reads the value that it shows.

What a text shows is told here by a second method: the core schema of YAML 1.2.2 (section 10.3.2) as the specification
writes it, JSON's grammar, and the plain decimal notation, each with exact fractions.
"""

from __future__ import annotations

import random
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import typer

from planner.adapters.trainer_logs.numbers_in_text import number as number_in_log
from planner.cli.number_arguments import number, short_number, whole_number
from planner.errors import InputError
from planner.use_cases.asking.ask import samples_and_tokens
from tests.fuzz.by_hand import OddInput, outcome


class NumberPlace(NamedTuple):
    """Place of a text, its notation, and the text itself."""

    kind: str
    path: str
    notation: str
    what: str = "number"


PLACES = (
    NumberPlace("plan", "campaign.runs", "yaml"),
    NumberPlace("plan", "work.tokens", "yaml"),
    NumberPlace("plan", "options.0.usd_per_hour", "yaml"),
    NumberPlace("plan", "campaign.start", "yaml", "day"),
    NumberPlace("plan", "options.0.sell_after", "yaml", "flag"),
    NumberPlace("site", "power.value", "yaml"),
    NumberPlace("site", "power.as_of", "yaml", "day"),
    NumberPlace("site", "incentives.0.eligible", "yaml", "flag"),
    NumberPlace("tariff", "demand_per_kw_month", "yaml"),
    NumberPlace("tariff", "as_of", "yaml", "day"),
    NumberPlace("book", "quotes.0.usd_per_hour", "yaml"),
    NumberPlace("book", "discounts.0.discount_fraction", "yaml"),
    NumberPlace("book", "as_of", "yaml", "day"),
    NumberPlace("plan-json", "campaign.runs", "json"),
    NumberPlace("plan-json", "work.tokens", "json"),
    NumberPlace("run", "throughput.value", "json"),
    NumberPlace("run", "hardware.nodes", "json"),
    NumberPlace("config", "num_hidden_layers", "json"),
    NumberPlace("prices", "usd_per_hour", "csv"),
    NumberPlace("prices", "as_of", "csv", "day"),
    NumberPlace("log", "", "csv"),
    NumberPlace("--gpus", "", "text"),
    NumberPlace("--budget", "", "text"),
    NumberPlace("--tokens", "", "text", "short"),
    NumberPlace("--data", "", "text", "grouped"),
)
TYPED: dict[str, Callable[[str], Any]] = {
    "log": number_in_log, "--gpus": whole_number, "--budget": number, "--tokens": short_number,
    "--data": samples_and_tokens,
}  # fmt: skip
PARTS = (
    "0", "1", "5", "8", "9", "10", "07", "000", "12", "1e", "e", "E", ".", "..", "-", "+", "_", ":", ",", " ", "x",
    "0x", "0o", "0b", "a", "F", "inf", ".inf", "nan", ".nan", "Infinity", "true", "yes", "no", "on", "null", "~",
    "2026-12-01", "2026", "-12", "-1", "T", "Z", "10:00", "k", "M", "B", "%", "$", "\u0663", "\uff15", "\u00b2",
    "\u2212", "\u00a0", "\u200b", '"', "'", "!!int ", "!!float ", "!!str ", "1764547200", "1764547200000",
)  # fmt: skip
SPELLINGS = ("{}", "{}", "{:e}", "{:g}", "+{}", "0{}", "{:,}", "{:_}", '"{}"', "{}.", "{} ")
DAY_SPELLINGS = ("{:%Y-%m-%d}", "{:%Y%m%d}", "{:%d.%m.%Y}", "{:%Y-%m-%d}T00:00:00", '"{:%Y-%m-%d}"')
PLAIN = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?")
JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]{1,3})?")
GROUPED = re.compile(r"[-+]?[0-9]{1,3}(?:[,_][0-9]{3})+(?:\.[0-9]+)?")
TAG = re.compile(r"!!(?:int|float|str) +")
FACTORS = {"k": 10**3, "m": 10**6, "b": 10**9, "g": 10**9, "t": 10**12}
DAY = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[T ]00:00(?::00(?:\.0+)?)?(?:Z|[+-]00:?00)?)?")


def number_text(rng: random.Random) -> str:
    """Return a text that looks like a number, a day or a word for yes."""
    if rng.random() < 0.3:  # a number as it should be, in one of its spellings
        value = rng.choice((rng.randrange(200), round(rng.random() * 100, rng.randrange(5)), rng.randrange(10**9)))
        text = rng.choice(("{}", "{}", "{:e}", "{:g}", "+{}", "0{}", "{:,}", "{:_}", '"{}"', "{}.", "{} ")).format(
            value
        )
    elif rng.random() < 0.2:
        day = date(1995, 1, 1) + timedelta(days=rng.randrange(38_000))
        text = rng.choice(DAY_SPELLINGS).format(day)
    else:
        text = "".join(rng.choice(PARTS) for _ in range(rng.choice((1, 1, 2, 3, 4))))
    if rng.random() < 0.1:
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(PARTS) + text[at:]
    return text


def shown_values(text: str, place: NumberPlace) -> Sequence[object]:
    """Return the values that a text may be read as in a place; it may always be refused."""
    if place.what == "day":
        bare = TAG.sub("", text.strip()).strip("\"' ")
        found = DAY.fullmatch(bare)
        return [f"{found[1]}-{found[2]}-{found[3]}"] if found else []
    if place.what == "flag":
        return {"true": [True], "True": [True], "TRUE": [True]}.get(text.strip(), [False])
    return [float(value) for value in _numbers(text.strip(), place)]


def _numbers(text: str, place: NumberPlace) -> Iterator[Fraction]:
    if place.notation == "json":
        if JSON_NUMBER.fullmatch(text.strip('"').strip()):
            yield Fraction(text.strip('"').strip())
        return
    if place.notation == "yaml":
        bare = TAG.sub("", text)
        if found := re.fullmatch(r"0o([0-7]+)|0x([0-9a-fA-F]+)", bare):
            yield Fraction(int(found[1], 8) if found[1] else int(found[2], 16))
        if re.fullmatch(r"(\"|')?[-+]?0[0-9]+\1?", bare):  # ambiguous: readers of YAML 1.1 take it for octal
            return
        text = bare.strip("\"'").strip()
    text = text.strip('"').strip() if place.notation == "csv" else text
    if PLAIN.fullmatch(text):
        yield Fraction(text)
    grouped = GROUPED.fullmatch(text)
    if grouped and (place.kind in ("--tokens", "--data") or (place.kind == "log" and "_" not in text)):
        yield Fraction(re.sub("[,_]", "", text))
    factor = FACTORS.get(text[-1:].lower())
    rest = re.sub("[,_]", "", text[:-1]).rstrip()
    if factor and place.kind in ("--tokens", "log") and PLAIN.fullmatch(rest):
        yield Fraction(rest) * factor


def number_inputs(seed: str, begin: int, end: int) -> Iterator[tuple[OddInput, NumberPlace]]:
    """Return made texts with their places; those of a seed and a number are the same each time."""
    for position in range(begin, end):
        rng = random.Random(f"{seed}:number:{position}")
        place, text = rng.choice(PLACES), number_text(rng)
        yield OddInput(f"{place.kind} {place.path} {position}", place.kind, place.path, text, ()), place


def misread(odd: OddInput, place: NumberPlace, folder: Path) -> str | None:
    """Return what a text was read as where it shows another value; None where it was refused or read right."""
    try:
        found: Any = _typed(odd) if odd.kind in TYPED else outcome(odd, folder)
    except UnicodeDecodeError:
        return "crashed on text that is not UTF-8"
    if found in ("refused", None) or (found is False and place.what == "flag"):
        return None
    shown = shown_values(odd.text, place)
    if place.what == "day":
        right = str(found)[:10] in shown
    elif place.what == "flag":
        right = found is True and True in shown
    else:
        right = any(_is_near(found, number) for number in shown)
    return None if right else f"{odd.text!r} was read as {found!r}; it shows {shown or 'no value'}"


def _is_near(found: Any, shown: Any) -> bool:
    return isinstance(found, int | float) and abs(found - shown) <= 1e-12 * abs(shown)


def _typed(odd: OddInput) -> object:
    try:
        found = TYPED[odd.kind](odd.text)
    except (InputError, typer.BadParameter):
        return "refused"
    return found[0] if isinstance(found, tuple) else found


def misread_texts(seed: str, begin: int, end: int) -> list[str]:
    """Return every made text that was read as another value than it shows, with its place."""
    with tempfile.TemporaryDirectory() as folder:
        wrong = ((odd, misread(odd, place, Path(folder))) for odd, place in number_inputs(seed, begin, end))
        return [f"{odd.id}: {problem}" for odd, problem in wrong if problem is not None]
