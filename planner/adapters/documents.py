"""YAML and JSON files as models. Every mistake names file, line or key, and the way to fix it."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from planner.adapters.bundled_files import bundled_once
from planner.adapters.files import check_readable, note_input
from planner.adapters.mapping_text import Json, line_of, parse_mapping
from planner.adapters.user_text import without_secrets
from planner.errors import InputError
from planner.model.base import SCHEMA_VERSION, Frozen
from planner.text.number_text import plain_spelling

Model = TypeVar("Model", bound=Frozen)

PLAN_LIMIT_BYTES = 1_000_000
RECORD_LIMIT_BYTES = 20_000_000
SHOWN_PROBLEMS = 10
"""Mistakes of one file that are listed. The others are counted."""
MOST_PROBLEMS = 200_000
"""Mistakes of one file that are examined. Beyond it, the first ones are shown without their lines and values."""

UNION_MEMBERS = ("function-", "constrained-", "tuple[", "literal[", "str-enum[", "kind:")
"""Prefixes of the names that pydantic inserts into the location of a mistake."""
WRONG_SHAPES = ("int_type", "float_type", "string_type", "tuple_type", "literal_error", "int_from_float")
"""Mistakes that only say that the value is of another kind."""
NUMBERS = ("float_type", "float_parsing", "finite_number", "int_type", "int_parsing")
"""Mistakes in which pydantic expects a number."""
MEANT_KEYS: dict[tuple[int | str, ...], str] = {("workload", "network"): "write the network's name as workload.ref"}
"""Advice on keys that people expect and that do not exist."""
DATE = "must be a date, as 2027-01-15"
PLAINLY = {
    "model_type": "must be a mapping of keys to values",
    "dict_type": "must be a mapping of keys to values",
    "tuple_type": "must be a list",
    "finite_number": "must be a finite number",
    "string_too_short": "must not be empty",
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "date_type": DATE,
    "date_parsing": DATE,
    "date_from_datetime_parsing": DATE,
    "date_from_datetime_inexact": DATE,
}
"""Plain wording for messages in which pydantic uses Python's terms."""


def read_bytes(path: Path, *, limit_bytes: int, fix: str = "") -> bytes:
    """Read a file. Refuses files that are missing, unreadable or too large."""
    check_readable(path)
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise InputError(f"{path}: is a folder, not a file.", fix=fix)
        if not stat.S_ISREG(mode):  # reading a pipe would block, and a device may have no end
            raise InputError(f"{path}: is not an ordinary file.", fix="Write what it holds into a file, and name that.")
        note_input(path)
        with path.open("rb") as file:  # a file below /proc reports no size
            data = file.read(limit_bytes + 1)
        if len(data) > limit_bytes:
            size = max(len(data), path.stat().st_size)
            raise InputError(
                f"{path}: has {size / 1e6:.1f} MB; at most {limit_bytes / 1e6:g} MB are read.",
                fix="Check that this is the file you meant.",
            )
        return data
    except FileNotFoundError as error:
        raise InputError(f"{path}: there is no such file.", fix=fix) from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {os.strerror(error.errno or 0)}.", fix=fix) from error


def read_text(path: Path, *, limit_bytes: int, fix: str = "") -> str:
    """Read a file as text. Refuses files that are missing, unreadable, too large or not text."""
    try:
        return read_bytes(path, limit_bytes=limit_bytes, fix=fix).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 text (byte {error.start}).", fix="Save it as UTF-8.") from error


def parse_model(model: type[Model], data: Json, *, where: str, text: str = "", fix: str = "") -> Model:
    """Validate parsed data. The error lists every wrong key with its line."""
    check_version(data, where=where)
    try:
        return model.model_validate(data)
    except ValidationError as error:
        many = error.error_count() > MOST_PROBLEMS
        details = error.errors(include_url=False, include_input=not many, include_context=not many)
        problems = details if many else _most_specific(details)
        shown = problems[:SHOWN_PROBLEMS]
        lines = [_problem(where, "" if many else text, _with_words(detail, details)) for detail in shown]
        more = len(problems) - len(lines)
        raise InputError("\n".join(lines) + (f"\n... and {more} more." if more > 0 else ""), fix=fix) from error


def check_version(data: Json, *, where: str) -> None:
    """Refuse a file that a newer planner wrote, before its new keys are reported as mistakes."""
    version = data.get("schema_version")
    if isinstance(version, bool | float):  # which equal 1 in Python
        raise InputError(
            f"{where}: schema_version: must be a whole number (found {version}).",
            fix=f"Write schema_version: {SCHEMA_VERSION}",
        )
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise InputError(
            f"{where}: schema_version {version} is newer than this planner reads ({SCHEMA_VERSION}).",
            fix="Update training-planner.",
        )


@bundled_once
def read_model(model: type[Model], path: Path, *, fix: str = "") -> Model:
    """Read, parse and validate one file of the catalog."""
    text = read_text(path, limit_bytes=PLAN_LIMIT_BYTES, fix=fix)
    return parse_model(model, parse_mapping(text, where=str(path), fix=fix), where=str(path), text=text, fix=fix)


def read_own_model(model: type[Model], path: Path, *, fix: str = "") -> Model:
    """Read one file of a user as `read_model` does, with secrets hidden."""
    text = read_text(path, limit_bytes=PLAN_LIMIT_BYTES, fix=fix)
    data = without_secrets(parse_mapping(text, where=str(path), fix=fix), text=text, where=str(path))
    return parse_model(model, data, where=str(path), text=text, fix=fix)


def _problem(where: str, text: str, detail: ErrorDetails) -> str:
    path = _key_path(detail)
    line = line_of(text, path)
    place = f"{where}:{line}" if line else where
    return f"{place}: {'.'.join(map(str, path)) or 'the file'}: {_sentence(detail)}"


def _key_path(detail: ErrorDetails) -> tuple[int | str, ...]:
    """Return the location of the value in the file, without the names that pydantic gives to members of a union."""
    return tuple(part for part in detail["loc"] if not str(part).startswith(UNION_MEMBERS))


def _most_specific(details: list[ErrorDetails]) -> list[ErrorDetails]:
    """Keep only the most specific mistake of a value that can be read in several ways (a count, or a list of counts).

    That is the reading whose shape the value has: for 0 in `nodes`, "must be 1 or more" and not "must be a list".
    """
    specific = {_key_path(detail) for detail in details if detail["type"] not in WRONG_SHAPES}
    around_specific = {path[:length] for path in specific for length in range(len(path))}

    def is_outdone(detail: ErrorDetails) -> bool:
        path = _key_path(detail)
        if detail["type"] == "too_short":  # pydantic drops wrong entries from a list, and then calls it too short
            return path in around_specific
        return detail["type"] in WRONG_SHAPES and (path in specific or path in around_specific)

    return [detail for detail in details if not is_outdone(detail)]


def _with_words(detail: ErrorDetails, details: list[ErrorDetails]) -> ErrorDetails:
    """Add a value's special word (`auto`) to the choices in the message."""
    words = [
        str(other.get("ctx", {}).get("expected"))
        for other in details
        if detail["type"] == "enum" and other["type"] == "literal_error" and _key_path(other) == _key_path(detail)
    ]
    message = detail["msg"].replace("Input should be ", f"Input should be {', '.join(words)}, ") if words else ""
    return {**detail, "msg": message} if message else detail


def _sentence(detail: ErrorDetails) -> str:
    kind = detail["type"]
    if kind == "extra_forbidden":
        meant = MEANT_KEYS.get(_key_path(detail))
        return f"is not a key that the planner knows; {meant or 'check its spelling or take it out'}."
    if kind == "missing":
        return "is missing; add it."
    if kind == "too_short":
        return "is empty; at least one entry is needed."
    message = PLAINLY.get(kind) or detail["msg"].removeprefix("Value error, ").replace("Input should be", "must be")
    given = detail.get("input")
    shown = repr(given) if isinstance(given, str | int | float | bool) else ""
    hint = f" Write {_number_meant(given, kind)}" if isinstance(given, str) and kind in NUMBERS else ""
    return f"{message}{f' (found {shown[:60]})' if shown else ''}.{hint}"


def _number_meant(given: str, kind: str) -> str:
    """Return the plain spelling of a number that is quoted or written in another way."""
    return plain_spelling(given[:60]) or f"plain digits, e.g. {'16' if kind.startswith('int') else '1.0e11'}"
