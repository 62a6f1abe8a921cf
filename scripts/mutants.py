"""Checks that tests notice a wrong formula: changes the code in one place at a time and runs the tests of its folder.

`python -m scripts.mutants --seed 44` picks ten mutants of each room by the seed. It works on a copy of the tree. It
prints one line per mutant, and fails if more than `--most-survivors` survive.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import copy
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOMS = ("planner/speed/physics", "planner/speed/memory", "planner/cost", "planner/decide")
OPERATORS: dict[type[ast.AST], Any] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
EXTREMES = {"min": "max", "max": "min"}
NOT_COMPUTED = {"annotation", "returns", "decorator_list", "type_params", "bases"}
"""Fields of the syntax tree without computations."""
LEFT_BEHIND = shutil.ignore_patterns(".git", ".*_cache", "__pycache__", "build", "node_modules", "planner-data")
FAST = "not slow and not browser"
"""The tests that `make test` runs."""
SLOWEST_SECONDS = 600
NEVER_ENDS = "the tests do not end"
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+?(?:\[.*?\])?)(?: - |$)", re.MULTILINE)


@dataclass(frozen=True)
class Mutant:
    """One change of one module."""

    module: Path
    line: int
    before: str
    after: str
    source: str
    """Path of the changed module."""

    def __str__(self) -> str:
        """Write the place of the mutant, and its code before and after."""
        return f"{self.module}:{self.line}: {_short(self.before)}  =>  {_short(self.after)}"


def mutants_of(module: Path, text: str) -> Iterator[Mutant]:
    """Yield every mutant of a module, in order of lines."""
    tree = ast.parse(text)
    for parent, field, place in _places(tree):
        value = getattr(parent, field)
        node = value if place is None else value[place]
        changed = _changed(node)
        if changed is None:
            continue
        before, after = ast.unparse(node), ast.unparse(changed)
        _put(parent, field, place, changed)
        yield Mutant(module, node.lineno, before, after, ast.unparse(tree))
        _put(parent, field, place, node)


def chosen_mutants(root: Path, rooms: tuple[str, ...], *, each: int, seed: int) -> list[Mutant]:
    """Return `each` mutants of every room, the same ones for the same seed and code."""
    chosen: list[Mutant] = []
    for room in rooms:
        modules = sorted((root / room).rglob("*.py"))
        every = [
            mutant
            for path in modules
            for mutant in mutants_of(path.relative_to(root), path.read_text(encoding="utf-8"))
        ]
        chosen += random.Random(f"{seed} {room}").sample(every, min(each, len(every)))
    return chosen


def folders_of_tests(module: Path, root: Path) -> list[Path]:
    """Return the test folders that must notice a change: the nearest first, the folder of the whole room last."""
    room = next(Path(room) for room in ROOMS if module.is_relative_to(room))
    folders = [
        Path("tests") / parent.relative_to("planner") for parent in module.parents if parent.is_relative_to(room)
    ]
    return [folder for folder in folders if (root / folder).is_dir()]


def killer_of(mutant: Mutant, copied: Path) -> str | None:
    """Return the first test of a mutant's folders that fails only with the mutant; None if all pass."""
    path = copied / mutant.module
    kept = path.with_suffix(".kept")
    shutil.copy2(path, kept)
    path.write_text(mutant.source, encoding="utf-8")
    try:
        failed = next(
            (test for folder in folders_of_tests(mutant.module, copied) if (test := _failed(folder, copied))), None
        )
    finally:
        kept.replace(path)
    return failed if failed in (None, NEVER_ENDS) or _failed(failed, copied) is None else None


def _failed(tests: Path | str, copied: Path) -> str | None:
    """Return the first failing test."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-rfE", "-p", "no:cacheprovider", "-m", FAST, str(tests)]
    environment = os.environ | {"PYTHONPATH": str(copied), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, cwd=copied, env=environment, capture_output=True, text=True, timeout=SLOWEST_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return NEVER_ENDS
    failed = FAILED.search(done.stdout)
    return None if done.returncode == 0 else failed[1] if failed else str(tests)


def _places(node: ast.AST) -> Iterator[tuple[ast.AST, str, int | None]]:
    """Yield the parent, field and index of each node that computes something."""
    for field, value in ast.iter_fields(node):
        if field in NOT_COMPUTED:
            continue
        for place, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.AST):
                yield node, field, place
                yield from _places(child)


def _put(parent: ast.AST, field: str, place: int | None, node: ast.AST) -> None:
    if place is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[place] = node


def _changed(node: ast.AST) -> ast.AST | None:
    """Return the node with a mistake: another operator, number, bound, extreme, or no return value."""
    changed = copy.copy(node)
    if isinstance(changed, ast.BinOp | ast.BoolOp) and type(changed.op) in OPERATORS:
        changed.op = OPERATORS[type(changed.op)]()
    elif isinstance(changed, ast.Compare):
        changed.ops = [OPERATORS[type(changed.ops[0])](), *changed.ops[1:]]
    elif isinstance(changed, ast.UnaryOp) and isinstance(changed.op, ast.Not | ast.USub):
        return changed.operand
    elif isinstance(changed, ast.Constant) and isinstance(changed.value, bool):
        changed.value = not changed.value
    elif isinstance(changed, ast.Constant) and isinstance(changed.value, int | float):
        changed.value = 2 * changed.value or 1
    elif isinstance(changed, ast.Name) and changed.id in EXTREMES:
        changed.id = EXTREMES[changed.id]
    elif isinstance(changed, ast.Return) and changed.value is not None:
        changed.value = ast.Constant(None)
    else:
        return None
    return changed


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 100 else f"{line[:97]}..."


def main() -> int:
    """Run the mutants and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=44)
    parser.add_argument("--each", type=int, default=10, help="mutants of each room")
    parser.add_argument("--room", action="append", choices=ROOMS, help="default: all")
    parser.add_argument("--most-survivors", type=int, default=2)
    asked = parser.parse_args()
    root = Path.cwd()
    chosen = chosen_mutants(root, tuple(asked.room or ROOMS), each=asked.each, seed=asked.seed)
    survivors = 0
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(folder) / "tree"
        shutil.copytree(root, copied, symlinks=True, ignore=LEFT_BEHIND)
        compileall.compile_dir(copied / "planner", quiet=1)
        for mutant in chosen:
            killer = killer_of(mutant, copied)
            survivors += killer is None
            print(f"SURVIVED {mutant}" if killer is None else f"killed   {mutant}\n         by {killer}", flush=True)
    print(f"{len(chosen) - survivors} of {len(chosen)} killed")
    return 1 if survivors > asked.most_survivors else 0


if __name__ == "__main__":
    sys.exit(main())
