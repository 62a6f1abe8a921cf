"""`planner runs list|show` of probes, and how they compare."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planner.adapters.run_store import probe_store
from tests.cli.conftest import CliAnswer
from tests.speed.probes.test_compared_probes import probe


def test_runs_lists_probes_and_how_they_compare(planner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANNER_HOME", str(tmp_path))
    for name, seconds in (("a", 1.0), ("b", 1.0), ("c", 1.0), ("slow", 1.0638)):
        probe_store(tmp_path).add(probe(f"probe-{name}", seconds))

    screen: CliAnswer = planner("runs", "list")
    document: CliAnswer = planner("runs", "list", "--json")
    shown: CliAnswer = planner("runs", "show", "probe-slow")

    assert "6 % below" in " ".join(screen.out.split())
    assert [row["id"] for row in document.document["probes"]] == ["probe-a", "probe-b", "probe-c", "probe-slow"]
    assert shown.document["kernels"][0]["seconds"] == 1.0638


def test_a_probe_that_was_brought_home_by_hand_is_added_beside_runs(planner, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("PLANNER_HOME", str(tmp_path / "home"))
    file = tmp_path / "probe.json"
    file.write_text(probe("probe-by-hand", 1.0).model_dump_json())

    added: CliAnswer = planner("runs", "add", str(file))
    again: CliAnswer = planner("runs", "list", "--json")

    assert added.code == 0, added.err
    assert [row["id"] for row in again.document["probes"]] == ["probe-by-hand"]


def test_a_probe_with_a_wrong_kernel_is_refused_and_nothing_is_stored(planner, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("PLANNER_HOME", str(tmp_path / "home"))
    document = probe("probe-wrong", 1.0).model_dump(mode="json")
    del document["kernels"][0]["shape"]["times"]
    (tmp_path / "probe.json").write_text(json.dumps(document))

    refused: CliAnswer = planner("runs", "add", str(tmp_path / "probe.json"))

    assert refused.code == 2
    assert "times is missing, which matrix products have" in refused.err
    assert not (tmp_path / "home").exists()
