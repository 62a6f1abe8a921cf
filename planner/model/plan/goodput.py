"""Interruptions of a training: the plan's section `goodput`, and the defaults."""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from pydantic import model_validator

from planner.model.base import Frozen, Id
from planner.model.default_quantity import DefaultQuantity, check_units, quantities
from planner.model.figure import FractionFigure, HoursFigure, PositiveFigure
from planner.model.quantity import Unit


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


class GoodputDefaults(Frozen):
    """Default figures, each with its range, basis, source and date; storage by its id in `catalogs/storage.csv`."""

    gpu_hours_per_failure: DefaultQuantity
    """Accelerator-hours between failures, for one accelerator."""
    node_hours_per_preemption: DefaultQuantity
    """Node-hours between preemptions, for one node."""
    restart_hours: DefaultQuantity
    longest_interval_hours: DefaultQuantity
    """Longest interval between checkpoints. The best one is used if it is shorter."""
    host_copy_gb_per_s: DefaultQuantity
    """Rate from one accelerator to the host's memory."""
    evaluation_fraction: DefaultQuantity
    sample_storage: Id
    """Storage of the samples."""
    checkpoint_storage: Id
    """Storage of the checkpoints."""

    @model_validator(mode="after")
    def _units(self) -> Self:
        units = {
            "gpu_hours_per_failure": Unit.HOURS,
            "node_hours_per_preemption": Unit.HOURS,
            "restart_hours": Unit.HOURS,
            "longest_interval_hours": Unit.HOURS,
            "host_copy_gb_per_s": Unit.GB_PER_S,
        }
        check_units(self, units)
        for name, quantity in quantities(self).items():
            if name != "evaluation_fraction" and quantity.low == 0:
                raise ValueError(f"{name} must be over 0 in its whole range")
        return self
