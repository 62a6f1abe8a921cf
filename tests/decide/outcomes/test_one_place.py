"""Draws, chances and quantiles of a decision are computed in one place: the samples of `planner/decide/outcomes`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import planner

ROOMS = ("decide", "use_cases", "present", "ui", "cli", "cost", "duration", "mcp_server")
OF_CHANCES = {"quantile", "percentile", "NormalDist", "inv_cdf", "cdf", "pdf", "erf", "erfinv"}
OF_DRAWS = {
    "default_rng",
    "standard_normal",
    "normal",
    "multivariate_normal",
    "random",
    "generator",
    "permutation",
    "eigh",
}
COMPUTES = OF_CHANCES | OF_DRAWS
ELSEWHERE = {
    "duration/waits.py": "the range of a stated queue, which is an input, and the draws that outcomes ask for",
}
"""Modules that use them for something other than a chance or quantile of an option."""


def computed(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute | ast.Name):
            name = node.attr if isinstance(node, ast.Attribute) else node.id
            if name in COMPUTES:
                yield f"{path.name}:{node.lineno} {name}"


def test_no_other_module_computes_a_draw_a_chance_or_a_quantile() -> None:
    root = Path(planner.__file__).parent
    found = [
        each
        for room in ROOMS
        for path in sorted((root / room).rglob("*.py"))
        if path.parent.name != "outcomes" and str(path.relative_to(root)) not in ELSEWHERE
        for each in computed(path)
    ]
    assert found == []
