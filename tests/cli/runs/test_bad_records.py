"""A wrong record, store or workspace file gets one clear error, and the store stays as it was."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.refusals import GOOD_RECORD, one_error


class TestRecords:
    """A record that is refused leaves the store as it was."""

    @pytest.fixture
    def store(self, planner, own_run) -> Callable[[], dict[str, bytes]]:
        """Return what the store holds; one run is in it."""
        assert planner("runs", "add", own_run("first")).code == 0
        folder = Path(os.environ["PLANNER_HOME"]) / "runs"
        return lambda: {path.name: path.read_bytes() for path in folder.iterdir()}

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            pytest.param(
                {"throughput.unit": "furlongs/s"}, ["throughput.unit", "'samples/s'", "furlongs"], id="unknown unit"
            ),
            pytest.param({"throughput.unit": "h"}, ["throughput is in h", "samples/s"], id="a unit of something else"),
            pytest.param({"throughput.value": float("nan")}, ["value: NaN is not a number in JSON"], id="NaN"),
            pytest.param({"throughput.high": float("inf")}, ["high: Infinity is not a number in JSON"], id="infinite"),
            pytest.param(
                {"throughput.value": -1.0, "throughput.low": -2.0}, ["throughput must be over 0"], id="negative"
            ),
            pytest.param({"throughput.value": 1e6}, ["lies outside its range"], id="outside its own range"),
            pytest.param({"throughput.value": "fast"}, ["throughput.value", "number"], id="text for a number"),
            pytest.param({"throughput.basis": "guessed"}, ["throughput.basis", "'assumed'"], id="unknown basis"),
            pytest.param({"step_seconds": 10.6}, ["global_batch / step_seconds"], id="contradicts itself"),
            pytest.param({"micro_batch": True}, ["micro_batch", "True"], id="bool for a count"),
            pytest.param({"speed": 1}, ["speed", "not a key"], id="unknown key"),
            pytest.param({"schema_version": 2}, ["newer", "Update"], id="newer schema"),
            pytest.param({"id": "../../etc/passwd"}, ["id"], id="an id that leaves the folder"),
            pytest.param({"id": ""}, ["id"], id="no id"),
            pytest.param(
                {"id": "seed-004-p5e-h200"}, ["bundled", "seed-004-p5e-h200", "another id"], id="a bundled id"
            ),
            pytest.param({"id": "first", "note": "other"}, ["first", "another id"], id="an id of the store"),
        ],
    )
    def test_a_wrong_record(self, planner, tmp_path, store, change, words):
        before = store()
        record = json.loads(GOOD_RECORD) | {"id": "second"}
        for key, value in change.items():
            *parents, last = key.split(".")
            place = record
            for parent in parents:
                place = place[parent]
            place[last] = value
        path = tmp_path / "wrong.json"
        path.write_text(json.dumps(record), encoding="utf-8")
        one_error(planner("runs", "add", path), *words)
        assert store() == before

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            pytest.param("", ["holds nothing"], id="empty"),
            pytest.param("[]", ["holds a list"], id="a list"),
            pytest.param(GOOD_RECORD[: len(GOOD_RECORD) // 2], ["is not JSON", "ends too early"], id="cut in half"),
            pytest.param(GOOD_RECORD.rstrip()[:-1], ["is not JSON", "ends too early"], id="the last brace missing"),
            pytest.param(GOOD_RECORD[:60], [":4: is not JSON", "ends too early"], id="cut in a word"),
            pytest.param(GOOD_RECORD * 2, ["is not JSON", "Extra data"], id="two in one file"),
            pytest.param('{"kind": "runs", "runs": [7]}', ["runs", "list of run records"], id="an export of numbers"),
            pytest.param('{"kind": "runs", "runs": {}}', ["runs", "list of run records"], id="an export of nothing"),
            pytest.param('{"schema_version": 2, "kind": "runs", "runs": []}', ["newer", "Update"], id="a newer export"),
            pytest.param('{"schema_version": 2, "kind": "result"}', ["newer", "Update"], id="a newer result"),
            pytest.param('{"schema_version": 1, "kind": "result"}', ["method_version"], id="a result without facts"),
        ],
    )
    def test_a_wrong_file(self, planner, tmp_path, store, text, words):
        before = store()
        path = tmp_path / "wrong.json"
        path.write_text(text, encoding="utf-8")
        one_error(planner("runs", "add", path), "wrong.json", *words)
        assert store() == before

    def test_of_several_files_none_is_stored_where_one_is_wrong(self, planner, tmp_path, own_run, store):
        before = store()
        one_error(planner("runs", "add", own_run("second"), tmp_path / "none.json"), "none.json")
        one_error(planner("runs", "add", own_run("second"), own_run("third", micro_batch=-1)), "micro_batch")
        one_error(planner("runs", "add", own_run("second"), own_run("seed-004-p5e-h200")), "bundled")
        one_error(planner("runs", "add", own_run("second"), own_run("first", note="other")), "first")
        assert store() == before

    def test_two_files_with_one_id(self, planner, own_run, store):
        before = store()
        one_error(planner("runs", "add", own_run("twin"), own_run("twin", note="other")), "twin", "another id")
        assert store() == before

    def test_the_same_record_twice_is_no_mistake(self, planner, own_run, store):
        before = store()
        assert planner("runs", "add", own_run("first"), own_run("first")).code == 0
        assert store() == before


class TestStore:
    """A store that is broken or cannot be written: nothing in it changes."""

    @pytest.fixture
    def home(self) -> Path:
        return Path(os.environ["PLANNER_HOME"])

    def test_a_truncated_record_is_named(self, planner, example, own_run, home):
        planner("runs", "add", own_run("good"), own_run("cut"))
        path = home / "runs" / "cut.json"
        path.write_text(path.read_text("utf-8")[:200], encoding="utf-8")
        for arguments in (["runs", "list"], ["estimate", example("local_pc")], ["runs", "export"]):
            one_error(planner(*arguments), str(path), "Move the file out")
        assert (home / "runs" / "good.json").is_file()

    def test_a_newer_record_is_named(self, planner, example, own_run, home):
        planner("runs", "add", own_run("good"))
        path = home / "runs" / "good.json"
        path.write_text(path.read_text("utf-8").replace('"schema_version": 1', '"schema_version": 2'), encoding="utf-8")
        one_error(planner("estimate", example("local_pc")), str(path), "newer", "Update")

    def test_two_files_with_one_id_are_both_named(self, planner, own_run, home):
        planner("runs", "add", own_run("good"))
        (home / "runs" / "copy.json").write_bytes((home / "runs" / "good.json").read_bytes())
        one_error(planner("runs", "list"), "good.json", "copy.json", "'good'")

    def test_a_file_with_a_bundled_id(self, planner, own_run, home):
        planner("runs", "add", own_run("good"))
        path = home / "runs" / "good.json"
        path.write_text(path.read_text("utf-8").replace('"good"', '"seed-004-p5e-h200"'), encoding="utf-8")
        one_error(planner("runs", "list"), "seed-004-p5e-h200", "bundled")

    def test_a_file_where_the_store_should_be(self, planner, own_run, home):
        home.mkdir()
        (home / "runs").write_text("mine", encoding="utf-8")
        one_error(planner("runs", "add", own_run("good")), str(home / "runs"), "not a folder", "PLANNER_HOME")
        one_error(planner("runs", "list"), str(home / "runs"), "PLANNER_HOME")
        assert (home / "runs").read_text("utf-8") == "mine"

    def test_a_file_where_the_workspace_should_be(self, planner, example, own_run, home):
        home.write_text("mine", encoding="utf-8")
        one_error(planner("runs", "add", own_run("good")), str(home))
        one_error(planner("estimate", example("local_pc")), str(home), "not a folder")
        assert home.read_text("utf-8") == "mine"

    def test_a_place_where_no_folder_can_be_made(self, planner, own_run):
        one_error(planner("runs", "add", own_run("good"), "--home", "/proc/none"), "/proc/none", "PLANNER_HOME")

    @pytest.mark.parametrize(
        ("number", "words"),
        [
            pytest.param(errno.ENOSPC, "No space left", id="full disk"),
            pytest.param(errno.EROFS, "Read-only", id="read-only disk"),
            pytest.param(errno.EDQUOT, "quota", id="quota"),
            pytest.param(errno.EACCES, "Permission denied", id="no right to write"),
        ],
    )
    def test_a_disk_that_takes_no_more(self, planner, own_run, home, monkeypatch, number, words):
        planner("runs", "add", own_run("first"))
        before = {path.name: path.read_bytes() for path in (home / "runs").iterdir()}

        def full(_: int) -> None:
            raise OSError(number, os.strerror(number))

        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", full)
            one_error(planner("runs", "add", own_run("second")), words, "PLANNER_HOME")
        assert {path.name: path.read_bytes() for path in (home / "runs").iterdir()} == before
        assert planner("runs", "add", own_run("second")).code == 0

    def test_a_full_disk_leaves_the_old_report(self, planner, example, tmp_path, monkeypatch):
        path = tmp_path / "report.md"
        path.write_text("old", encoding="utf-8")

        def full(_: int) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(os, "fsync", full)
        one_error(planner("report", example("local_pc"), "--out", path), "report.md", "No space left")
        assert path.read_text("utf-8") == "old"
        assert list(tmp_path.glob("*.part")) == []


class TestWorkspaceFiles:
    """The user's own sites and prices."""

    SITE = "schema_version: 1\nid: mine\nname: Mine\nnode: pc-rtx4090\nsource: my bill\nas_of: 2026-11-20\n"
    POWER = "power: {{value: {value}, low: 1, high: 2, unit: {unit}, basis: measured, source: my meter}}\n"

    @pytest.fixture
    def write(self) -> Callable[[str, str], Path]:
        def write(name: str, text: str) -> Path:
            path = Path(os.environ["PLANNER_HOME"]) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            return path

        return write

    def test_a_good_site_answers(self, planner, changed, write):
        write("sites/mine.yaml", self.SITE + self.POWER.format(value=1.5, unit="kW"))
        plan = changed(
            "local_pc", {"options": [{"site": "mine", "step": {"batch": 64, "seconds": 1.0, "basis": "measured"}}]}
        )
        option = planner("estimate", plan, "--json").option("mine")
        assert (option["power_kw"]["value"], option["power_kw"]["basis"]) == (1.5, "measured")

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            pytest.param(POWER.format(value=1.5, unit="W"), ["power.unit", "'kW'", "'W'"], id="unknown unit"),
            pytest.param(POWER.format(value=1.5, unit="kWh"), ["power is in kWh", "kW"], id="a unit of something else"),
            pytest.param(POWER.format(value=".nan", unit="kW"), ["power.value", "finite"], id="NaN"),
            pytest.param(POWER.format(value=5, unit="kW"), ["power", "outside its range"], id="outside its range"),
            pytest.param("nodes: 0\n", ["nodes", "1"], id="no nodes"),
            pytest.param("colour: red\n", ["colour", "not a key"], id="unknown key"),
        ],
    )
    def test_a_wrong_site_names_file_and_key(self, planner, example, write, text, words):
        path = write("sites/mine.yaml", self.SITE + text)
        answer = planner("estimate", example("local_pc"))
        assert answer.code == 2
        assert answer.err.startswith((f"Error: {path}:7: ", f"Error: {path}: the file: "))
        assert all(word in answer.err for word in words)

    @pytest.mark.parametrize(
        ("row", "words"),
        [
            pytest.param("aws,p4d.24xlarge,us-east-1,,spot,$6.53", ["usd_per_hour", "$6.53"], id="a dollar sign"),
            pytest.param("aws,p4d.24xlarge,us-east-1,,spot,-6.53", ["usd_per_hour", "-6.53"], id="negative"),
            pytest.param("aws,p4d.24xlarge,us-east-1,,spot,nan", ["usd_per_hour", "nan"], id="NaN"),
            pytest.param("aws,p4d.24xlarge,us-east-1,,spto,6.53", ["price_kind", "spto"], id="unknown kind"),
            pytest.param("aws,p4d.24xlarge", ["cells"], id="cells missing"),
            pytest.param("aws," + "x" * 200_000, ["is not CSV"], id="a cell without end"),
        ],
    )
    def test_a_wrong_price_names_file_line_and_column(self, planner, example, write, row, words):
        header = (
            "provider,instance_type,region,zone,price_kind,usd_per_hour,no_price_reason,low_usd_per_hour,"
            "high_usd_per_hour,currency,minimum_hours,upfront_fraction,source,source_version,as_of,fetched_at,confidence,note"
        )
        if row.count(",") == 5:
            row += ",,,,USD,0,0,me,1,2026-11-20,2026-11-20,list,"
        path = write("prices/mine.csv", f"{header}\n{row}\n")
        one_error(planner("estimate", example("local_pc")), f"{path}:", *words)

    def test_a_price_file_with_other_columns(self, planner, example, write):
        path = write("prices/mine.csv", "provider,usd\naws,1\n")
        one_error(planner("estimate", example("local_pc")), f"{path}:1: ", "usd_per_hour")
