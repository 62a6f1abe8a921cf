"""What was learnt of whole trainings: how much longer they take than the steady steps of a benchmark."""

from __future__ import annotations

from datetime import date
from typing import Literal

from planner.model.base import Frozen, Positive, Text
from planner.model.evidence.whole_training import TrainingKind

T4_95 = 2.132
"""The 95th percentile of Student's t with 4 degrees of freedom: half of a 90 % range, in scales."""


class PracticeFit(Frozen):
    """`catalogs/practice/practice.json`: ln(hours of a whole training / hours of its steps at benchmark speed).

    About the kind's middle, with the tail of Student's t.
    """

    schema_version: Literal[1] = 1
    made_on: date
    trainings: int
    sources: int
    """Of the half that it is fitted to."""
    table_sha256: Text
    """Of `whole_trainings.csv`."""
    middle: dict[TrainingKind, float]
    """ln of the middle factor, by kind; pooled towards that of all."""
    between: Positive
    """Scale of ln of the factor from owner to owner, the doubt of the speed taken off; 90 % lie within 2.132 of it."""
    within: Positive
    """Standard deviation from training to training of one source."""
