"""Renders pinned answers side by side, with the differences between their questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from planner.present.page.answer import AnswerPage, KeyFigure
from planner.present.page.templating import render
from planner.present.page.words import Words

MOST_PINS = 4
LONGEST_PIN = 60
"""Largest number of characters of a pin's text."""
Parameters = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Pin:
    """One answer, with the address of its question."""

    parameters: Parameters
    page: AnswerPage


@dataclass(frozen=True)
class _Row:
    differs: Sequence[str]
    machine: str
    figures: Sequence[KeyFigure]


def pins_html(pins: Sequence[Pin], words: Words) -> str:
    """Render the pinned answers, each with the differences of its question from the first."""
    rows = [
        _Row(
            differences(pins[0].parameters, pin.parameters),
            pin.page.shown.display_name if pin.page.shown else words("not known"),
            AnswerPage(pin.page.document, words, pin.page.start).figures(),
        )
        for pin in pins
    ]
    return render("lists.html", "pins", words, rows) if rows else ""


def differences(first: Parameters, other: Parameters) -> list[str]:
    """Return the differences between the parameters of two addresses: `budget: 300 -> 500`."""
    names = sorted({*first, *other})
    changed = [name for name in names if list(first.get(name, ())) != list(other.get(name, ()))]
    return [f"{name}: {_said(first, name)} -> {_said(other, name)}" for name in changed]


def _said(parameters: Parameters, name: str) -> str:
    text = ", ".join(parameters.get(name, ())) or "-"
    return text if len(text) <= LONGEST_PIN else f"{text[: LONGEST_PIN - 3]}..."
