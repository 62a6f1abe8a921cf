"""Writes the hours of a training by cause, as rows and in words."""

from __future__ import annotations

from planner.model.answer.training_time import TrainingTime
from planner.model.quantity import Quantity
from planner.present.facts import interval_text, value_text
from planner.present.table import Row, number_text, quantity_text, range_text

TOTAL, LAUNCH = "wall clock, first step to last", "before the first step: launch"


def time_rows(time: TrainingTime) -> list[Row]:
    """Return one row per line, their sum, and the time before the first step."""
    rows = [_row(line.what, line.hours) for line in time.lines]
    rows.append(_row(TOTAL, time.wall_hours))
    if time.launch_hours is not None:
        rows.append(_row(LAUNCH, time.launch_hours))
    return rows


def time_facts(time: TrainingTime) -> list[str]:
    """Return the basis of the lines: goodput, steps, interruptions, checkpoint interval, practices, convergence."""
    facts = [f"goodput {share_text(time.goodput)}"]
    if time.optimizer_steps is not None:
        facts.append(f"{time.optimizer_steps:,.0f} optimizer steps")
    if time.interruptions is not None:
        low, high = time.interruptions.low, time.interruptions.high
        facts.append(f"interruptions to expect: {time.interruptions.value:.2g} ({low:.2g}-{high:.2g})")
    if time.checkpoint_interval_hours is not None:
        best = time.optimal_interval_hours
        optimum = "" if best is None else f"; the best interval, after Young and Daly: {quantity_text(best)}"
        facts.append(f"checkpoints every {value_text(time.checkpoint_interval_hours)}{optimum}")
    facts += [
        f"practice {pace.practice.value}: {quantity_text(pace.wall_hours)}, {pace.factor.value:.3g} x benchmark speed"
        for pace in time.practices
    ]
    facts += time.limited_by
    facts += [f"not counted: {missing.what} ({missing.reason})" for missing in time.uncounted]
    return [*facts, *convergence_facts(time)]


def convergence_facts(time: TrainingTime) -> list[str]:
    """Return the spread of runs to the plan's quality target; empty for a fixed amount of work."""
    spread = time.convergence
    if spread is None:
        return []
    hours = spread.training_hours
    return [
        f"convergence, beside the range of the speed: {value_text(hours)} of steps may as well be "
        f"{range_text(hours)} (90 % of runs), as runs of {spread.like} differ by "
        f"+-{spread.fraction.value * 100:.2g} % from seed to seed"
    ]


def share_text(share: Quantity) -> str:
    """Write a share with its range: `99.6 % (98.1-99.9, assumed)`."""
    if share.low == share.high:
        return f"{share.value * 100:.4g} % ({share.basis.value})"
    return f"{share.value * 100:.4g} % ({share.low * 100:.4g}-{share.high * 100:.4g}, {share.basis.value})"


def _row(what: str, hours: Quantity) -> Row:
    return {
        "line": what,
        "hours": number_text(hours.value, hours.unit),
        "90 % range": interval_text(hours),
        "basis": hours.basis.value,
        "formula and source": hours.source,
    }
