"""`planner show ID`: every kind of answer again, from what is kept on this machine."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import pytest

from planner.adapters import answer_store
from planner.use_cases import version

STATION = "examples/dgx_station_v100.yaml"
COMMANDS = [
    pytest.param(["compare", STATION], id="compare"),
    pytest.param(["estimate", STATION], id="estimate"),
    pytest.param(["campaign", STATION], id="campaign"),
    pytest.param(["recommend", STATION], id="recommend"),
    pytest.param(["own-or-rent", STATION], id="own-or-rent"),
    pytest.param(["explain", STATION], id="explain"),
    pytest.param(["memory", "gpt-305m", "--on", "H100-SXM"], id="memory"),
    pytest.param(["check-run", "seed-000-dgx-station-v100"], id="check-run"),
]


@pytest.fixture(autouse=True)
def _in_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[3])


def screen(arguments: list[str]) -> list[str]:
    return arguments if arguments[0] in ("check-run", "explain") else [*arguments, "--format", "table"]


@pytest.mark.parametrize("arguments", COMMANDS)
def test_the_last_line_of_a_screen_prints_it_again(planner, arguments: list[str]) -> None:
    first = planner(*screen(arguments))
    found = re.search(r"planner show ([0-9a-f]{12})$", first.out.rstrip())
    assert found, first.out
    again = planner("show", found[1], "--format", "table")
    assert again.out == first.out
    assert again.code == 0


@pytest.mark.parametrize("arguments", COMMANDS)
def test_the_document_again(planner, arguments: list[str]) -> None:
    first = planner(*arguments, "--json")
    assert planner("show", first.document["answer_id"], "--json").out == first.out


def test_a_lock_names_the_answers_that_were_printed(planner, tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_bytes(Path(STATION).read_bytes())
    printed = planner("compare", str(plan), "--json").document["answer_id"]
    estimated = planner("estimate", str(plan), "--freeze", "--json").document["answer_id"]
    lock = planner("compare", str(plan), "--locked", "--json").document
    assert lock["answer_id"] == printed
    assert planner("estimate", str(plan), "--json").document["answer_id"] == estimated


def test_a_report_names_its_answer(planner) -> None:
    report = planner("report", STATION).out
    assert f"answer {planner('compare', STATION, '--json').document['answer_id']}" in report


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        pytest.param("0" * 12, "there is no answer '000000000000'", id="never given"),
        pytest.param("latest", "is not the id of an answer", id="no id"),
        pytest.param("../../../etc/passwd", "is not the id of an answer", id="a path"),
    ],
)
def test_what_is_not_kept(planner, asked: str, says: str) -> None:
    answer = planner("show", asked)
    assert answer.code == 2
    assert says in answer.err


@pytest.mark.parametrize("content", [b"", b"no zlib", b"x\x9c\x03\x00\x00\x00\x00\x01"], ids=["empty", "text", "of {}"])
def test_a_damaged_file(planner, content: bytes) -> None:
    kept = planner("memory", "gpt-305m", "--on", "H100-SXM", "--json").document["answer_id"]
    (answer_store.answers_dir() / f"{kept}{answer_store.ENDING}").write_bytes(content)
    answer = planner("show", kept)
    assert answer.code == 2
    assert "Ask again." in answer.err


def test_another_version_says_so(planner, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = planner("memory", "gpt-305m", "--on", "H100-SXM", "--json").document["answer_id"]
    monkeypatch.setattr(version, "VERSION", "99.0")
    assert "answered this on 2026-11-21" in planner("show", kept).err


def test_a_home_that_cannot_be_written_to_stops_no_answer(planner, tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "state").write_text("a file")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert planner("memory", "gpt-305m", "--on", "H100-SXM").code == 0


def test_the_newest_are_kept_and_nobody_else_reads_them(planner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_store, "MOST_KEPT", 3)
    folder = answer_store.answers_dir()
    ids = []
    for seq_len in (32, 64, 128, 256, 512):
        asked = ("memory", "gpt-305m", "--on", "H100-SXM", "--seq-len", str(seq_len), "--json")
        ids.append(planner(*asked).document["answer_id"])
        newest = folder / f"{ids[-1]}{answer_store.ENDING}"
        os.utime(newest, (seq_len, seq_len))
    assert {path.name.removesuffix(answer_store.ENDING) for path in folder.iterdir()} >= set(ids[-2:])
    assert len(list(folder.iterdir())) == 3
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
