"""Predictions for image networks with own runs, compared with published figures."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from planner.model.catalog import Catalog
from planner.model.evidence.run import RunRecord
from planner.model.plan.plan import Plan
from planner.scenario.candidate import expand
from planner.scenario.job import resolve_job
from planner.speed.throughput.predict import predict
from planner.speed.throughput.prediction import NoPrediction, Prediction

OPTION = {"usd_per_hour": 1.0}


def predicted(catalog: Catalog, offer: str, workload: Any = "resnet50", **changes: Any) -> Prediction | NoPrediction:
    named = {"ref": workload} if isinstance(workload, str) else {"architecture": workload}
    place = {"offer": offer} | OPTION if "/" in offer else {"site": offer}
    option = place | {key: changes.pop(key) for key in ("accelerators", "nodes", "strategy") if key in changes}
    plan = Plan.model_validate(
        {
            "schema_version": 1,
            "name": "test",
            "workload": named,
            "work": {"epochs": 1, "samples_per_epoch": 1000},
            "training": {"precision": "fp16"} | changes,
            "options": [option],
        }
    )
    (candidate,) = expand(plan, catalog)
    return predict(resolve_job(plan, catalog), candidate, catalog)


def found(catalog: Catalog, *asked: Any, **changes: Any) -> Prediction:
    answer = predicted(catalog, *asked, **changes)
    assert isinstance(answer, Prediction), answer.reason
    return answer


@pytest.mark.parametrize(
    ("offer", "batch", "published"),
    [
        pytest.param("aws/p3.16xlarge", 256, 1200, id="V100: NVIDIA's PyTorch, 256 at a time"),
        pytest.param("aws/p3.16xlarge", 128, 1154, id="V100: torchvision, 128 at a time"),
        pytest.param("aws/p4de.24xlarge", 256, 2470, id="A100-80: NVIDIA's PyTorch"),
        pytest.param("aws/p5.48xlarge", 256, 2791, id="H100: Lambda's, images in planes"),
        pytest.param("rtx3090-x10", 128, 1218, id="RTX 3090: timm"),
    ],
)
def test_a_published_figure_of_resnet50_lies_in_the_range(
    catalog: Catalog, offer: str, batch: int, published: float
) -> None:
    answer = found(catalog, offer, accelerators=1, micro_batch=batch)
    assert answer.samples_per_s.low <= published <= answer.samples_per_s.high


def test_an_h100_trains_resnet50_slower_than_a_share_of_its_peak(catalog: Catalog) -> None:
    """0.16 of 989 TFLOP/s would be 6,500 images/s; MLCommons' fused kernels reach 7,140, eager ones do not."""
    assert found(catalog, "aws/p5.48xlarge", accelerators=1, micro_batch=256).samples_per_s.value < 5000


def test_a_network_of_less_than_50_million_parameters_is_answered_and_a_tiny_one_is_not(catalog: Catalog) -> None:
    tiny = {"kind": "resnet", "blocks": [1], "width": 8, "image_size": 32, "classes": 10}
    assert isinstance(predicted(catalog, "aws/p5.48xlarge"), Prediction)
    refused = predicted(catalog, "aws/p5.48xlarge", tiny)
    assert isinstance(refused, NoPrediction)
    assert "bound by kernel launches" in refused.reason.text


def test_the_source_states_the_parts_of_a_step_and_the_notes_its_input(catalog: Catalog) -> None:
    answer = found(catalog, "aws/p4d.24xlarge", micro_batch=256)
    assert catalog.image_calibration is not None
    evidence = f"{catalog.image_calibration.rows} published runs"
    for words in (evidence, "24.299 GFLOP and 476.5 MB", "convolutions and GEMMs", "element-wise"):
        assert words in answer.source
    assert any("of them on A100 40GB SXM" in note for note in answer.notes)
    assert any("decoding its images is not counted" in note and "CPU cores" in note for note in answer.notes)


@pytest.mark.parametrize("workload", ["resnet50", "vit-b16"])
@pytest.mark.parametrize("offer", ["aws/p3.16xlarge", "aws/p4d.24xlarge", "aws/p5.48xlarge"])
def test_more_accelerators_over_nvlink_are_never_slower(catalog: Catalog, offer: str, workload: str) -> None:
    rates = [
        found(catalog, offer, workload, accelerators=count, micro_batch=32).samples_per_s.value
        for count in (1, 2, 4, 8)
    ]
    assert rates == sorted(rates)


def test_a_vision_transformer_is_answered_by_its_products(catalog: Catalog) -> None:
    """timm trains ViT-B/16 at 393 images/s on an RTX 3090 with eager attention; fused attention is no slower."""
    answer = found(catalog, "rtx3090-x10", "vit-b16", accelerators=1, micro_batch=64)
    assert answer.samples_per_s.low <= 393 <= answer.samples_per_s.high
    assert answer.samples_per_s.value > 393 * 0.8


def test_an_own_run_moves_the_answer_towards_itself_and_narrows_it(catalog: Catalog) -> None:
    run = RunRecord.model_validate(
        {
            "schema_version": 1,
            "id": "mine",
            "workload": "resnet50",
            "architecture": catalog.presets["resnet50"].architecture.model_dump(),
            "hardware": {
                "accelerator": "A100-40GB-SXM", "accelerators_per_node": 8, "nodes": 1, "node": "aws/p4d.24xlarge",
            },
            "strategy": "ddp",
            "precision": "fp16",
            "micro_batch": 128,
            "global_batch": 1024,
            "channels_last": True,
            "throughput": throughput(20_000.0),
        }
    )  # fmt: skip
    asked = {"micro_batch": 64}
    blind = found(catalog, "aws/p4d.24xlarge", **asked)
    seeing = found(catalog.model_copy(update={"runs": {"mine": run}}), "aws/p4d.24xlarge", **asked)
    assert abs(seeing.samples_per_s.value / 20_000 - 1) < abs(blind.samples_per_s.value / 20_000 - 1)
    assert seeing.samples_per_s.high / seeing.samples_per_s.low < blind.samples_per_s.high / blind.samples_per_s.low
    assert "and your run on A100 40GB SXM" in seeing.source
    assert [run.id for run in seeing.runs] == ["mine"]


def throughput(value: float) -> dict[str, Any]:
    return {
        "value": value, "low": value * 0.98, "high": value * 1.02, "unit": "samples/s", "basis": "measured",
        "source": "our own log", "as_of": date(2026, 11, 1),
    }  # fmt: skip
