"""`planner accuracy`, `evidence` and `strategies`: documents, refusals, and that no row asked is trained on."""

from __future__ import annotations

import csv
import io
from itertools import pairwise
from pathlib import Path

import pytest

from planner.adapters.workspace import catalogs_dir
from tests.bundled import text_rows

HEADER = (
    "id,source,model,gpu,gpus_per_node,num_gpus,n_layers,hidden,n_heads,n_kv_heads,ffn_hidden,mlp_type,vocab,seq_len,"
    "precision,zero,micro_batch,grad_accum,framework,unit,tokens_per_s_per_gpu,quality,a_column_of_ours"
)
FIGURES = {
    "mape_pct", "median_ape_pct", "p90_ape_pct", "bias_pct", "coverage_80_pct", "coverage_90_pct", "half_width_90_pct",
}  # fmt: skip


LEFT_OPEN = ("all stated", "usual settings assumed", "what decides left open")


def table(path: Path, *lines: str) -> Path:
    path.write_text("\n".join([HEADER, *lines]) + "\n", encoding="utf-8")
    return path


def llama(name: str, gpus: int, rate: float, *, gpu: str = "H100-SXM5-80GB", quality: str = "ok") -> str:
    return (
        f"{name},a lab,llama3-8b,{gpu},8,{gpus},32,4096,32,8,14336,swiglu,128256,8192,bf16,3,1,1,a trainer,tokens/s,"
        f"{rate},{quality},x"
    )


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    rows = [llama(f"r{n}", n, 7000 - 20 * n) for n in (8, 16, 32, 64)]
    return table(
        tmp_path / "mine.csv",
        *rows,
        llama("odd", 8, 7000, gpu="H900"),
        llama("no", 8, 7000, quality="suspect"),
    )


def test_the_document_has_the_keys_of_the_contract(planner, mine):
    answer = planner("accuracy", "--measurements", mine, "--json")
    assert answer.code == 0
    found = answer.document
    assert (found["schema_version"], found["kind"], found["rows"], found["predicted"]) == (1, "accuracy", 6, 4)
    assert found["skipped"] == {"accelerator not known": 1, "quality: suspect": 1}
    assert set(found["overall"]) == FIGURES
    assert set(found["macro"]) == FIGURES | {"sources", "coverage_90_low_pct", "coverage_90_high_pct"}
    assert sum(part["rows"] for name, part in found["parts"].items() if name in LEFT_OPEN) == 4
    assert set(found["ranking"]) == {"gap_10_20", "gap_20_50", "gap_over_50"}
    assert set(found["regret"]) == {"median_pct", "p95_pct"}
    assert {"peak_ratio", "bandwidth_ratio", "geometric_mean_ratio", "constant_mfu"} == set(found["baselines"])
    for prediction in found["predictions"]:
        assert (
            prediction["low_90"]
            <= prediction["low_80"]
            < prediction["predicted"]
            < prediction["high_80"]
            <= prediction["high_90"]
        )
        assert prediction["group"]
    errors = [abs(prediction["predicted"] / prediction["measured"] - 1) * 100 for prediction in found["predictions"]]
    assert found["overall"]["mape_pct"] == pytest.approx(sum(errors) / len(errors), abs=1e-3)


@pytest.mark.slow
def test_a_row_s_own_speed_does_not_move_its_prediction(planner, tmp_path):
    slow = table(tmp_path / "slow.csv", llama("a", 8, 5000.0))
    fast = table(tmp_path / "fast.csv", llama("a", 8, 8000.0))
    slow_speed, other = (
        planner("accuracy", "--measurements", path, "--json").document["predictions"][0]["predicted"]
        for path in (slow, fast)
    )
    assert slow_speed == other


@pytest.mark.slow
def test_a_row_in_samples_is_predicted_in_samples(planner, tmp_path):
    path = table(tmp_path / "samples.csv", llama("a", 8, 6.8))
    text = path.read_text(encoding="utf-8").replace("tokens_per_s_per_gpu", "throughput_total")
    path.write_text(text.replace("tokens/s", "samples/s"), encoding="utf-8")
    [prediction] = planner("accuracy", "--measurements", path, "--json").document["predictions"]
    assert prediction["measured"] == pytest.approx(6.8)
    assert prediction["low_90"] < 6.8 < prediction["high_90"]


@pytest.mark.slow
def test_a_cell_that_nobody_can_read_costs_its_row_alone(planner, tmp_path):
    path = table(tmp_path / "odd.csv", llama("a", 8, 7000), llama("b", 8, 7000).replace(",32,", ",thirty,", 1),
                 llama("c", 8, 7000).replace(",1,1,", ",n/a,1,"))  # fmt: skip
    found = planner("accuracy", "--measurements", path, "--json").document
    assert (found["rows"], found["predicted"]) == (3, 2)
    assert found["skipped"] == {"a cell cannot be read": 1}


@pytest.mark.slow
def test_a_cell_that_says_that_it_says_nothing_is_an_empty_one(planner, tmp_path):
    row = llama("a", 8, 7000)
    empty, said = (
        planner("accuracy", "--measurements", table(tmp_path / name, row.replace(",a trainer,", cell)), "--json").out
        for name, cell in (("empty.csv", ",,"), ("said.csv", ",not stated,"))
    )
    assert empty == said


@pytest.mark.slow
def test_anchors_are_not_scored_and_pull_the_others(planner, tmp_path):
    slow = table(tmp_path / "slow.csv", *(llama(f"r{n}", n, 4200 - 12 * n) for n in (8, 16, 32, 64)))
    blind = planner("accuracy", "--measurements", slow, "--json").document
    seeing = planner("accuracy", "--measurements", slow, "--anchors", "1", "--json").document
    assert seeing["predicted"] == blind["predicted"] - 1
    assert {prediction["group"] for prediction in seeing["predictions"]} == {"own runs"}
    assert seeing["overall"]["mape_pct"] < blind["overall"]["mape_pct"] / 2


def test_a_row_of_ours_that_is_asked_is_left_out_of_the_fit():
    """Bundled rows, their duplicates under other names and their replicates leave the evidence."""
    from planner.speed.calibration.same_measurement import without

    evidence = text_rows()
    source = evidence[0].labels.source
    asked = [run for run in evidence if run.labels.source == source]
    left = without(evidence, asked)
    assert {run.labels.source for run in left} == {run.labels.source for run in evidence} - {source}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("id,source\n1,a\n", "the column gpu is missing", id="no accelerator column"),
        pytest.param("id,source,gpu,num_gpus\n1,a,H200,many\n", "num_gpus", id="a count in words"),
        pytest.param("id,source,gpu,num_gpus\n1,a,H200,1\n1,a,H200,2\n", "stands in line 2 already", id="an id twice"),
    ],
)
def test_a_wrong_table_names_its_fault(planner, tmp_path, text, says):
    path = tmp_path / "wrong.csv"
    path.write_text(text, encoding="utf-8")
    answer = planner("accuracy", "--measurements", path, "--json")
    assert answer.code == 2
    assert says in answer.document["error"]["message"]


@pytest.mark.slow
def test_evidence_is_checked_added_once_and_counted(planner, mine, tmp_path):
    home = tmp_path / "home"
    checked = planner("evidence", "check", mine, "--json").document
    assert (checked["rows"], checked["usable"]) == (6, 4)
    assert planner("evidence", "add", mine, "--home", home).code == 0
    assert planner("evidence", "add", mine, "--home", home).code == 0
    mine.write_text(mine.read_text().replace("a lab", "another"), encoding="utf-8")
    assert planner("evidence", "add", mine, "--home", home).code == 2
    listed = planner("evidence", "list", "--json", "--home", home).document
    assert [entry["usable"] for entry in listed["tables"] if entry["own"]] == [4]
    assert listed["counts"]["source"]["a-lab"] == 4


@pytest.mark.slow
def test_every_bundled_row_has_its_source_and_can_be_used(planner):
    for path in sorted((catalogs_dir() / "evidence").glob("*.csv")):
        rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
        assert all(row["source"] and row["source_ref"] and row["source_date"] for row in rows), path.name
        checked = planner("evidence", "check", path, "--json").document
        weak = {row["id"] for row in rows if row["quality"].startswith("weak")}
        refused = {refusal["reason"] for refusal in checked["refusals"] if refusal["id"] not in weak}
        known = ("no decoder and no encoder alone", "a mixture whose experts are not stated")
        assert all(why.startswith(known) for why in refused), path.name
        assert all(len(row["quality"]) > len("weak: ") for row in rows if row["quality"].startswith("weak")), path.name


def test_strategies_are_ranked_and_fit(planner):
    answer = planner("strategies", "llama3-8b", "--on", "aws/p5.48xlarge", "--nodes", "2", "--json")
    assert answer.code == 0
    ways = answer.document["ways"]
    speeds = [way["samples_per_s"] for way in ways]
    assert all(after < 1.05 * before for before, after in pairwise(speeds)), "the fastest first, unless it is less sure"
    assert all(
        way["hbm_gib"] <= 80 * 0.95 and 16 % (way["tensor"] * way["pipeline"] * way["context"]) == 0 for way in ways
    )
    assert {"fsdp2", "zero1"} <= {way["strategy"] for way in ways}


@pytest.mark.parametrize("width", [100, 80, 60])
def test_strategies_on_a_screen(planner, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    asked = ("strategies", "llama3-8b", "--on", "aws/p5.48xlarge", "--nodes", "2")
    lines = planner(*asked, "--format", "table").out.splitlines()
    assert len(lines) <= 30
    assert max(map(len, lines)) <= width
    assert " ".join(lines).startswith("llama3-8b on 2 nodes: AWS p5, 16x H100: ways to spread one training")
    ways = planner(*asked, "--json").document["ways"]
    best = f"{ways[0]['strategy'].upper().replace('ZERO', 'ZeRO-')}, "
    assert any(line.startswith(f"Take {best}") for line in lines)
    more = next(line for line in lines if line.startswith("and "))
    whole = planner(*asked, "--format", "table", "--all").out.splitlines()
    assert len([line for line in whole if line.endswith(" %")]) == len(ways)
    shown = len([line for line in lines if line.endswith(" %")])
    assert more == f"and {len(ways) - shown} more: --all"


def test_strategies_of_adapters_fit_where_full_training_does_not(planner):
    asked = ("strategies", "llama3-8b", "--on", "pc-rtx4090", "--seq-len", "2048", "--json")
    assert planner(*asked).code == 3
    lora = ("--method", "lora", "--lora-frozen", "nf4", "--framework", "HF Trainer")
    answer = planner(*asked, *lora)
    assert answer.code == 0
    assert all(way["hbm_gib"] <= 24 * 0.95 for way in answer.document["ways"])


@pytest.mark.parametrize(
    ("options", "message", "fix"),
    [
        pytest.param(("--lora-frozen", "nf4"), "all weights are trained", "Add --method lora", id="nothing is frozen"),
        pytest.param(("--framework", "Keras"), "no framework 'Keras'", "Measured ones: automodel", id="not measured"),
        pytest.param(("--framework", "megatro"), "no framework 'megatro'", "Did you mean megatron", id="misspelt"),
    ],
)
def test_strategies_say_what_was_wrong(planner, options, message, fix):
    answer = planner("strategies", "llama3-8b", "--on", "aws/p5.48xlarge", *options)
    assert answer.code == 2
    assert message in answer.err
    assert fix in answer.err


def test_nothing_that_fits_is_an_answer(planner):
    answer = planner("strategies", "llama3-8b", "--on", "pc-rtx3060", "--json")
    assert answer.code == 3
    assert answer.document["ways"] == []
    assert "take more or larger accelerators" in answer.document["note"]


def test_strategy_auto_takes_the_fastest(planner, changed):
    plan = changed("rtx3090_cluster", {"options.0.strategy": "auto"}, only=[0])
    answer = planner("estimate", plan, "--json")
    assert answer.code == 0
    assert any("strategy found by search" in note for option in answer.document["options"] for note in option["notes"])
