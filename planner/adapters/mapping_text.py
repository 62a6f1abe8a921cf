"""Parses YAML and JSON text into a mapping. Errors name the line where the parser knows it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import yaml

from planner.adapters.yaml_scalars import AmbiguousValueError, CoreLoader, ForeignLoader
from planner.errors import InputError

Json = dict[str, Any]

DEEPEST_NESTING = 100
"""Deepest nesting that is read. Our own files need under ten levels; libyaml crashes at about ten thousand, because it
recurses on the C stack.
"""

LARGEST_SIZE = 100_000
"""Largest number of values in a file, aliases expanded. The largest plan (500 options, all keys) has 15,000."""
LARGEST_PLAIN_SIZE = 250_000
"""Largest number of values of a file without aliases. Reading this many takes a few seconds."""
CHARACTERS_PER_VALUE = 100
"""A text counts as one value, and one more for each this many characters."""


def _key_of(constant: str, text: str) -> str:
    """Return the line and key of a constant (`NaN`) in JSON text as `:3: value`; empty if it has none."""
    found = re.search(rf'"(\w{{1,60}})"\s{{0,20}}:\s{{0,20}}{re.escape(constant)}\b', text)
    return "" if found is None else f":{text.count(chr(10), 0, found.start()) + 1}: {found[1]}"


def parse_mapping(text: str, *, where: str, fix: str = "", foreign: bool = False) -> Json:
    """Parse YAML or JSON text (a leading brace means JSON) whose top level is a mapping.

    Refuses values that programs read differently: `010`, `10:00:00`, `Infinity` in JSON. In a `foreign` file, which is
    meant for another program, the first two are text, and `Infinity` is a number.
    """
    is_json = text.lstrip().startswith("{") and not where.endswith((".yaml", ".yml"))
    try:
        data = _load_json(text, foreign=foreign) if is_json else _load_yaml(text, foreign=foreign)
    except json.JSONDecodeError as error:
        unclosed = "}" not in text[error.pos :] and error.msg != "Extra data"
        truncated = unclosed or error.msg.startswith("Unterminated string")
        problem = "the file ends too early" if truncated else error.msg
        raise InputError(f"{where}:{error.lineno}: is not JSON: {problem}.", fix=fix or "Write it again.") from error
    except _DuplicateKeyError as error:
        raise InputError(f"{where}: the key '{error}' appears twice.", fix="Remove one of the two.") from error
    except _NonFiniteError as error:
        raise InputError(
            f"{where}{_key_of(str(error), text)}: {error} is not a number in JSON.",
            fix="Write a number, or leave it out.",
        ) from error
    except AmbiguousValueError as error:
        raise InputError(f"{where}:{error.line}: {error.problem}.", fix=error.fix) from error
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


def line_of(text: str, path: Sequence[int | str]) -> int | None:
    """Return the line of the key at a path, also in JSON, which is read as YAML; None if the key is missing."""
    if not text:
        return None
    node = _composed(text)
    line: int | None = None
    for part in path:
        if isinstance(node, yaml.MappingNode):
            pairs = [(key, value) for key, value in node.value if key.value == str(part)]
            if not pairs:
                break
            line, node = pairs[0][0].start_mark.line + 1, pairs[0][1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line + 1
        else:
            break
    return line


@lru_cache(maxsize=1)
def _composed(text: str) -> yaml.Node | None:
    """Return the document's nodes; None if it is not YAML. Cached for further errors in the same file."""
    try:
        node: yaml.Node | None = yaml.compose(text, Loader=CoreLoader)
    except (yaml.YAMLError, RecursionError):
        return None
    return node


def _load_json(text: str, *, foreign: bool) -> Any:
    constant = float if foreign else _refuse_constant
    return json.loads(text, object_pairs_hook=_without_duplicates, parse_constant=constant)


class _NonFiniteError(Exception):
    """`NaN` or `Infinity` in JSON. Python writes them, but other programs refuse them."""


def _refuse_constant(word: str) -> float:
    raise _NonFiniteError(word)


class _DuplicateKeyError(Exception):
    """A duplicate JSON key. Python would silently keep the last one."""


def _without_duplicates(pairs: list[tuple[str, Any]]) -> Json:
    mapping: Json = {}
    for key, value in pairs:
        if key in mapping:
            raise _DuplicateKeyError(key)
        mapping[key] = value
    return mapping


def _load_yaml(text: str, *, foreign: bool) -> Any:
    _check_size(text)
    return yaml.load(text, Loader=ForeignLoader if foreign else CoreLoader)


def _check_size(text: str) -> None:
    """Refuse text that is nested too deeply, or too large once its aliases are expanded.

    size of a scalar = 1 + characters / CHARACTERS_PER_VALUE; of a collection = 1 + sizes in it; of an alias = that of
    its anchor
    """
    sizes: dict[str | None, float] = {}
    open_sizes: list[float] = [0.0]
    open_anchors: list[str | None] = [None]
    aliased = False
    for event in yaml.parse(text, Loader=CoreLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            open_sizes.append(1.0)
            open_anchors.append(event.anchor)
            if len(open_sizes) > DEEPEST_NESTING:
                raise RecursionError
            continue
        if isinstance(event, yaml.CollectionEndEvent):
            size, anchor = open_sizes.pop(), open_anchors.pop()
        elif isinstance(event, yaml.ScalarEvent):
            size, anchor = 1.0 + len(event.value) / CHARACTERS_PER_VALUE, event.anchor
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor in open_anchors:
                raise _refusal("an alias stands for the value that it is in", event)
            aliased, anchor, size = True, None, sizes.get(event.anchor, 0.0)
        else:
            continue
        if anchor is not None:
            sizes[anchor] = size
        open_sizes[-1] += size
        if aliased and open_sizes[-1] >= LARGEST_SIZE:
            raise _refusal(f"with its aliases it holds over {LARGEST_SIZE:,} values", event)
        if open_sizes[-1] >= LARGEST_PLAIN_SIZE:
            raise _refusal(f"it holds over {LARGEST_PLAIN_SIZE:,} values", event)


def _refusal(problem: str, event: Any) -> yaml.YAMLError:
    return yaml.constructor.ConstructorError(None, None, problem, event.start_mark)


def _kind(data: object) -> str:
    return {"NoneType": "nothing", "list": "a list", "str": "text"}.get(type(data).__name__, "a single value")
