"""`strategy: auto`: the fastest way that fits, divided where nothing else fits, or a trainer gains by it."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
import yaml

from planner.model.network.workload import Split, Strategy
from planner.scenario.trainer_abilities import is_run_by, trainers_of

MIXTURE = {"ref": "qwen3-30b-a3b", "seq_len": 4096}
LLAMA_8B = {"ref": "llama3-8b", "seq_len": 4096}
LLAMA_13B = {"ref": "llama-2-13b", "seq_len": 2048}
MEGATRON = {"framework": "Megatron-LM"}
LLAMA_70B = {
    "architecture": {
        "kind": "decoder", "layers": 80, "hidden": 8192, "heads": 64, "kv_heads": 8, "head_dim": 128,
        "ffn_hidden": 28672, "mlp": "swiglu", "norm": "rmsnorm", "positions": "rope", "max_positions": 32768,
        "vocab": 128256, "tied_head": False,
    },
    "seq_len": 32768,
}  # fmt: skip


@pytest.fixture
def plan_of(tmp_path: Path):
    def write(workload: dict[str, Any], option: dict[str, Any], training: dict[str, Any] | None = None) -> Path:
        path = tmp_path / "plan.yaml"
        plan = {
            "schema_version": 1, "name": "auto", "workload": workload, "work": {"tokens": 1e9},
            "training": {"precision": "bf16", "strategy": "auto"} | (training or {}), "options": [option],
        }  # fmt: skip
        path.write_text(yaml.safe_dump(plan), encoding="utf-8")
        return path

    return write


def test_a_mixture_is_spread_by_its_experts_where_that_is_faster(planner, plan_of) -> None:
    """135 GiB of ZeRO-1's states fit no H100; sharded, all experts are gathered for every micro-batch."""
    plan = plan_of(MIXTURE, {"offer": "aws/p5.48xlarge"}, MEGATRON | {"global_batch": 256})
    [option] = planner("estimate", plan, "--json").document["options"]
    assert option["fits"]
    assert option["split"]["experts"] > 1
    assert any(note.startswith("divided (") and "experts" in note for note in option["notes"])
    asked = ("--on", "aws/p5.48xlarge", "--seq-len", "4096", "--framework", MEGATRON["framework"])
    best = planner("strategies", "qwen3-30b-a3b", *asked, "--global-batch", "256", "--json").document
    first = best["ways"][0]
    assert (option["strategy"], option["split"]["experts"]) == (first["strategy"], first["experts"])


def test_the_alternatives_stand_beside_it(planner, plan_of) -> None:
    plan = plan_of(MIXTURE, {"offer": "aws/p5.48xlarge"}, MEGATRON | {"global_batch": 256})
    [option] = planner("estimate", plan, "--json").document["options"]
    [found] = [note for note in option["notes"] if note.startswith("strategy found by search")]
    assert found.split(": ", 1)[1].startswith("ddp none, fsdp2 ")
    assert "experts" in found


def test_without_a_framework_it_is_the_best_way_of_the_trainers_that_a_plan_may_mean(planner, plan_of) -> None:
    """Fully sharded over a host's memory, 13 billion parameters cross it three times a step; tensor slices do not."""
    plan = plan_of(LLAMA_13B, {"own": "RTX-5090", "count": 8})
    [option] = planner("estimate", plan, "--json").document["options"]
    machine = ("--on", "8xRTX-5090", "--seq-len", "2048")
    best = planner("strategies", "llama-2-13b", *machine, "--json").document["ways"][0]
    assert (option["strategy"], option["split"]["tensor"]) == (best["strategy"], best["tensor"])
    assert best["tensor"] > 1
    assert option["trainers"], "it is named what runs it"
    assert option["whole_hours"]["value"] > 1.05 * option["training_hours"]["value"], "beside what any trainer runs"
    assert any(note.startswith("layout: ") and option["trainers"][0] in note for note in option["notes"])


@pytest.mark.parametrize(
    ("strategy", "split", "trainers"),
    [
        pytest.param("fsdp2", {}, {"FSDP", "torchtitan"}, id="sharded by PyTorch"),
        pytest.param("zero3", {}, {"DeepSpeed"}, id="by DeepSpeed"),
        pytest.param("zero3", {"tensor": 2}, set(), id="whose engine has no tensor slices of its own"),
        pytest.param("fsdp2", {"tensor": 2}, {"torchtitan"}, id="slices of sharded weights"),
        pytest.param("zero1", {"tensor": 2, "pipeline": 2}, {"Megatron-LM"}, id="Megatron's distributed optimizer"),
        pytest.param("ddp", {"pipeline": 2}, {"DeepSpeed", "torchtitan", "Megatron-LM"}, id="stages"),
    ],
)
def test_a_way_counts_where_one_of_the_usual_trainers_runs_it(strategy, split, trainers) -> None:
    assert set(trainers_of(Strategy(strategy), Split(**split))) == trainers
    assert is_run_by(None, Strategy(strategy), Split(**split)) is bool(trainers)


@pytest.mark.parametrize("framework", ["NeMo", "torchtitan"])
def test_a_named_framework_takes_the_way_that_strategies_finds(planner, plan_of, framework) -> None:
    """A step has as many micro-batches as there: with one for each stage no pipeline would ever be filled."""
    machines = {"offer": "aws/p5.48xlarge", "nodes": 8}
    plan = plan_of({"ref": "llama3-70b", "seq_len": 4096}, machines, {"framework": framework})
    [option] = planner("estimate", plan, "--json").document["options"]
    asked = ("--on", "aws/p5.48xlarge", "--nodes", "8", "--seq-len", "4096", "--framework", framework, "--json")
    first = planner("strategies", "llama3-70b", *asked).document["ways"][0]
    degrees = ("tensor", "pipeline", "context", "experts")
    assert option["strategy"] == first["strategy"]
    split = option["split"] or dict.fromkeys(degrees, 1)
    assert tuple(split[name] for name in degrees) == tuple(first[name] for name in degrees)


@pytest.mark.parametrize("training", [{}, {"strategy": "fsdp2"}, {"framework": "Megatron-LM"}], ids=str)
@pytest.mark.parametrize("nodes", [pytest.param(1, marks=pytest.mark.slow), 2, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("workload", [{"ref": "mixtral-8x7b", "seq_len": 4096}, LLAMA_8B], ids=["mixture", "dense"])
def test_more_memory_never_makes_it_slower(planner, plan_of, workload, nodes, training) -> None:
    """An H200 is an H100 with 141 GB at 4.8 TB/s in place of 80 GB at 3.35; both have NVSwitch and 3,200 Gbit/s."""
    rates = []
    for machine in ("aws/p5.48xlarge", "aws/p5en.48xlarge"):
        plan = plan_of(workload, {"offer": machine, "nodes": nodes}, training)
        [option] = planner("estimate", plan, "--json").document["options"]
        rates.append(option["throughput"]["value"] if option["throughput"] else 0.0)
    assert 0 < rates[1] >= rates[0]


def test_what_fits_no_other_way_is_divided(planner, plan_of) -> None:
    """70.6 billion parameters on 32 H100: 33 GiB of states and 47 of logits (12 x 32,768 x 128,256 bytes) of 80."""
    machines = {"offer": "aws/p5.48xlarge", "nodes": 4}
    [whole] = planner("estimate", plan_of(LLAMA_70B, machines | {"strategy": "fsdp2"}), "--json").document["options"]
    [option] = planner("estimate", plan_of(LLAMA_70B, machines), "--json").document["options"]
    assert whole["why_not"].startswith("does not fit: fsdp2")
    assert option["fits"]
    assert option["split"]["context"] > 1, "which divides the logits"
    assert option["throughput"]["basis"] == "modelled"


@pytest.mark.slow
@pytest.mark.parametrize("global_batch", [None, 200])
@pytest.mark.parametrize("workload", [MIXTURE, LLAMA_8B], ids=["mixture", "dense"])
def test_a_divided_way_is_clearly_faster_than_any_undivided_one(planner, plan_of, workload, global_batch) -> None:
    """Also where the batch does not divide evenly, which the search leaves out and the answer does not."""
    training = MEGATRON if global_batch is None else MEGATRON | {"global_batch": global_batch}
    for nodes in (1, 2, 4):
        machines = {"offer": "aws/p5.48xlarge", "nodes": nodes}
        [auto] = planner("estimate", plan_of(workload, machines, training), "--json").document["options"]
        rates = []
        for strategy in ("ddp", "fsdp2", "zero1", "zero2"):
            plan = plan_of(workload, machines, training | {"strategy": strategy})
            [option] = planner("estimate", plan, "--json").document["options"]
            rates += [option["throughput"]["value"]] if option["throughput"] else []
        rate = auto["throughput"]["value"]
        if auto["split"] is None:
            assert rate >= max(rates) / 1.05, "plainer ones come first that are not told apart"
        else:
            assert rate > 1.05 * max(rates, default=0.0)


def test_where_nothing_fits_the_way_that_needs_least_says_how_much(planner, plan_of) -> None:
    """30.5 billion x 16 / 8 bytes are 57 GiB of states alone."""
    [option] = planner("estimate", plan_of(MIXTURE, {"offer": "aws/p4d.24xlarge"}), "--json").document["options"]
    assert not option["fits"]
    assert option["split"] is None
    assert option["why_not"].startswith("does not fit: fsdp2 needs about")
    assert "states 56.9" in option["why_not"]
    assert option["why_not"].endswith("; no way to divide it fits either")


def test_a_plan_s_own_micro_batch_and_checkpointing_are_kept(planner, plan_of) -> None:
    plan = plan_of(
        MIXTURE,
        {"offer": "aws/p5.48xlarge"},
        MEGATRON | {"micro_batch": 2, "checkpointing": "full", "global_batch": 64},
    )
    [option] = planner("estimate", plan, "--json").document["options"]
    assert (option["micro_batch"], option["checkpointing"]) == (2, "full")
    assert option["split"]["experts"] > 1
    replicas = 8 // (option["split"]["tensor"] * option["split"]["pipeline"] * option["split"]["context"])
    assert any(f"{64 // replicas // 2} micro-batches a step" in note for note in option["notes"])


@pytest.mark.usefixtures("owner")
def test_a_way_that_was_measured_stands(planner, changed) -> None:
    plan = changed("rtx3090_cluster", {"options.0.strategy": "auto"}, only=[0])
    [option] = planner("estimate", plan, "--json").document["options"][:1]
    assert option["throughput"]["basis"] == "measured"
    assert option["split"] is None


def test_the_table_for_finance_says_how_it_is_divided(planner, plan_of, tmp_path: Path) -> None:
    target = tmp_path / "report.csv"
    plan = plan_of(MIXTURE, {"offer": "aws/p5.48xlarge"}, MEGATRON)
    assert planner("report", plan, "--out", target).code == 0
    [row] = csv.DictReader(target.read_text(encoding="utf-8").splitlines())
    assert "experts " in row["split"]
