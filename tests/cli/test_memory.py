"""`planner memory`, as a person would call it."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from planner.adapters.workspace import catalogs_dir

PARTS = ("states_gib", "activations_gib", "logits_gib", "buffers_gib")
LLAMA = ("memory", "llama3-8b", "--on", "H100-SXM", "--gpus", "8", "--strategy", "fsdp2")
QUANTITY = {"value", "low", "high", "unit", "basis", "source", "as_of"}


def test_the_document(planner: Any) -> None:
    answer = planner(*LLAMA, "--micro-batch", "2", "--checkpointing", "selective", "--json")
    document = answer.document
    assert answer.code == 0
    assert (document["schema_version"], document["kind"]) == (1, "memory")
    assert set(document["total_gib"]) == QUANTITY
    assert document["total_gib"]["unit"] == "GiB"
    assert document["total_gib"]["basis"] == "modelled"
    assert document["total_gib"]["value"] == pytest.approx(sum(document[part]["value"] for part in PARTS))
    assert document["states_gib"]["value"] == pytest.approx(12 * 8_030_261_248 / 8 / 2**30), "no gradients at the loss"
    assert document["fullest_at"] == "loss"
    assert document["hbm_gib"]["value"] == 79.19  # as torch shows it
    assert document["unstated"] == ["loss", "kernels", "fused_step"]
    assert 0.2 < document["chance"] < 0.9  # torchtitan reserved 77.0 and 82.4 GiB with an eager loss, 48 with another
    assert document["remedies"][0]["option"] == "--loss chunked"
    assert document["largest_micro_batch"] == 2
    assert [way["checkpointing"] for way in document["ways"]] == ["none", "selective", "full"]


def test_states_and_activations_can_be_recomputed_from_their_sources(planner: Any) -> None:
    """Llama 3 8B, by hand: hidden and q 4,096, kv 1,024, MLP 14,336, 32 heads, 32 layers; bf16, no autocast.

    Kept, selective: input 2 x 4,096, attention's output 2 x 4,096 + 4 x 32, and of the products query, value, up and
    down 2 x (4,096 + 1,024 + 14,336 + 4,096): 8,192 + 8,320 + 47,104 = 63,616 = 15.5 x 4,096 + 128.
    With fused kernels and a loss in pieces the layer that is computed again counts, written out: norms
    (2 x 8 + 2 x 2) x 4,096
    = 81,920; attention 2 x (4,096 + 2 x 1,024 + 2 x 4,096) + 128 = 28,800; MLP 2 x 4 x 14,336 = 114,688: 225,408,
    and a twentieth of it for gradients.
    """
    settings = ("--loss", "chunked", "--kernels", "fused")
    document = planner(*LLAMA, "--checkpointing", "selective", *settings, "--json").document
    states, activations = document["states_gib"], document["activations_gib"]
    assert states["source"].startswith("(weights 4 / 8 + moments 8 / 8) = 1.5 bytes x 8,030,261,248 parameters")
    assert states["value"] == pytest.approx(1.5 * 8_030_261_248 / 2**30)
    layers = "8,192 tokens x (32 layers x 63,616 bytes kept + 1 layer x 236,678.4 bytes)"
    assert activations["source"].startswith(layers)
    assert activations["value"] == pytest.approx(8_192 * (32 * 63_616 + 236_678.4) / 2**30)


def test_tensor_and_pipeline_divide_states_and_activations(planner: Any) -> None:
    """Llama 3 70B in fp32 states of 16 bytes: 70,553,706,496 x 16 / (4 stages x 4 slices) = 65.7 GiB on each device.

    Of 80 layers a stage of four has 20, each keeps its input of 2 x 8,192 bytes, and four micro-batches are in flight:
    4,096 tokens x 80 x 16,384 x 20/80 x 4 / 4 slices = 1.25 GiB.
    """
    asked = ("memory", "llama3-70b", "--on", "H100-SXM", "--strategy", "zero1", "--seq-len", "4096", "--json")
    divided = ("--gpus", "16", "--tensor", "4", "--pipeline", "4", "--checkpointing", "full")
    document = planner(*asked, *divided).document
    assert document["split"] == "tensor 4, pipeline 4"
    assert document["states_gib"]["value"] == pytest.approx(70_553_706_496 * 16 / 16 / 2**30)
    assert document["activations_gib"]["value"] == pytest.approx(4096 * 80 * 16384 / 4 / 2**30)
    context = planner(*asked, "--gpus", "32", *divided[2:], "--context", "2").document
    assert context["activations_gib"]["value"] == pytest.approx(document["activations_gib"]["value"] / 2)


def test_memory_and_strategies_agree_on_a_divided_network(planner: Any) -> None:
    framework = ("--framework", "Megatron-LM")
    machine = ("--on", "4x8xH100-SXM", "--network-gbit-per-s", "3200", "--global-batch", "256", *framework)
    ways = planner("strategies", "llama3-70b", *machine, "--json").document["ways"]
    divided = [way for way in ways if way["pipeline"] > 1 and way["experts"] == 1][:3]
    assert divided
    for way in divided:
        split = [f"--{name}={way[name]}" for name in ("tensor", "pipeline", "context")]
        how = (f"--strategy={way['strategy']}", f"--checkpointing={way['checkpointing']}")
        batch = f"--micro-batch={way['micro_batch']}"
        asked = ("memory", "llama3-70b", "--on", "4x8xH100-SXM", *framework, *split, *how, batch, "--json")
        assert planner(*asked).document["total_gib"]["value"] == pytest.approx(way["hbm_gib"], abs=0.06)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        pytest.param(("llama3-70b", "--gpus", "12", "--tensor", "8"), "Write --gpus 16", id="no multiple"),
        pytest.param(("llama3-70b", "--gpus", "16", "--tensor", "16"), "8 key-value heads", id="heads"),
        pytest.param(("llama3-70b", "--gpus", "81", "--pipeline", "81"), "80 layers", id="layers"),
        pytest.param(("resnet50", "--gpus", "8", "--tensor", "8"), "is not divided", id="images"),
        pytest.param(("llama3-70b", "--gpus", "8", "--tensor", "0"), "--tensor is 0", id="none"),
    ],
)
def test_a_split_that_is_not_possible_is_refused(planner: Any, options: tuple[str, ...], told: str) -> None:
    answer = planner("memory", *options, "--on", "H100-SXM")
    assert (answer.code, answer.out) == (2, "")
    assert told in answer.err


@pytest.mark.parametrize(
    ("strategy", "said"),
    [
        ("ddp", "(weights 4 + gradients 4 + moments 8) = 16 bytes x "),
        ("zero1", "(weights 2 + moments 12 / 8) = 3.5 bytes x "),
        ("zero3", "(weights 2 / 8 + moments 12 / 8) = 1.75 bytes x "),
    ],
)
def test_states_are_said_to_be_shared_out_as_they_are(planner: Any, strategy: str, said: str) -> None:
    answer = planner("memory", "llama3-8b", "--on", "H100-SXM", "--gpus", "8", "--strategy", strategy, "--json")
    assert answer.document["states_gib"]["source"].startswith(said)


def test_only_as_much_checkpointing_as_it_needs(planner: Any) -> None:
    small = planner("memory", "gpt-305m", "--on", "H200-SXM", "--json").document
    assert (small["checkpointing"], small["fits"], small["notes"]) == ("none", "yes", [])
    large = planner(*LLAMA, "--micro-batch", "2", "--json").document
    assert large["checkpointing"] == "full"  # selective would fit with 84 %
    assert "without checkpointing it would need" in large["notes"][0]


def test_a_resnet_is_offered_what_the_benchmark_would_run(planner: Any) -> None:
    document = planner("memory", "resnet50", "--on", "V100-SXM2-16GB", "--micro-batch", "1024", "--json").document
    assert [way["checkpointing"] for way in document["ways"]] == ["none", "full"]
    assert document["checkpointing"] == "full"


def test_what_does_not_fit_says_what_would(planner: Any) -> None:
    """The support case: batch 4 x 4,096 on cards of 40 GiB under ZeRO-2."""
    answer = planner(
        "memory", "qwen3-0.6b", "--on", "A100-40GB-SXM", "--gpus", "32", "--strategy", "zero2", "--micro-batch", "4",
        "--checkpointing", "none", "--json",
    )  # fmt: skip
    assert answer.code == 0
    assert answer.document["fits"] == "no"
    assert answer.document["largest_micro_batch"] < 4
    assert "with full checkpointing" in answer.document["notes"][0]


def test_flags_reach_the_formulas(planner: Any) -> None:
    def total(*more: str) -> float:
        document = planner(*LLAMA, "--checkpointing", "selective", "--json", *more).document
        return float(document["total_gib"]["value"])

    usual = total()
    assert total("--loss", "fused") < usual
    assert total("--seq-len", "4096") < usual < total("--micro-batch", "2")
    assert total("--precision", "fp32") > usual
    assert total("--weights", "16bit") < usual
    assert total("--optimizer", "adamw-8bit") < usual > total("--offload", "optimizer")
    assert total("--kernels", "fused", "--checkpointing", "none") < total("--checkpointing", "none")
    assert total("--checkpointing", "none") > usual > total("--checkpointing", "full")


def architecture(**more: Any) -> dict[str, Any]:
    preset = yaml.safe_load((catalogs_dir() / "workloads" / "gpt-305m.yaml").read_text(encoding="utf-8"))
    return {"architecture": preset["architecture"], "seq_len": 512, **more}


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(architecture(micro_batch=4), id="an architecture with seq_len"),
        pytest.param(architecture()["architecture"] | {"seq_len": 512, "micro_batch": 4}, id="its keys at the top"),
        pytest.param(
            yaml.safe_load((catalogs_dir() / "workloads" / "gpt-305m.yaml").read_text(encoding="utf-8")),
            id="a preset's file",
        ),
        pytest.param(
            {
                "schema_version": 1,
                "name": "mine",
                "workload": architecture(),
                "work": {"tokens": 1e9},
                "training": {"micro_batch": 4, "precision": "bf16"},
                "options": [{"offer": "aws/p5.48xlarge"}],
            },
            id="a plan with its architecture",
        ),
        pytest.param(
            {
                "schema_version": 1,
                "name": "mine",
                "workload": {"ref": "gpt-305m"},
                "work": {"tokens": 1e9},
                "training": {"micro_batch": 4, "precision": "bf16"},
                "options": [{"offer": "aws/p5.48xlarge"}],
            },
            id="a plan with a preset",
        ),
    ],
)
def test_a_file_stands_for_a_preset(planner: Any, tmp_path: Path, content: dict[str, Any]) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    of_file = planner("memory", path, "--on", "A100-40GB-SXM", "--json").document
    of_preset = planner("memory", "gpt-305m", "--on", "A100-40GB-SXM", "--json").document
    assert of_file["total_gib"] == of_preset["total_gib"]


def test_the_name_that_a_driver_reports_will_do(planner: Any) -> None:
    assert planner("memory", "gpt-305m", "--on", "NVIDIA H200", "--json").document["accelerator"] == "H200-SXM"


def test_tab_separated_values_are_the_parts_alone(planner: Any) -> None:
    answer = planner(*LLAMA, "--micro-batch", "2", "--format", "tsv")
    parts = [line.split("\t")[0] for line in answer.out.splitlines()]
    assert parts == ["part", "states", "activations", "logits", "buffers", "total", "device"]
    assert answer.err == ""


@pytest.mark.parametrize("width", [100, 80, 60])
def test_the_screen_says_what_to_do(planner: Any, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    answer = planner(*LLAMA, "--micro-batch", "2", "--format", "table")
    lines = answer.out.splitlines()
    assert answer.err == ""
    assert len(lines) <= 30
    assert max(map(len, lines)) <= width
    assert "with full checkpointing, " in " ".join(" ".join(lines).split())
    ways = [line.split()[0] for line in lines if line.split()[:1] in (["none"], ["selective"], ["full"])]
    assert ways == ["none", "selective", "full"]
    tight = planner(*LLAMA, "--micro-batch", "2", "--checkpointing", "selective", "--format", "table")
    assert "a chunked loss" in tight.out
    assert "bytes x 8,030,261,248 parameters" not in answer.out
    whole = planner(*LLAMA, "--micro-batch", "2", "--format", "table", "--details").out
    assert "bytes x 8,030,261,248 parameters" in " ".join(whole.split())


@pytest.mark.parametrize(
    ("gpus", "start"),
    [
        pytest.param("8", "Fits with selective checkpointing, over 99 %: ", id="it fits"),
        pytest.param("2", "Does not fit with full checkpointing: chance ", id="60 GiB of states on 24"),
    ],
)
def test_the_screen_begins_with_the_verdict(planner: Any, gpus: str, start: str) -> None:
    card = "H100-SXM" if gpus == "8" else "RTX-3090"
    asked = ("memory", "llama3-8b", "--on", card, "--gpus", gpus, "--strategy", "fsdp2", "--format", "table")
    title, _, verdict = planner(*asked).out.splitlines()[:3]
    assert title.startswith("llama3-8b on 8x H100: FSDP2" if gpus == "8" else "llama3-8b on 2x RTX 3090: FSDP2")
    assert verdict.startswith(start)


@pytest.mark.parametrize(
    ("arguments", "kind", "says"),
    [
        pytest.param(("llama3-8", "--on", "H100-SXM"), "not_found", "llama3-8b", id="a workload, nearly"),
        pytest.param(("hopper-net", "--on", "H100-SXM"), "not_found", "docs/cli.md", id="an unknown workload"),
        pytest.param(("bert", "--on", "H100-SXM"), "not_found", "bert-base-uncased", id="the beginning of a name"),
        pytest.param(("llama3-8b", "--on", "H100-SMX"), "not_found", "H100-SXM", id="an accelerator, nearly"),
        pytest.param(("no.yaml", "--on", "H100-SXM"), "input", "no such file", id="a file that is not there"),
        pytest.param(("llama3-8b", "--on", "H100-SXM", "--gpus", "0"), "input", "--gpus", id="no accelerators"),
        pytest.param(("llama3-8b", "--on", "H100-SXM", "--micro-batch", "0"), "input", "--micro-batch", id="no batch"),
        pytest.param(("llama3-8b",), "input", "--on", id="no accelerator named"),
        pytest.param(
            ("resnet50", "--on", "H100-SXM", "--checkpointing", "selective"),
            "input",
            "not for a resnet. Choose one of: none, full",
            id="selective checkpointing of convolutions",
        ),
        pytest.param(("llama3-8b", "--on", "H100-SXM", "--strategy", "tp"), "input", "fsdp2", id="unknown strategy"),
    ],
)
def test_wrong_questions(planner: Any, arguments: tuple[str, ...], kind: str, says: str) -> None:
    answer = planner("memory", *arguments, "--json")
    assert answer.code == 2
    assert answer.document["error"]["kind"] == kind
    assert says in " ".join(answer.document["error"][key] for key in ("message", "fix"))


def test_a_file_without_seq_len(planner: Any, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump({"architecture": architecture()["architecture"]}), encoding="utf-8")
    answer = planner("memory", path, "--on", "H100-SXM")
    assert answer.code == 2
    assert "seq_len: is missing" in answer.err


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["ddp", "fsdp2"])
def test_tracing_takes_the_place_of_the_formula(planner: Any, strategy: str) -> None:
    pytest.importorskip("torch")
    question = ("memory", "qwen3-0.6b", "--on", "H200-SXM", "--strategy", strategy, "--json")
    traced = planner(*question, "--trace").document["activations_gib"]
    counted = planner(*question).document["activations_gib"]
    assert "traced" in traced["source"]
    assert traced["value"] == pytest.approx(counted["value"], rel=0.05)


def test_tracing_without_torch_names_the_extra(planner: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    answer = planner("memory", "gpt-305m", "--on", "H200-SXM", "--trace", "--json")
    assert answer.code == 2
    assert answer.document["error"]["kind"] == "missing_extra"


ADAPTERS = {
    "schema_version": 1, "name": "adapters", "workload": {"ref": "llama3-8b", "seq_len": 2048}, "work": {"tokens": 1e8},
    "training": {"framework": "HF Trainer", "adapters": {"rank": 16, "frozen": "nf4"}},
    "options": [{"site": "pc-rtx4090"}],
}  # fmt: skip


WIDE_REST = "1.012 bytes"
"""(6,979,321,856 weights of maps x 0.5625 + 1,050,939,392 others x 4, which peft casts to fp32) / 8,030,261,248."""


@pytest.mark.parametrize(
    ("options", "trained", "per_parameter"),
    [
        pytest.param((), 13_631_488, WIDE_REST, id="as the plan says"),
        pytest.param(("--lora-rank", "8"), 6_815_744, WIDE_REST, id="another rank"),
        pytest.param(("--lora-frozen", "16bit"), 13_631_488, "2 bytes", id="another format"),
        pytest.param(("--lora-kind", "dora"), 13_631_488 + 32 * 10_240, WIDE_REST, id="magnitudes of 10,240 outputs"),
        pytest.param(
            ("--method", "full"), 8_030_261_248, "(weights 4 + gradients 4 + moments 8) = 16 bytes", id="all weights"
        ),
    ],
)
def test_options_change_what_a_plan_trains(
    planner: Any, tmp_path: Path, options: tuple[str, ...], trained: int, per_parameter: str
) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps(ADAPTERS), encoding="utf-8")
    document = planner("memory", plan, "--on", "A100-80GB-SXM", *options, "--json").document
    assert document["trained_parameters"] == trained
    assert document["states_gib"]["source"].startswith(per_parameter)


@pytest.mark.parametrize("kind", ["lora", "dora", "loha"])
def test_a_target_that_a_network_has_not_costs_nothing(planner: Any, kind: str) -> None:
    """An MLP with gelu has no gate: adapters beside up alone are trained."""
    asked = ("memory", "gpt-305m", "--on", "A100-80GB-SXM", "--method", "lora", "--lora-kind", kind, "--json")
    both, up = (planner(*asked, "--lora-targets", targets) for targets in ("gate,up", "up"))
    assert (both.code, up.code) == (0, 0)
    assert both.document["trained_parameters"] == up.document["trained_parameters"]


def test_the_benchmark_trains_no_other_kind_than_lora(planner: Any, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    training = {"adapters": {"kind": "dora", "rank": 16}}
    plan.write_text(json.dumps(ADAPTERS | {"training": training}), encoding="utf-8")
    asked = (("bench", plan, "--quick", "--method", "lora"), ("memory", plan, "--on", "A100-80GB-SXM", "--trace"))
    for command in asked:
        answer = planner(*command)
        assert answer.code == 2
        assert "dora" in answer.err
    nothing = planner("memory", "llama3-8b", "--on", "A100-80GB-SXM", "--lora-kind", "dora")
    assert nothing.code == 2
    assert "--lora-kind dora: all weights are trained" in nothing.err


def test_the_benchmark_does_not_train_more_than_a_plan(planner: Any, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps(ADAPTERS), encoding="utf-8")
    answer = planner("bench", plan, "--quick")
    assert answer.code == 2
    assert "--method lora --lora-rank 16 --lora-targets query,key,value,out" in answer.err
