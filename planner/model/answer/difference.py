"""What moved between two frozen plans and why; what `planner watch` found. These are `--json` documents."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import Literal

from planner.model.base import Frozen


class Cause(StrEnum):
    """What can move an answer, in the order in which one group after the other is replaced."""

    PRICE = "price"
    HARDWARE = "hardware"
    MEASUREMENT = "measurement"
    ASSUMPTION = "assumption"
    """The plan itself, the defaults, presets, and what else the answer takes."""
    RULE = "rule"
    """What counts and how options are ranked: the same numbers answered by other rules."""
    MODEL = "model"
    """The planner's own formulas: the same inputs answered by another version."""


class CauseShare(Frozen):
    """What one cause adds to a change; the shares of a quantity add up to its change."""

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
    """Empty where one of the two is no lock, or a number is missing on one side."""


class OptionMoves(Frozen):
    """What moved of one option; only numbers that moved."""

    option: str
    moves: tuple[Move, ...]


class InputChange(Frozen):
    """One input that differs."""

    cause: Cause
    what: str
    old: str | None
    new: str | None


class DiffDocument(Frozen):
    """`planner diff --json`."""

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
    """Of the option that was recommended then."""
    sentence: str


class WatchDocument(Frozen):
    """`planner watch --json`."""

    schema_version: Literal[1] = 1
    kind: Literal["watch"] = "watch"
    prices_of: date
    """The newest price that was taken."""
    plans: tuple[WatchedPlan, ...]
    problems: tuple[str, ...]
    """Locks that could not be read or answered."""
