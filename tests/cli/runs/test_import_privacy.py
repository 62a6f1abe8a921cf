"""Nothing of a log but figures and choices is stored: secrets planted in every format stay out of record and screen."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from planner.adapters.catalog import load_catalog
from planner.use_cases.importing.imported_runs import records_of
from planner.use_cases.importing.run_facts import MissingFactError, Stated
from tests.adapters.trainer_logs.pasted_lines import CASES

LOGS = Path(__file__).parents[2] / "adapters" / "trainer_logs" / "logs"
PLANTED = {
    "host": "gpu-node-17.secret.example",
    "user": "alice.wonder",
    "path": "/home/alice.wonder/projects/merger-with-acme",
    "key": "hf_PlantedPlantedPlantedPlanted123456",
    "api": "sk-planted0123456789planted0123456789",
    "address": "https://wandb.ai/acme-secret/merger/runs/3x4mpl3",
    "ip": "10.20.30.40",
}
CATALOG = load_catalog()
NOISE = "".join(f"[rank0] {name}={value} {value}: loading\n" for name, value in PLANTED.items())
CONFIG = {
    "model_type": "llama", "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 4,
    "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 2048, "max_position_embeddings": 512,
    "rms_norm_eps": 1e-6, "tie_word_embeddings": False, "hidden_act": "silu",
}  # fmt: skip
FLAGS = {
    "lightning": ("--seq-len", "128", "--global-batch", "64"),
    "nanogpt": ("--seq-len", "512"),
    "composer": ("--seq-len", "128"),
    "torchtune": ("--seq-len", "128"),
    "wandb": ("--seq-len", "128", "--global-batch", "8"),
    "litgpt": ("--seq-len", "128", "--global-batch", "8"),
    "torchtitan": (), "megatron": (), "mlflow": (),
}  # fmt: skip


def planted(name: str, folder: Path) -> Path:
    """Copy a log with the secrets in and around it, in a folder and a network that are named by them."""
    place = folder / PLANTED["user"] / name
    shutil.copytree(LOGS / name, place)
    for path in place.rglob("*"):
        if path.suffix in (".log", ".txt"):
            text = path.read_text(encoding="utf-8")
            path.write_text(NOISE + text + NOISE, encoding="utf-8")
        elif path.name == "trainer_state.json":
            data = json.loads(path.read_text(encoding="utf-8"))
            path.write_text(json.dumps({"trial_name": PLANTED["path"], "trial_params": PLANTED} | data))
        elif path.suffix == ".csv":
            head, _, rest = path.read_text(encoding="utf-8").partition("\n")
            cells = "".join(f"{row},{PLANTED['key']}\n" for row in rest.splitlines())
            path.write_text(f"{head},{PLANTED['host']}\n{cells}", encoding="utf-8")
        elif path.name == "history.jsonl":
            rows = [json.loads(line) | PLANTED for line in path.read_text(encoding="utf-8").splitlines()]
            path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (place / "wandb-metadata.json").write_text(json.dumps(PLANTED | {"username": PLANTED["user"]}), encoding="utf-8")
    if (place / "params").is_dir():
        (place / "params" / "model_name_or_path").write_text(PLANTED["path"], encoding="utf-8")
        (place / "meta.yaml").write_text(f"user_id: {PLANTED['user']}\n", encoding="utf-8")
    network = folder / "merger-with-acme" / "config.json"
    network.parent.mkdir(exist_ok=True)
    network.write_text(json.dumps(CONFIG | {"_name_or_path": PLANTED["path"]}), encoding="utf-8")
    return place


@pytest.mark.parametrize("name", sorted(path.name for path in LOGS.iterdir()))
def test_nothing_private_is_stored_or_shown(planner, tmp_path, name):
    place = planted(name, tmp_path)
    network = tmp_path / "merger-with-acme" / "config.json"
    gpus = "2" if name == "megatron" else "1"
    facts = ("--accelerator", "RTX-3090", "--gpus", gpus, *FLAGS.get(name, ("--seq-len", "128")))
    answer = planner("runs", "import", place, "--workload", network, *facts)
    assert answer.code == 0, answer.err
    home = Path(os.environ["PLANNER_HOME"])
    (record,) = (home / "runs").glob("*.json")
    kept = record.read_text(encoding="utf-8") + record.name
    found = [what for what, value in PLANTED.items() if value in kept or value in answer.out + answer.err]
    assert found == []
    assert "merger" not in kept
    assert str(tmp_path) not in kept


STATED = Stated(workload="gpt-305m", accelerator="A100-80GB-SXM", seq_len=1024, global_batch=None)


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_nothing_private_is_in_the_record_of_pasted_lines(tmp_path, case):
    """Secrets before, among and behind the lines, in the names of file and folder, and in an archive's."""
    _, text, _, _, _, facts = case
    folder = tmp_path / PLANTED["user"]
    folder.mkdir()
    noise = NOISE if "\r" not in text else NOISE.replace("\n", "\r")
    lines = text.splitlines(keepends=True)
    place = max(1, len(lines) // 2)
    (folder / "merger-with-acme.log").write_text(
        noise + "".join(lines[:place]) + noise + "".join(lines[place:]) + "\n" + noise, encoding="utf-8"
    )
    archive = shutil.make_archive(str(tmp_path / "merger-with-acme"), "zip", folder)
    stated = replace(
        STATED,
        gpus=None if facts.get("devices") else 8,
        accelerator=None if facts.get("accelerator") else STATED.accelerator,
        seq_len=facts.get("seq_len") or STATED.seq_len,
        global_batch=facts.get("global_batch") or STATED.global_batch,
    )
    for path in (folder / "merger-with-acme.log", Path(archive)):
        try:
            (record,) = records_of(path, stated, CATALOG)
        except MissingFactError:  # the log has no batch
            (record,) = records_of(path, replace(stated, global_batch=512), CATALOG)
        kept = record.model_dump_json()
        assert [what for what, value in PLANTED.items() if value in kept] == []
        assert "merger" not in kept
        assert str(tmp_path) not in kept
