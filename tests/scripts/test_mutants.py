"""Mutants: each is one mistake chosen by the seed, and the tests of its folder judge it."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.mutants import chosen_mutants, folders_of_tests, killer_of, mutants_of

MODULE = Path("planner/cost/room/least.py")
TEXT = '''"""Least of 7."""


def least(price: float | None, hours: int = 2) -> float:
    if price is None or hours < 1:
        return 0.0
    return min(price * hours, 9.5)
'''
TESTED = """
import importlib.util, pathlib

spec = importlib.util.spec_from_file_location("least", pathlib.Path("planner/cost/room/least.py"))
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)

def test_a_product():
    assert module.least(3.0) == 6.0
"""


def test_every_place_that_computes_has_its_mistake() -> None:
    """Operators, bounds, numbers and what is returned; not annotations, docstrings or names."""
    assert [(mutant.line, mutant.before, mutant.after) for mutant in mutants_of(MODULE, TEXT)] == [
        (4, "2", "4"),
        (5, "price is None or hours < 1", "price is None and hours < 1"),
        (5, "price is None", "price is not None"),
        (5, "hours < 1", "hours <= 1"),
        (5, "1", "2"),
        (6, "return 0.0", "return None"),
        (6, "0.0", "1"),
        (7, "return min(price * hours, 9.5)", "return None"),
        (7, "min", "max"),
        (7, "price * hours", "price / hours"),
        (7, "9.5", "19.0"),
    ]


def test_each_changes_one_place_of_the_module_and_leaves_the_next_as_it_was() -> None:
    sources = [mutant.source for mutant in mutants_of(MODULE, TEXT)]
    assert len(set(sources)) == len(sources)
    assert all("float | None" in source for source in sources)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    files = {str(MODULE): TEXT, "tests/cost/room/test_least.py": TESTED, "tests/cost/test_sum.py": ""}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_the_seed_chooses(tree: Path) -> None:
    first, again, other = (chosen_mutants(tree, ("planner/cost",), each=4, seed=seed) for seed in (1, 1, 2))
    assert first == again != other
    assert len(first) == 4


def test_the_nearest_folder_of_tests_judges_first(tree: Path) -> None:
    assert folders_of_tests(MODULE, tree) == [Path("tests/cost/room"), Path("tests/cost")]


@pytest.mark.slow
def test_a_mistake_that_a_test_sees_is_killed_and_leaves_no_trace(tree: Path) -> None:
    """3 x 2 is seen, the largest amount of 9.5 is not."""
    (tree / "pyproject.toml").write_text("[tool.pytest.ini_options]\nmarkers = ['slow', 'browser']\n")
    by_place = {(mutant.line, mutant.before): mutant for mutant in mutants_of(MODULE, TEXT)}
    assert killer_of(by_place[7, "price * hours"], tree) == "tests/cost/room/test_least.py::test_a_product"
    assert killer_of(by_place[7, "9.5"], tree) is None
    assert (tree / MODULE).read_text(encoding="utf-8") == TEXT


@pytest.mark.slow
def test_a_test_that_fails_without_the_mistake_kills_nothing(tree: Path) -> None:
    (tree / "pyproject.toml").write_text("[tool.pytest.ini_options]\nmarkers = ['slow', 'browser']\n")
    (tree / "tests/cost/room/test_least.py").write_text("def test_broken():\n    assert False\n")
    assert killer_of(next(iter(mutants_of(MODULE, TEXT))), tree) is None
