"""Changes between two frozen plans and their causes, and the results of `planner watch`.

These are `--json` documents.
"""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import Literal

from planner.model.base import Frozen


class Cause(StrEnum):
    """Causes of a changed answer, in the order in which the groups are replaced."""

    PRICE = "price"
    HARDWARE = "hardware"
    MEASUREMENT = "measurement"
    ASSUMPTION = "assumption"
    """The plan itself, the defaults, presets, and other inputs of the answer."""
    RULE = "rule"
    """Counting and ranking rules: the same numbers, answered by other rules."""
    MODEL = "model"
    """The planner's own formulas: the same inputs, answered by another version."""


class CauseShare(Frozen):
    """Contribution of one cause to a change. The shares of a quantity add up to its change."""

    cause: Cause
    change: float


class Move(Frozen):
    """One number of one option, before and after."""

    quantity: str
    unit: str
    old: float | None
    new: float | None
    change: float | None
    causes: tuple[CauseShare, ...]
    """Shares of the causes; empty if one of the two is no lock, or a number is missing on one side."""


class OptionMoves(Frozen):
    """Changed numbers of one option."""

    option: str
    moves: tuple[Move, ...]


class InputChange(Frozen):
    """One input that differs."""

    cause: Cause
    what: str
    old: str | None
    new: str | None


class DiffDocument(Frozen):
    """Document of `planner diff --json`."""

    schema_version: Literal[1] = 1
    kind: Literal["diff"] = "diff"
    old: str
    new: str
    plan: str
    recommended_old: str | None
    recommended_new: str | None
    options: tuple[OptionMoves, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    inputs: tuple[InputChange, ...]
    notes: tuple[str, ...]


class WatchedPlan(Frozen):
    """One lock, answered on today's prices."""

    lock: str
    plan: str
    frozen_on: date
    flips: bool
    recommended_then: str | None
    recommended_now: str | None
    usd_then: float | None
    usd_now: float | None
    """Current cost of the option that was recommended then."""
    sentence: str


class WatchDocument(Frozen):
    """Document of `planner watch --json`."""

    schema_version: Literal[1] = 1
    kind: Literal["watch"] = "watch"
    prices_of: date
    """Date of the newest price that was used."""
    plans: tuple[WatchedPlan, ...]
    problems: tuple[str, ...]
    """Locks that could not be read or answered."""
