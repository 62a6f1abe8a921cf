"""Reads YAML and JSON files into models; every mistake names file, line or key, and the way to fix it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Hashable
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from planner.errors import InputError
from planner.model.base import SCHEMA_VERSION, Frozen

Model = TypeVar("Model", bound=Frozen)
Json = dict[str, Any]

PLAN_LIMIT_BYTES = 1_000_000
RECORD_LIMIT_BYTES = 20_000_000


class _StrictLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """`yaml.safe_load`, but a key that stands twice is an error instead of a silent loss."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[Hashable] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, Hashable) and key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key '{key}' stands twice", key_node.start_mark
                )
            if isinstance(key, Hashable):
                seen.add(key)
        mapping: dict[Hashable, Any] = super().construct_mapping(node, deep)
        return mapping


_StrictLoader.add_implicit_resolver(  # YAML 1.1 reads 1.0e11 and 1e9 as text; YAML 1.2 and people read numbers
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?\d+(\.\d*)?[eE][-+]?\d+$"), list("-+0123456789")
)


def read_text(path: Path, *, limit_bytes: int, fix: str = "") -> str:
    """Read a file, refusing what is missing, unreadable, too large or not text."""
    try:
        size = path.stat().st_size
        if path.is_dir():
            raise InputError(f"{path}: is a folder, not a file.", fix=fix)
        if size > limit_bytes:
            raise InputError(
                f"{path}: has {size / 1e6:.1f} MB; at most {limit_bytes / 1e6:g} MB are read.",
                fix="Check that this is the file you meant.",
            )
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise InputError(f"{path}: there is no such file.", fix=fix) from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 text (byte {error.start}).", fix="Save it as UTF-8.") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {os.strerror(error.errno or 0)}.", fix=fix) from error


def parse_mapping(text: str, *, where: str, fix: str = "") -> Json:
    """Parse YAML or JSON text (a leading brace means JSON) whose top level is a mapping."""
    try:
        data = json.loads(text) if text.lstrip().startswith("{") and _looks_like_json(where) else _load_yaml(text)
    except json.JSONDecodeError as error:
        truncated = error.pos >= len(text.rstrip()) - 1
        problem = "the file ends too early" if truncated else error.msg
        raise InputError(f"{where}:{error.lineno}: is not JSON: {problem}.", fix=fix or "Write it again.") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "cannot be parsed"
        raise InputError(f"{where}{line}: is not YAML: {problem}.", fix=fix) from error
    except RecursionError as error:
        raise InputError(f"{where}: is nested too deeply.", fix=fix) from error
    if not isinstance(data, dict):
        raise InputError(f"{where}: holds {_kind(data)}, not a mapping of keys to values.", fix=fix)
    return data


def parse_model(model: type[Model], data: Json, *, where: str, text: str = "", fix: str = "") -> Model:
    """Validate parsed data; the error lists every wrong key with its line."""
    version = data.get("schema_version")
    if isinstance(version, int) and not isinstance(version, bool) and version > SCHEMA_VERSION:
        raise InputError(
            f"{where}: schema_version {version} is newer than this planner reads ({SCHEMA_VERSION}).",
            fix="Update training-planner.",
        )
    try:
        return model.model_validate(data)
    except ValidationError as error:
        lines = [_problem(where, text, detail) for detail in error.errors()[:10]]
        more = error.error_count() - len(lines)
        raise InputError("\n".join(lines) + (f"\n... and {more} more." if more > 0 else ""), fix=fix) from error


def read_model(model: type[Model], path: Path, *, limit_bytes: int = PLAN_LIMIT_BYTES, fix: str = "") -> Model:
    """Read, parse and validate one file."""
    text = read_text(path, limit_bytes=limit_bytes, fix=fix)
    return parse_model(model, parse_mapping(text, where=str(path), fix=fix), where=str(path), text=text, fix=fix)


def _looks_like_json(where: str) -> bool:
    return not where.endswith((".yaml", ".yml"))


def _load_yaml(text: str) -> Any:
    return yaml.load(text, Loader=_StrictLoader)


def _kind(data: object) -> str:
    return {"NoneType": "nothing", "list": "a list", "str": "text"}.get(type(data).__name__, "a single value")


def _problem(where: str, text: str, detail: ErrorDetails) -> str:
    key = ".".join(str(part) for part in detail["loc"] if not str(part).startswith(("function-", "constrained-")))
    line = _line_of(text, detail["loc"])
    place = f"{where}:{line}" if line else where
    return f"{place}: {key or 'the file'}: {_sentence(detail)}"


def _sentence(detail: ErrorDetails) -> str:
    kind = detail["type"]
    if kind == "extra_forbidden":
        return "is no key that the planner knows; check its spelling or take it out."
    if kind == "missing":
        return "is missing; add it."
    message = detail["msg"].removeprefix("Value error, ")
    if kind == "finite_number":
        message = "must be a finite number"
    given = detail["input"]
    shown = repr(given) if isinstance(given, str | int | float | bool) else ""
    hint = "" if not isinstance(given, str) or "number" not in message else " Write plain digits, e.g. 1.0e11"
    return f"{message}{f' (found {shown[:60]})' if shown else ''}.{hint}"


def _line_of(text: str, location: tuple[int | str, ...]) -> int | None:
    """Find the line where a key stands, by walking the document's nodes; JSON is YAML here."""
    if not text:
        return None
    try:
        node = yaml.compose(text, Loader=_StrictLoader)
    except yaml.YAMLError:
        return None
    line: int | None = None
    for part in location:
        if isinstance(node, yaml.MappingNode):
            found = [(key, value) for key, value in node.value if key.value == str(part)]
            if not found:
                break
            line, node = found[0][0].start_mark.line + 1, found[0][1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line + 1
        else:
            break
    return line
