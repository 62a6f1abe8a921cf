"""Plain YAML values by the core rules of YAML 1.2. Refuses values that readers disagree about, and says what was meant.

PyYAML follows YAML 1.1: it reads `010` as 8, `10:00:00` as 36000 and `no` as false.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from typing import Any, ClassVar

import yaml

_TAG = "tag:yaml.org,2002:"
_LEADING_ZERO = re.compile(r"[-+]?0[0-9_]+")
_PARTED_BY_COLONS = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?")
_CORE: tuple[tuple[str, str, str], ...] = (
    ("null", r"~|null|Null|NULL|", "~nN\0"),
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
    (
        "float",
        r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
        "-+.0123456789",
    ),
    ("timestamp", r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[Tt ][0-9:.]{5,15}(?:Z|[-+][0-9:]{2,5})?)?", "0123456789"),
    ("merge", r"<<", "<"),
)
"""Kind, pattern and first characters of plain values. Dates and `<<` come from YAML 1.1."""
_LOOKS = {f"{_TAG}{kind}": re.compile(looks) for kind, looks, _ in _CORE if kind in ("null", "bool", "int", "float")}
"""Patterns that a value with such a tag must match too. `!!bool yes` does not."""
_WORDS = {"timestamp": "date", "int": "whole number", "float": "number", "bool": "true or false"}


class AmbiguousValueError(yaml.constructor.ConstructorError):
    """A plain value that readers of YAML 1.1 and 1.2 read differently."""

    def __init__(self, problem: str, fix: str, mark: Any) -> None:
        super().__init__(None, None, problem, mark)
        self.fix = fix
        self.line: int = mark.line + 1


class CoreLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Reads plain values by the core rules, and refuses those that readers disagree about.

    A duplicate key is an error instead of a silent loss.
    """

    yaml_implicit_resolvers: ClassVar[dict[str, list[tuple[str, re.Pattern[str]]]]] = {}

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """Return a mapping without duplicate keys."""
        seen: set[Hashable] = set()
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":  # `<<: *anchor` copies keys, which may be given again
                continue
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, Hashable) and key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key '{key}' appears twice", key_node.start_mark
                )
            if isinstance(key, Hashable):
                seen.add(key)
        mapping: dict[Hashable, Any] = super().construct_mapping(node, deep)
        return mapping

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """Return a value. One that does not fit its tag is a YAML error with its place."""
        try:
            looks = _LOOKS.get(node.tag)
            if looks is not None and not node.tag.endswith(":int") and not looks.fullmatch(str(node.value)):
                raise ValueError(node.value)
            return super().construct_object(node, deep)
        except (ValueError, LookupError, AttributeError, OverflowError) as error:  # 2027-13-30, !!int ten, 5,000 digits
            name = node.tag.rpartition(":")[2]
            kind = _WORDS.get(name, name)
            problem = f"'{str(node.value)[:60]}' is not a {kind}"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from error


class ForeignLoader(CoreLoader):
    """Loads files of other programs: values on which readers disagree stay text."""


class CoreDumper(yaml.SafeDumper):
    """Writes what `CoreLoader` reads back unchanged: text that looks like a number is quoted."""


def _resolve(loader: type[CoreLoader | CoreDumper], kind: str, pattern: re.Pattern[str], first: str) -> None:
    begins = [None if letter == "\0" else letter for letter in first]
    loader.add_implicit_resolver(f"{_TAG}{kind}", re.compile(f"^(?:{pattern.pattern})$"), begins)


def _refuse(spelling: Callable[[str], tuple[str, str]]) -> Callable[[CoreLoader, yaml.ScalarNode], None]:
    def constructor(_: CoreLoader, node: yaml.ScalarNode) -> None:
        problem, fix = spelling(node.value)
        raise AmbiguousValueError(problem, fix, node.start_mark)

    return constructor


def _zero_spelling(value: str) -> tuple[str, str]:
    digits = value.replace("_", "")
    sign = digits[0] if digits[0] in "-+" else ""
    decimal = sign + (digits.lstrip("-+0") or "0")
    octal = f"{int(digits, 8)}" if not set("89") & set(digits) else ""
    if not octal or int(octal) == int(decimal):
        return f"'{value}' begins with a zero", f"Write {decimal}, or '{value}' in quotes if it is text."
    return (
        f"'{value}' is {int(decimal)} to some programs and {octal} to others",
        f"Write {int(decimal)} or {octal}, or '{value}' in quotes if it is text.",
    )


def _colon_spelling(value: str) -> tuple[str, str]:
    parts = value.replace("_", "").lstrip("-+").split(":")
    total = 0.0
    for part in parts:
        total = total * 60 + float(part)
    return (
        f"'{value}' is text to some programs and {total:.15g} to others",
        f"Write {total:.15g} if it is a number of seconds, or '{value}' in quotes if it is text.",
    )


def _int(loader: CoreLoader, node: yaml.ScalarNode) -> int:
    """Read a whole number. One that is marked `!!int` may still be ambiguous."""
    value = loader.construct_scalar(node)
    for pattern, spelling in ((_LEADING_ZERO, _zero_spelling), (_PARTED_BY_COLONS, _colon_spelling)):
        if pattern.fullmatch(value):
            raise AmbiguousValueError(*spelling(value), node.start_mark)
    if not _LOOKS[f"{_TAG}int"].fullmatch(value):  # Python accepts digits of every script, and `1_000`
        raise ValueError(value)
    return int(value, 0)


for _kind, _pattern, _first in (("leading-zero", _LEADING_ZERO, "-+0"), ("colons", _PARTED_BY_COLONS, "-+0123456789")):
    _resolve(CoreLoader, _kind, _pattern, _first)
    _resolve(CoreDumper, _kind, _pattern, _first)
for _kind, _expression, _first in _CORE:
    _resolve(CoreLoader, _kind, re.compile(_expression), _first)
    _resolve(CoreDumper, _kind, re.compile(_expression), _first)
CoreLoader.add_constructor(f"{_TAG}leading-zero", _refuse(_zero_spelling))
CoreLoader.add_constructor(f"{_TAG}colons", _refuse(_colon_spelling))
CoreLoader.add_constructor(f"{_TAG}int", _int)
for _kind in ("binary", "set", "omap", "pairs"):  # tags of YAML 1.1 only, which other readers keep as text or lists
    CoreLoader.add_constructor(f"{_TAG}{_kind}", yaml.constructor.SafeConstructor.construct_undefined)
for _kind in ("leading-zero", "colons"):
    ForeignLoader.add_constructor(f"{_TAG}{_kind}", yaml.constructor.SafeConstructor.construct_yaml_str)
