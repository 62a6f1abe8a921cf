"""A file is written whole or not at all, whatever ends its writer; what killed writers leave is removed."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from planner.whole_file import ABANDONED_S, whole_file

ROOT = Path(__file__).parents[2]
PART = ".planner-0123456789abcdef.part"
DIES = """
import os, signal, sys
from pathlib import Path
from planner.whole_file import whole_file
with whole_file(Path(sys.argv[1])) as file:
    file.write(b"new" * 100_000)
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def write(path: Path, content: bytes, **how: bool) -> None:
    with whole_file(path, **how) as file:
        file.write(content)


def interrupted(path: Path) -> None:
    with whole_file(path) as file:
        file.write(b"half")
        raise KeyboardInterrupt


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_killed_writer_leaves_the_old_file_and_its_part_goes_with_the_next_write(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes(b"old")
    died = subprocess.run([sys.executable, "-c", DIES, str(path)], cwd=ROOT, check=False)
    assert died.returncode == -signal.SIGKILL
    assert path.read_bytes() == b"old"
    assert len(names(tmp_path)) == 2
    write(tmp_path / "y.txt", b"another")
    assert names(tmp_path) == ["x.txt", "y.txt"]


def test_the_part_of_a_living_writer_stays(tmp_path: Path) -> None:
    with whole_file(tmp_path / "x.txt") as slow:
        slow.write(b"slow")
        write(tmp_path / "x.txt", b"quick")
        assert (tmp_path / "x.txt").read_bytes() == b"quick"
    assert (tmp_path / "x.txt").read_bytes() == b"slow"
    assert names(tmp_path) == ["x.txt"]


def test_a_part_that_was_cleared_before_it_was_locked_is_made_anew(tmp_path, monkeypatch) -> None:
    lock = fcntl.flock
    cleared: list[Path] = []

    def late(descriptor: int, how: int) -> None:
        if not cleared:
            cleared.extend(tmp_path.iterdir())
            cleared[0].unlink()
        lock(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", late)
    write(tmp_path / "x.txt", b"new")
    assert len(cleared) == 1
    assert (tmp_path / "x.txt").read_bytes() == b"new"
    assert names(tmp_path) == ["x.txt"]


@pytest.mark.parametrize("name", ["x.part", "tmp1234.part", ".planner-0123.part", ".planner-0123456789abcdef.part.txt"])
def test_files_of_others_stay(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"mine")
    write(tmp_path / "x.txt", b"new")
    assert (tmp_path / name).read_bytes() == b"mine"


@pytest.mark.parametrize(("older", "left"), [(60, [PART]), (-60, [])], ids=["of yesterday", "older than a day"])
def test_without_locks_only_what_is_old_goes(tmp_path, monkeypatch, older: int, left: list[str]) -> None:
    def none(descriptor: int, how: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", none)
    (tmp_path / PART).write_bytes(b"half")
    then = time.time() - ABANDONED_S + older
    os.utime(tmp_path / PART, (then, then))
    write(tmp_path / "x.txt", b"new")
    assert names(tmp_path) == [*left, "x.txt"]


def test_who_is_interrupted_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt):
        interrupted(tmp_path / "x.txt")
    assert (tmp_path / "x.txt").read_bytes() == b"old"
    assert names(tmp_path) == ["x.txt"]


def test_a_name_that_is_taken_stays(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_bytes(b"old")
    with pytest.raises(FileExistsError):
        write(tmp_path / "x.txt", b"new", replace=False)
    assert (tmp_path / "x.txt").read_bytes() == b"old"
    assert names(tmp_path) == ["x.txt"]


@pytest.mark.parametrize(("before", "after"), [(None, 0o644), (0o600, 0o600), (0o664, 0o664)])
def test_who_may_read_it_stays_as_it_was(tmp_path: Path, before: int | None, after: int) -> None:
    path = tmp_path / "x.txt"
    if before is not None:
        path.touch()
        path.chmod(before)
    write(path, b"new")
    assert stat.S_IMODE(path.stat().st_mode) == after


@pytest.mark.parametrize("follow", [True, False])
def test_a_link_is_followed_or_replaced(tmp_path: Path, follow: bool) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write(link, b"new", follow=follow)
    assert (link.is_symlink(), link.read_bytes(), target.read_bytes()) == (follow, b"new", b"new" if follow else b"old")
