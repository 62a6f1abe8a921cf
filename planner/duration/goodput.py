"""Hours of the steps from the work, and hours lost to stalls, evaluation, checkpoints, repeated work and restarts."""

from __future__ import annotations

from dataclasses import dataclass, fields

from planner.model.answer.reason import Reason, ReasonCode
from planner.quantity.formula import exp, expm1, formula, largest, named, smallest, sqrt, total
from planner.quantity.interval import Interval
from planner.quantity.time_units import SECONDS_PER_HOUR

MOST_INTERRUPTIONS = 20.0
"""Mean interruptions between two checkpoints beyond which a training makes no progress and gets no number."""
SMALLEST_RATE = 1e-15
"""Interruptions an hour below which the limit of no interruptions is used."""


@dataclass(frozen=True)
class Interruptions:
    """Interruptions of a training as plain numbers: hours, and interruptions an hour of the whole training."""

    input_stall: float = 0.0
    """Hours of waiting for samples, for each hour of steps."""
    evaluation: float = 0.0
    """Hours of evaluation, for each hour of steps."""
    interval_hours: float = 1.0
    """Hours of training between two checkpoints."""
    checkpoint_hours: float = 0.0
    """Hours for which one checkpoint stops the training."""
    unsaved_hours: float = 0.0
    """Hours from a checkpoint's start until it is complete in the background, while training continues."""
    failures_per_hour: float = 0.0
    preemptions_per_hour: float = 0.0
    restart_hours: float = 0.0

    @property
    def per_hour(self) -> float:
        """Interruptions an hour, of both kinds."""
        return self.failures_per_hour + self.preemptions_per_hour


@dataclass(frozen=True)
class Losses:
    """Hours for each hour of steps. All parts and the step hour itself add up to `total`."""

    input_stall: float
    evaluation: float
    checkpoints: float
    failure_lost: float
    failure_restarts: float
    preemption_lost: float
    preemption_restarts: float

    @property
    def total(self) -> float:
        """Wall-clock hours for each hour of steps."""
        return 1 + total(getattr(self, part.name) for part in fields(self))


def is_hopeless(interruptions: Interruptions) -> bool:
    """Return whether interruptions are so frequent that hardly any interval between checkpoints is finished."""
    segment = (
        interruptions.interval_hours
        + interruptions.checkpoint_hours
        + interruptions.unsaved_hours
        + interruptions.restart_hours
    )
    return interruptions.per_hour * segment > MOST_INTERRUPTIONS


@formula("h an hour of steps")
def losses(interruptions: Interruptions) -> Losses:
    """Return the losses for each hour of steps.

    busy    = 1 + input stall + evaluation                        hours to be trained through, in intervals of t hours
    wall    = busy / t x M x e^((R + u) / M) x (e^((t + c) / M) - 1)
    checkpoints = busy / t x c;  restarts = wall x (1 - e^(-R / M));  lost work = wall - busy - checkpoints - restarts

    M is the hours between interruptions, which come at random (exponential); R a restart; c what a checkpoint stops; u
    the extra time until it is complete. To first order an interruption costs R + u + (t + c) / 2. Failures and
    preemption share the loss in proportion to their rates. Leaves out checkpoints that fail, and nodes slow before they
    fail. Source: Daly, A higher order estimate of the optimum checkpoint interval, FGCS 22 (2006) 303, section 3; u is
    ours.
    """
    busy = 1 + interruptions.input_stall + interruptions.evaluation
    segments = busy / interruptions.interval_hours
    checkpoints = segments * interruptions.checkpoint_hours
    rate = interruptions.per_hour
    if rate < SMALLEST_RATE:
        return Losses(interruptions.input_stall, interruptions.evaluation, checkpoints, 0.0, 0.0, 0.0, 0.0)
    segment = rate * (interruptions.interval_hours + interruptions.checkpoint_hours)
    again = rate * (interruptions.restart_hours + interruptions.unsaved_hours)
    wall = segments / rate * exp(smallest(again, MOST_INTERRUPTIONS)) * expm1(smallest(segment, MOST_INTERRUPTIONS))
    wall = named("wall_with_interruptions", wall, "h an hour of steps")
    restarts = named("restarts", wall * -expm1(-rate * interruptions.restart_hours), "h an hour of steps")
    lost = largest(0.0, wall - busy - checkpoints - restarts)
    failing = interruptions.failures_per_hour / rate
    return Losses(
        input_stall=interruptions.input_stall,
        evaluation=interruptions.evaluation,
        checkpoints=checkpoints,
        failure_lost=lost * failing,
        failure_restarts=restarts * failing,
        preemption_lost=lost * (1 - failing),
        preemption_restarts=restarts * (1 - failing),
    )


@formula("h")
def optimal_interval_hours(*, checkpoint_hours: float, interruptions_per_hour: float) -> float | None:
    """Return the interval between checkpoints that loses least; None if checkpoints are free or nothing interrupts.

    t = sqrt(2 c M) x (1 + sqrt(c / (2 M)) / 3 + c / (18 M)) - c for c < 2 M, else M; the first factor alone is Young's

    Source: Daly 2006, section 4; Young, A first order approximation to the optimum checkpoint interval, CACM 17 (1974).
    """
    if checkpoint_hours <= 0 or interruptions_per_hour < SMALLEST_RATE:
        return None
    between = 1 / interruptions_per_hour
    ratio = checkpoint_hours / (2 * between)
    if ratio >= 1:
        return between
    young = sqrt(2 * checkpoint_hours * between)
    return young * (1 + sqrt(ratio) / 3 + ratio / 9) - checkpoint_hours


@formula("h", inputs={"samples": ("", "the plan's work in samples; tokens / seq_len if it states tokens")})
def train_hours(*, samples: float, samples_per_s: Interval, goodput_fraction: float) -> Interval:
    """Return the wall-clock hours to train on `samples`.

    hours = samples / (samples_per_s x goodput_fraction) / 3600

    `samples_per_s` is of the whole cluster in steady state (warm-up dropped). `goodput_fraction` in (0, 1] takes off
    restarts, checkpoints and evaluation. Leaves out set-up and a last partial batch (under one step an epoch).
    Source: definition.
    """
    return samples_per_s.inverse().scaled(samples / goodput_fraction / SECONDS_PER_HOUR)


def never_ends(interruptions: Interruptions) -> Reason:
    """Return the reason for a training that loses more than it gains."""
    often, between = 1 / interruptions.per_hour, interruptions.interval_hours + interruptions.checkpoint_hours
    text = (
        f"the training would not get on: it is interrupted every {often:.3g} h, and needs "
        f"{between:.3g} h from checkpoint to checkpoint and {interruptions.restart_hours:g} h for a restart"
    )
    figures = {
        "between_interruptions_hours": often,
        "between_checkpoints_hours": between,
        "restart_hours": interruptions.restart_hours,
    }
    return Reason(code=ReasonCode.NEVER_ENDS, text=text, figures=figures)
