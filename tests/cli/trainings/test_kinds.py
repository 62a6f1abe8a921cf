"""Image models, mixtures and float8 on the command line: memory, estimates, and what is refused."""

from pathlib import Path
from typing import Any

import pytest
import yaml

PLAN: dict[str, Any] = {
    "schema_version": 1,
    "name": "imagenet",
    "workload": {"ref": "resnet50"},
    "work": {"epochs": 90, "samples_per_epoch": 1_281_167},
    "training": {"precision": "fp16", "strategy": "ddp"},
    "options": [{"site": "dgx-station-v100", "accelerators": 1}],
}


def written(tmp_path: Path, **changes: Any) -> Path:
    path = tmp_path / "plan.yaml"
    path.write_text(yaml.safe_dump(PLAN | changes), encoding="utf-8")
    return path


def test_an_estimate_of_resnet50_holds_a_published_measurement(planner: Any, tmp_path: Path) -> None:
    """1,200 images/s on one V100 with mixed precision (NVIDIA/DeepLearningExamples): 90 epochs in 26.7 hours."""
    option = planner("estimate", written(tmp_path), "--json").document["options"][0]
    hours = option["training_hours"]
    assert hours["low"] < 90 * 1_281_167 / 1200 / 3600 < hours["high"]
    assert "each 24.299 GFLOP and" in option["throughput"]["source"]


def test_memory_counts_images(planner: Any) -> None:
    document = planner("memory", "vit-b16", "--on", "H100-SXM", "--micro-batch", "8", "--json").document
    assert (document["seq_len"], document["micro_batch"], document["parameters"]) == (None, 8, 86_567_656)
    assert "8 images x 197 patches" in document["activations_gib"]["source"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(("memory", "vit-b16", "--on", "L4", "--seq-len", "9"), "is an image", id="length of an image"),
        pytest.param(("bench", "vit-b16", "--seq-len", "9"), "is an image", id="length of an image measured"),
        pytest.param(("bench", "resnet50", "--layers", "3"), "whose stages differ", id="a cut resnet"),
        pytest.param(("bench", "resnet50", "--checkpointing", "selective"), "has convolutions", id="selective resnet"),
        pytest.param(("bench", "vit-b16", "--method", "lora"), "adapters are for decoders", id="adapters of a vit"),
        pytest.param(("bench", "cpu-smoke", "--precision", "float8"), "this device is none", id="float8 on a CPU"),
        pytest.param(
            ("bench", "gpt-305m", "--precision", "float8", "--strategy", "zero3"), "ddp and fsdp2", id="float8 in ZeRO"
        ),
    ],
)
def test_what_cannot_be_is_one_clear_error(planner: Any, arguments: tuple[str, ...], says: str) -> None:
    answer = planner(*arguments, "--json")
    assert answer.code == 2
    assert says in answer.document["error"]["message"]


@pytest.mark.parametrize(
    ("workload", "says"),
    [
        pytest.param({"ref": "vit-b16", "seq_len": 9}, "workload.seq_len: a sample of vit-b16 is", id="length"),
        pytest.param({"architecture": {"kind": "resnext"}}, "workload.architecture: kind must be one of", id="kind"),
        pytest.param(
            {"architecture": {"kind": "resnet", "blocks": [1], "image_size": 32}},
            "workload.architecture.classes: is missing",
            id="no classes",
        ),
    ],
)
def test_a_plan_with_a_wrong_network_says_where(
    planner: Any, tmp_path: Path, workload: dict[str, Any], says: str
) -> None:
    answer = planner("estimate", written(tmp_path, workload=workload))
    assert answer.code == 2
    assert says in answer.err


def test_float8_is_refused_where_the_card_has_none(planner: Any, tmp_path: Path) -> None:
    changes = {
        "workload": {"ref": "gpt-305m"},
        "work": {"tokens": 1e9},
        "training": {"precision": "float8", "strategy": "ddp"},
        "options": [{"site": "dgx-station-v100"}, {"site": "h200-x1"}],
    }
    without, with_float8 = planner("estimate", written(tmp_path, **changes), "--json").document["options"]
    assert "has no float8 matrix hardware" in str(without)
    assert "has no float8 matrix" not in str(with_float8)
    assert with_float8["training_hours"] is not None
