"""Every Markdown file: lines end at 120 columns, links lead to files, and the files it names are there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = (
    "benchmarks",
    "catalogs",
    "docs",
    "examples",
    "launcher",
    "planner",
    "scripts",
    "skills",
    "tests",
    "workloads",
)
GOLDEN = ROOT / "tests" / "golden"
PAGES = sorted(
    page.relative_to(ROOT).as_posix()
    for page in [*ROOT.glob("*.md"), *(page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md"))]
    if not page.is_relative_to(GOLDEN)
)
SOURCES = [path.as_posix() for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
HISTORY = "CHANGELOG.md"
"""Names files that have been removed since."""
LONGEST = 120
LINK = re.compile(r"\]\(([^)\s]+)\)")
NAMED = re.compile(rf"(?<![\w./-])(?:{'|'.join(FOLDERS)})/[\w./*-]*\.(?:csv|json|md|py|sh|yaml)\b")
MODULE = re.compile(r"`([\w/]+\.py)`")
INVENTED = re.compile(r"[\w/]*/(?:example|sliding)[\w.-]*")
"""Files that a guide tells its reader to write."""


def test_the_pages_are_found():
    assert {"README.md", "docs/accuracy.md", "workloads/README.md"} <= set(PAGES)


@pytest.mark.parametrize("page", PAGES)
def test_lines_end_at_120(page: str):
    long = [f"{page}:{number}: {len(line)}" for number, line in _prose(page) if len(LINK.sub("]()", line)) > LONGEST]
    assert not long


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_files(page: str):
    links = [link for link in LINK.findall(_text(page)) if "://" not in link]
    broken = [link for link in links if not (ROOT / page).parent.joinpath(link.partition("#")[0]).exists()]
    assert not broken


@pytest.mark.parametrize("page", [page for page in PAGES if page != HISTORY])
def test_files_that_are_named_exist(page: str):
    text = _text(page)
    if page.startswith("docs/guides/"):
        text = INVENTED.sub("", text)
    missing = [name for name in NAMED.findall(text) if not any(ROOT.glob(name))]
    missing += [name for name in MODULE.findall(text) if not any(path.endswith(f"/{name}") for path in SOURCES)]
    assert not missing


def _text(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def _prose(page: str) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines outside code and tables, whose lines cannot be broken."""
    fenced = False
    for number, line in enumerate(_text(page).splitlines(), start=1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith(("|", "    ")):
            yield number, line
