"""Wrong input gets one clear error with file, line or key, and a way to fix it: exit code 2, nothing lost."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planner.adapters.workspace import catalogs_dir, examples_dir

GOOD_PLAN = (examples_dir() / "dgx_station_v100.yaml").read_text(encoding="utf-8")
GOOD_RECORD = (catalogs_dir() / "runs" / "seed-000-dgx-station-v100.json").read_text("utf-8")


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


def one_error(answer: Any, *words: str) -> None:
    """Check that the command refused, once, in words that a person can act on."""
    assert answer.code == 2
    assert "Traceback" not in answer.out + answer.err
    assert answer.err.count("Error: ") == 1
    assert answer.err.startswith("Error: ")
    assert "fault of the planner" not in answer.err
    lines = answer.err.strip().splitlines()
    assert len(lines) >= 2, f"no fix: {answer.err}"
    for word in words:
        assert word in answer.err, f"{word!r} is not in: {answer.err}"


@pytest.fixture
def plan_file(tmp_path: Path) -> Callable[..., Path]:
    def write(content: str | bytes, name: str = "plan.yaml") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def replaced(old: str, new: str) -> str:
    assert old in GOOD_PLAN
    return GOOD_PLAN.replace(old, new, 1)


def aliases(levels: int) -> str:
    """Return a plan whose name would be 9^levels words long if every alias were written out."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, levels)]
    return "\n".join(lines) + "\n" + GOOD_PLAN.replace("name: DGX", f"name: *a{levels - 1}\nwas: DGX")


EPOCHS, SITE, SPOT = "epochs: 10", "site: h200-x1", "price: spot"
AT_EPOCHS = f":{line_of(GOOD_PLAN, EPOCHS)}: work.epochs: "


@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
@pytest.mark.parametrize(
    ("content", "words"),
    [
        pytest.param("", ["holds nothing"], id="empty file"),
        pytest.param("# only a comment\n", ["holds nothing"], id="a comment alone"),
        pytest.param("- a\n- b\n", ["holds a list"], id="a list at the top"),
        pytest.param("just words\n", ["holds text"], id="text at the top"),
        pytest.param("a: [1\nb: 2\n", [":2: is not YAML"], id="wrong YAML"),
        pytest.param("work:\n\tepochs: 1\n", [":2: is not YAML", "character"], id="tabs"),
        pytest.param("a: \0\n", ["is not YAML", "control characters"], id="a NUL character"),
        pytest.param(b"name: \xff\xfe\n", ["is not UTF-8 text", "byte 6"], id="not UTF-8"),
        pytest.param(GOOD_PLAN.encode("utf-16"), ["is not UTF-8 text"], id="UTF-16"),
        pytest.param(replaced(EPOCHS, "epochs: 10, epochs: 20"), ["'epochs' stands twice"], id="a key twice"),
        pytest.param(GOOD_PLAN + "name: again\n", ["'name' stands twice"], id="a key twice at the top"),
        pytest.param(replaced(EPOCHS, "epcohs: 10"), ["work.epcohs", "no key"], id="unknown key"),
        pytest.param(replaced("work:", "wrok:"), ["wrok", "work: is missing"], id="unknown key at the top"),
        pytest.param(replaced(EPOCHS, "epochs: -1"), [AT_EPOCHS, "greater than 0", "-1"], id="negative"),
        pytest.param(replaced(EPOCHS, "epochs: 0"), [AT_EPOCHS, "greater than 0"], id="zero"),
        pytest.param(replaced(EPOCHS, "epochs: .nan"), [AT_EPOCHS, "finite"], id="NaN"),
        pytest.param(replaced(EPOCHS, "epochs: .inf"), [AT_EPOCHS, "finite"], id="infinite"),
        pytest.param(replaced(EPOCHS, "epochs: -.inf"), [AT_EPOCHS, "finite"], id="minus infinite"),
        pytest.param(replaced(EPOCHS, "epochs: 1e400"), [AT_EPOCHS, "finite"], id="too large for a float"),
        pytest.param(replaced(EPOCHS, "epochs: 1e300"), [AT_EPOCHS, "less than"], id="absurdly large"),
        pytest.param(replaced(EPOCHS, "epochs: ten"), [AT_EPOCHS, "number", "'ten'"], id="text for a number"),
        pytest.param(replaced(EPOCHS, 'epochs: "10"'), [AT_EPOCHS, "number", "'10'"], id="a number in quotes"),
        pytest.param(replaced(EPOCHS, "epochs: 10 000"), [AT_EPOCHS, "'10 000'"], id="a number with a space"),
        pytest.param(replaced(EPOCHS, "epochs: true"), [AT_EPOCHS, "True"], id="bool for a number"),
        pytest.param(replaced(EPOCHS, "epochs: [10]"), [AT_EPOCHS, "number"], id="a list for a number"),
        pytest.param(replaced(EPOCHS, f"epochs: {'9' * 5000}"), ["is no whole number"], id="5,000 digits"),
        pytest.param(replaced("runs: 50", "runs: 1.5"), ["campaign.runs", "integer", "1.5"], id="half a run"),
        pytest.param(replaced("runs: 50", "runs: true"), ["campaign.runs", "True"], id="bool for a count"),
        pytest.param(replaced("0.12", "-0.12"), ["electricity_usd_per_kwh", "-0.12"], id="negative tariff"),
        pytest.param(replaced("pue: 1.4", "pue: 0.9"), ["assumptions.pue", "0.9"], id="PUE below 1"),
        pytest.param(replaced("budget_usd: 20000", "budget_usd: .nan"), ["budget_usd", "finite"], id="NaN budget"),
        pytest.param(
            replaced("precision: fp16", "precision: fp12"),
            ["training.precision", "'fp16'", "'fp12'"],
            id="unknown precision",
        ),
        pytest.param(replaced(SITE, "site: h200-xl"), ["options.3.site", "Did you mean", "h200-x1"], id="unknown site"),
        pytest.param(
            replaced(SITE, "site: zzz"), ["options.3.site", "Known: ", "rtx3090-x10"], id="a site like no other"
        ),
        pytest.param(
            replaced("aws/p4d.24xlarge", "aws/p4d.24xlrage"),
            ["options.6.offer", "aws/p4d.24xlarge"],
            id="unknown offer",
        ),
        pytest.param(
            replaced("seed-000-dgx-station-v100", "seed-000-dgx-station-v10"),
            ["workload.measured", "seed-000-dgx-station-v100"],
            id="unknown run",
        ),
        pytest.param(
            replaced("measured: seed-000-dgx-station-v100", "ref: gpt-305"),
            ["workload.ref", "Did you mean gpt-305m"],
            id="unknown workload",
        ),
        pytest.param(
            replaced("region: us-east-1", "region: us-esat-1"),
            ["options.5.region", "Did you mean us-east-1"],
            id="unknown region",
        ),
        pytest.param(replaced(SPOT, "price: spto"), ["options.7.price", "'spot'", "'spto'"], id="unknown price kind"),
        pytest.param(replaced(SITE, SITE + ", region: us-east-1"), ["options.3", "region"], id="a region of a site"),
        pytest.param(
            replaced(SITE, SITE + ", offer: aws/p4d.24xlarge"), ["options.3", "exactly one"], id="site and offer"
        ),
        pytest.param(replaced("{site: h200-x1}", "{}"), ["options.3", "exactly one"], id="neither site nor offer"),
        pytest.param(
            replaced(SITE, SITE + ", accelerators: 2"), ["options.3.accelerators", "h200-x1 has 1"], id="2 of 1"
        ),
        pytest.param(replaced("nodes: [1, 2]", "accelerators: 9"), ["options.6.accelerators", "8"], id="9 of 8 a node"),
        pytest.param(
            replaced(SITE, SITE + ", nodes: 2"), ["options.3.nodes", "has 1"], id="more nodes than the site has"
        ),
        pytest.param(replaced("nodes: [1, 2]", "nodes: 0"), ["options.6.nodes", "1"], id="no nodes"),
        pytest.param(replaced("nodes: [1, 2]", "nodes: [1, 0]"), ["options.6.nodes.1", "1"], id="a list with no nodes"),
        pytest.param(GOOD_PLAN[: GOOD_PLAN.index("  - {")], ["options", "list"], id="options without entries"),
        pytest.param(
            GOOD_PLAN[: GOOD_PLAN.index("options:")] + "options: []\n", ["options", "at least one"], id="options empty"
        ),
        pytest.param(
            replaced("deadline: 2027-06-30", "deadline: 2026-11-30"),
            ["deadline 2026-11-30 is before start 2026-12-01"],
            id="deadline before start",
        ),
        pytest.param(
            replaced("deadline: 2027-06-30", "deadline: 2027-13-30"), ["'2027-13-30' is no date"], id="no such month"
        ),
        pytest.param(replaced("deadline: 2027-06-30", "deadline: soon"), ["campaign.deadline", "date"], id="no date"),
        pytest.param(replaced("schema_version: 1", "schema_version: 2"), ["newer", "Update"], id="newer schema"),
        pytest.param(
            replaced("schema_version: 1", "schema_version: true"), ["schema_version", "True"], id="bool version"
        ),
        pytest.param(
            replaced("schema_version: 1", "schema_version: 1.0"), ["schema_version", "1.0"], id="fractional version"
        ),
        pytest.param(
            replaced("nodes: [1, 2]", "nodes: []"),
            ["options.6.nodes", "at least one"],
            id="no numbers of nodes",
        ),
        pytest.param(replaced("schema_version: 1\n", ""), ["schema_version: is missing"], id="no schema version"),
        pytest.param(
            replaced("{measured", "{ref: gpt-305m, measured"), ["workload", "exactly one"], id="two workloads"
        ),
        pytest.param(replaced("epochs: 10, ", ""), ["work", "epochs"], id="samples without epochs"),
        pytest.param(
            replaced("epochs: 10, samples_per_epoch: 2464256", "tokens: 1.0e9"),
            ["work.tokens", "epochs and samples_per_epoch"],
            id="tokens of a workload without a sequence length",
        ),
        pytest.param("a: " + "[" * 400_000 + "]" * 400_000, ["nested too deeply"], id="deep lists"),
        pytest.param("a: " + "{a: " * 150_000 + "}" * 150_000, ["nested too deeply"], id="deep mappings"),
        pytest.param("- " * 400_000, ["nested too deeply"], id="deep lists in one line"),
        pytest.param(aliases(20), ["name", "string"], id="an alias bomb"),
        pytest.param("a: &a [*a]\n", ["a: is no key"], id="an alias of itself"),
        pytest.param(replaced(EPOCHS, "epochs: !!python/name:os.system"), ["is not YAML"], id="a Python object"),
        pytest.param(replaced(EPOCHS, "epochs: !!int ten"), ["'ten' is no whole number"], id="a tag that lies"),
    ],
)
def test_a_wrong_plan(planner, plan_file, content, words, as_json):
    path = plan_file(content)
    answer = planner("estimate", path, *(["--json"] if as_json else []))
    one_error(answer, *words)
    if as_json:
        error = answer.document["error"]
        assert f"Error: {error['message']}\n" in answer.err
        assert error["fix"]
    else:
        assert answer.out == ""


@pytest.mark.parametrize("command", ["estimate", "campaign", "compare", "report"])
@pytest.mark.parametrize("content", ["", "a: [", replaced(EPOCHS, "epochs: .nan")], ids=["empty", "not YAML", "NaN"])
def test_every_command_names_the_file(planner, plan_file, command, content):
    path = plan_file(content)
    one_error(planner(command, path), str(path), "planner init")


class TestFiles:
    def test_a_missing_plan(self, planner, tmp_path):
        one_error(planner("estimate", tmp_path / "none.yaml"), "none.yaml: there is no such file", "planner init")

    def test_a_folder_for_a_plan(self, planner, tmp_path):
        one_error(planner("estimate", tmp_path), "is a folder, not a file")

    @pytest.mark.parametrize("name", ["plan.yaml", "plan.json"])
    def test_100_mb(self, planner, tmp_path, name):
        path = tmp_path / name
        with path.open("wb") as file:
            file.truncate(100_000_000)
        one_error(planner("estimate", path), name, "100.0 MB")

    def test_an_endless_file(self, planner):
        one_error(planner("estimate", "/dev/zero"), "/dev/zero", "at most")

    def test_a_record_of_100_mb(self, planner, tmp_path):
        path = tmp_path / "record.json"
        with path.open("wb") as file:
            file.truncate(100_000_000)
        one_error(planner("runs", "add", path), "record.json", "100.0 MB")

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            pytest.param('{"schema_version": 1,\n "name": "x"', [":2: is not JSON", "ends too early"], id="truncated"),
            pytest.param('{"a": 1, "a": 2}', ["'a' stands twice"], id="a key twice"),
            pytest.param('{"a": ' + "9" * 5000 + "}", ["too many digits"], id="5,000 digits"),
            pytest.param('{"a": ' + "[" * 400_000 + "]" * 400_000 + "}", ["nested too deeply"], id="deep nesting"),
            pytest.param('{"name": "\\ud800"}', ["plan.json"], id="half a character"),
        ],
    )
    def test_a_wrong_json_plan(self, planner, plan_file, text, words):
        one_error(planner("estimate", plan_file(text, "plan.json")), *words)

    def test_a_mistake_names_the_line_where_it_stands(self, planner, plan_file):
        text = GOOD_PLAN.replace("{site: dgx-station-v100}", "site: dgx-station-v100\n    nodes: -1", 1)
        one_error(planner("estimate", plan_file(text)), f"plan.yaml:{line_of(text, 'nodes: -1')}: options.0.nodes")

    def test_several_mistakes_are_listed_at_once(self, planner, plan_file):
        text = replaced(EPOCHS, "epochs: -1").replace("pue: 1.4", "pue: 0.5")
        one_error(planner("estimate", plan_file(text)), "work.epochs", "assumptions.pue")

    def test_a_merge_key_is_good_yaml(self, planner, plan_file):
        text = GOOD_PLAN.replace("{site: dgx-station-v100}", "&own {site: dgx-station-v100}", 1)
        text = text.replace("{site: h200-x1}", "{<<: *own, power_kw: 3.0}", 1)
        answer = planner("estimate", plan_file(text), "--json")
        assert answer.code == 0
        assert answer.option("dgx-station-v100#2")["power_kw"]["value"] == 3.0

    def test_windows_line_ends_and_a_byte_order_mark_are_good_yaml(self, planner, plan_file):
        path = plan_file(b"\xef\xbb\xbf" + GOOD_PLAN.replace("\n", "\r\n").encode())
        assert planner("estimate", path, "--json").code == 0


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
            pytest.param({"throughput.value": float("nan")}, ["throughput.value", "finite"], id="NaN"),
            pytest.param({"throughput.high": float("inf")}, ["throughput.high", "finite"], id="infinite"),
            pytest.param(
                {"throughput.value": -1.0, "throughput.low": -2.0}, ["throughput must be over 0"], id="negative"
            ),
            pytest.param({"throughput.value": 1e6}, ["lies outside its range"], id="outside its own range"),
            pytest.param({"throughput.value": "fast"}, ["throughput.value", "number"], id="text for a number"),
            pytest.param({"throughput.basis": "guessed"}, ["throughput.basis", "'assumed'"], id="unknown basis"),
            pytest.param({"step_seconds": 10.6}, ["global_batch / step_seconds"], id="contradicts itself"),
            pytest.param({"micro_batch": True}, ["micro_batch", "True"], id="bool for a count"),
            pytest.param({"speed": 1}, ["speed", "no key"], id="unknown key"),
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

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
    def test_a_folder_without_the_right_to_write(self, planner, own_run, home):
        (home / "runs").mkdir(parents=True)
        (home / "runs").chmod(0o500)
        one_error(planner("runs", "add", own_run("good")), "Permission denied", "PLANNER_HOME")


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
            pytest.param("colour: red\n", ["colour", "no key"], id="unknown key"),
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
        header = (catalogs_dir() / "prices" / "aws.csv").read_text("utf-8").splitlines()[0]
        if row.count(",") == 5:
            row += ",,,,USD,0,0,me,1,2026-11-20,2026-11-20,list,"
        path = write("prices/mine.csv", f"{header}\n{row}\n")
        one_error(planner("estimate", example("local_pc")), f"{path}:", *words)

    def test_a_price_file_with_other_columns(self, planner, example, write):
        path = write("prices/mine.csv", "provider,usd\naws,1\n")
        one_error(planner("estimate", example("local_pc")), f"{path}:1: ", "usd_per_hour")


def test_the_command_as_a_person_runs_it(tmp_path):
    """One error in a real process: no traceback from the interpreter either."""
    path = tmp_path / "plan.yaml"
    path.write_text(replaced(EPOCHS, "epochs: -1"), encoding="utf-8")
    command = [sys.executable, "-m", "planner.cli.main", "estimate", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"Error: {path}{AT_EPOCHS}")
