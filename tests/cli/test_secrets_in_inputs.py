"""A secret that a user wrote into a plan or a name is warned about, and stands in nothing that is written."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path

import pytest

from planner.adapters.pdf_printer import BROWSERS
from planner.adapters.workspace import catalogs_dir, examples_dir
from tests.cli.refusals import GOOD_PLAN
from tests.present.pdf_text import pdf_text

PARTS = ("ghp", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")
TOKEN = "_".join(PARTS)
WARNING = "holds a secret"


def bytes_of(path: Path) -> bytes:
    """Return what a file holds, unpacked where it is an archive."""
    if not zipfile.is_zipfile(path):
        return path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        return b"".join(archive.read(name) for name in archive.namelist())


@pytest.fixture
def plan(plan_file):
    name = next(line for line in GOOD_PLAN.splitlines() if line.startswith("name:"))
    return plan_file(GOOD_PLAN.replace(name, f"name: a run with {TOKEN}"))


def holding(folder: Path, *but: Path) -> list[str]:
    files = [path for path in folder.rglob("*") if path.is_file() and path not in but]
    assert files
    return [path.name for path in files if PARTS[1].encode() in bytes_of(path)]


@pytest.mark.parametrize("ending", ["html", "md", "csv", "json", "xlsx"])
def test_a_report_has_it_hidden(planner, plan, reports_once, tmp_path, ending):
    plan = Path(plan.name)
    out = tmp_path / f"report.{ending}"
    answer = planner("report", plan, "--out", out)
    assert answer.code == 0
    assert f"Warning: {plan}: {WARNING} (name)" in answer.err
    assert PARTS[1] not in answer.out + answer.err
    assert holding(tmp_path, tmp_path / plan) == []
    if ending != "csv":
        assert b"hidden" in bytes_of(out)


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.skipif(not any(map(shutil.which, BROWSERS)), reason="Chromium is not installed")
def test_a_printed_report_has_it_hidden(planner, plan_file, tmp_path):
    """Its text is packed, and drawn as numbers of glyphs: the name beside the secret is first shown to be found."""
    name = next(line for line in GOOD_PLAN.splitlines() if line.startswith("name:"))
    plan = plan_file(GOOD_PLAN.replace(name, f"name: Quixotic-Zebra {TOKEN}"))
    out = tmp_path / "report.pdf"
    answer = planner("report", plan, "--out", out, "--appendix")
    assert answer.code == 0, answer.err
    text = pdf_text(out)
    assert "Quixotic-Zebra[hidden]" in text
    assert PARTS[1] not in text


def test_what_is_printed_and_the_lock_have_it_hidden(planner, plan, tmp_path):
    for arguments in ((), ("--json",), ("--freeze",), ("--locked",)):
        answer = planner("estimate", plan, *arguments)
        assert answer.code == 0, answer.err
        assert PARTS[1] not in answer.out + answer.err
        assert answer.err.count(WARNING) == 1
    assert holding(tmp_path, plan) == []


def test_an_unknown_key_is_refused_without_showing_it(planner, plan_file):
    path = plan_file(GOOD_PLAN + f"{TOKEN}: 1\n")
    answer = planner("estimate", path)
    assert answer.code == 2
    assert "not a key" in answer.err
    assert WARNING in answer.err
    assert PARTS[1] not in answer.out + answer.err


def test_the_name_of_a_file_is_hidden_in_what_is_written_from_it(planner, tmp_path):
    config = tmp_path / f"{TOKEN}.json"
    sizes = {"hidden_size": 512, "num_hidden_layers": 4, "num_attention_heads": 8, "vocab_size": 32000}
    config.write_text(json.dumps({"model_type": "llama", "intermediate_size": 1408} | sizes), encoding="utf-8")
    out = tmp_path / "asked.yaml"
    answer = planner("ask", config, "--data", "50000x700", "--own", "1xRTX-4090", "--write", out)
    assert answer.code in (0, 3), answer.err
    assert "name of a file or folder holds a secret" in answer.err
    assert PARTS[1] not in answer.out + answer.err
    assert PARTS[1] not in out.read_text("utf-8")


def test_a_plan_without_a_secret_is_answered_without_a_warning(planner, tmp_path):
    plan = shutil.copy(examples_dir() / "dgx_station_v100.yaml", tmp_path / "plan.yaml")
    assert WARNING not in planner("estimate", plan).err


def test_a_site_of_the_workspace_has_it_hidden(planner, own_site, tmp_path):
    own_site(source=f"the offer of {TOKEN}")
    plan = shutil.copy(examples_dir() / "dgx_station_v100.yaml", tmp_path / "plan.yaml")
    answer = planner("estimate", plan, "--json")
    assert answer.code == 0
    assert PARTS[1] not in answer.out + answer.err
    assert "mine.yaml: holds a secret (source)" in answer.err


HEADER = "provider,instance_type,region,price_kind,usd_per_hour,source,as_of\n"
PRICE = f"aws,p5.48xlarge,us-east-1,on_demand,41.28,offer of {TOKEN},2026-05-02\n"
BOOK = f"""schema_version: 1
as_of: 2026-11-01
quotes:
  - {{name: ours, item: aws/p5.48xlarge, usd_per_hour: 30.0, source: "mail with {TOKEN}"}}
"""
CLAIMS = f"""source: a guide
claims:
  - {{id: a, kind: memory, parameters: 7.0e9, amount: 56 GB, quote: "as {TOKEN} says"}}
"""
MEASURED = (
    "id,source,gpu,num_gpus,n_layers,hidden,n_heads,tokens_per_s_per_gpu,notes\n"
    f"a,ours,H100,8,32,4096,32,9000,with {TOKEN}\n"
)


@pytest.mark.parametrize(
    ("name", "text", "commands", "place"),
    [
        pytest.param(
            "planner-data/prices/mine.csv",
            HEADER + PRICE,
            ("prices show --accelerator H100 --json", "prices check {}", "compare plan.yaml --json"),
            "line 2, column 6",
            id="a price list",
        ),
        pytest.param(
            "planner-data/price_book.yaml",
            BOOK,
            ("prices show --with-price-book --json", "prices check {}", "compare plan.yaml --with-price-book --json"),
            "quotes.0.source",
            id="a price book",
        ),
        pytest.param(
            "claims.yaml", CLAIMS, ("audit --claim {} --json", "audit --claim {}"), "claims.0.quote", id="claims"
        ),
        pytest.param("mine.csv", MEASURED, ("evidence check {} --json",), "line 2, column 9", id="measurements"),
    ],
)
def test_other_files_of_the_user_have_it_hidden(planner, tmp_path, monkeypatch, name, text, commands, place):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PLANNER_HOME", "planner-data")
    shutil.copy(examples_dir() / "p5e_vs_a100.yaml", tmp_path / "plan.yaml")
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    for command in commands:
        answer = planner(*command.replace("{}", name).split())
        assert answer.code in (0, 3), answer.err
        assert f"Warning: {name}: {WARNING} ({place})" in answer.err
        assert PARTS[1] not in answer.out + answer.err


def test_an_exported_run_has_it_hidden(planner, tmp_path, monkeypatch):
    monkeypatch.setenv("PLANNER_HOME", str(tmp_path / "home"))
    record = json.loads((catalogs_dir() / "runs" / "seed-000-dgx-station-v100.json").read_bytes())
    path = tmp_path / "runs.json"
    runs = [record | {"id": "own", "note": f"with {TOKEN}"}]
    path.write_text(json.dumps({"schema_version": 1, "kind": "runs", "runs": runs}), encoding="utf-8")
    answer = planner("runs", "add", path)
    assert answer.code == 0, answer.err
    assert f"{WARNING} (runs.0.note)" in answer.err
    assert holding(tmp_path, path) == []
