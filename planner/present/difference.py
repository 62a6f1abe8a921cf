"""Writes differences between answers in words and as Markdown, and lists plans whose recommendation flips."""

from __future__ import annotations

from planner.model.answer.difference import DiffDocument, Move, WatchDocument, WatchedPlan
from planner.present.table import NOT_KNOWN, Row
from planner.text.markdown_text import inline, line, table

MOST_LISTED = 30


def as_markdown(diff: DiffDocument) -> str:
    """Write a difference as Markdown."""
    head, compared = f"# What moved: {inline(diff.plan)}", f"From {inline(diff.old)} to {inline(diff.new)}."
    parts = [head, compared, line(recommendation_text(diff))]
    rows = move_rows(diff)
    parts.append(table(rows) if rows else "No number moved.")
    for name, options in (("Only in the new one", diff.added), ("Only in the old one", diff.removed)):
        if options:
            parts.append(f"{name}: {inline(', '.join(options))}.")
    if diff.inputs:
        parts.append("## Inputs that changed")
        listed = diff.inputs[:MOST_LISTED]
        parts.append(
            table(
                [
                    {
                        "cause": change.cause.value,
                        "input": change.what,
                        "old": change.old or "none",
                        "new": change.new or "none",
                    }
                    for change in listed
                ]
            )
        )
        if len(diff.inputs) > len(listed):
            parts.append(f"... and {len(diff.inputs) - len(listed)} more (--format json lists them).")
    parts += [f"Note: {inline(note)}." for note in diff.notes]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def recommendation_text(diff: DiffDocument) -> str:
    """Write whether the recommended option changed."""
    if diff.recommended_old == diff.recommended_new:
        return f"The recommendation stays: {diff.recommended_new or 'none'}."
    return f"The recommendation changes from {diff.recommended_old or 'none'} to {diff.recommended_new or 'none'}."


def move_rows(diff: DiffDocument) -> list[Row]:
    """Return one row per number that changed."""
    return [
        {
            "option": moves.option,
            "number": move.quantity,
            "old": _number(move.old, move.unit),
            "new": _number(move.new, move.unit),
            "change": _change(move),
            "why": ", ".join(f"{share.cause.value} {_signed(share.change)}" for share in move.causes) or NOT_KNOWN,
        }
        for moves in diff.options
        for move in moves.moves
    ]


def watched_rows(watch: WatchDocument) -> list[Row]:
    """Return one row per plan that flips."""
    return [
        {
            "lock": plan.lock,
            "plan": plan.plan,
            "frozen": str(plan.frozen_on),
            "was": plan.recommended_then or "none",
            "is now": plan.recommended_now or "none",
            "cost of the former": _then_and_now(plan),
        }
        for plan in watch.plans
        if plan.flips
    ]


def _then_and_now(plan: WatchedPlan) -> str:
    return f"{_number(plan.usd_then, 'USD')} then, {_number(plan.usd_now, 'USD')} now"


def _number(value: float | None, unit: str) -> str:
    return NOT_KNOWN if value is None else f"{value:,.2f} {unit}" if abs(value) >= 1 else f"{value:.4g} {unit}"


def _change(move: Move) -> str:
    if move.change is None:
        return NOT_KNOWN
    share = f" ({move.change / move.old:+.1%})".replace("%", " %") if move.old else ""
    return f"{_signed(move.change)}{share}"


def _signed(value: float) -> str:
    return f"{value:+,.2f}" if abs(value) >= 1 else f"{value:+.4g}"
