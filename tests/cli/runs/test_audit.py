"""`planner audit`: the document, the screen, and input that says too little."""

from __future__ import annotations

import json

import pytest

from planner.adapters.workspace import catalogs_dir, examples_dir

PAIR = ("seed-004-p5e-h200", "seed-004-onprem-a100")


def test_the_document_has_the_keys_that_programs_read(planner):
    answer = planner("audit", *PAIR, "--json")
    assert answer.code == 0
    document = answer.document
    assert (document["schema_version"], document["kind"]) == (1, "audit")
    assert [run["verdict"] for run in document["runs"]] == ["doubtful", "impossible"]
    assert set(document["runs"][0]["findings"][0]) == {"code", "severity", "says", "evidence", "fix"}
    assert document["comparison"]["verdict"] == "unfair"


def test_the_screen_names_the_four_explanations(planner):
    answer = planner("audit", *PAIR)
    assert answer.code == 0
    for words in ("impossible as stated", "shorter than stated", "more accelerators", "mixture", "wrong throughput"):
        assert words in " ".join(answer.out.split())


def test_claims_are_read_from_a_file(planner):
    answer = planner("audit", "--claim", examples_dir() / "claims" / "gpu_cluster.yaml", "--json")
    assert answer.code == 0
    claims = {claim["id"]: claim for claim in answer.document["claims"]}
    assert claims["pro-6000-nvswitch"]["verdict"] == "impossible"
    assert claims["pro-6000-nvswitch"]["findings"][0]["code"] == "part_does_not_exist"


@pytest.mark.parametrize("text", ["[]", "claims: []", "주장: 없음", "source: x\nclaims: [{id: a, kind: magic}]", ""])
def test_a_file_that_holds_no_claims_is_one_error(planner, tmp_path, text):
    path = tmp_path / "claims.yaml"
    path.write_text(text, "utf-8")
    answer = planner("audit", "--claim", path)
    assert answer.code == 2
    assert "Traceback" not in answer.err


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param((), id="nothing"),
        pytest.param(("no-such-run",), id="no such run"),
        pytest.param(("--measurements", "missing.csv"), id="no such file"),
    ],
)
def test_what_cannot_be_read_is_one_error(planner, arguments):
    answer = planner("audit", *arguments)
    assert answer.code == 2
    assert "Traceback" not in answer.err


def test_a_record_full_of_nulls_is_one_error(planner, tmp_path):
    path = tmp_path / "nulls.json"
    path.write_text(json.dumps(dict.fromkeys(("schema_version", "id", "workload", "hardware", "throughput"))), "utf-8")
    answer = planner("audit", path)
    assert answer.code == 2
    assert "Traceback" not in answer.err


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        pytest.param({"hardware": None}, "hardware: ", id="no hardware"),
        pytest.param({"workload": "우리 모델"}, "workload: ", id="a name that is no id"),
        pytest.param({"throughput": {"value": -1}}, "throughput", id="a throughput below 0"),
    ],
)
def test_a_record_that_cannot_be_read_is_told_what_is_wrong_in_it(planner, tmp_path, changed, words):
    record = json.loads((catalogs_dir() / "runs" / f"{PAIR[0]}.json").read_text("utf-8"))
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({**record, **changed}), "utf-8")
    answer = planner("audit", path)
    assert answer.code == 2
    assert words in answer.err
    assert "no log" not in answer.err


TABLE = """id,source,gpu,num_gpus,n_layers,hidden,n_heads,ffn_hidden,vocab,mlp_type,seq_len,precision,\
tokens_per_s_per_gpu
sound,서울 연구소,A100-80GB-SXM,8,32,4096,32,11008,32000,swiglu,2048,bf16,3500
too-fast,서울 연구소,A100-80GB-SXM,8,32,4096,32,11008,32000,swiglu,2048,bf16,9000
no-such-card,서울 연구소,무명 GPU,8,32,4096,32,11008,32000,swiglu,2048,bf16,9000
empty,서울 연구소,A100-80GB-SXM,8,,,,,,,,,
"""


def test_every_row_of_a_table_is_a_run(planner, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text(TABLE, "utf-8")
    runs = {run["id"]: run for run in planner("audit", "--measurements", path, "--json").document["runs"]}
    # 6.74e9 parameters x 6 x 9,000 tokens/s = 360 TFLOP/s of 312
    assert {name: run["verdict"] for name, run in runs.items()} == {
        "sound": "credible", "too-fast": "impossible", "no-such-card": "undecidable", "empty": "undecidable",
    }  # fmt: skip


def test_a_row_that_cannot_be_read_is_a_finding_and_the_others_are_audited(planner, tmp_path):
    path = tmp_path / "mine.csv"
    rows = ["no-card,서울 연구소,,8,32,4096,32,11008,32000,swiglu,2048,bf16,3500"]
    rows.append("no-number,서울 연구소,A100-80GB-SXM,여덟,32,4096,32,11008,32000,swiglu,2048,bf16,3500")
    path.write_text(TABLE + "\n".join(rows), "utf-8")
    answer = planner("audit", "--measurements", path, "--json")
    assert answer.code == 0
    runs = {run["id"]: run for run in answer.document["runs"]}
    assert runs["too-fast"]["verdict"] == "impossible"
    said = {name: run["findings"][0] for name, run in runs.items() if name.startswith("row-")}
    assert {finding["code"] for finding in said.values()} == {"row_not_readable"}
    assert [":6" in said["row-1"]["says"], ":7" in said["row-2"]["says"]] == [True, True]


def test_a_number_too_small_to_divide_by_is_a_finding(planner, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text(TABLE.replace(",3500\n", ",1e-320\n"), "utf-8")
    (row,) = [run for run in planner("audit", "--measurements", path, "--json").document["runs"] if "row" in run["id"]]
    assert "tokens_per_s_per_gpu: must be at least 1e-18" in row["findings"][0]["says"]


def test_a_table_of_too_many_rows_is_one_error(planner, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text(TABLE + "".join(f"r{number},x,,,,,,,,,,,\n" for number in range(20_000)), "utf-8")
    answer = planner("audit", "--measurements", path)
    assert (answer.code, "has over 10,000 rows" in answer.err) == (2, True)


def test_a_table_most_of_which_cannot_be_read_is_one_error_with_the_first(planner, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text(TABLE + "".join(f"r{number},x,A100,many,,,,,,,,,\n" for number in range(1_001)), "utf-8")
    answer = planner("audit", "--measurements", path)
    assert answer.code == 2
    assert "over 1,000 rows cannot be read; the first: " in answer.err
    assert "'many'" in answer.err


@pytest.mark.slow
def test_the_bundled_evidence_raises_few_alarms(planner):
    known, impossible, doubtful = 0, 0, 0
    for path in sorted((catalogs_dir() / "evidence").glob("*.csv")):
        for run in planner("audit", "--measurements", path, "--json").document["runs"]:
            if any(finding["severity"] == "open" for finding in run["findings"]):
                continue
            known += 1
            impossible += run["verdict"] == "impossible"
            doubtful += run["verdict"] == "doubtful"
    assert known > 2000
    assert impossible < 0.02 * known
    assert doubtful < 0.05 * known


def test_an_impossible_run_decides_nothing_and_the_estimator_answers(planner, example):
    """The four owned nodes take by the estimator some 30 hours and 80 USD of electricity, far less than to rent."""
    document = planner("compare", example("p5e_vs_a100"), "--json").document
    owned = options_of(document)["onprem-a100-40gb:4n"]
    assert owned["throughput"]["basis"] == "modelled"
    assert "seed-004-onprem-a100" not in owned["runs"]
    assert document["recommended"] == "onprem-a100-40gb:4n"
    assert f"run {PAIR[1]} decides nothing: the audit finds it impossible: planner audit {PAIR[1]}" in document["notes"]


def stored(tmp_path, name, *, times=1.0, **changed):
    """Keep a run of the documents as one's own, without what the documents' reader wrote about it."""
    record = json.loads((catalogs_dir() / "runs" / f"{name}.json").read_text("utf-8"))
    record.update({"id": "mine", "verdict": [], "samples": None, "wall_seconds": None, **changed})
    record["throughput"].update({key: record["throughput"][key] * times for key in ("value", "low", "high")})
    runs = tmp_path / "home" / "runs"
    runs.mkdir(parents=True)
    (runs / "mine.json").write_text(json.dumps(record), "utf-8")
    return tmp_path / "home"


def options_of(document):
    return {option["id"]: option for option in document["options"]}


def test_a_run_of_ones_own_that_the_audit_doubts_decides_nothing(planner, example, tmp_path):
    plan = tmp_path / "plan.yaml"
    text = example("p5e_vs_a100").read_text("utf-8")
    plan.write_text(text.replace(f"{{measured: {PAIR[0]}}}", "{measured: mine}"), "utf-8")
    home = stored(tmp_path, PAIR[0], note=None, seq_len=2048, times=4.2)  # 65 % of the peak; the best published 63 %
    document = planner("compare", plan, "--home", home, "--json").document
    assert all("mine" not in option["runs"] for option in document["options"])
    assert "run mine decides nothing: the audit finds it doubtful: planner audit mine" in document["notes"]


def test_where_a_sound_run_answers_an_impossible_one_does_not(planner, example, tmp_path):
    home = stored(tmp_path, PAIR[1], times=0.5, note=None)
    document = planner("compare", example("p5e_vs_a100"), "--home", home, "--json").document
    owned = options_of(document)["onprem-a100-40gb:4n"]
    assert (owned["runs"], owned["throughput"]["basis"]) == (["mine"], "measured")


def test_an_impossible_run_corrects_no_estimate(planner, example, tmp_path):
    plan = tmp_path / "plan.yaml"
    text = example("p5e_vs_a100").read_text("utf-8")
    plan.write_text(text.replace("micro_batch: 4", "micro_batch: 2"), "utf-8")  # which was not measured
    home = stored(tmp_path, PAIR[1], note=None)
    for told in ((), ("--home", home)):
        option = options_of(planner("compare", plan, *told, "--json").document)["onprem-a100-40gb:4n"]
        assert "mine" not in option["runs"]


def test_an_accelerator_may_be_spelled_with_spaces(planner, tmp_path):
    record = json.loads((catalogs_dir() / "runs" / f"{PAIR[0]}.json").read_text("utf-8"))
    record["hardware"]["accelerator"] = "NVIDIA H200 (141 GB)"
    path = tmp_path / "run.json"
    path.write_text(json.dumps(record), "utf-8")
    (run,) = planner("audit", path, "--json").document["runs"]
    assert "accelerator_not_known" not in {finding["code"] for finding in run["findings"]}


CLAIMS = """source: 어느 보고서
claims:
- {id: 하나, kind: hardware, accelerator: H100, figure: fp16, amount: "1,979 TFLOPS", quote: "H100은 1,979 TFLOPS"}
- {id: 2, kind: magic}
- {id: none, kind: hardware, accelerator: H100, figure: fp16, amount: null}
- null
"""


def test_a_claim_that_cannot_be_read_is_a_finding_and_the_others_are_audited(planner, tmp_path):
    path = tmp_path / "claims.yaml"
    path.write_text(CLAIMS, "utf-8")
    answer = planner("audit", "--claim", path, "--json")
    assert answer.code == 0
    claims = {claim["id"]: claim for claim in answer.document["claims"]}
    assert claims["하나"]["verdict"] == "impossible"
    unreadable = [claims[name]["findings"][0] for name in ("2", "none", "claim-4")]
    assert {finding["code"] for finding in unreadable} == {"row_not_readable"}
    assert [f":{line}:" in finding["says"] for line, finding in zip((4, 5, 6), unreadable, strict=True)] == [True] * 3


def test_a_claim_is_shown_with_both_numbers_and_the_dated_source(planner, tmp_path):
    path = tmp_path / "claims.yaml"
    path.write_text(CLAIMS, "utf-8")
    shown = " ".join(planner("audit", "--claim", path).out.split())
    assert "1,979 TFLOP/s has sparsity or narrower sums; H100-SXM has 989.4 dense fp16" in shown
    assert "By NVIDIA H100 data sheet (2026-11-20)." in shown


@pytest.mark.slow
@pytest.mark.parametrize(
    ("times", "basis"), [pytest.param(1.0, "measured", id="sound"), pytest.param(50.0, "modelled", id="impossible")]
)
def test_ask_hears_the_audit_too(planner, tmp_path, times, basis):
    """One node of the owned A100s at 20 samples/s, as a run of one's own; 50 times that is over the peak."""
    node = {"accelerator": "A100-40GB-SXM", "node": "onprem-a100-40gb-x8", "nodes": 1, "accelerators_per_node": 8}
    rate = 20.0 * times
    home = stored(
        tmp_path, PAIR[1], note=None, hardware=node, precision="bf16", global_batch=None, step_seconds=None,
        seq_len=4096, times=rate / 359.184,
    )  # fmt: skip
    asked = ("qwen3-0.6b", "--own", "onprem-a100-40gb", "--tokens", "1e9", "--seq-len", "4096", "--home", home)
    document = planner("ask", *asked, "--write", tmp_path / "ask.yaml", "--json").document
    owned = next(option for option in document["options"] if option["id"].startswith("onprem"))
    assert owned["throughput"]["basis"] == basis
