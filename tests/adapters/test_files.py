"""Files are replaced whole; devices, pipes and links stay what they are."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from planner.adapters.files import write_text
from planner.errors import StoreError


@pytest.fixture
def full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a link to the full device; nothing may be renamed or made beside the device, whatever the code does."""
    real = os.replace

    def replace(source, target, **more):
        assert not os.path.realpath(target).startswith("/dev"), "a device would be replaced"
        return real(source, target, **more)

    monkeypatch.setattr(os, "replace", replace)
    monkeypatch.setattr(os, "rename", replace)
    link = tmp_path / "full"
    link.symlink_to("/dev/full")
    return link


def is_the_full_device(path: Path) -> bool:
    return stat.S_ISCHR(path.stat().st_mode)


def test_a_file_is_replaced_and_readable_by_all(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("old")
    write_text(path, "new\r\n서버")
    assert path.read_bytes() == "new\r\n서버".encode()
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert [file.name for file in tmp_path.iterdir()] == ["x.txt"]


def test_a_link_stays_and_its_file_is_replaced(tmp_path):
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "x.txt", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    write_text(link, "new")
    assert (link.is_symlink(), target.read_text()) == (True, "new")


def test_a_link_to_nothing_makes_its_file(tmp_path):
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "x.txt")
    write_text(link, "new")
    assert (link.is_symlink(), (tmp_path / "x.txt").read_text()) == (True, "new")


def test_a_full_device_is_an_error_and_stays(full):
    with pytest.raises(StoreError, match="No space left on device") as caught:
        write_text(full, "x" * 100_000)
    assert (caught.value.exit_code, caught.value.fix) == (2, "Free some space, or name another place.")
    assert full.is_symlink()
    assert is_the_full_device(full)
    assert list(full.parent.iterdir()) == [full]


def test_a_pipe_is_written_to(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text(encoding="utf-8")))
    reader.start()
    write_text(pipe, "through")
    reader.join()
    assert read == ["through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.parametrize("name", ["folder", "none/x.txt", "loop"])
def test_what_cannot_be_written_is_named(tmp_path, name):
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    before = sorted(tmp_path.iterdir())
    with pytest.raises(StoreError, match=name):
        write_text(tmp_path / name, "x")
    assert sorted(tmp_path.iterdir()) == before
