"""Keeps what was read from the product's own files, because a server, the app and the API open the catalogs often."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

from planner.adapters.files import note_input
from planner.adapters.workspace import catalogs_dir

P = ParamSpec("P")
R = TypeVar("R")


def bundled_once(read: Callable[P, R]) -> Callable[P, R]:
    """Let a function that reads a file read each bundled one once a process, and again if the file has changed.

    Its results are shared: models are frozen, and a list is copied. Files of a user are always read.
    """
    kept: dict[tuple[object, ...], tuple[tuple[int, int], R]] = {}

    @wraps(read)
    def once(*arguments: P.args, **options: P.kwargs) -> R:
        path = next(argument for argument in arguments if isinstance(argument, Path))
        if not path.is_relative_to(catalogs_dir()) or not path.is_file():
            return read(*arguments, **options)
        key, status = (*arguments, *options.items()), path.stat()
        stamp = (status.st_mtime_ns, status.st_size)
        if key in kept and kept[key][0] == stamp:
            note_input(path)
        else:
            kept[key] = stamp, read(*arguments, **options)
        result: Any = kept[key][1]
        return cast("R", list(result) if isinstance(result, list) else result)

    return once
