"""The locks hold every package at one version with its hashes; the page of licences is that of the locks."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from scripts.licences import PAGE, closure, licence_of, page
from scripts.lock_dependencies import CI_EXTRAS, ENTRY, IMAGE_ALSO, IMAGE_EXTRAS, LOCKED, versions

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
DECLARED = {
    "image": [*PROJECT["dependencies"], *(text for extra in IMAGE_EXTRAS for text in EXTRAS[extra]), *IMAGE_ALSO],
    "ci": [*PROJECT["dependencies"], *(text for extra in CI_EXTRAS for text in EXTRAS[extra])],
}
HASH = re.compile(r"    --hash=sha256:[0-9a-f]{64}(?: \\)?")


def text_of(name: str) -> str:
    return (ROOT / "locks" / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", LOCKED)
def test_every_declared_package_is_locked_at_a_version_that_is_allowed(name: str) -> None:
    locked = versions(name)
    asked = [Requirement(text) for text in DECLARED[name]]
    assert [
        requirement.name
        for requirement in asked
        if not requirement.specifier.contains(locked[canonicalize_name(requirement.name)])
    ] == []


@pytest.mark.parametrize("name", LOCKED)
def test_what_those_need_is_locked_too(name: str) -> None:
    assert closure(DECLARED[name]) - set(versions(name)) == set()


@pytest.mark.parametrize("name", LOCKED)
def test_the_lock_agrees_with_the_constraints(name: str) -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if "==" in line and not line.startswith("#"))
    pinned = {canonicalize_name(package): version for package, version in pinned.items()}
    locked = versions(name)
    assert {name: locked[name] for name in locked if name in pinned and locked[name] != pinned[name]} == {}


@pytest.mark.parametrize("name", LOCKED)
def test_every_entry_has_hashes_and_names_no_place(name: str) -> None:
    """A line is an entry or one of its hashes: no index, no address, no file of a machine."""
    lines = text_of(name).splitlines()
    assert [line for line in lines if not (ENTRY.match(line) or HASH.fullmatch(line) or line.startswith("# "))] == []
    entries = [place for place, line in enumerate(lines) if ENTRY.match(line)]
    assert len(entries) == len(versions(name)) > 50
    assert all(HASH.fullmatch(lines[place + 1]) for place in entries)


def test_the_image_is_made_of_its_lock_alone() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    for command in re.findall(r"pip (?:install|wheel)[^&\n]*(?:\\\n[^&\n]*)*", dockerfile):
        assert any(word in command for word in ("--require-hashes", "--no-deps", "--no-index")), command
    assert "--no-build-isolation" in dockerfile


def test_hosted_ci_audits_every_lock() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
    job = workflow["jobs"]["audit"]
    assert set(job["strategy"]["matrix"]["lock"]) == set(LOCKED)
    assert "schedule" in workflow[True], "YAML 1.1 reads the key `on` as true"
    assert any("pip-audit --requirement locks/${{ matrix.lock }}.txt" in step.get("run", "") for step in job["steps"])


def test_the_page_of_licences_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: make licences"


@pytest.mark.parametrize("name", ["paramiko", "psycopg2-binary"])
def test_what_is_under_the_lesser_gpl_is_named_first(name: str) -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert "LGPL" in licence_of(name)
    assert text.index(f"| {name} |") < text.index("## All")
