"""Fit to whole trainings: how much longer they take than the steady steps of a benchmark."""

from __future__ import annotations

from datetime import date
from typing import Literal

from planner.model.base import Frozen, Positive, Text
from planner.model.evidence.whole_training import TrainingKind

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
