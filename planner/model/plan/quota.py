"""Number of machines that may be used at the same time, in machines or in vCPUs as clouds count them."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema, model_validator

from planner.model.base import Frozen

MOST_MACHINES = 100_000
MOST_VCPUS = 100_000_000
WRITTEN = re.compile(r"(\d{1,9}) *(machines?|vcpus?)", re.IGNORECASE | re.ASCII)
HOW_TO_WRITE = "write a number with its unit, as in `quota: 4 machines` or `quota: 192 vCPUs`"


class QuotaUnit(StrEnum):
    """Unit of a quota."""

    MACHINES = "machines"
    VCPUS = "vCPUs"


class QuotaFigure(Frozen):
    """A quota as the plan states it."""

    count: Annotated[int, Field(strict=True, ge=0, le=MOST_VCPUS)]
    unit: QuotaUnit | None = None
    """Unit; None for a bare number, which means machines."""

    @model_validator(mode="after")
    def _no_more_than_there_are(self) -> Self:
        if self.unit is not QuotaUnit.VCPUS and self.count > MOST_MACHINES:
            raise ValueError(f"at most {MOST_MACHINES:,} machines, has {self.count:,}")
        return self

    def written(self) -> int | str:
        """Return it as a plan file states it."""
        return self.count if self.unit is None else f"{self.count} {self.unit}"


def _read(value: Any) -> Any:
    if value is None or isinstance(value, QuotaFigure):
        return value
    if isinstance(value, str):
        found = WRITTEN.fullmatch(value.strip())
        if found is None:
            raise ValueError(f"'{value[:40]}' is not a quota; {HOW_TO_WRITE}")
        unit = QuotaUnit.VCPUS if found[2].lower().startswith("v") else QuotaUnit.MACHINES
        return {"count": int(found[1]), "unit": unit}
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(HOW_TO_WRITE)
    return {"count": value}


Quota = Annotated[
    QuotaFigure,
    BeforeValidator(_read),
    PlainSerializer(QuotaFigure.written),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 0, "maximum": MOST_MACHINES},
                {"type": "string", "pattern": "^[0-9]{1,9} *([Mm]achines?|[Vv][Cc][Pp][Uu]s?)$"},
            ]
        }
    ),
]
"""Quota such as `4`, `4 machines` or `192 vCPUs`."""
