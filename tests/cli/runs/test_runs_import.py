"""`planner runs import`: stored once, facts asked for by their flag, hostile files refused, nothing private kept."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

LOGS = Path(__file__).parents[2] / "adapters" / "trainer_logs" / "logs"
CONFIG = {
    "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 256, "intermediate_size": 512,
    "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 2048,
    "max_position_embeddings": 512, "rms_norm_eps": 1e-6, "tie_word_embeddings": False, "hidden_act": "silu",
}  # fmt: skip
FACTS = ("--accelerator", "RTX-3090", "--gpus", "1", "--seq-len", "128")
TABLE = "step,elapsed_s,global_batch\n" + "".join(f"{n},{2 * n},16\n" for n in range(30))


def stored() -> list[dict[str, Any]]:
    folder = Path(os.environ["PLANNER_HOME"]) / "runs"
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(CONFIG), encoding="utf-8")
    return path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "log.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


def test_a_log_becomes_a_run_that_estimates_can_use(planner, config):
    answer = planner("runs", "import", LOGS / "hf_trainer", "--workload", config, *FACTS, "--packed")
    assert answer.code == 0, answer.err
    (run,) = stored()
    assert (run["workload"], run["micro_batch"], run["global_batch"], run["seq_len"]) == ("decoder-4-256", 4, 8, 128)
    assert run["log"]["framework"] == "HF Trainer"
    assert run["verdict"] == []
    # 8 samples a step; the callback timed 0.23983 s a step
    assert run["throughput"]["value"] == pytest.approx(8 / 0.23983, rel=0.005)
    assert planner("runs", "show", run["id"]).code == 0


def test_importing_again_changes_nothing(planner, config):
    call = ("runs", "import", LOGS / "hf_trainer", "--workload", config, *FACTS)
    planner(*call)
    before = stored()
    answer = planner(*call)
    assert (answer.code, stored()) == (0, before)
    assert "Known already" in answer.err


def test_a_file_of_a_folder_that_was_imported_is_no_second_run(planner, config):
    planner("runs", "import", LOGS / "hf_trainer", "--workload", config, *FACTS)
    answer = planner("runs", "import", LOGS / "hf_trainer" / "all_results.json", "--workload", config, *FACTS)
    assert (answer.code, len(stored())) == (0, 1)


def test_importing_again_with_other_facts_is_refused(planner, config, table):
    planner("runs", "import", table, "--workload", config, *FACTS)
    answer = planner("runs", "import", table, "--workload", config, *FACTS[:-1], "256")
    assert answer.code == 2
    assert "seq_len" in answer.err
    assert len(stored()) == 1


@pytest.mark.parametrize("flag", ["--workload", "--accelerator", "--gpus", "--seq-len"])
def test_a_fact_that_nobody_states_is_asked_for_by_its_flag(planner, tmp_path, table, flag):
    network = tmp_path / "sub" / "config.json"
    network.parent.mkdir()
    network.write_text(json.dumps(CONFIG), encoding="utf-8")
    given = ["--workload", str(network), *FACTS]
    place = given.index(flag)
    answer = planner("runs", "import", table, *given[:place], *given[place + 2 :])
    assert answer.code == 2
    assert f"Add {flag}" in answer.err
    assert stored() == []


def test_the_batch_is_asked_for_where_the_log_times_steps_alone(planner, tmp_path, config):
    path = tmp_path / "log.csv"
    path.write_text("step,elapsed_s\n" + "".join(f"{n},{2 * n}\n" for n in range(30)), encoding="utf-8")
    call = ("runs", "import", path, "--workload", config, *FACTS)
    answer = planner(*call)
    assert (answer.code, "Add --global-batch" in answer.err) == (2, True)
    assert planner(*call, "--global-batch", "16").code == 0
    assert stored()[0]["throughput"]["value"] == pytest.approx(8.0)


@pytest.mark.parametrize(
    ("extra", "told"),
    [
        pytest.param(("--global-batch", "32"), "--global-batch 32", id="batch"),
        pytest.param(("--micro-batch", "0"), "--micro-batch", id="nothing"),
        pytest.param(("--nodes", "2"), "do not divide", id="nodes"),
        pytest.param(("--machine", "nowhere"), "nowhere", id="machine"),
        pytest.param(("--lora-rank", "8"), "--lora-rank", id="adapters of a full training"),
    ],
)
def test_flags_that_contradict_are_refused(planner, config, table, extra, told):
    answer = planner("runs", "import", table, "--workload", config, *FACTS, *extra)
    assert answer.code == 2
    assert told in answer.err
    assert stored() == []


def test_a_doubt_is_said_and_kept(planner, config):
    answer = planner("runs", "import", LOGS / "hf_trainer" / "trainer_state.json", "--workload", config, *FACTS)
    assert "Doubtful: only totals" in answer.err
    assert "import the console's output" in stored()[0]["verdict"][0]


def test_nothing_is_stored_where_one_of_several_logs_cannot_be_read(planner, tmp_path, config, table):
    bad = tmp_path / "bad.csv"
    bad.write_text("a,b\n1,2\n", encoding="utf-8")
    answer = planner("runs", "import", table, bad, "--workload", config, *FACTS)
    assert answer.code == 2
    assert stored() == []


def hostile(kind: str, folder: Path) -> Path:
    path = folder / {"deep json": "trainer_state.json", "sparse csv": "log.csv"}.get(kind, "train.log")
    if kind.startswith("sparse"):
        with path.open("wb") as file:
            file.truncate(5_000_000_000)
    elif kind == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("../../outside.log", "0" * 10_000_000)
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.write_bytes({
            "deep json": b'{"a":' * 10_000,
            "deep list": b"[" * 100_000,
            "binary": bytes(range(256)) * 100,
            "latin": "Schritt 1: für".encode("latin-1"),
            "utf-16": "step 1".encode("utf-16"),
            "gzip": b"\x1f\x8b\x08\x00" + b"\x00" * 100,
            "tar": b"\x00" * 257 + b"ustar" + b"\x00" * 100,
            "pickle": b"\x80\x04\x95\x00",
            "empty": b"",
            "one line": b"{'loss': " * 100_000,
        }[kind])  # fmt: skip
    return path


@pytest.mark.parametrize(
    "kind",
    ["sparse log", "sparse csv", "zip", "pipe", "deep json", "deep list", "binary", "latin", "utf-16", "gzip", "tar",
     "pickle", "empty", "one line"],
)  # fmt: skip
def test_hostile_files_are_one_clear_error(planner, tmp_path, config, kind):
    (tmp_path / "hostile").mkdir()
    path = hostile(kind, tmp_path / "hostile")
    answer = planner("runs", "import", path, "--workload", config, *FACTS)
    assert answer.code == 2
    assert path.name in answer.err
    assert len(answer.err.splitlines()) <= 3
    assert stored() == []
    folder = planner("runs", "import", path.parent, "--workload", config, *FACTS)
    assert folder.code == 2
    assert stored() == []


def test_on_a_terminal_missing_facts_are_asked_for(planner, config, table, monkeypatch):
    answers = iter(["RTX-3090", 1, 128])
    monkeypatch.setattr("planner.cli.runs.import_command.may_ask", lambda: True)
    monkeypatch.setattr("typer.prompt", lambda *_, **__: next(answers))
    answer = planner("runs", "import", table, "--workload", config)
    assert answer.code == 0, answer.err
    assert stored()[0]["hardware"]["accelerator"] == "RTX-3090"
    assert stored()[0]["seq_len"] == 128


@pytest.mark.parametrize(("packed", "basis"), [(True, "measured"), (False, "modelled")])
def test_a_sound_log_answers_for_its_machine_and_a_doubtful_one_does_not(planner, tmp_path, packed, basis):
    """A Trainer of 1 s a step of 8 samples, on one RTX 3090."""
    bars = "".join(f"\r {n}%|#| {n}/100 [{n // 60:02d}:{n % 60:02d}<01:00,  1.00it/s]" for n in range(100))
    log = tmp_path / "train.log"
    log.write_text(bars + "\n{'loss': '2.5', 'epoch': '0.1'}\n", encoding="utf-8")
    facts = (
        "--accelerator",
        "RTX-3090",
        "--gpus",
        "1",
        "--seq-len",
        "512",
        "--micro-batch",
        "8",
        "--global-batch",
        "8",
    )
    imported = planner("runs", "import", log, "--workload", "gpt-305m", *facts, *(["--packed"] if packed else []))
    assert imported.code == 0, imported.err
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        "schema_version: 1\nname: n\nworkload: {ref: gpt-305m, seq_len: 512}\nwork: {samples: 8000}\n"
        "training: {micro_batch: 8}\noptions:\n  - {own: RTX-3090}\n",
        encoding="utf-8",
    )
    (option,) = planner("estimate", plan, "--json").document["options"]
    assert option["throughput"]["basis"] == basis
    if packed:
        assert option["throughput"]["value"] == pytest.approx(8.0, rel=0.005)
