"""Workloads by what people hold: a model's name or config.json, a file of ours, in commands, plans and locks."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from planner.adapters.workspace import catalogs_dir
from planner.use_cases.locks import _content_sha256
from tests.cli.refusals import one_error

QWEN = {
    "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "head_dim": 128, "hidden_size": 4096,
    "intermediate_size": 12288, "max_position_embeddings": 40960, "num_attention_heads": 32, "num_hidden_layers": 36,
    "num_key_value_heads": 8, "rms_norm_eps": 1e-06, "rope_theta": 1000000, "tie_word_embeddings": False,
    "vocab_size": 151936,
}  # fmt: skip
PARAMETERS = 8_190_735_360
"""Configuration of Qwen3-8B, as published."""
ON = ("--on", "H100-SXM", "--gpus", "8", "--strategy", "fsdp2")
PLAN: dict[str, Any] = {
    "schema_version": 1, "name": "a model of one's own", "workload": {"config": "model/config.json"},
    "work": {"tokens": 1.0e9}, "options": [{"offer": "aws/p5.48xlarge", "region": "us-east-1", "price": "on_demand"}],
}  # fmt: skip


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Write the configuration of Qwen3-8B."""
    path = tmp_path / "model" / "config.json"
    path.parent.mkdir()
    path.write_text(json.dumps(QWEN), encoding="utf-8")
    return path


@pytest.fixture
def plan(tmp_path: Path, config: Path) -> Path:
    """Write a plan beside it."""
    path = tmp_path / "plan.yaml"
    path.write_text(yaml.safe_dump(PLAN), encoding="utf-8")
    return path


def test_a_name_a_file_and_a_folder_are_one_network(planner: Any, config: Path) -> None:
    answers = [planner("memory", word, *ON, "--json") for word in ("Qwen/Qwen3-8B", config, config.parent)]
    assert [answer.code for answer in answers] == [0, 0, 0]
    documents = [answer.document | {"workload": "the same", "answer_id": "of that name"} for answer in answers]
    assert documents[0]["parameters"] == PARAMETERS
    assert documents[0] == documents[1] == documents[2]


def test_strategies_take_a_name_and_a_file(planner: Any, config: Path) -> None:
    named, read = (planner("strategies", word, "--on", "aws/p5.48xlarge", "--json") for word in ("qwen3-8b", config))
    assert named.document["ways"]
    assert named.document["ways"] == read.document["ways"]


@pytest.mark.slow
def test_find_takes_a_name_a_file_and_a_plan_with_a_file(planner: Any, plan: Path, config: Path) -> None:
    answers = [planner("find", word, "--json") for word in ("Qwen/Qwen3-8B", config, plan)]
    assert [answer.code for answer in answers] == [0, 0, 0]
    found = [
        {option["id"]: option["training_hours"]["value"] for option in answer.document["options"]} for answer in answers
    ]
    assert found[0] == found[1] == found[2]  # the samples are seeded by the network's name, so ties may end otherwise


def test_an_encoder_is_planned_and_not_benchmarked(planner: Any) -> None:
    assert planner("memory", "bert-base", "--on", "A100-80GB-SXM", "--json").document["seq_len"] == 512
    one_error(planner("bench", "bert-base"), "encoder")
    one_error(planner("memory", "bert-base", "--on", "A100-80GB-SXM", "--trace"), "encoder")


def test_a_plan_reads_the_configuration_beside_it(planner: Any, plan: Path, tmp_path: Path) -> None:
    read = planner("compare", plan, "--json")
    named = tmp_path / "named.yaml"
    named.write_text(yaml.safe_dump(PLAN | {"workload": {"ref": "Qwen/Qwen3-8B"}}), encoding="utf-8")
    known = planner("compare", named, "--json")
    assert read.code == known.code == 0
    both = [answer.document["options"][0]["usd_total"]["value"] for answer in (read, known)]
    assert both[0] == both[1] > 0
    assert planner("memory", plan, *ON, "--json").document["parameters"] == PARAMETERS


def test_a_lock_keeps_the_network_when_the_file_is_gone(planner: Any, plan: Path, config: Path) -> None:
    frozen = planner("estimate", plan, "--freeze", "--json")
    assert frozen.code == 0, frozen.err
    there = planner("compare", plan, "--locked", "--json")
    config.unlink()
    gone = planner("compare", plan, "--locked", "--json")
    assert there.code == gone.code == 0
    assert there.out == gone.out
    one_error(planner("compare", plan), "no such file")


def test_a_lock_of_a_named_network_holds_it_under_any_spelling(planner: Any, tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(yaml.safe_dump(PLAN | {"workload": {"ref": "Qwen/Qwen3-8B"}}), encoding="utf-8")
    assert planner("estimate", plan, "--freeze").code == 0
    lock = json.loads((tmp_path / "plan.lock.json").read_text(encoding="utf-8"))
    assert list(lock["catalog"]["presets"]) == ["qwen3-8b"]
    assert planner("compare", plan, "--locked").code == 0


def test_a_lock_of_sizes_without_biases_stays_valid(planner: Any, plan: Path, config: Path) -> None:
    """File that an older planner froze: the same configuration, of which the biases were not counted."""
    config.write_text(json.dumps(QWEN | {"model_type": "qwen2"}), encoding="utf-8")
    assert planner("estimate", plan, "--freeze").code == 0
    path = plan.parent / "plan.lock.json"
    lock = json.loads(path.read_text(encoding="utf-8"))
    assert lock["plan"]["workload"]["architecture"].pop("vectors") > 0
    path.write_text(json.dumps(lock | {"content_sha256": _content_sha256(lock)}), encoding="utf-8")
    locked = planner("compare", plan, "--locked")
    assert locked.code == 0, locked.err


def test_a_lock_is_refused_where_the_configuration_says_otherwise_now(planner: Any, plan: Path, config: Path) -> None:
    assert planner("estimate", plan, "--freeze").code == 0
    config.write_text(json.dumps(QWEN | {"num_hidden_layers": 30}), encoding="utf-8")
    one_error(planner("compare", plan, "--locked"), "was changed after")


@pytest.mark.parametrize("name", ["llama3-8b.yaml", "vit-b16.yaml"])
def test_a_workload_file_of_ours_is_accepted_whole(planner: Any, tmp_path: Path, plan: Path, name: str) -> None:
    path = tmp_path / name
    whole = yaml.safe_load((catalogs_dir() / "workloads" / name).read_text(encoding="utf-8"))
    of_catalog = planner("memory", whole["name"], *ON, "--json").document["total_gib"]
    for left_out in ((), ("window", "quick_window"), ("source", "as_of", "description", "schema_version")):
        kept = {key: value for key, value in whole.items() if key not in left_out}
        path.write_text(yaml.safe_dump(kept), encoding="utf-8")
        answer = planner("memory", path, *ON, "--json")
        assert answer.code == 0, answer.err
        assert answer.document["total_gib"] == of_catalog
    work = {"tokens": 1e9} if "seq_len" in whole else {"epochs": 1, "samples_per_epoch": 1e6}
    plan.write_text(yaml.safe_dump(PLAN | {"workload": {"config": name}, "work": work}), encoding="utf-8")
    answer = planner("compare", plan, "--json")
    assert answer.code == 0, answer.err


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2_000_000_000)


def _text(text: str) -> Any:
    return lambda path: path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("write", "says"),
    [
        pytest.param(_sparse, "2000.0 MB", id="2 GB"),
        pytest.param(os.mkfifo, "not an ordinary file", id="a pipe"),
        pytest.param(_text("<!DOCTYPE html><html>404</html>"), "is a web page", id="a page"),
        pytest.param(_text("version https://git-lfs.github.com/spec/v1\n"), "Git LFS", id="a pointer"),
        pytest.param(_text('{"model_type": "llama", "hidden_size": NaN}'), "must be a whole number", id="NaN"),
        pytest.param(_text('{"model_type": "mamba"}'), "state-space layers", id="another family"),
        pytest.param(_text('{"a":' * 5000), "", id="nested and cut"),
        pytest.param(_text("[" * 100_000 + "]" * 100_000), "nested too deeply", id="nested deeply"),
        pytest.param(_text("[1, 2]"), "holds a list", id="a list"),
        pytest.param(_text(""), "holds nothing", id="nothing"),
        pytest.param(_text('{"model_type": "llama"'), "ends too early", id="cut"),
    ],
)
def test_a_file_that_is_none_is_one_clear_error(planner: Any, plan: Path, config: Path, write: Any, says: str) -> None:
    config.unlink()
    write(config)
    for words in (("memory", config, *ON), ("compare", plan), ("find", config)):
        answer = planner(*words)
        one_error(answer, says, "config.json")


@pytest.mark.parametrize(
    ("workload", "says"),
    [
        pytest.param({"config": "model/config.json", "ref": "gpt-305m"}, "has ref and config", id="two networks"),
        pytest.param({"config": "nowhere.json"}, "no such file", id="no such file"),
        pytest.param({"config": "plan.yaml"}, "is a plan", id="a plan"),
        pytest.param({"config": ""}, "must not be empty", id="no name"),
    ],
)
def test_a_plan_that_names_no_network_is_refused(planner: Any, plan: Path, workload: Any, says: str) -> None:
    plan.write_text(yaml.safe_dump(PLAN | {"workload": workload}), encoding="utf-8")
    one_error(planner("compare", plan), says)


def test_of_several_networks_answers_name_what_is_left_out_and_a_plan_is_refused(
    planner: Any, plan: Path, config: Path
) -> None:
    config.write_text(json.dumps({"model_type": "qwen3_vl", "text_config": QWEN, "vision_config": {}}), "utf-8")
    document = planner("memory", config, *ON, "--json").document
    assert (document["workload"], document["parameters"]) == ("model without its vision part", PARAMETERS)
    question = ("--data", "1000x700", "--own", "8xH100-SXM", "--on", "aws/p5.48xlarge")
    assert "model without its vision part, as asked" in planner("ask", config, *question).out
    one_error(planner("compare", plan), "its vision part is not modelled", "--write plan.yaml")
    one_error(planner("find", "Qwen/Qwen2.5-VL-7B-Instruct"), "several networks in one", "config.json")
