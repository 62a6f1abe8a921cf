"""tqdm's progress bars in a console's output. Their elapsed time gives the times of steps."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from planner.adapters.trainer_logs.numbers_in_text import clock_s
from planner.adapters.trainer_logs.processes import Point, is_shared, once_each

_BAR = re.compile(
    r"(?:^|\|)\s{0,4}(\d{1,9})/(\d{1,9}) \[((?:\d{1,4} days?, )?[\d:]{4,12})<"
    r"[\d:?]{1,12}(?: days?, [\d:]{4,9})?,\s{1,4}[\d.?]{1,12}\s?(?:it/s|s/it)"
)
MOSTLY = 0.8
MOST_DRAWN_AGAIN = 0.15
LONGEST_LINE = 20_000
_DESCRIBED = re.compile(r"^\s{0,9}(?!Train(?:ing)?:|Steps:|\[)[^\d\s%|][^|%]{0,200}:\s{0,9}\d{1,3}%")
"""A bar with a name before it (`Map:`, `Loading weights:`) is not the training's, unless the name says so."""
_NOTEBOOK = re.compile(r"\[\s{0,9}(\d{1,9})/(\d{1,9}) ((?:\d{1,4} days?, )?[\d:]{4,12})(?: < [\d:?]{1,12},|,) ")
"""Notebook bar: `[ 22/290 02:50 < 38:04, 0.12 it/s, Epoch 0.36/5]`."""


@dataclass(frozen=True)
class BarState:
    """State of a bar: `done` of `total` after whole seconds."""

    line: int
    done: int
    total: int
    elapsed_s: float


def bar_states(line: str, place: int) -> list[BarState]:
    """Return the states of unnamed bars in it/s on a line. Overwritten text may follow a bar."""
    if "it" not in line or "/" not in line or _DESCRIBED.match(line):
        return []
    shown = [(found, clock_s(found[3])) for found in _BAR.finditer(line[:LONGEST_LINE])]
    return [
        BarState(place, int(found[1]), int(found[2]), elapsed)
        for found, elapsed in shown
        if elapsed is not None and int(found[1]) <= int(found[2])
    ]


def notebook_state(line: str) -> BarState | None:
    """Return the state of a notebook's bar, which a saved output shows once, at its end."""
    found = _NOTEBOOK.search(line[:LONGEST_LINE]) if "Epoch " in line else None
    elapsed = clock_s(found[3]) if found else None
    return BarState(0, int(found[1]), int(found[2]), elapsed) if found and elapsed else None


def training_bar(states: list[BarState], total: int | None) -> list[BarState]:
    """Return the states of the training's bar: of this total, otherwise of the total that was shown for longest.

    Only the first state of each whole second is kept, because there the second has just begun. If nearly every second
    is shown, a state after a gap (such as an evaluation) is dropped, because it may be late in its second. If several
    processes draw bars at once, all states are kept.
    """
    if total is None:
        longest: dict[int, float] = {}
        for state in states:
            longest[state.total] = max(longest.get(state.total, 0.0), state.elapsed_s)
        total = max(longest, key=lambda bar_total: (longest[bar_total], bar_total), default=None)
    own = [state for state in states if state.total == total]
    if _are_of_several(own):
        return own
    kept: list[BarState] = []
    ticks: list[bool] = []
    shown: BarState | None = None
    for state in own:
        if shown is None or state.elapsed_s != shown.elapsed_s:
            kept.append(state)
            ticks.append(shown is None or state.elapsed_s == shown.elapsed_s + 1)
        shown = state
    dense = sum(ticks) > MOSTLY * len(ticks)
    return [state for state, tick in zip(kept, ticks, strict=True) if tick or not dense]


def _are_of_several(states: list[BarState]) -> bool:
    """Return whether several processes draw the bar: then most states appear twice.

    One process redraws only sometimes.
    """
    twice = sum(following.done == state.done for state, following in pairwise(states))
    points = once_each(Point(state.done, state.elapsed_s, state.elapsed_s) for state in states)
    return twice > MOST_DRAWN_AGAIN * len(states) and is_shared(points)
