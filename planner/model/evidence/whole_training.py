"""One whole training as somebody published it: what was trained, on what, and how long it took from start to end."""

from __future__ import annotations

import math
from enum import StrEnum

from planner.model.base import Frozen, Text
from planner.model.evidence.measurement import Measurement

HOURS_OF_A_MONTH = 720.0
"""In which a training whose accelerators nobody counts is taken to have ended; see `usual_count`."""
METRICS = ("time_to_train", "whole_training")
"""What the column `metric` says of a row whose rate is that of a whole training, and not of its steps."""


class TrainingKind(StrEnum):
    """What kind of training it was."""

    PRETRAINING = "pretraining"
    FULL = "full"
    """Fine-tuning of all weights."""
    LORA = "lora"
    """Of adapters."""
    IMAGES = "images"


class Team(StrEnum):
    """Who trained."""

    LAB = "lab"
    """A laboratory that makes models for others."""
    COMPANY = "company"
    ACADEMIC = "academic"
    INDIVIDUAL = "individual"


class Exclusion(StrEnum):
    """Why a row is not scored: a rule on its fields, decided before any prediction."""

    NO_DATA = "no-data"
    """Neither tokens nor samples."""
    NO_LENGTH = "no-length"
    """Samples whose length nobody says, of a data set whose samples may be cut or not."""
    AMBIGUOUS_DATA = "ambiguous-data"
    """The amount can be read in two ways that differ twofold or more."""
    ESTIMATED = "estimated"
    """The end was foretold by a progress bar, not reached."""
    COMPUTED = "computed"
    """Hours are steps x seconds of a step, so whatever came between is not in them."""
    OTHER_METHOD = "other-method"
    """What is trained is neither all weights nor adapters."""
    DUPLICATE = "duplicate"
    """The same run stands in another row."""


class WholeTraining(Frozen):
    """A row of `catalogs/practice/whole_trainings.csv`."""

    run: Measurement
    """Network, machine and settings; its rate is amount / (hours x accelerators)."""
    url: Text
    kind: TrainingKind
    team: Team
    hours: float | None
    """Wall-clock hours; null where no data are stated."""
    count_stated: bool
    """False: `usual_count` says how many accelerators there were."""
    well_known: bool
    """One of the five that are shown by name; chosen before any prediction."""
    excluded: Exclusion | None


def usual_count(device_hours: float) -> int:
    """Return how many accelerators trained where device-hours alone are stated: a power of two, for about a month.

    count = 2^round(log2(device-hours / 720))
    """
    return int(max(1, 2 ** round(math.log2(device_hours / HOURS_OF_A_MONTH))))
