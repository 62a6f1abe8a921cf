"""The run store: several writers, readers in between, and processes that die."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from planner.adapters.catalog import read_run
from planner.adapters.run_store import FolderStore
from planner.adapters.workspace import catalogs_dir
from planner.cli.main import run
from planner.errors import StoreError
from planner.model.evidence.run import RunRecord

ROOT = Path(__file__).parents[2]
WRITER = """
import sys
from pathlib import Path
from planner.adapters.catalog import read_run
from planner.adapters.run_store import FolderStore
from planner.errors import StoreError

folder, source, name, ids = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4:]
record = read_run(source)
print("ready", flush=True)
sys.stdin.readline()
for run_id in ids:
    try:
        FolderStore(folder).add(record.model_copy(update={"id": run_id, "note": name}))
        print("stored", flush=True)
    except StoreError as error:
        print("refused", error, flush=True)
"""
DIES = """
import os, signal, sys
from pathlib import Path
from planner.adapters.catalog import read_run
from planner.adapters.run_store import FolderStore

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

setattr(os, sys.argv[3], die)
FolderStore(Path(sys.argv[1])).add(read_run(Path(sys.argv[2])).model_copy(update={"id": "lost"}))
"""


@pytest.fixture
def source() -> Path:
    return catalogs_dir() / "runs" / "seed-000-dgx-station-v100.json"


@pytest.fixture
def record(source: Path) -> RunRecord:
    return read_run(source)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "runs"


def named(record: RunRecord, run_id: str, note: str | None = None) -> RunRecord:
    return record.model_copy(update={"id": run_id, "note": note})


def writers(folder: Path, source: Path, jobs: dict[str, list[str]]) -> dict[str, list[str]]:
    """Start one process per job, let all go at once, and return what each says of its ids."""
    processes = {
        name: subprocess.Popen(
            [sys.executable, "-c", WRITER, str(folder), str(source), name, *ids],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        for name, ids in jobs.items()
    }
    for process in processes.values():
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes.values():
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    said = {name: process.communicate()[0].splitlines() for name, process in processes.items()}
    assert all(process.returncode == 0 for process in processes.values())
    return said


def test_a_record_comes_back_as_it_was(folder, record):
    FolderStore(folder).add(named(record, "one"))
    assert FolderStore(folder).read_all() == [named(record, "one")]


def test_a_store_that_is_not_there_is_empty(folder):
    assert FolderStore(folder).read_all() == []


def test_the_same_record_again_changes_nothing(folder, record):
    first = FolderStore(folder).add(record)
    before = first.stat()
    assert FolderStore(folder).add(record) == first
    assert (first.stat().st_ino, first.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert [path.name for path in folder.iterdir()] == [first.name]


def test_another_record_with_a_taken_id_is_refused(folder, record):
    path = FolderStore(folder).add(named(record, "one", "mine"))
    before = path.read_bytes()
    with pytest.raises(StoreError, match="one"):
        FolderStore(folder).add(named(record, "one", "theirs"))
    assert path.read_bytes() == before
    assert list(folder.iterdir()) == [path]


def test_ids_that_would_share_a_file_name_do_not_overwrite_each_other(folder, record):
    FolderStore(folder).add(named(record, "a/b"))
    with pytest.raises(StoreError):
        FolderStore(folder).add(named(record, "a_b"))
    assert [record.id for record in FolderStore(folder).read_all()] == ["a/b"]


def test_of_two_processes_with_the_same_ids_exactly_one_wins_each(folder, source):
    ids = [f"run-{number}" for number in range(25)]
    said = writers(folder, source, {"left": ids, "right": ids})
    stored = {run.id: run.note for run in FolderStore(folder).read_all()}
    assert sorted(stored) == sorted(ids)
    for run_id, left, right in zip(ids, said["left"], said["right"], strict=True):
        winner, loser = (left, right) if stored[run_id] == "left" else (right, left)
        assert winner == "stored"
        assert loser.startswith("refused")
        assert run_id in loser
    assert list(folder.glob("*.part")) == []


def test_of_many_writers_nothing_is_lost(folder, source):
    jobs = {f"w{writer}": [f"w{writer}-{number}" for number in range(10)] for writer in range(4)}
    said = writers(folder, source, jobs)
    assert all(lines == ["stored"] * 10 for lines in said.values())
    assert {run.id for run in FolderStore(folder).read_all()} == {run_id for ids in jobs.values() for run_id in ids}


def test_a_reader_beside_a_writer_sees_whole_records_only(folder, source, record):
    ids = [f"run-{number}" for number in range(60)]
    command = [sys.executable, "-c", WRITER, str(folder), str(source), "writer", *ids]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        process.stdin.write("go\n")
        process.stdin.flush()
        seen = 0
        while process.poll() is None:
            records = FolderStore(folder).read_all()  # raises where it meets half a record
            assert len(records) >= seen, "a record disappeared"
            seen = len(records)
            assert all(named(record, run.id, "writer") == run for run in records)
    assert len(FolderStore(folder).read_all()) == len(ids)


@pytest.mark.parametrize("call", ["fsync", "link"], ids=["killed while writing", "killed before the name is given"])
def test_a_killed_writer_breaks_nothing(folder, source, record, call):
    FolderStore(folder).add(named(record, "kept"))
    died = subprocess.run([sys.executable, "-c", DIES, str(folder), str(source), call], check=False, cwd=ROOT)
    assert died.returncode == -signal.SIGKILL
    assert [run.id for run in FolderStore(folder).read_all()] == ["kept"]
    assert len(list(folder.glob("*.part"))) == 1, "the half-written file stays, under a name that is not read"
    FolderStore(folder).add(named(record, "lost"))
    assert sorted(path.name for path in folder.iterdir()) == ["kept.json", "lost.json"]


def test_what_is_no_record_is_left_alone(folder, record):
    FolderStore(folder).add(named(record, "one"))
    for name in ("README.md", ".gitignore", "tmp123.part", "one.json.bak"):
        (folder / name).write_text("not a record", encoding="utf-8")
    assert [run.id for run in FolderStore(folder).read_all()] == ["one"]


def test_a_file_in_place_of_the_folder_is_an_error_and_not_an_empty_store(folder, record):
    folder.write_text("mine", encoding="utf-8")
    with pytest.raises(StoreError, match="not a folder"):
        FolderStore(folder).read_all()
    with pytest.raises(StoreError, match="not a folder"):
        FolderStore(folder).add(record)


def test_others_may_read_what_is_stored(folder, record):
    assert FolderStore(folder).add(record).stat().st_mode & 0o777 == 0o644


class TestExport:
    def test_a_fresh_home_takes_over_all_runs(self, tmp_path, record):
        old, new, exported = tmp_path / "old", tmp_path / "new", tmp_path / "runs.json"
        for run_id in ("one", "two/with-a-slash", "three"):
            FolderStore(old / "runs").add(named(record, run_id, "한글 and a \t tab"))
        assert run(["runs", "export", "--out", str(exported), "--home", str(old)]) == 0
        assert run(["runs", "add", str(exported), "--home", str(new)]) == 0
        assert FolderStore(new / "runs").read_all() == FolderStore(old / "runs").read_all()
        assert len(FolderStore(new / "runs").read_all()) == 3

    def test_bundled_runs_stay_at_home(self, tmp_path, record):
        exported = tmp_path / "runs.json"
        FolderStore(tmp_path / "runs").add(named(record, "one"))
        assert run(["runs", "export", "--out", str(exported), "--home", str(tmp_path)]) == 0
        document = json.loads(exported.read_text("utf-8"))
        assert (document["schema_version"], document["kind"]) == (1, "runs")
        assert [run["id"] for run in document["runs"]] == ["one"]

    def test_an_export_of_nothing_is_read_back(self, tmp_path):
        exported = tmp_path / "runs.json"
        assert run(["runs", "export", "--out", str(exported)]) == 0
        assert run(["runs", "add", str(exported)]) == 0

    def test_adding_an_export_twice_is_no_mistake(self, tmp_path, record):
        home, exported = os.environ["PLANNER_HOME"], tmp_path / "runs.json"
        FolderStore(Path(home) / "runs").add(named(record, "one"))
        assert run(["runs", "export", "--out", str(exported)]) == 0
        assert run(["runs", "add", str(exported)]) == 0
        assert len(FolderStore(Path(home) / "runs").read_all()) == 1
