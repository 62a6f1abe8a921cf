"""Values that a person writes are read as they stand: text is not a number, 1 is not a flag, seconds are not a day."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from planner.launcher.backends.hosts import HostsFile
from planner.model.base import Frozen
from planner.model.defaults import Defaults
from planner.model.evidence.claims import ClaimFile
from planner.model.evidence.node_shapes import NodeResult
from planner.model.evidence.run import RunRecord
from planner.model.network.workload import ArchitectureFile, Preset
from planner.model.owning.site import Site
from planner.model.owning.tariff import Tariff
from planner.model.plan.plan import Plan
from planner.model.prices.price_book import PriceBook
from planner.use_cases.launching.launch_plan import BudgetFile

WRITTEN: tuple[type[Frozen], ...] = (
    ArchitectureFile, BudgetFile, ClaimFile, Defaults, HostsFile, NodeResult, Plan, Preset, PriceBook, RunRecord, Site,
    Tariff,
)  # fmt: skip
MOMENTS = ("date", "datetime", "time", "timedelta")
GUARDS = ("not_a_number_for_a_day", "not_a_number_for_a_moment")
ANY_OF_SEVERAL = ("environment",)
"""A field whose values may be of any plain kind: each is read as the kind that it has."""


def lenient(schema: dict[str, Any], field: str, known: dict[str, Any], seen: set[Any]) -> Iterator[str]:
    """Yield the fields of a model's core schema, and of the models in it, that pydantic would convert silently."""
    kind = schema["type"]
    if kind == "definitions":
        known.update({definition["ref"]: definition for definition in schema["definitions"]})
    if kind in ("definition-ref", "model"):
        name = schema.get("schema_ref") or schema["cls"]
        if name in seen:
            return
        seen.add(name)
    if kind == "definition-ref":
        yield from lenient(known[schema["schema_ref"]], field, known, seen)
    if kind.startswith("function-") and getattr(schema["function"]["function"], "__name__", "") in GUARDS:
        return
    if kind in MOMENTS or (kind in ("int", "float", "bool") and not schema.get("strict")):
        yield field
    if kind == "model-fields":
        for name, inner in schema["fields"].items():
            yield from lenient(inner["schema"], name, known, seen)
    for inner in _inner(schema):
        yield from lenient(inner, schema["cls"].__name__ if kind == "model" else field, known, seen)


def _inner(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for key in ("schema", "items_schema", "values_schema", "keys_schema"):
        value = schema.get(key)
        yield from (part for part in (value if isinstance(value, list) else [value]) if isinstance(part, dict))
    choices = schema.get("choices", ())
    for choice in choices.values() if isinstance(choices, dict) else choices:
        yield choice[0] if isinstance(choice, tuple) else choice


@pytest.mark.parametrize("model", WRITTEN, ids=lambda model: model.__name__)
def test_no_value_is_converted_silently(model: type[Frozen]) -> None:
    found = set(lenient(model.__pydantic_core_schema__, model.__name__, {}, set()))
    assert found <= set(ANY_OF_SEVERAL)


def test_a_lenient_field_is_found() -> None:
    class Lenient(Frozen):
        count: int
        flag: bool | None = None

    assert set(lenient(Lenient.__pydantic_core_schema__, "", {}, set())) == {"count", "flag"}
