"""The published JSON Schemas describe each property."""

from __future__ import annotations

import json
from typing import Any

import pytest

from planner.model.plan.option_times import Turn
from planner.use_cases.schemas import DOCUMENTS, field_docstrings, schema_text


def objects_of(name: str) -> dict[str, dict[str, Any]]:
    """Return all objects of a document's schema by their names."""
    schema = json.loads(schema_text(name))
    return {"the document": schema} | schema["$defs"]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_property_has_a_description(name: str) -> None:
    bare = [
        f"{kind}.{key}"
        for kind, found in objects_of(name).items()
        for key, value in found.get("properties", {}).items()
        if not value.get("description", "").endswith(".")
    ]
    assert bare == []


def test_a_property_is_described_by_the_docstring_of_its_field() -> None:
    window = objects_of("plan")["RentalWindow"]["properties"]
    assert window["start"]["description"] == "Start of the period, with its time zone."


def test_fields_of_the_base_class_are_described_too() -> None:
    assert set(field_docstrings(Turn)) == {"start", "end", "nodes"}


def test_a_description_is_one_line() -> None:
    """The docstring of `Training.packing` has two."""
    text = objects_of("plan")["Training"]["properties"]["packing"]["description"]
    assert "\n" not in text
    assert text.endswith("padded to the longest of its micro-batch.")
