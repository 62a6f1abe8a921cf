"""The command line with all that it imports, and with what ships with the product described once."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from planner.adapters import evidence
from planner.adapters.evidence import evidence_files
from planner.cli.main import run
from planner.use_cases.published import evidence as measurements
from tests.fuzz.readers import readers
from tests.fuzz.trial import Trial


def warm(scratch: Path, *, every_command: bool = True) -> list[str]:
    """Give each command a good file in this process, so that children find all imported, and what ships read.

    Without `every_command`, a file is given to its first command, and to others whose verb has not run yet. Returns the
    commands that refused one.
    """
    measurements.observations_of = _of_bundled_once(measurements.observations_of)
    refused: list[str] = []
    verbs: set[str] = set()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLANNER_HOME", "home")
        for position, reader in enumerate(readers()):
            for number, command in enumerate(reader.commands):
                verb = command.split()[0]
                if not every_command and verb in verbs and (number > 0 or reader.form == "typed"):
                    continue
                verbs.add(verb)
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
