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
DEEPEST_NESTING = 100
"""libyaml recurses on the C stack and crashes some ten thousand levels down; no file of ours needs ten."""


class _StrictLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """`yaml.safe_load`, but a key that stands twice is an error instead of a silent loss."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[Hashable] = set()
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":  # `<<: *anchor` takes keys over, which may be given again
                continue
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, Hashable) and key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key '{key}' stands twice", key_node.start_mark
                )
            if isinstance(key, Hashable):
                seen.add(key)
        mapping: dict[Hashable, Any] = super().construct_mapping(node, deep)
        return mapping

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except (ValueError, LookupError, AttributeError, OverflowError) as error:  # 2027-13-30, !!int ten, 5,000 digits
            kind = {"timestamp": "date", "int": "whole number"}.get(name := node.tag.rpartition(":")[2], name)
            problem = f"'{str(node.value)[:60]}' is no {kind}"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from error


_StrictLoader.add_implicit_resolver(  # YAML 1.1 reads 1.0e11 and 1e9 as text; YAML 1.2 and people read numbers
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?\d+(\.\d*)?[eE][-+]?\d+$"), list("-+0123456789")
)


def read_text(path: Path, *, limit_bytes: int, fix: str = "") -> str:
    """Read a file, refusing what is missing, unreadable, too large or not text."""
    try:
        if path.is_dir():
            raise InputError(f"{path}: is a folder, not a file.", fix=fix)
        with path.open("rb") as file:  # a pipe or a device has no size beforehand
            data = file.read(limit_bytes + 1)
        if len(data) > limit_bytes:
            size = max(len(data), path.stat().st_size)
            raise InputError(
                f"{path}: has {size / 1e6:.1f} MB; at most {limit_bytes / 1e6:g} MB are read.",
                fix="Check that this is the file you meant.",
            )
        return data.decode("utf-8-sig")
    except FileNotFoundError as error:
        raise InputError(f"{path}: there is no such file.", fix=fix) from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 text (byte {error.start}).", fix="Save it as UTF-8.") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {os.strerror(error.errno or 0)}.", fix=fix) from error


def parse_mapping(text: str, *, where: str, fix: str = "") -> Json:
    """Parse YAML or JSON text (a leading brace means JSON) whose top level is a mapping."""
    try:
        data = _load_json(text) if text.lstrip().startswith("{") and _looks_like_json(where) else _load_yaml(text)
    except json.JSONDecodeError as error:
        unclosed = "}" not in text[error.pos :] and error.msg != "Extra data"
        truncated = unclosed or error.msg.startswith("Unterminated string")
        problem = "the file ends too early" if truncated else error.msg
        raise InputError(f"{where}:{error.lineno}: is not JSON: {problem}.", fix=fix or "Write it again.") from error
    except _TwiceError as error:
        raise InputError(f"{where}: the key '{error}' stands twice.", fix="Take one of them out.") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "cannot be parsed"
        raise InputError(f"{where}{line}: is not YAML: {problem}.", fix=fix) from error
    except RecursionError as error:
        raise InputError(f"{where}: is nested too deeply.", fix=fix) from error
    except ValueError as error:
        raise InputError(f"{where}: is not JSON: a number has too many digits.", fix="Write it as 1e30.") from error
    if not isinstance(data, dict):
        raise InputError(f"{where}: holds {_kind(data)}, not a mapping of keys to values.", fix=fix)
    return data


def parse_model(model: type[Model], data: Json, *, where: str, text: str = "", fix: str = "") -> Model:
    """Validate parsed data; the error lists every wrong key with its line."""
    check_version(data, where=where)
    try:
        return model.model_validate(data)
    except ValidationError as error:
        problems = _telling(error.errors())
        lines = [_problem(where, text, detail) for detail in problems[:10]]
        more = len(problems) - len(lines)
        raise InputError("\n".join(lines) + (f"\n... and {more} more." if more > 0 else ""), fix=fix) from error


def check_version(data: Json, *, where: str) -> None:
    """Refuse a file that a newer planner wrote, before its new keys are called mistakes."""
    version = data.get("schema_version")
    if isinstance(version, bool | float):  # which equal 1 for Python
        raise InputError(
            f"{where}: schema_version: must be a whole number (found {version}).",
            fix=f"Write schema_version: {SCHEMA_VERSION}",
        )
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise InputError(
            f"{where}: schema_version {version} is newer than this planner reads ({SCHEMA_VERSION}).",
            fix="Update training-planner.",
        )


def read_model(model: type[Model], path: Path, *, limit_bytes: int = PLAN_LIMIT_BYTES, fix: str = "") -> Model:
    """Read, parse and validate one file."""
    text = read_text(path, limit_bytes=limit_bytes, fix=fix)
    return parse_model(model, parse_mapping(text, where=str(path), fix=fix), where=str(path), text=text, fix=fix)


def _looks_like_json(where: str) -> bool:
    return not where.endswith((".yaml", ".yml"))


def _load_json(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_without_doubles)


class _TwiceError(Exception):
    """A JSON key that stands twice, where Python would keep the last without a word."""


def _without_doubles(pairs: list[tuple[str, Any]]) -> Json:
    found: Json = {}
    for key, value in pairs:
        if key in found:
            raise _TwiceError(key)
        found[key] = value
    return found


def _load_yaml(text: str) -> Any:
    depth = 0
    for event in yaml.parse(text, Loader=_StrictLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST_NESTING:
            raise RecursionError
    return yaml.load(text, Loader=_StrictLoader)


def _kind(data: object) -> str:
    return {"NoneType": "nothing", "list": "a list", "str": "text"}.get(type(data).__name__, "a single value")


def _problem(where: str, text: str, detail: ErrorDetails) -> str:
    key = ".".join(_key_path(detail))
    line = _line_of(text, detail["loc"])
    place = f"{where}:{line}" if line else where
    return f"{place}: {key or 'the file'}: {_sentence(detail)}"


WRONG_SHAPES = ("int_type", "float_type", "string_type", "tuple_type", "literal_error", "int_from_float")


WAYS = ("function-", "constrained-", "tuple[", "literal[", "str-enum[", "kind:")


def _key_path(detail: ErrorDetails) -> tuple[str, ...]:
    """Return where the value stands in the file, without the names that pydantic gives to the ways of reading it."""
    return tuple(str(part) for part in detail["loc"] if not str(part).startswith(WAYS))


def _telling(details: list[ErrorDetails]) -> list[ErrorDetails]:
    """Where a value may be read in several ways (a count, or a list of counts), keep the most telling.

    That is the way of which the value has the shape: of 0 for `nodes`, "must be 1 or more" and not "must be a list".
    """
    telling = [_key_path(detail) for detail in details if detail["type"] not in WRONG_SHAPES]

    def is_outdone(detail: ErrorDetails) -> bool:
        path = _key_path(detail)
        if detail["type"] == "too_short":  # pydantic drops wrong entries from a list, and then calls it short
            return any(other[: len(path)] == path and other != path for other in telling)
        return detail["type"] in WRONG_SHAPES and any(other[: len(path)] == path for other in telling)

    return [_with_words(detail, details) for detail in details if not is_outdone(detail)]


def _with_words(detail: ErrorDetails, details: list[ErrorDetails]) -> ErrorDetails:
    """Where a value may be one of a list or a word of its own (`auto`), let the sentence name the word too."""
    words = [
        str(other.get("ctx", {}).get("expected"))
        for other in details
        if detail["type"] == "enum" and other["type"] == "literal_error" and _key_path(other) == _key_path(detail)
    ]
    message = detail["msg"].replace("Input should be ", f"Input should be {', '.join(words)}, ") if words else ""
    return {**detail, "msg": message} if message else detail


NUMBERS = ("float_type", "float_parsing", "finite_number")
"""Where pydantic wants a number."""
PLAINLY = {
    "model_type": "must be a mapping of keys to values",
    "dict_type": "must be a mapping of keys to values",
    "tuple_type": "must be a list",
    "finite_number": "must be a finite number",
}
"""Where pydantic's own words speak of Python."""


def _sentence(detail: ErrorDetails) -> str:
    kind = detail["type"]
    if kind == "extra_forbidden":
        return "is no key that the planner knows; check its spelling or take it out."
    if kind == "missing":
        return "is missing; add it."
    if kind == "too_short":
        return "is empty; at least one entry is needed."
    message = PLAINLY.get(kind) or detail["msg"].removeprefix("Value error, ").replace("Input should be", "must be")
    given = detail["input"]
    shown = repr(given) if isinstance(given, str | int | float | bool) else ""
    hint = "" if not isinstance(given, str) or kind not in NUMBERS else " Write plain digits, e.g. 1.0e11"
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
        if str(part).startswith(WAYS):
            continue
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
