"""Exit codes, data on stdout and talk on stderr, tables in every format."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

import pytest

NOTHING_FEASIBLE = {"campaign": {"start": "2026-12-01", "deadline": "2026-12-02", "budget_usd": 1.0, "runs": 50}}


class TestExitCodes:
    def test_done(self, planner, example):
        assert planner("compare", example("local_pc")).code == 0

    @pytest.mark.parametrize("arguments", [["--help"], ["estimate", "--help"], ["runs", "add", "-h"]])
    def test_help_is_data(self, planner, arguments):
        answer = planner(*arguments)
        assert answer.code == 0
        assert answer.out.startswith("Usage: planner")
        assert answer.err == ""

    def test_the_version_is_that_of_the_installed_package(self, planner):
        answer = planner("--version")
        assert (answer.code, answer.out, answer.err) == (0, f"planner {version('training-planner')}\n", "")

    @pytest.mark.parametrize("arguments", [[], ["runs"]], ids=["planner alone", "a group alone"])
    def test_no_command_shows_the_help(self, planner, arguments):
        answer = planner(*arguments)
        assert answer.code == 2
        assert answer.out == ""
        assert answer.err.startswith("Usage: planner")

    @pytest.mark.parametrize(
        "arguments",
        [
            ["estimat"],
            ["estimate"],
            ["estimate", "x.yaml", "--formt", "csv"],
            ["estimate", "x.yaml", "--format", "xml"],
        ],
        ids=["unknown command", "no plan", "unknown flag", "unknown format"],
    )
    @pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
    def test_wrong_usage(self, planner, arguments, as_json):
        answer = planner(*arguments, *(["--json"] if as_json else []))
        assert answer.code == 2
        assert answer.err.startswith("Error: ")
        assert " --help" in answer.err
        if as_json:
            assert answer.document["error"]["kind"] == "input"
        else:
            assert answer.out == ""

    def test_nothing_feasible_is_an_answer_with_code_3(self, planner, changed):
        answer = planner("compare", changed("dgx_station_v100", NOTHING_FEASIBLE), "--json")
        assert answer.code == 3
        document = answer.document
        assert document["recommended"] is None
        names = {option["id"]: option["display_name"] for option in document["options"]}
        assert names[document["nearest"]] in document["sentence"]
        assert all(option["why_not"] for option in document["options"])

    @pytest.mark.parametrize(
        ("limits", "words"),
        [
            pytest.param({"runs": 50, "budget_usd": 1.0}, ["of 1.00 USD"], id="the budget binds"),
            pytest.param(
                {"runs": 50, "start": "2026-12-01", "deadline": "2026-12-02", "budget_usd": 1e9},
                ["after 2026-12-02"],
                id="the deadline binds",
            ),
        ],
    )
    @pytest.mark.parametrize("form", [["--json"], ["--format", "table"]], ids=["json", "screen"])
    def test_the_sentence_names_the_limit_that_binds(self, planner, changed, limits, words, form):
        answer = planner("compare", changed("dgx_station_v100", {"campaign": limits}), *form)
        assert answer.code == 3
        said = answer.document["sentence"] if form == ["--json"] else answer.out
        assert all(word in " ".join(said.split()) for word in words)

    def test_the_nearest_option_needs_the_smallest_change(self, planner, changed):
        plan = changed("p5e_vs_a100", {"campaign": {"budget_usd": 1.0}})
        document = planner("compare", plan, "--json").document
        priced = [o for o in document["options"] if o["campaign_usd"] and o["price_kind"] != "spot"]
        costs = {o["id"]: o["campaign_usd"]["value"] for o in priced}
        assert document["nearest"] == min(costs, key=costs.__getitem__)

    @pytest.mark.slow
    def test_a_report_can_be_written_where_nothing_is_feasible(self, planner, changed, tmp_path):
        path = tmp_path / "report.md"
        answer = planner("report", changed("dgx_station_v100", NOTHING_FEASIBLE), "--out", path)
        assert answer.code in (0, 3)
        assert "budget" in path.read_text("utf-8")

    def test_an_estimate_has_no_limits_to_miss(self, planner, changed):
        assert planner("estimate", changed("dgx_station_v100", NOTHING_FEASIBLE), "--json").code == 0

    def test_our_own_fault_is_one_message_and_code_1(self, planner, example, monkeypatch):
        def broken(*_: object, **__: object) -> None:
            raise RuntimeError("a wheel came off")

        monkeypatch.setattr("planner.use_cases.plans.estimate", broken)
        answer = planner("estimate", example("local_pc"), "--json")
        assert answer.code == 1
        assert "Traceback" not in answer.out + answer.err
        assert answer.document["error"]["kind"] == "internal"

    def test_an_interruption_is_130(self, planner, example, monkeypatch):
        def interrupted(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("planner.use_cases.plans.estimate", interrupted)
        answer = planner("estimate", example("local_pc"))
        assert answer.code == 130
        assert answer.err == "Interrupted.\n"


class TestErrors:
    def test_an_error_is_a_document_too(self, planner, tmp_path):
        answer = planner("estimate", tmp_path / "none.yaml", "--json")
        assert answer.code == 2
        assert list(answer.document) == ["schema_version", "error"]
        assert set(answer.document["error"]) == {"kind", "message", "fix"}
        assert "planner init" in answer.document["error"]["fix"]

    def test_without_json_stdout_stays_empty(self, planner, tmp_path):
        answer = planner("estimate", tmp_path / "none.yaml")
        assert answer.out == ""
        assert answer.err.count("Error: ") == 1


class TestFormats:
    @pytest.mark.parametrize("command", ["estimate", "campaign", "compare"])
    def test_tab_separated_values_are_the_rows_alone(self, planner, example, command):
        answer = planner(command, example("local_pc"), "--format", "tsv")
        rows = list(csv.DictReader(io.StringIO(answer.out), delimiter="\t"))
        assert len(rows) == 5
        assert {row["option"] for row in rows} == {
            "dgx-station-v100",
            "pc-rtx4090",
            "pc-rtx3080",
            "pc-rtx3060",
            "pc-cpu",
        }
        assert all(None not in row for row in rows)
        assert answer.err == ""

    def test_csv(self, planner, example):
        rows = list(csv.DictReader(io.StringIO(planner("estimate", example("local_pc"), "--format", "csv").out)))
        assert rows[0]["option"] == "dgx-station-v100"
        assert rows[0]["training"].startswith("56.69 h")

    def test_markdown(self, planner, example):
        lines = planner("estimate", example("local_pc"), "--format", "md").out.splitlines()
        assert len(lines) == 2 + 5
        assert all(line.startswith("| ") and line.endswith(" |") for line in lines)
        assert len({line.replace("\\|", "").count("|") for line in lines}) == 1

    @pytest.mark.parametrize("command", ["estimate", "campaign", "compare"])
    def test_the_format_json_is_the_document(self, planner, example, command):
        with_flag = planner(command, example("local_pc"), "--json").out
        assert planner(command, example("local_pc"), "--format", "json").out == with_flag

    @pytest.mark.usefixtures("owner")
    def test_a_screen_is_printed_where_it_is_asked_for(self, planner, example):
        """56.69 hours are 2.36 days; sources and assumptions are one option away."""
        short = planner("estimate", example("local_pc"), "--format", "table")
        whole = planner("estimate", example("local_pc"), "--format", "table", "--details")
        assert "2.36 (2.15-2.62)" in short.out
        assert "electricity: " not in short.out
        assert "electricity: 0.0826 USD/kWh" in whole.out
        assert whole.out.startswith(short.out)
        assert short.err == whole.err == ""

    def test_json_is_all_of_stdout(self, planner, example):
        for command in ("estimate", "campaign", "compare"):
            json.loads(planner(command, example("p5e_vs_a100"), "--json").out)

    def test_a_report_without_a_file_is_data(self, planner, example):
        answer = planner("report", example("local_pc"))
        assert answer.code == 0
        assert "56.69" in answer.out

    @pytest.mark.parametrize("ending", ["html", "md", "csv"])
    def test_a_report_goes_to_its_file(self, planner, example, tmp_path, ending):
        path = tmp_path / f"report.{ending}"
        answer = planner("report", example("local_pc"), "--out", path)
        assert (answer.code, answer.out) == (0, "")
        assert str(path) in answer.err
        assert "56.68" in path.read_text("utf-8").replace("56.69", "56.68")  # 56.686: a CSV has all digits

    def test_a_closed_pipe_is_no_fault(self, example):
        command = f"{sys.executable} -m planner.cli.main compare {example('rtx3090_cluster')} --json | head -c 1"
        root = str(Path(__file__).parents[3])
        done = subprocess.run(
            ["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True, check=False, cwd=root,
            env=os.environ,
        )  # fmt: skip
        assert (done.returncode, done.stdout, done.stderr) == (0, "{", "")


ROOT = Path(__file__).parents[3]
SCREENS = [
    pytest.param(("estimate", "local_pc"), id="estimate"),
    pytest.param(("campaign", "campaign_mix"), id="campaign"),
    pytest.param(("compare", "rtx3090_cluster"), id="compare"),
    pytest.param(("recommend", "local_pc"), id="recommend"),
    pytest.param(("own-or-rent", "station_own_or_rent"), id="own-or-rent"),
    pytest.param(("explain", "local_pc"), id="explain"),
    pytest.param(("runs", "list"), id="runs"),
    pytest.param(("memory", "gpt-305m", "--on", "A100-40GB-SXM"), id="memory"),
    pytest.param(("strategies", "qwen3-0.6b", "--on", "8xH100-SXM"), id="strategies"),
    pytest.param(("ask", "gpt-305m", "--tokens", "1e9", "--own", "RTX-4090", "--on", "p4d"), id="ask"),
]
FOR_COLOUR = {"TERM": "xterm-256color", "FORCE_COLOR": "1"}


@pytest.mark.slow
@pytest.mark.parametrize("words", SCREENS)
def test_a_pipe_gets_the_screen_of_a_terminal_without_its_colours(example, tmp_path, words):
    command, named, *options = words
    arguments = [command, named if (command, named) in WITHOUT_A_PLAN else str(example(named)), *options]
    env = os.environ | FOR_COLOUR | {"PLANNER_HOME": str(tmp_path)}
    env.pop("COLUMNS", None)
    piped = subprocess.run(
        [sys.executable, "-m", "planner.cli.main", *arguments], capture_output=True, env=env, cwd=ROOT, check=False
    ).stdout.decode()
    shown = on_a_terminal(arguments, env | {"COLUMNS": "100"})
    assert "\x1b" not in piped
    assert max(map(len, piped.splitlines())) <= 100
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown).replace("\r\n", "\n")
    assert [line.rstrip() for line in plain.splitlines()] == piped.splitlines()


WITHOUT_A_PLAN = {("runs", "list"), ("memory", "gpt-305m"), ("strategies", "qwen3-0.6b"), ("ask", "gpt-305m")}


def test_the_terminal_honours_no_color(example):
    written = on_a_terminal(["estimate", str(example("local_pc"))], os.environ | {"NO_COLOR": "1", "TERM": "xterm"})
    assert "dgx" in written.lower()
    assert not re.search(r"\x1b\[(3|4|9|10)[0-9]", written)


def on_a_terminal(arguments: list[str], env: Mapping[str, str]) -> str:
    """Return what a command prints to a terminal."""
    import pty

    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "planner.cli.main", *arguments]
    with subprocess.Popen(command, stdout=follower, stderr=subprocess.DEVNULL, env=env, cwd=ROOT) as process:
        os.close(follower)
        written = b""
        with os.fdopen(leader, "rb", buffering=0) as terminal:
            try:
                while chunk := terminal.read(65536):
                    written += chunk
            except OSError:  # the other end of a terminal closes with EIO on Linux
                pass
    assert process.returncode in (0, 3)
    return written.decode()
