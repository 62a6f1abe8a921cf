"""A number that crosses a border: value, unit, 90 % range, basis, source and date."""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from pydantic import model_validator

from planner.errors import InputError
from planner.model.base import Frozen, Number, SourceDay, Text


class Unit(StrEnum):
    """Units in which numbers are published. GB is 10^9 bytes, GiB is 2^30."""

    HOURS = "h"
    USD = "USD"
    USD_PER_HOUR = "USD/h"
    USD_PER_MILLION_TOKENS = "USD/M tokens"
    USD_PER_KWH = "USD/kWh"
    KW = "kW"
    KWH = "kWh"
    SAMPLES_PER_S = "samples/s"
    GIB = "GiB"
    GB = "GB"
    GB_PER_S = "GB/s"
    MBIT_PER_S = "Mbit/s"
    BYTES = "B"
    DAYS = "days"
    USD_PER_GB = "USD/GB"
    USD_PER_GB_MONTH = "USD/GB-month"
    RATIO = "ratio"
    USD_PER_GPU_HOUR = "USD/GPU-h"
    USD_PER_YEAR = "USD/year"
    USD_PER_KW_MONTH = "USD/kW-month"
    YEARS = "years"
    MONTHS = "months"
    KG_CO2 = "kgCO2e"
    KG_CO2_PER_KWH = "kgCO2e/kWh"


class Basis(StrEnum):
    """Basis of a number, the best first."""

    MEASURED = "measured"
    QUOTED = "quoted"
    MODELLED = "modelled"
    ASSUMED = "assumed"


def weakest(*bases: Basis) -> Basis:
    """Return the basis of a number computed from others: the weakest among them."""
    order = list(Basis)
    return max(bases, key=order.index)


class Quantity(Frozen):
    """One number with everything that a reader needs to trust or doubt it.

    `low` and `high` bound it with 90 % probability. Both equal `value` if the number is exact (a list price). `as_of`
    is the date of the oldest input.
    """

    value: Number
    """The number, in `unit`."""
    low: Number
    """Low end of the 90 % range, in `unit`."""
    high: Number
    """High end of the 90 % range, in `unit`."""
    unit: Unit
    """Unit of value, low and high."""
    basis: Basis
    """Basis of the number."""
    source: Text
    """Source of the number."""
    as_of: SourceDay | None = None
    """Date of the oldest input."""

    @model_validator(mode="after")
    def _value_lies_in_its_range(self) -> Self:
        if not self.low <= self.value <= self.high:
            raise ValueError(f"value {self.value:g} lies outside its range {self.low:g} to {self.high:g}")
        return self

    def as_(self, unit: Unit) -> float:
        """Return the value, after checking that its unit is the one that the calculation needs."""
        if self.unit is not unit:
            raise InputError(f"{self.source}: a number in {self.unit} stands where {unit} is needed.")
        return self.value


class FormulaInput(Frozen):
    """A number that a formula's text names."""

    name: str
    value: float
    unit: str
    """Unit; empty for a plain number, or if not stated."""
    source: str
    """Source of a stated number; empty if it is computed."""
    formula: str | None
    """Name of the formula that computes it; null if it is stated."""


class FormulaUsed(Frozen):
    """A number, and the text that computes it from its inputs."""

    name: str
    value: float
    unit: str
    meaning: str
    text: str
    """Text with the operators + - x / ^, without terms of 0 and factors of 1."""
    inputs: tuple[FormulaInput, ...]
    where: str
    """File and function that compute it; empty between two functions."""
