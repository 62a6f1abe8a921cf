"""A wrong plan or file gets one clear error: where, what, and how to mend it; nothing is lost."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.refusals import GOOD_PLAN, aliases, line_of, one_error, replaced

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
        pytest.param(replaced(EPOCHS, "epochs: 10, epochs: 20"), ["'epochs' appears twice"], id="a key twice"),
        pytest.param(GOOD_PLAN + "name: again\n", ["'name' appears twice"], id="a key twice at the top"),
        pytest.param(replaced(EPOCHS, "epcohs: 10"), ["work.epcohs", "not a key"], id="unknown key"),
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
        pytest.param(replaced(EPOCHS, f"epochs: {'9' * 5000}"), ["is not a whole number"], id="5,000 digits"),
        pytest.param(replaced("runs: 50", "runs: 1.5"), ["campaign.runs", "integer", "1.5"], id="half a run"),
        pytest.param(replaced("runs: 50", "runs: true"), ["campaign.runs", "True"], id="bool for a count"),
        pytest.param(replaced("0.12", "-0.12"), ["electricity_usd_per_kwh", "-0.12"], id="negative tariff"),
        pytest.param(
            replaced("pue: 1.4", "goodput_fraction: 1.0e-100"),
            ["assumptions.goodput_fraction", "must be at least 1e-06"],
            id="a goodput of nothing",
        ),
        pytest.param(replaced("pue: 1.4", "pue: 0.9"), ["assumptions.pue", "0.9"], id="PUE below 1"),
        pytest.param(
            GOOD_PLAN + "goodput: {restart_hours: 30min}\n",
            ["goodput.restart_hours: must be a number", "'30min'"],
            id="text for a figure",
        ),
        pytest.param(replaced("budget_usd: 20000", "budget_usd: .nan"), ["budget_usd", "finite"], id="NaN budget"),
        pytest.param(replaced("runs: 50", "confidence: 80"), ["campaign.confidence", "0.99", "80"], id="80 for 80 %"),
        pytest.param(replaced("runs: 50", "confidence: 0.3"), ["campaign.confidence", "0.5"], id="less than even"),
        pytest.param(
            replaced("runs: 50", "runs_per_year: weekly"), ["runs_per_year", "integer"], id="a word for a count"
        ),
        pytest.param(
            replaced("start: 2026-12-01", "start: 20270115"),
            ["campaign.start: must be a date, as 2027-01-15 (found 20270115)"],
            id="a date without its dashes",
        ),
        pytest.param(
            replaced("start: 2026-12-01", "start: soon"),
            ["campaign.start: must be a date, as 2027-01-15"],
            id="a date in words",
        ),
        pytest.param(
            replaced("strategy: ddp", "strategy: autoo"),
            [": training.strategy: must be 'auto', 'ddp', ", "or 'zero3' (found 'autoo')"],
            id="unknown strategy, where a word of its own is allowed too",
        ),
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
            replaced("deadline: 2027-06-30", "deadline: 2027-13-30"), ["'2027-13-30' is not a date"], id="no such month"
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
        pytest.param(aliases(20), ["with its aliases it holds over 100,000 values"], id="an alias bomb"),
        pytest.param("a: &a [*a]\n", ["an alias stands for the value that it is in"], id="an alias of itself"),
        pytest.param(replaced(EPOCHS, "epochs: !!python/name:os.system"), ["is not YAML"], id="a Python object"),
        pytest.param(replaced(EPOCHS, "epochs: !!int ten"), ["'ten' is not a whole number"], id="a tag that lies"),
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
        one_error(planner("estimate", "/dev/zero"), "/dev/zero: is not an ordinary file")

    @pytest.mark.parametrize(
        "command",
        [
            "compare",
            "find",
            "runs add",
            "evidence check",
            "evidence add",
            "prices check",
            "memory --on H100-SXM",
            "accuracy --measurements",
        ],
    )
    def test_a_pipe_that_nobody_writes_to(self, planner, tmp_path, command):
        os.mkfifo(tmp_path / "pipe.yaml")
        one_error(planner(*command.split(), tmp_path / "pipe.yaml"), "pipe.yaml: is not an ordinary file")

    def test_a_record_of_100_mb(self, planner, tmp_path):
        path = tmp_path / "record.json"
        with path.open("wb") as file:
            file.truncate(100_000_000)
        one_error(planner("runs", "add", path), "record.json", "100.0 MB")

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            pytest.param('{"schema_version": 1,\n "name": "x"', [":2: is not JSON", "ends too early"], id="truncated"),
            pytest.param('{"a": 1, "a": 2}', ["'a' appears twice"], id="a key twice"),
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


def test_the_command_as_a_person_runs_it(tmp_path):
    """One error in a real process: no traceback from the interpreter either."""
    path = tmp_path / "plan.yaml"
    path.write_text(replaced(EPOCHS, "epochs: -1"), encoding="utf-8")
    command = [sys.executable, "-m", "planner.cli.main", "estimate", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"Error: {path}{AT_EPOCHS}")


def test_lists_that_multiply_are_counted_first(planner, tmp_path):
    numbers = ", ".join(map(str, range(1, 2_000)))
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        "schema_version: 1\nname: many\nworkload: {ref: llama3-8b}\nwork: {tokens: 1e9}\n"
        f"options:\n  - {{offer: aws/p5.48xlarge, nodes: [{numbers}], accelerators: [{numbers}]}}\n",
        encoding="utf-8",
    )
    answer = planner("compare", plan)
    assert answer.code == 2
    assert "over 500 options" in answer.err
