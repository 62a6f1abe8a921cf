"""Records from a trainer's files: the named network, tokens with and without padding, passes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from planner.adapters.catalog import load_catalog
from planner.errors import InputError
from planner.model.evidence.run import RunRecord
from planner.model.network.adapters import Adapters
from planner.use_cases.importing.imported_runs import records_of
from planner.use_cases.importing.run_facts import MissingFactError, Stated

CATALOG = load_catalog()
STATED = Stated(accelerator="RTX-3090", gpus=1, seq_len=1024, global_batch=8)


def one(folder: Path, stated: Stated = STATED) -> RunRecord:
    (record,) = records_of(folder, stated, CATALOG)
    return record


def factory(folder: Path, model: str, tokens: int = 4096) -> Path:
    """Write LLaMA-Factory's own log of 300 steps of 2 s with a number of tokens per step, including padding."""
    rows = [
        {"current_steps": 10 * n, "total_steps": 500, "loss": 1.5, "total_tokens": 10 * n * tokens,
         "elapsed_time": f"0:{20 * n // 60:02d}:{20 * n % 60:02d}"}
        for n in range(1, 31)
    ]  # fmt: skip
    (folder / "trainer_log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (folder / "training_args.yaml").write_text(f"model_name_or_path: {model}\nlora_rank: 8\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("said", "network"),
    [
        ("meta-llama/Meta-Llama-3-8B-Instruct", "llama3-8b"),
        ("/data/models/Meta-Llama-3-8B", "llama3-8b"),
        ("./Qwen2.5-7B-Instruct/", "qwen2.5-7b"),
        ("unsloth/Qwen2.5-7B-Instruct-bnb-4bit", "qwen2.5-7b"),
    ],
)
def test_the_network_is_the_one_that_the_trainer_was_given(tmp_path, said, network):
    record = one(factory(tmp_path, said))
    assert (record.workload, record.method) == (network, "lora")
    assert record.adapters is not None
    assert record.adapters.rank == 8


@pytest.mark.parametrize("said", ["acme/secret-7b", "/home/alice/secret", "C:\\\\models\\\\secret"])
def test_a_network_that_nobody_knows_is_asked_for(tmp_path, said):
    with pytest.raises(MissingFactError) as caught:
        one(factory(tmp_path, said))
    assert caught.value.flag == "--workload"
    assert "secret" not in caught.value.message + caught.value.fix


def test_adapters_name_the_network_that_they_belong_to(tmp_path, request):
    logs = Path(request.path).parents[1] / "adapters" / "trainer_logs" / "logs" / "hf_trainer"
    for name in ("console.log", "trainer_state.json"):
        (tmp_path / name).write_text((logs / name).read_text(encoding="utf-8"), encoding="utf-8")
    about = {"r": 16, "base_model_name_or_path": "meta-llama/Meta-Llama-3-8B"}
    (tmp_path / "adapter_config.json").write_text(json.dumps(about), encoding="utf-8")
    record = one(tmp_path)
    assert (record.workload, record.adapters and record.adapters.rank) == ("llama3-8b", 16)


def test_tokens_with_padding_among_them_tell_nothing_of_padding(tmp_path):
    """4,096 tokens in 2 s: half of what 8 samples of 1,024 have, padded to the longest of each pass."""
    record = one(factory(tmp_path, "meta-llama/Meta-Llama-3-8B"))
    assert record.throughput.value == pytest.approx(4096 / 1024 / 2.0)
    assert record.log is not None
    assert record.log.filled_share is None
    assert "padded" in " ".join(record.verdict)


def test_litgpt_s_table_needs_no_batch_as_it_counts_tokens(request):
    table = Path(request.path).parents[1] / "adapters" / "trainer_logs" / "logs" / "litgpt_csv"
    with_batch, without = (
        one(table, Stated(workload="gpt-305m", accelerator="RTX-3090", seq_len=128, global_batch=batch))
        for batch in (8, None)
    )
    # 8 samples of 128 tokens in 0.24192 s, timed_steps/litgpt.csv
    assert with_batch.throughput.value == pytest.approx(8 / 0.24192, rel=0.005)
    assert without.throughput.value == with_batch.throughput.value
    assert with_batch.step_seconds is None  # its steps are passes
    assert with_batch.log is not None
    assert with_batch.log.filled_share is None


@pytest.mark.parametrize(
    ("tokens", "batch"),
    [
        pytest.param(4096, 4, id="four samples of 1,024"),
        pytest.param(5000, None, id="no whole number of samples"),
        pytest.param(512, None, id="less than one"),
    ],
)
def test_the_batch_follows_from_the_tokens_of_a_step(tmp_path, tokens, batch):
    rows = "".join(f"{n},{2 * n},{tokens * n}\n" for n in range(30))
    (tmp_path / "log.csv").write_text("step,elapsed_s,tokens\n" + rows, encoding="utf-8")
    record = one(tmp_path / "log.csv", Stated(workload="gpt-305m", accelerator="RTX-3090", gpus=1, seq_len=1024))
    assert (record.global_batch, record.step_seconds) == (batch, 2.0 if batch else None)


TOO_MANY = 10**17


@pytest.mark.parametrize(
    ("column", "beside", "stated", "told"),
    [
        pytest.param(f"gpus,{TOO_MANY}", "{}", {"gpus": None}, "devices is over", id="a column"),
        pytest.param("loss,2", f'{{"r": {TOO_MANY}}}', {}, "lora rank is over", id="adapters beside the log"),
        pytest.param("loss,2", "{}", {"gpus": TOO_MANY}, "--gpus is over", id="a flag"),
        pytest.param("loss,2", "{}", {"lora": Adapters().model_copy(update={"rank": TOO_MANY})}, "--lora-rank is over",
                     id="a rank"),
    ],
)  # fmt: skip
def test_a_count_beyond_any_is_one_error_that_names_it(tmp_path, column, beside, stated, told):
    name, value = column.split(",")
    rows = [json.dumps({"current_steps": n, "elapsed_time": 2 * n, "loss": 1, name: int(value)}) for n in range(30)]
    (tmp_path / "trainer_log.jsonl").write_text("\n".join(rows), encoding="utf-8")
    (tmp_path / "adapter_config.json").write_text(beside, encoding="utf-8")
    with pytest.raises(InputError, match=told) as caught:
        one(tmp_path, replace(STATED, workload="gpt-305m", **stated))
    assert caught.value.fix.startswith("Correct it in")
