"""Hours from work."""

from __future__ import annotations

from planner.quantity.formula import formula
from planner.quantity.interval import Interval
from planner.quantity.time_units import SECONDS_PER_HOUR


@formula("h", inputs={"samples": ("", "the plan's work in samples; tokens / seq_len if it states tokens")})
def train_hours(*, samples: float, samples_per_s: Interval, goodput_fraction: float) -> Interval:
    """Return the wall-clock hours to train on `samples`.

    hours = samples / (samples_per_s x goodput_fraction) / 3600

    `samples_per_s` is of the whole cluster in steady state (warm-up dropped). `goodput_fraction` in (0, 1] takes off
    restarts, checkpoints and evaluation. Leaves out set-up and a last partial batch (under one step an epoch).
    Source: definition.
    """
    return samples_per_s.inverse().scaled(samples / goodput_fraction / SECONDS_PER_HOUR)
