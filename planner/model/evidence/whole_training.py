"""Published whole trainings from start to end, and the fit of their hours to steady steps."""

from __future__ import annotations

import math
from datetime import date
from enum import StrEnum
from typing import Literal

from planner.model.base import Frozen, Positive, Text
from planner.model.evidence.measurement import Measurement

HOURS_OF_A_MONTH = 720.0
"""Assumed duration of a training whose accelerators are not counted; see `usual_count`."""
METRICS = ("time_to_train", "whole_training")
"""Values of the column `metric` for a row whose rate is that of a whole training, not of its steps."""


class TrainingKind(StrEnum):
    """Kinds of training."""

    PRETRAINING = "pretraining"
    FULL = "full"
    """Fine-tuning of all weights."""
    LORA = "lora"
    """Training of adapters."""
    IMAGES = "images"


class Team(StrEnum):
    """Kinds of teams."""

    LAB = "lab"
    """A laboratory that makes models for others."""
    COMPANY = "company"
    ACADEMIC = "academic"
    INDIVIDUAL = "individual"


class Exclusion(StrEnum):
    """Reasons why a row is not scored: rules on its fields, decided before any prediction."""

    NO_DATA = "no-data"
    """Neither tokens nor samples are stated."""
    NO_LENGTH = "no-length"
    """The length of samples is not stated, and the data set's samples may be cut or not."""
    AMBIGUOUS_DATA = "ambiguous-data"
    """The amount can be read in two ways that differ twofold or more."""
    ESTIMATED = "estimated"
    """The end was predicted by a progress bar, not reached."""
    COMPUTED = "computed"
    """Hours are steps x seconds of a step, so interruptions are not included."""
    OTHER_METHOD = "other-method"
    """Training of something other than all weights or adapters."""
    DUPLICATE = "duplicate"
    """Repetition of a run in another row."""


class WholeTraining(Frozen):
    """A row of `catalogs/practice/whole_trainings.csv`."""

    run: Measurement
    """Network, machine and settings. Its rate is amount / (hours x accelerators)."""
    url: Text
    kind: TrainingKind
    team: Team
    hours: float | None
    """Wall-clock hours; null if no data are stated."""
    count_stated: bool
    """True if the number of accelerators is stated; otherwise `usual_count` assumes it."""
    well_known: bool
    """True for the five that are shown by name, chosen before any prediction."""
    excluded: Exclusion | None


def usual_count(device_hours: float) -> int:
    """Return the assumed number of accelerators if only device-hours are stated: a power of two, for about a month.

    count = 2^round(log2(device-hours / 720))
    """
    return int(max(1, 2 ** round(math.log2(device_hours / HOURS_OF_A_MONTH))))


T4_95 = 2.132
"""Half of a 90 % range in scales: the 95th percentile of Student's t with 4 degrees of freedom."""


class PracticeFit(Frozen):
    """`catalogs/practice/practice.json`: ln(hours of a whole training / hours of its steps at benchmark speed).

    Its distribution is Student's t about the kind's middle.
    """

    schema_version: Literal[1] = 1
    made_on: date
    trainings: int
    sources: int
    """Number of sources in the half that it is fitted to."""
    table_sha256: Text
    """Hash of `whole_trainings.csv`."""
    middle: dict[TrainingKind, float]
    """Natural logarithm of the middle factor, by kind, pooled towards that of all."""
    between: Positive
    """Scale of ln of the factor from owner to owner, without the uncertainty of the speed;

    90 % lie within 2.132 of it.
    """
    within: Positive
    """Standard deviation between trainings of one source."""
