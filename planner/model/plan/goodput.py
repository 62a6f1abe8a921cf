"""Interruptions of a training: the plan's section `goodput`, and the defaults."""

from __future__ import annotations

from enum import StrEnum

from planner.model.base import Frozen
from planner.model.figure import FractionFigure, HoursFigure, PositiveFigure


class CheckpointWriting(StrEnum):
    """Waiting of the training until a checkpoint is stored."""

    ASYNCHRONOUS = "asynchronous"
    """It waits for the copy to the host's memory. The rest is written in the background."""
    SYNCHRONOUS = "synchronous"


class Goodput(Frozen):
    """The plan's own figures. Missing ones come from `catalogs/defaults.yaml` and are named in the answer."""

    gpu_hours_per_failure: PositiveFigure | None = None
    """Accelerator-hours between two failures that stop a training."""
    node_hours_per_preemption: PositiveFigure | None = None
    """Node-hours between two times that a spot machine is preempted."""
    restart_hours: HoursFigure | None = None
    """Hours from an interruption until the training steps again: noticing, replacing, loading."""
    checkpoint_interval_hours: PositiveFigure | None = None
    """Interval between checkpoints. Default: the best one, at most `longest_interval_hours` of the defaults."""
    checkpoint_writing: CheckpointWriting | None = None
    """Waiting of the training until a checkpoint is stored."""
    evaluation_fraction: FractionFigure | None = None
    """Time of evaluation, as a share of the time of the steps."""
