"""Workflows of hosted CI: every action by its commit, no right that is not needed, every Python that is promised."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
BY_COMMIT = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}")


def steps(path: Path) -> list[dict[str, object]]:
    return [step for job in yaml.safe_load(path.read_text("utf-8"))["jobs"].values() for step in job["steps"]]


def test_there_are_two() -> None:
    assert [path.name for path in FILES] == ["ci.yml", "release.yml"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_actions_are_pinned_and_rights_are_few(path: Path) -> None:
    used = [str(step["uses"]) for step in steps(path) if "uses" in step]
    assert used
    assert [action for action in used if not BY_COMMIT.fullmatch(action)] == []
    document = yaml.safe_load(path.read_text("utf-8"))
    assert document["permissions"] == {"contents": "read"}
    for step in steps(path):
        if "checkout" in str(step.get("uses", "")):
            assert step["with"]["persist-credentials"] is False
    for job in document["jobs"].values():
        assert job["timeout-minutes"] <= 60


def test_ci_runs_on_every_python_of_the_classifiers() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    promised = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    matrix = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))["jobs"]["test"]["strategy"]
    assert matrix["matrix"]["python"] == promised


def test_only_publishing_may_prove_who_it_is() -> None:
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8"))["jobs"]
    assert {name for name, job in jobs.items() if "id-token" in job.get("permissions", {})} == {"publish"}
    assert jobs["publish"]["needs"] == "build"
    assert "password" not in str(jobs), "trusted publishing needs no secret"
