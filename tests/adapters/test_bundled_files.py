"""A bundled file is read once a process while it stays the same; a user's file is read every time."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from planner.adapters import bundled_files
from planner.adapters.bundled_files import bundled_once
from planner.adapters.files import inputs_noted, refuse_input
from planner.errors import InputError

READ: list[Path] = []


@bundled_once
def lines_of(path: Path, *, upper: bool = False) -> list[str]:
    READ.append(path)
    text = path.read_text()
    return (text.upper() if upper else text).splitlines()


@pytest.fixture
def bundled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a file of a product whose catalogs lie in a folder of the test."""
    READ.clear()
    monkeypatch.setattr(bundled_files, "catalogs_dir", lambda: tmp_path / "catalogs")
    path = tmp_path / "catalogs" / "words.txt"
    path.parent.mkdir()
    path.write_text("a\nb")
    return path


def test_it_is_read_once_for_the_same_question(bundled: Path) -> None:
    assert lines_of(bundled) == lines_of(bundled) == ["a", "b"]
    assert [bundled] == READ
    assert lines_of(bundled, upper=True) == ["A", "B"]
    assert len(READ) == 2


def test_a_changed_file_is_read_again(bundled: Path) -> None:
    lines_of(bundled)
    bundled.write_text("c")
    assert lines_of(bundled) == ["c"]
    bundled.write_text("d")  # as long as before
    os.utime(bundled, ns=(0, 0))
    assert lines_of(bundled) == ["d"]
    bundled.unlink()
    with pytest.raises(FileNotFoundError):
        lines_of(bundled)


def test_a_caller_may_change_its_list(bundled: Path) -> None:
    lines_of(bundled).append("mine")
    lines_of(bundled).append("mine")
    assert lines_of(bundled) == ["a", "b"]


def test_a_user_s_file_is_read_every_time(bundled: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.txt"
    own.write_text("x")
    assert lines_of(own) == lines_of(own) == ["x"]
    assert [own, own] == READ


def test_a_command_that_finds_it_known_may_not_write_over_it_either(bundled: Path) -> None:
    lines_of(bundled)
    with inputs_noted():
        lines_of(bundled)
        with pytest.raises(InputError, match="would write over it"):
            refuse_input(bundled)
