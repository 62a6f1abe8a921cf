"""Runs the command line in this process, as a person would call it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from planner.adapters.stored_prices.price_filter import PriceFilter
from planner.adapters.workspace import catalogs_dir, examples_dir
from planner.cli.main import run
from planner.model.catalog import Catalog
from planner.use_cases import catalogs, reports
from tests.bundled import owned_catalog, share
from tests.launcher.conftest import result  # noqa: F401  (a fixture)


@dataclass(frozen=True)
class CliAnswer:
    """Results of a command."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        return json.loads(self.out)

    def option(self, option_id: str) -> dict[str, Any]:
        return next(option for option in self.document["options"] if option["id"] == option_id)


Planner = Callable[..., CliAnswer]


@pytest.fixture(autouse=True)
def _what_never_changes_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    share(monkeypatch)


@pytest.fixture
def owner(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask as the owner of the machines that the bundled documents measured, so that their runs are measurements."""

    def load(workspace: Path, *, wanted: PriceFilter) -> Catalog:
        return owned_catalog()

    monkeypatch.setattr(catalogs, "load_catalog", load)


@pytest.fixture
def planner(capsys: pytest.CaptureFixture[str]) -> Planner:
    """Call `planner ARGUMENTS` in this process."""

    def call(*arguments: str | Path) -> CliAnswer:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return CliAnswer(code, captured.out, captured.err)

    return call


@pytest.fixture
def example() -> Callable[[str], Path]:
    """Return the path of a bundled example plan."""
    return lambda name: examples_dir() / f"{name}.yaml"


@pytest.fixture
def changed(tmp_path: Path) -> Callable[..., Path]:
    """Write a copy of an example plan in which values were replaced, by key (`work.epochs`, `options.0.nodes`)."""
    written = 0

    def write(name: str, changes: dict[str, Any] | None = None, *, only: list[int] | None = None) -> Path:
        nonlocal written
        plan = yaml.safe_load((examples_dir() / f"{name}.yaml").read_text(encoding="utf-8"))
        if only is not None:
            plan["options"] = [plan["options"][position] for position in only]
        for key, value in (changes or {}).items():
            *parents, last = key.split(".")
            place: Any = plan
            for parent in parents:
                place = place[int(parent)] if isinstance(place, list) else place.setdefault(parent, {})
            place[int(last) if isinstance(place, list) else last] = value
        written += 1
        path = tmp_path / f"{name}-{written}.yaml"
        path.write_text(yaml.safe_dump(plan), encoding="utf-8")
        return path

    return write


@pytest.fixture
def own_run(tmp_path: Path) -> Callable[..., Path]:
    """Write a run record of one's own: the DGX Station's, with another id and the given changes."""
    source = json.loads((catalogs_dir() / "runs" / "seed-000-dgx-station-v100.json").read_text(encoding="utf-8"))
    written = 0

    def write(run_id: str = "mine", **changes: Any) -> Path:
        nonlocal written
        written += 1
        path = tmp_path / f"record-{written}.json"
        path.write_text(json.dumps(source | {"id": run_id} | changes, indent=1), encoding="utf-8")
        return path

    return write


@pytest.fixture
def plan_file(tmp_path: Path) -> Callable[..., Path]:
    def write(content: str | bytes, name: str = "plan.yaml") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def write() -> Callable[[str, str], Path]:
    """Write a site into the workspace."""

    def write(name: str, text: str) -> Path:
        path = Path(os.environ["PLANNER_HOME"]) / "sites" / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return write


KNOWN_REPORTS: dict[tuple[object, ...], Any] = {}
"""Reports by plan, language and file name, for tests without a workspace."""


@pytest.fixture
def reports_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Compute the same report once a process, for tests of how it is written. The plan lies in the current folder."""
    report_of = reports.report_of

    def once(plan: Any, catalog: Catalog, words: Any, *, today: Any, plan_words: str) -> Any:
        key = (plan.model_dump_json(), words.language, today, plan_words)
        if key not in KNOWN_REPORTS:
            KNOWN_REPORTS[key] = report_of(plan, catalog, words, today=today, plan_words=plan_words)
        return KNOWN_REPORTS[key]

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(reports, "report_of", once)


@pytest.fixture
def own_site(write: Callable[[str, str], Path]) -> Callable[..., Path]:
    """Write the example's site under another id, with some keys changed."""

    def change(**changes: object) -> Path:
        text = (catalogs_dir() / "sites" / "own-8xh200.yaml").read_text(encoding="utf-8")
        return write("mine", yaml.safe_dump(yaml.safe_load(text) | {"id": "mine"} | changes))

    return change
