"""Results that the benchmark wrote on an H100 SXM (2026-11-26), cut to what tests read: no topology, short times."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from planner.adapters.catalog import accelerator_aliases
from planner.launcher.collect.record import record_of
from planner.model.evidence.node_shapes import NodeResult
from planner.model.evidence.run import RunRecord
from planner.use_cases.expectations import expect_from
from tests.bundled import bundled_catalog

FOLDER = Path(__file__).parents[2] / "data" / "h100" / "verdict"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))


def h100_document(name: str, **changes: Any) -> dict[str, Any]:
    """Return a recorded result with changes."""
    return dict(json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))) | changes


def h100_result(name: str, **changes: Any) -> NodeResult:
    """Return it as the launcher reads it."""
    return NodeResult.model_validate(h100_document(name, **changes))


def h100_record(name: str, **changes: Any) -> RunRecord:
    """Return its record, judged as `planner runs add` judges it."""
    expect = expect_from(bundled_catalog())
    return record_of([h100_document(name, **changes)], aliases=accelerator_aliases(), expect=expect)
