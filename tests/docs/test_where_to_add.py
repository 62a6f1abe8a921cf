"""The table "Where to add what" and the guides name files and code that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
QUOTED = re.compile(r"`([^`\n]+)`")
IDENTIFIER = re.compile(r"[A-Za-z_]{3,}")


def _rows() -> dict[str, str]:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = page.partition("## Where to add what")[2].partition("\n## ")[0]
    lines = [line for line in table.splitlines() if line.startswith("| ") and not line.startswith("| change")]
    return {line.split(" | ")[0].removeprefix("| "): line.partition(" | ")[2] for line in lines}


def _missing(text: str) -> list[str]:
    """Return the files that do not exist, and the names that stand in none of the files of the same text."""
    quoted = QUOTED.findall(text)
    paths = [ROOT / name for name in quoted if "/" in name or name.endswith((".py", ".md"))]
    code = "".join(path.read_text(encoding="utf-8") for path in paths if path.is_file())
    code += "".join(file.read_text(encoding="utf-8") for path in paths if path.is_dir() for file in path.glob("*.py"))
    names = [name for name in quoted if IDENTIFIER.fullmatch(name)]
    absent = [str(path.relative_to(ROOT)) for path in paths if not path.exists()]
    return absent + [name for name in names if not re.search(rf"\b{name}\b", code)]


@pytest.mark.parametrize("change", _rows())
def test_what_a_row_names_is_there(change: str):
    assert _missing(_rows()[change]) == []


def test_a_wrong_name_is_found():
    assert _missing("`Kwantity` in `planner/model/quantity.py`, `planner/no_such.py`") == [
        "planner/no_such.py",
        "Kwantity",
    ]


def test_the_guide_to_families_names_the_class_of_the_registry():
    """A reader pastes the line, and it must run."""
    guide = (ROOT / "docs" / "guides" / "add-a-network-family.md").read_text(encoding="utf-8")
    (pasted,) = re.findall(r'`"sliding": (\w+)`\.\n\n', guide)
    assert re.search(rf"\b{pasted}\b", (ROOT / "workloads" / "models" / "registry.py").read_text(encoding="utf-8"))
