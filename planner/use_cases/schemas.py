"""Makes JSON Schemas of the files that users write or keep."""

from __future__ import annotations

import ast
import inspect
import json
import sys
from functools import cache
from itertools import pairwise
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema

from planner.errors import NotFoundError
from planner.model.base import Frozen
from planner.model.evidence.probe import ProbeRecord
from planner.model.evidence.run import RunRecord
from planner.model.owning.site import Site
from planner.model.owning.tariff import Tariff
from planner.model.plan.plan import Plan

DIALECT = "https://json-schema.org/draft/2020-12/schema"
DOCUMENTS: dict[str, type[Frozen]] = {
    "plan": Plan,
    "probe": ProbeRecord,
    "run": RunRecord,
    "site": Site,
    "tariff": Tariff,
}


def schema_text(name: str) -> str:
    """Return the JSON Schema of a document, as committed under `catalogs/schemas/`.

    Each property is described by the docstring of its field. Raises NotFoundError for an unknown document.
    """
    model = DOCUMENTS.get(name)
    if model is None:
        raise NotFoundError("schema", name, DOCUMENTS, fix=f"Known: {', '.join(DOCUMENTS)}")
    schema = {"$schema": DIALECT} | model.model_json_schema(schema_generator=DescribedSchema)
    return json.dumps(schema, indent=1, sort_keys=True) + "\n"


class DescribedSchema(GenerateJsonSchema):
    """Describes each property by the docstring below its field.

    pydantic's `use_attribute_docstrings` does the same when a class is made, and so reads every source file whenever
    the planner starts.
    """

    def model_schema(self, schema: core_schema.ModelSchema) -> dict[str, Any]:
        """Return the schema of one model, with the descriptions of its fields."""
        found = super().model_schema(schema)
        for name, text in field_docstrings(schema["cls"]).items():
            if name in found.get("properties", {}):
                found["properties"][name].setdefault("description", text)
        return found


def field_docstrings(model: type[BaseModel]) -> dict[str, str]:
    """Return the docstring below each field of a model, including inherited fields."""
    texts: dict[str, str] = {}
    for kind in reversed(model.__mro__):
        if issubclass(kind, BaseModel) and kind.__module__.startswith("planner."):
            texts |= _docstrings_of_module(kind.__module__).get(kind.__qualname__, {})
    return texts


@cache
def _docstrings_of_module(module: str) -> dict[str, dict[str, str]]:
    """Return the docstring below each annotated name, for each class of a module."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: _docstrings_of_class(node) for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}


def _docstrings_of_class(node: ast.ClassDef) -> dict[str, str]:
    texts = {}
    for field, below in pairwise(node.body):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                texts[name] = inspect.cleandoc(text).replace("\n", " ")
    return texts
