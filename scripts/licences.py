"""Write docs/licences.md: the licence of every package that the planner needs. Run: make licences.

Lists the packages that a part for users (not the extra `dev`) needs, directly or through others. The versions are those
of locks/ci.txt; the licences come from the metadata of the installed packages.
"""

from __future__ import annotations

import csv
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from scripts.lock_dependencies import LOCKED, versions

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "licences.md"
NOT_INSTALLED = Path(__file__).with_name("licences_of_platforms.csv")
"""Table of packages for GPUs or Windows, which may not be installed here."""
PARTS = ("app", "bench", "prices", "launch")
COPYLEFT = re.compile(r"GPL|GNU|MPL|Mozilla", re.IGNORECASE)
LONGEST_NAME = 60
"""Most characters of a licence's name. A longer text is the whole licence."""
HEAD = """# Licences of what the planner runs on

After reading this page you know under which licence each package of an installation stands. Written by `make licences`.

Versions are those of `locks/ci.txt`; licences are what each package's metadata says. The planner is under Apache-2.0
([LICENSE](../LICENSE)). Its wheel holds none of these packages: pip installs them from the index that you choose.

## Copyleft

If you pass on a changed version of one of these, you must pass on its source as well. Using it unchanged, as here, only
requires keeping its notices. The image (`Dockerfile`) holds those with `app` in the last column.

"""
TABLE = "| package | version | licence | needed by |\n|---|---|---|---|\n"
REST = "\n## All\n\nBesides the packages above.\n\n"
FOOT = """
`-` under "needed by" is a package for some platforms alone (a GPU under Linux, Windows). NVIDIA's libraries come with
torch and are under NVIDIA's own terms: they may be used, and handed on only as those terms say.
"""


class Package(NamedTuple):
    """A line of the page."""

    name: str
    version: str
    licence: str
    parts: tuple[str, ...]

    @property
    def line(self) -> str:
        """Row of the page's table."""
        return f"| {self.name} | {self.version} | {self.licence} | {', '.join(self.parts) or '-'} |"


def page() -> str:
    """Return the page."""
    packages = list(_packages())
    copyleft = [package for package in packages if COPYLEFT.search(package.licence)]
    others = [package for package in packages if package not in copyleft]
    return HEAD + TABLE + _rows(copyleft) + REST + TABLE + _rows(others) + FOOT


def _rows(packages: Iterable[Package]) -> str:
    return "".join(f"{package.line}\n" for package in packages)


def _packages() -> Iterator[Package]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needs = {"core": closure(project["dependencies"])}
    needs |= {part: closure(project["optional-dependencies"][part]) for part in PARTS}
    installed = {canonicalize_name(distribution.metadata["Name"]) for distribution in metadata.distributions()}
    with NOT_INSTALLED.open(encoding="utf-8") as file:
        stated = {row["package"]: row["licence"] for row in csv.DictReader(file)}
    for name, version in sorted(versions("ci").items()):
        parts = tuple(part for part, names in needs.items() if name in names)
        if name in stated:
            yield Package(name, version, stated[name], ())
        elif parts:
            yield Package(name, version, licence_of(name), ("all",) if "core" in parts else parts)
        elif name not in installed and name not in LOCKED["ci"][1]:
            raise LookupError(f"{name} is not installed here, and {NOT_INSTALLED.name} does not state its licence")


def closure(requirements: Iterable[str]) -> set[str]:
    """Return the names of all packages that these requirements need, directly or through installed ones."""
    found: set[tuple[str, frozenset[str]]] = set()
    waiting = [Requirement(text) for text in requirements]
    while waiting:
        asked = waiting.pop()
        key = (canonicalize_name(asked.name), frozenset(asked.extras))
        if key in found:
            continue
        found.add(key)
        for text in _requires(key[0]):
            needed = Requirement(text)
            if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in ("", *asked.extras)):
                waiting.append(needed)
    return {name for name, _ in found}


def _requires(name: str) -> list[str]:
    try:
        return metadata.requires(name) or []
    except metadata.PackageNotFoundError:
        return []


def licence_of(name: str) -> str:
    """Return a package's licence from its metadata: an SPDX expression, else its short name, else its classifiers."""
    said = metadata.metadata(name).json
    expression, short = said.get("license_expression"), str(said.get("license", "")).strip()
    classifiers = [
        classifier.rpartition(" :: ")[2]
        for classifier in said.get("classifier", ())
        if classifier.startswith("License ::")
    ]
    if expression:
        return str(expression)
    if short and "\n" not in short and len(short) <= LONGEST_NAME and not short.startswith("Copyright"):
        unsaid = short.casefold() in ("dual license", "unknown") and classifiers
        return " or ".join(classifiers) if unsaid else short
    if not classifiers:
        raise LookupError(f"{name} says nothing of its licence: look it up, and add it to {NOT_INSTALLED.name}")
    return " and ".join(classifiers)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}", file=sys.stderr)
