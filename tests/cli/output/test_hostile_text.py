"""Names that would steer a terminal, run in a spreadsheet or become markup: shown as text, in every form of output."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
import yaml
from markdown_it import MarkdownIt

from planner.adapters.workspace import catalogs_dir
from planner.text.visible_text import guarded, visible_text

ROOT = Path(__file__).resolve().parents[3]
STEERING = "\x1b[2J\x1b]0;owned\x07\x9b31m\x08\x7f\u202e\u200b"
NAME = f"=cmd|' /C calc'!A0 <b>`x`</b> [l](h) *s* _e_ # {STEERING}end"
SHOWN = visible_text(NAME)
PRICES = f"""provider,instance_type,region,price_kind,usd_per_hour,source,as_of,note
aws,p4d.24xlarge,"us-east-1",on_demand,21.5,"{NAME}",2026-11-20,"{NAME}"
"""
EVIDENCE = f"""id,source,source_ref,source_date,model,model_family,gpu,num_gpus,throughput_total,unit,metric,quality
"{NAME}","{NAME}",x,2026-01-01,"{NAME}",dense-decoder,"{NAME}",8,100,tokens/s,throughput,ok
"""
FORMS = ("table", "tsv", "csv", "md", "json")


def steering_characters(text: str) -> set[str]:
    """Return forbidden characters by the tables of Unicode: control, direction, half characters, no width."""
    return {character for character in text if unicodedata.category(character) in {"Cc", "Cf", "Cs"}} - {"\n", "\t"}


def cells(text: str, form: str) -> list[str]:
    """Read a table with a reader of its own."""
    if form == "md":
        tokens = MarkdownIt("commonmark").enable("table").parse(text)
        inlines = [token for token in tokens if token.type == "inline"]
        assert {child.type for token in inlines for child in token.children} <= {"text", "text_special"}
        return ["".join(child.content for child in token.children) for token in inlines]
    separator = {"tsv": "\t", "csv": ","}[form]
    return [cell for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator) for cell in row]


@pytest.fixture
def hostile(changed, own_site, write, monkeypatch, tmp_path) -> Path:
    """Write a plan whose name, site, prices and records are all hostile, in a file whose name is too."""
    own_site(name=NAME, source=NAME)
    home = Path(os.environ["PLANNER_HOME"])
    (home / "prices").mkdir(exist_ok=True)
    (home / "prices" / "ours.csv").write_text(PRICES, encoding="utf-8")
    record = json.loads((catalogs_dir() / "runs" / "seed-000-dgx-station-v100.json").read_text(encoding="utf-8"))
    record |= {"id": "mine", "note": NAME, "document": NAME, "verdict": [NAME], "environment": {"machine": NAME}}
    record["throughput"]["source"] = NAME
    (home / "runs").mkdir(exist_ok=True)
    (home / "runs" / "mine.json").write_text(json.dumps(record), encoding="utf-8")
    plan = yaml.safe_load(changed("own_8xh200", {"name": NAME}).read_text(encoding="utf-8"))
    plan["options"] = [
        {"site": "mine"},
        {"offer": "aws/p4d.24xlarge", "price": "on_demand"},
        {"own": "RTX-3090", "count": 2},
    ]
    path = tmp_path / f"plan {STEERING}.yaml"
    path.write_text(yaml.safe_dump(plan), encoding="utf-8")
    return path


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("command", ["estimate", "campaign", "compare", "own-or-rent", "prices show", "runs list"])
def test_no_output_steers_a_terminal(planner, hostile, command, form):
    words = command.split()
    plan = [hostile] if len(words) == 1 else []
    form_option = ["--json"] if form == "json" else ["--format", form]
    details = ["--details"] if plan and form == "table" else []
    answer = planner(*words, *plan, *form_option, *details)
    assert answer.code in (0, 3), answer.err
    assert steering_characters(answer.out + answer.err) == set()
    if form == "json":
        assert answer.document
    elif form != "table":
        assert len(cells(answer.out, form)) > 5


@pytest.mark.parametrize("form", ["tsv", "csv", "md"])
@pytest.mark.parametrize("command", ["compare", "prices show"])
def test_a_second_reader_gives_the_name_back(planner, hostile, form, command):
    words = command.split()
    out = planner(*words, *([hostile] if len(words) == 1 else []), "--format", form).out
    found = [cell for cell in cells(out, form) if "calc" in cell]
    assert any(SHOWN in cell for cell in found)
    if command == "prices show":
        assert (SHOWN if form == "md" else guarded(SHOWN)) in found
    if form != "md":
        assert not any(cell.startswith("=") for cell in found)


def test_json_gives_the_name_back_itself(planner, hostile):
    assert planner("compare", hostile, "--json").document["plan"] == NAME


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("explain", "PLAN"), id="explain"),
        pytest.param(("find", "PLAN", "--provider", "aws", "--format", "table"), id="find"),
        pytest.param(("find", "PLAN", "--provider", NAME), id="find, a wrong provider"),
        pytest.param(("report", "PLAN"), id="report"),
        pytest.param(("runs", "show", "mine"), id="runs show"),
        pytest.param(("runs", "list", "--format", "table"), id="runs list, drawn"),
        pytest.param(("runs", "export"), id="runs export"),
        pytest.param(("prices", "history", "aws/p4d.24xlarge"), id="prices history"),
        pytest.param(("prices", "history", NAME), id="prices of an unknown item"),
        pytest.param(("evidence", "check", "EVIDENCE"), id="evidence check"),
        pytest.param(("evidence", "list"), id="evidence list"),
        pytest.param(("compare", "PLAN", "--option", NAME), id="wrong usage"),
        pytest.param((STEERING,), id="unknown command"),
        pytest.param(("estimate", "none \udcff\x1b[2J.yaml"), id="a file name that is no UTF-8"),
        pytest.param(("estimate", "none \udcff\x1b[2J.yaml", "--json"), id="the same in JSON"),
        pytest.param(("memory", NAME), id="unknown workload"),
    ],
)
def test_other_commands_and_errors_show_it_too(planner, hostile, tmp_path, arguments):
    table = tmp_path / f"table {STEERING}.csv"
    table.write_text(EVIDENCE, encoding="utf-8")
    places = {"PLAN": hostile, "EVIDENCE": table}
    answer = planner(*(places.get(word, word) for word in arguments))
    assert answer.code in (0, 2, 3), answer.err
    assert answer.out + answer.err
    assert steering_characters(answer.out + answer.err) == set()


@pytest.mark.parametrize(
    "plan",
    [
        pytest.param({"name": "x", "\x1b[2J\u202e": 1}, id="key"),
        pytest.param({"name": "x", "workload": STEERING}, id="value"),
        pytest.param({"name": "x", "options": [{"offer": STEERING}]}, id="offer"),
    ],
)
def test_errors_of_a_plan_show_what_stands_there(planner, plan_file, plan):
    answer = planner("estimate", plan_file(yaml.safe_dump(plan)))
    assert answer.code == 2
    assert steering_characters(answer.err) == set()


@pytest.mark.parametrize("ending", ["md", "csv"])
def test_a_report_in_a_file_holds_the_name_as_text(planner, hostile, tmp_path, ending):
    path = tmp_path / f"report.{ending}"
    answer = planner("report", hostile, "--out", path)
    assert answer.code == 0, answer.err
    text = path.read_text(encoding="utf-8")
    if ending == "csv":
        [head, *rows] = csv.reader(io.StringIO(text, newline=""))
        assert {row[head.index("plan")] for row in rows} == {guarded(NAME)} == {f"'{NAME}"}
    else:
        tokens = MarkdownIt("commonmark").enable("table").parse(text)
        heading = next(token for token in tokens if token.type == "inline")
        assert "".join(child.content for child in heading.children) == SHOWN
        assert steering_characters(text) == set()
        assert not any(token.type.startswith("html") for token in tokens)


def test_frozen_plans_show_the_name_as_text(planner, hostile):
    lock = hostile.parent / f"{hostile.stem}.lock.json"
    answers = [planner("estimate", hostile, "--freeze"), planner("diff", lock, lock), planner("watch", hostile.parent)]
    assert [answer.code for answer in answers] == [0, 0, 0], answers
    for answer in answers:
        assert steering_characters(answer.out + answer.err) == set()
    tokens = MarkdownIt("commonmark").enable("table").parse(answers[1].out)
    heading = next(token for token in tokens if token.type == "inline")
    assert "".join(child.content for child in heading.children) == f"What moved: {SHOWN}"
    assert not any(token.type.startswith("html") for token in tokens)


def test_what_the_table_draws_itself_reaches_the_terminal(hostile):
    """On a terminal titles are in italics, as rich draws them; the name in a cell is text all the same."""
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "planner.cli.main", "runs", "list", "--format", "table"]
    environment = os.environ | {"TERM": "xterm-256color", "PYTHONPATH": str(ROOT), "COLUMNS": "200"}
    environment.pop("NO_COLOR", None)
    written = b""
    with subprocess.Popen(command, stdout=follower, stderr=subprocess.DEVNULL, env=environment, cwd=ROOT) as process:
        os.close(follower)
        with os.fdopen(leader, "rb", buffering=0) as terminal:
            try:
                while chunk := terminal.read(65536):
                    written += chunk
            except OSError:  # the other end of a terminal closes with EIO on Linux
                pass
    assert process.returncode == 0
    assert b"\x1b[3m" in written
    assert b"\x1b[2J" not in written
