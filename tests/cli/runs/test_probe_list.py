"""`planner runs list|show` of probes, and how they compare."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.adapters.run_store import probe_store
from tests.cli.conftest import Answer
from tests.speed.probes.test_compared_probes import probe


def test_runs_lists_probes_and_how_they_compare(planner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANNER_HOME", str(tmp_path))
    for name, seconds in (("a", 1.0), ("b", 1.0), ("c", 1.0), ("slow", 1.0638)):
        probe_store(tmp_path).add(probe(f"probe-{name}", seconds))

    screen: Answer = planner("runs", "list")
    document: Answer = planner("runs", "list", "--json")
    one: Answer = planner("runs", "show", "probe-slow")

    assert "6 % below" in " ".join(screen.out.split())
    assert [row["id"] for row in document.document["probes"]] == ["probe-a", "probe-b", "probe-c", "probe-slow"]
    assert one.document["kernels"][0]["seconds"] == 1.0638
