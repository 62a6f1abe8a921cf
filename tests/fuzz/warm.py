"""The command line with all that it imports, and with what ships with the product read once."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from planner.adapters import bundled_tables, catalog, evidence
from planner.adapters.evidence import evidence_files
from planner.adapters.workspace import catalogs_dir
from planner.cli.main import run
from planner.use_cases import catalogs
from planner.use_cases.published import evidence as measurements
from tests.fuzz.readers import readers
from tests.fuzz.trial import Trial


def warm(scratch: Path) -> list[str]:
    """Give each command a good file in this process, so that children find all imported, and what ships read.

    Returns the commands that refused one.
    """
    bundled = catalogs_dir()
    for module, names in (
        (catalog, ("read_rows", "read_model", "read_prices", "read_run", "read_calibration", "known_presets")),
        *((bundled_tables, ("read_rows",)), (evidence, ("read_calibration",))),
        *((measurements, ("read_measurements", "read_image_networks")), (catalogs, ("accelerator_aliases",))),
    ):
        for name in names:
            setattr(module, name, _kept(getattr(module, name), bundled))
    measurements.observations_of = _of_bundled_once(measurements.observations_of)
    refused = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLANNER_HOME", "home")
        for position, reader in enumerate(readers()):
            for number, command in enumerate(reader.commands):
                folder = scratch / f"{position}-{number}"
                folder.mkdir()
                good = reader.goods[0]
                words = tuple(command.replace("{}", reader.place).replace("{typed}", "1").split())
                Trial(0, reader.name, reader.place, good.content, words, good.also).lay(folder)
                patch.chdir(folder)
                said = io.StringIO()
                with redirect_stdout(io.StringIO()), redirect_stderr(said):
                    code = run(list(words))
                if code not in (0, 3) and reader.form != "typed":
                    refused.append(f"{reader.name}: planner {' '.join(words)}: {said.getvalue()}")
    return refused


def _kept(read: Callable[..., Any], bundled: Path) -> Callable[..., Any]:
    known: dict[str, Any] = {}

    def call(*arguments: Any, **options: Any) -> Any:
        paths = [argument for argument in arguments if isinstance(argument, Path)]
        if any(not path.is_relative_to(bundled) for path in paths) or "bundled" in options:
            return read(*arguments, **options)
        key = repr((arguments, options))
        if key not in known:
            known[key] = read(*arguments, **options)
        value = known[key]
        return list(value) if isinstance(value, list) else value

    return call


def _of_bundled_once(observe: Callable[..., Any]) -> Callable[..., Any]:
    """Describe the rows that ship with the product once, and only the others each time."""
    bundled = {id(row): row for path in evidence_files() for row in evidence.read_measurements(path)}
    known: dict[tuple[int, ...], Any] = {}

    def call(rows: list[Any], catalog: Any) -> Any:
        shipped = tuple(id(row) for row in rows if id(row) in bundled)
        if shipped not in known:
            known[shipped] = observe([bundled[name] for name in shipped], catalog)
        seen, refused = known[shipped]
        more_seen, more_refused = observe([row for row in rows if id(row) not in bundled], catalog)
        return [*seen, *more_seen], [*refused, *more_refused]

    return call
