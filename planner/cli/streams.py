"""Where commands write: data to stdout, messages to stderr; JSON documents of answers and of errors."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from planner.errors import PlannerError

if TYPE_CHECKING:
    from planner.model.base import Frozen


def say(text: str) -> None:
    """Print a message to the person, on stderr."""
    print(text, file=sys.stderr)


def wants_json(arguments: Sequence[str]) -> bool:
    """Return whether the caller asked for JSON, also where the arguments do not parse."""
    pairs = zip(arguments, [*arguments, ""][1:], strict=True)
    return any(one in ("--json", "--format=json") or (one == "--format" and two == "json") for one, two in pairs)


def print_document(document: Frozen) -> None:
    """Print a model as JSON."""
    print(_as_json(document.model_dump(mode="json")))


def error_document(error: PlannerError) -> str:
    """Return an error as JSON."""
    return _as_json(error.document())


def _as_json(data: object) -> str:
    """Return JSON that stdout can carry: escapes stand for Korean where its encoding has no Korean."""
    return json.dumps(data, indent=1, ensure_ascii=(sys.stdout.encoding or "").lower().replace("-", "") != "utf8")
