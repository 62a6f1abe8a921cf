"""Recover the interruptions of a training from the parts of its estimated time."""

from __future__ import annotations

import math

from planner.duration.goodput import Interruptions
from planner.duration.training_time import CHECKPOINTS, EVALUATION, LOST, RESTARTS, STALL
from planner.model.answer.training_time import TrainingTime


def interruptions_of(time: TrainingTime) -> Interruptions:
    """Return the inputs from which `losses` computes the estimate's hours. Their mean is the wall-clock time.

    l = interruptions / wall;  R = -ln(1 - restarts / wall) / l
    u from wall = busy / t x e^(l (R + u)) x (e^(l (t + c)) - 1) / l

    Hours beyond benchmark speed (the plan's practice) count as longer steps, because all losses grow with them.

    Nothing is random if the plan states the losses, or the interval between checkpoints is unknown.
    """
    hours = {line.what: line.hours.value for line in time.lines}
    steps = time.lines[0].hours.value
    stall, evaluation = hours.get(STALL, 0.0) / steps, hours.get(EVALUATION, 0.0) / steps
    every, count = time.checkpoint_interval_hours, time.interruptions
    if every is None or count is None or count.value <= 0:
        return Interruptions(evaluation=time.wall_hours.value / steps - 1)
    practice = time.practice_hours.value if time.practice_hours is not None else 0.0
    busy, wall = steps * (1 + stall + evaluation), time.wall_hours.value - practice
    per_hour = count.value / time.wall_hours.value
    stop = hours.get(CHECKPOINTS, 0.0) * every.value / busy
    restarts = sum(hours.get(what, 0.0) for what in RESTARTS.values())
    again = math.log(wall * per_hour * every.value / busy / math.expm1(per_hour * (every.value + stop))) / per_hour
    restart = -math.log1p(-restarts / wall) / per_hour
    preempted = sum(hours.get(what["preemption"], 0.0) for what in (LOST, RESTARTS))
    share = preempted / max(1e-12, sum(hours.get(what, 0.0) for part in (LOST, RESTARTS) for what in part.values()))
    return Interruptions(
        input_stall=stall + practice / wall * (1 + stall + evaluation),
        evaluation=evaluation,
        interval_hours=every.value,
        checkpoint_hours=stop,
        unsaved_hours=max(0.0, again - restart),
        failures_per_hour=per_hour * (1 - share),
        preemptions_per_hour=per_hour * share,
        restart_hours=restart,
    )
