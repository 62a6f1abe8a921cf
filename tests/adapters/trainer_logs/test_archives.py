"""Archives of logs: read as the folder in them; hostile ones are one clear error, and nothing is left behind."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from planner.adapters.trainer_logs import archive
from planner.adapters.trainer_logs.log_formats import read_logs
from planner.adapters.trainer_logs.log_source import opened
from planner.errors import InputError
from tests.adapters.trainer_logs.conftest import part

TABLE = b"step,elapsed_s\n" + b"".join(b"%d,%d\n" % (n, 2 * n) for n in range(20))


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Unpack here, to see which files remain."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def zipped(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return path


def tarred(path: Path, *members: tuple[str, bytes], mode: str = "w:gz", link: tuple[str, str] | None = None) -> Path:
    with tarfile.open(path, mode) as file:  # type: ignore[call-overload]
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            file.addfile(info, io.BytesIO(data))
        if link is not None:
            info = tarfile.TarInfo(link[0])
            info.type, info.linkname = tarfile.SYMTYPE, link[1]
            file.addfile(info)
    return path


MAKERS: dict[str, Callable[[Path], Path]] = {
    "a zip": lambda at: zipped(at / "run.zip", **{"run/log.csv": TABLE, "run/model.safetensors": b"\x00" * 100}),
    "a tar": lambda at: tarred(at / "run.tar", ("run/log.csv", TABLE), mode="w"),
    "a tar.gz": lambda at: tarred(at / "run.tar.gz", ("run/log.csv", TABLE)),
    "a tar.xz": lambda at: tarred(at / "run.tar.xz", ("./run/log.csv", TABLE), mode="w:xz"),
    "links in it": lambda at: tarred(at / "run.tgz", ("log.csv", TABLE), link=("latest.csv", "/etc/passwd")),
    "a tar of the folder .": lambda at: tarred(at / "run.tgz", (".", b""), ("./log.csv", TABLE)),
    "a zip of the folder .": lambda at: zipped(at / "run.zip", **{".": b"", "log.csv": TABLE}),
    "a gz": lambda at: _written(at / "log.csv.gz", gzip.compress(TABLE)),
    "a name that says nothing": lambda at: zipped(at / "download", **{"log.csv": TABLE}),
}


def _written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("name", MAKERS)
def test_the_log_in_an_archive_is_read(tmp_path, temporary, name):
    with opened(MAKERS[name](tmp_path)) as source:
        (log,) = read_logs(source)
        assert part(log).seconds / part(log).steps == 2.0
        (digest,) = source.sha256(log.files)
    plain = tmp_path / "plain.csv"
    plain.write_bytes(TABLE)
    with opened(plain) as source:
        assert source.sha256(["plain.csv"]) == (digest,)
    assert list(temporary.iterdir()) == []


def test_a_trainer_s_whole_folder_is_read_from_its_archive(tmp_path, logs):
    path = shutil.make_archive(str(tmp_path / "out"), "zip", logs / "hf_trainer")
    with opened(Path(path)) as source:
        (log,) = read_logs(source)
    assert (log.format, len(log.files)) == ("hf-trainer", 3)


def bomb(at: Path) -> Path:
    """100 MB of nothing in 100 kB; the header says that it is small."""
    path = zipped(at / "bomb.zip", **{"train.log": b"0" * 100_000_000})
    data = path.read_bytes().replace((100_000_000).to_bytes(4, "little"), (1_000).to_bytes(4, "little"))
    path.write_bytes(data)
    return path


HOSTILE: dict[str, tuple[Callable[[Path], Path], str]] = {
    "a path outside": (lambda at: zipped(at / "a.zip", **{"../../outside.log": TABLE}), "leads out of it"),
    "an absolute path": (lambda at: tarred(at / "a.tar.gz", ("/etc/outside.log", TABLE)), "leads out of it"),
    "a path of Windows": (lambda at: zipped(at / "a.zip", **{"..\\..\\outside.log": TABLE}), "leads out of it"),
    "a drive": (lambda at: zipped(at / "a.zip", **{"C:/outside.log": TABLE}), "leads out of it"),
    "a bomb whose header lies": (bomb, "cannot be unpacked|unpacks to more"),
    "a bomb whose header is true": (
        lambda at: zipped(at / "a.zip", **{"1.log": b"0" * 65_000_000, "2.log": b"0" * 65_000_000}),
        "holds no file of up to 64 MB",
    ),
    "gzip's bomb": (lambda at: _written(at / "a.gz", gzip.compress(b"0" * 100_000_000)), "unpacks to more than 64 MB"),
    "many files": (lambda at: zipped(at / "a.zip", **{f"{n}.log": b"" for n in range(2_001)}), "over 2,000 files"),
    "cut": (lambda at: _written(at / "a.gz", gzip.compress(TABLE)[:-12]), "cannot be unpacked"),
    "a zip that is cut": (
        lambda at: _written(at / "b.zip", zipped(at / "a.zip", **{"log.csv": TABLE}).read_bytes()[:60]),
        "cannot be unpacked",
    ),
    "nothing in it": (lambda at: tarred(at / "a.tar", mode="w"), "is binary"),
    "weights alone": (lambda at: zipped(at / "a.zip", **{"model.safetensors": b"\x00"}), "holds no file of up"),
    "bzip2 of one file": (lambda at: _written(at / "a.log.bz2", bz2.compress(TABLE)), "cannot be unpacked"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_archive_is_one_error_and_leaves_nothing(tmp_path, temporary, name):
    make, told = HOSTILE[name]
    path = make(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InputError, match=told) as caught, opened(path) as source:
        read_logs(source)
    assert str(path) in caught.value.message
    assert str(temporary) not in caught.value.message + caught.value.fix
    assert sorted(tmp_path.rglob("*")) == before


def looks_like_a_tar(data: bytes) -> bool:
    with contextlib.suppress(tarfile.TarError):
        return bool(tarfile.TarInfo.frombuf(data[:512], "utf-8", "surrogateescape"))
    return False


def test_a_gzip_file_with_the_check_sum_of_a_tar_is_no_tar(tmp_path):
    packed = gzip.compress(b"0" * 10_000_000)
    moments = (
        bytes([low]) + high for high in (b"\0\0\0", b"\0\0\x7f", b"\0\x7f\x7f", b"\0\x80\x80") for low in range(256)
    )
    data = next(made for at in moments if looks_like_a_tar(made := packed[:4] + at + packed[8:]))
    with opened(_written(tmp_path / "a.log.gz", data)) as source:
        assert source.names == ("a.log",)


def test_files_that_are_passed_over_have_a_limit_too(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "MOST_PASSED_BYTES", 1_000)
    path = tarred(tmp_path / "a.tar.gz", ("model.safetensors", b"0" * 2_000), ("log.csv", TABLE))
    with pytest.raises(InputError, match="unpacks to more"), opened(path) as source:
        read_logs(source)


def test_an_archive_that_is_too_large_is_not_opened(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "LARGEST_ARCHIVE_BYTES", 10)
    with pytest.raises(InputError, match="is an archive of over"), opened(zipped(tmp_path / "a.zip", a=TABLE)):
        pass
