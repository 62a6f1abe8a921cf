"""A number in a user's file: bare, or with its range, basis, source and date. Its key ends in its unit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from planner.model.base import Frozen, SourceDay, Text
from planner.model.quantity import Basis, Quantity, Unit

STATED = "stated without a source"
"""Source of a bare number. It is the author's own statement, so assumed."""


class Figure(Frozen):
    """A number whose unit is the last part of its key. `low` and `high` bound it with 90 % probability."""

    value: Annotated[float, Field(strict=True, ge=-1e15, le=1e15)]
    """The number, in the unit that ends its key."""
    low: Annotated[float, Field(strict=True, ge=-1e15, le=1e15)] | None = None
    """Low end of the 90 % range. Default: the value."""
    high: Annotated[float, Field(strict=True, ge=-1e15, le=1e15)] | None = None
    """High end of the 90 % range. Default: the value."""
    basis: Basis = Basis.ASSUMED
    """Basis of the number."""
    source: Text | None = None
    """Source, required unless the basis is assumed."""
    as_of: SourceDay | None = None
    """Date of the source."""

    @model_validator(mode="after")
    def _range_and_source(self) -> Self:
        if not self.lowest <= self.value <= self.highest:
            raise ValueError(f"value {self.value:g} lies outside its range {self.lowest:g} to {self.highest:g}")
        if self.basis is not Basis.ASSUMED and self.source is None:
            raise ValueError(f"basis {self.basis} needs a source; without one, write basis: assumed")
        return self

    @property
    def lowest(self) -> float:
        """Low end; the value itself if none is given."""
        return self.value if self.low is None else self.low

    @property
    def highest(self) -> float:
        """High end; the value itself if none is given."""
        return self.value if self.high is None else self.high

    def quantity(self, unit: Unit, *, where: str) -> Quantity:
        """Return the figure as a quantity; `where` names the file and key."""
        return Quantity(
            value=self.value, low=self.lowest, high=self.highest, unit=unit, basis=self.basis,
            source=f"{where}: {self.source or STATED}", as_of=self.as_of,
        )  # fmt: skip


def _from_number(data: Any) -> Any:
    if isinstance(data, str | bool | list):
        raise ValueError("must be a number, or a mapping with its value, low, high, basis, source and as_of")
    return {"value": data} if isinstance(data, int | float) else data


def _within(low: float, high: float, *, open_low: bool = False) -> Callable[[Figure], Figure]:
    def check(figure: Figure) -> Figure:
        _check_ends((figure.lowest, figure.highest), low, high, open_low=open_low)
        return figure

    return check


def _quantity_within(low: float, high: float) -> Callable[[Quantity], Quantity]:
    def check(quantity: Quantity) -> Quantity:
        _check_ends((quantity.low, quantity.high), low, high, open_low=False)
        return quantity

    return check


def _check_ends(ends: tuple[float, float], low: float, high: float, *, open_low: bool) -> None:
    for value in ends:
        if value < low or value > high or (open_low and value == low):
            edge = "over" if open_low else "at least"
            raise ValueError(f"must be {edge} {low:g} and at most {high:g}, has {value:g}")


def _quantity_in(unit: Unit) -> Callable[[Any], Any]:
    """Fill the optional fields of a quantity whose key does not name its unit, as a Figure does."""

    def fill(data: Any) -> Any:
        data = _from_number(data)
        if not isinstance(data, dict) or "value" not in data:
            return data
        given = {"low": data["value"], "high": data["value"], "unit": unit, "basis": Basis.ASSUMED} | data
        return ({"source": STATED} if given["basis"] == Basis.ASSUMED else {}) | given

    return fill


_Bare = BeforeValidator(_from_number, json_schema_input_type=float | Figure)

UsdFigure = Annotated[Figure, _Bare, AfterValidator(_within(0, 1e12))]
FractionFigure = Annotated[Figure, _Bare, AfterValidator(_within(0, 1))]
ShareFigure = Annotated[Figure, _Bare, AfterValidator(_within(0, 1, open_low=True))]
RateFigure = Annotated[Figure, _Bare, AfterValidator(_within(0, 1))]
ResidualFigure = Annotated[Figure, _Bare, AfterValidator(_within(-1, 1))]
HoursFigure = Annotated[Figure, _Bare, AfterValidator(_within(0, 10_000))]
YearsFigure = Annotated[Figure, _Bare, AfterValidator(_within(0, 30, open_low=True))]
LeftYearsFigure = Annotated[Figure, _Bare, AfterValidator(_within(0, 30))]
MonthsFigure = Annotated[Figure, _Bare, AfterValidator(_within(0, 240))]
PowerFigure = Annotated[Figure, _Bare, AfterValidator(_within(0, 1e6, open_low=True))]
PowerQuantity = Annotated[
    Quantity,
    BeforeValidator(_quantity_in(Unit.KW), json_schema_input_type=float | Quantity),
    AfterValidator(_quantity_within(0, 1e6)),
]
TariffQuantity = Annotated[
    Quantity,
    BeforeValidator(_quantity_in(Unit.USD_PER_KWH), json_schema_input_type=float | Quantity),
    AfterValidator(_quantity_within(0, 1e6)),
]
PueQuantity = Annotated[
    Quantity,
    BeforeValidator(_quantity_in(Unit.RATIO), json_schema_input_type=float | Quantity),
    AfterValidator(_quantity_within(0, 1e3)),
]
PositiveFigure = Annotated[Figure, _Bare, AfterValidator(_within(0, 1e12, open_low=True))]
