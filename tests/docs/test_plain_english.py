"""Plain English in code: first words of docstrings, banned words, loop variables, and unique class names."""

from __future__ import annotations

import ast
import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
TOP_FOLDERS = ("launcher", "workloads", "planner", "tests", "scripts", "benchmarks")
"""Folders with code. `planner/launcher` and `planner/workloads` are links to the first two."""

FIRST_WORDS = re.compile(
    r"(Of|As|By|In|The same|Whether|What|Who|Whose|Which|When|Where|That|From|To|For|With|How|Null|Left out)\b"
)
"""Words that no docstring starts with. Start with a verb, or describe an attribute with a noun phrase."""
FIRST_WORDS_OF_FUNCTIONS = re.compile(
    rf"{FIRST_WORDS.pattern}|(A|An|The|This|Its|Every|All|How|True|Also|Bytes|Cost|Yearly|Full|Hours|Share|Capital|Energy"
    r"|Emissions|Power|Wall-clock|Training|FLOPs|Parameters|Number|Seconds)\b"
)
"""Words that no function's docstring starts with, because they do not begin a sentence with a verb."""
BANNED_WORDS = re.compile(
    r"\b(whoever|nobody|so (?:many|much)|what is left|foretell|foretells|foretold|as nobody|wherefore)\b",
    re.IGNORECASE,
)


class Faults(NamedTuple):
    """Numbers of broken rules in a folder."""

    first_words: int
    banned_words: int
    variables_called_one: int


def _modules() -> Iterator[tuple[Path, ast.Module]]:
    for top in TOP_FOLDERS:
        for path in sorted((ROOT / top).rglob("*.py")):
            relative = path.relative_to(ROOT)
            if not (ROOT.joinpath(*relative.parts[:2]).is_symlink() or path == Path(__file__)):
                yield relative, ast.parse(path.read_text(encoding="utf-8"))


def _folder_of(path: Path) -> str:
    return "/".join(path.parts[: 2 if path.parts[0] in ("planner", "tests") and len(path.parts) > 2 else 1])


def _text_of(node: ast.stmt) -> str | None:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return node.value.value
    return None


def _begins_with_a_verb(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and not node.name.startswith("test_")
        and not any("property" in ast.unparse(mark) for mark in node.decorator_list)
    )


def _docstrings(module: ast.Module) -> Iterator[tuple[str, bool]]:
    """Yield every docstring, of attributes too, and whether it must begin with a verb.

    A test's docstring states what holds ("A price may rise."), and a property's names a value.
    """
    for node in ast.walk(module):
        body = getattr(node, "body", None)
        if not isinstance(body, list) or not body:
            continue
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = _text_of(body[0])
            if text is not None:
                yield text, _begins_with_a_verb(node)
        for before, after in itertools.pairwise(body):
            text = _text_of(after)
            if isinstance(before, ast.Assign | ast.AnnAssign) and text is not None:
                yield text, False


def _faults_of(path: Path, module: ast.Module) -> Faults:
    first_words = sum(
        bool((FIRST_WORDS_OF_FUNCTIONS if of_function else FIRST_WORDS).match(text))
        for text, of_function in _docstrings(module)
    )
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    bindings = sum(
        (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == "one")
        or (isinstance(node, ast.arg) and node.arg == "one")
        for node in ast.walk(module)
    )
    return Faults(first_words, sum(bool(BANNED_WORDS.search(line)) for line in lines), bindings)


@cache
def _survey() -> tuple[dict[str, Faults], dict[str, list[str]]]:
    """Return each folder's faults and each class' places; read once, because parsing every module takes seconds."""
    faults: dict[str, Faults] = {}
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path, module in _modules():
        before = faults.get(_folder_of(path), Faults(0, 0, 0))
        faults[_folder_of(path)] = Faults(*(map(sum, zip(before, _faults_of(path, module), strict=True))))
        for node in ast.walk(module):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(f"{path}:{node.lineno}")
    return faults, places


def test_every_folder_follows_the_rules():
    assert {folder: faults._asdict() for folder, faults in _survey()[0].items() if any(faults)} == {}


def test_class_names_are_unique():
    """A reader who searches for a class finds one definition."""
    _, places = _survey()
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_the_rules_find_what_they_are_for():
    """Each rule is shown one sentence that it rejects and one that it accepts."""
    rejected = ast.parse('"""Of a file."""\nlimit = 1\n"""As nobody says."""\ndef size(one):\n    """The size."""\n')
    assert [bool(FIRST_WORDS.match(text)) for text, _ in _docstrings(rejected)] == [True, True, False]
    assert Counter(of_function for _, of_function in _docstrings(rejected)) == {False: 2, True: 1}
    assert FIRST_WORDS_OF_FUNCTIONS.match("The size.")
    assert not FIRST_WORDS_OF_FUNCTIONS.match("Return the size.")
    assert not FIRST_WORDS.match("Offset of a file.")
    assert BANNED_WORDS.search("As Nobody says.")
