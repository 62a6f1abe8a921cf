"""Every number of a file that a person writes has a lower and an upper bound, so that no product of them overflows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Annotated, Any, get_args, get_origin

import pytest
from pydantic import AfterValidator, BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from planner.launcher.backends.hosts import HostsFile
from planner.model.network.workload import ArchitectureFile, Preset
from planner.model.owning.site import Site
from planner.model.owning.tariff import Tariff
from planner.model.plan.plan import Assumptions, Plan
from planner.model.prices.offer import Price
from planner.model.prices.price_book import PriceBook
from planner.model.quantity import Quantity

FILES = (Plan, Site, Tariff, Preset, ArchitectureFile, PriceBook, Price, HostsFile)
TINY = 1e-100
HUGE = {int: 10**300, float: 1e300}
EXCEPTIONS = {
    "quantity.Quantity.value": "an answer's sum may be of any size; a file's quantity is bounded where it stands",
    "quantity.Quantity.low": "the same",
    "quantity.Quantity.high": "the same",
}


@cache
def numbers() -> dict[str, tuple[type, tuple[Any, ...]]]:
    """Return each numeric field that a file can hold: its type and what is asked of it."""
    found: dict[str, tuple[type, tuple[Any, ...]]] = {}
    seen: set[type] = set()
    waiting: list[type[BaseModel]] = list(FILES)
    while waiting:
        model = waiting.pop()
        if model in seen:
            continue
        seen.add(model)
        for name, field in model.model_fields.items():
            for kind, asked in leaves(field.annotation, tuple(field.metadata)):
                if kind in HUGE:
                    found[f"{model.__module__.rpartition('.')[2]}.{model.__name__}.{name}"] = (kind, asked)
                elif isinstance(kind, type) and issubclass(kind, BaseModel):
                    waiting.append(kind)
    return found


def leaves(kind: Any, asked: tuple[Any, ...]) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Yield the types that a field is made of, each with its own constraints."""
    if get_origin(kind) is Annotated:
        inner, *more = get_args(kind)
        yield from leaves(inner, (*asked, *flat(more)))
    elif get_args(kind):
        of_items = get_origin(kind) in (tuple, list, dict)
        for inner in get_args(kind):
            yield from leaves(inner, () if of_items else asked)
    else:
        yield kind, asked


def flat(asked: list[Any]) -> list[Any]:
    return [rule for each in asked for rule in (each.metadata if isinstance(each, FieldInfo) else [each])]


def takes(name: str, value: float) -> bool:
    kind, asked = numbers()[name]
    try:
        TypeAdapter(Annotated[kind, *asked]).validate_python(value)
    except ValidationError:
        return False
    return True


BOUNDED = sorted(numbers().keys() - EXCEPTIONS.keys())


def test_the_files_were_looked_through():
    assert len(BOUNDED) > 120
    assert {"plan.Assumptions.goodput_fraction", "acquisition.Lease.term_months", "workload.Window.max_s"} <= set(
        BOUNDED
    )
    assert EXCEPTIONS.keys() <= numbers().keys()


@pytest.mark.parametrize("name", BOUNDED)
def test_a_number_has_both_bounds(name: str):
    kind, _ = numbers()[name]
    assert not takes(name, HUGE[kind])
    assert not takes(name, -HUGE[kind])


@pytest.mark.parametrize("name", [name for name in BOUNDED if numbers()[name][0] is float])
def test_a_number_that_must_be_positive_is_of_a_real_size(name: str):
    """1e-100 in the place of a share, of hours or of a rate would leave the range of what divides by it."""
    assert takes(name, 0.0) or not takes(name, TINY)


@pytest.mark.parametrize("model", FILES)
def test_a_quantity_of_a_file_is_bounded_where_it_stands(model: type[BaseModel]):
    loose = [
        name
        for name, field in model.model_fields.items()
        for kind, asked in leaves(field.annotation, tuple(field.metadata))
        if kind is Quantity and not any(isinstance(rule, AfterValidator) for rule in asked)
    ]
    assert loose == []


def test_a_share_of_nothing_is_said_and_not_computed():
    with pytest.raises(ValidationError, match="must be at least 1e-06"):
        Assumptions.model_validate({"goodput_fraction": TINY})
