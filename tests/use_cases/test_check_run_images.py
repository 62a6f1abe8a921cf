"""`check-run` of image networks: published runs, and runs with faults, with the tables of their figures."""

from __future__ import annotations

from typing import Any

import pytest

from planner.adapters.catalog import load_catalog
from planner.model.answer.run_check import RunVerdict
from planner.model.evidence.imported_log import ImportedLog
from planner.model.evidence.run import RunRecord
from planner.use_cases.importing.check_run import check_run

CATALOG = load_catalog()


def run(network: str, accelerator: str, gpus: int, micro_batch: int, images_per_s: float, **more: Any) -> RunRecord:
    log = more.pop("log", {})
    record = {
        "schema_version": 1,
        "id": "a-run",
        "workload": network,
        "architecture": CATALOG.find_preset(network).architecture,
        "seq_len": None,
        "hardware": {"accelerator": accelerator, "node": None, "nodes": 1, "accelerators_per_node": gpus},
        "strategy": "ddp",
        "precision": "fp16",
        "checkpointing": "none",
        "micro_batch": micro_batch,
        "global_batch": micro_batch * gpus,
        "throughput": {
            "value": images_per_s, "low": images_per_s * 0.95, "high": images_per_s * 1.05, "unit": "samples/s",
            "basis": "measured", "source": "a published table",
        },
        "log": ImportedLog(
            format="csv", framework="PyTorch", sha256=("0" * 64,), counted_steps=100.0, counted_seconds=100.0, **log
        ),
    } | more  # fmt: skip
    return RunRecord.model_validate(record)


SOUND = {
    # image_timm.csv field-0686: timm's benchmark on an RTX 3090
    "timm, ResNet-50": run("resnet50", "RTX-3090", 1, 512, 1218.0, channels_last=True),
    # image_reports.csv m04811, m04661
    "contiguous, A100": run("resnet50", "A100-40GB-SXM", 1, 12, 388.1, channels_last=False),
    "fp32, RTX 2080 Ti": run("resnet50", "RTX-2080Ti", 1, 12, 211.7, channels_last=False, precision="fp32"),
}


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_run_is_normal(name):
    document = check_run(SOUND[name], CATALOG)
    assert document.verdict is RunVerdict.NORMAL
    assert 0.9 < sum(document.parts.values()) < 1.01


def test_products_in_fp32_that_the_run_states_are_the_first_cause():
    # m04805 against m04811: 330 images/s in tf32, 388 in fp16; tensor cores have half the rate
    document = check_run(run("resnet50", "A100-40GB-SXM", 1, 128, 700.0, precision="tf32"), CATALOG)
    assert document.causes[0].code == "fp32"
    assert 1.1 < document.causes[0].gain < 2.5


def test_a_run_far_below_its_range_is_slow_by_something_unseen():
    document = check_run(run("resnet50", "RTX-3090", 1, 512, 1218.0 * 0.25, channels_last=True), CATALOG)
    assert document.verdict is RunVerdict.SLOW
    assert "data_wait" in [cause.code for cause in document.causes if not cause.proven]


def test_uneven_steps_are_waits_for_images():
    waits = run("resnet50", "RTX-3090", 1, 512, 700.0, channels_last=True, log={"uneven_share": 0.45})
    document = check_run(waits, CATALOG)
    assert (document.causes[0].code, document.causes[0].proven) == ("data_wait", True)


def test_what_is_not_stated_is_assumed_and_said():
    document = check_run(run("resnet50", "RTX-3090", 4, 64, 2000.0, strategy=None, checkpointing=None), CATALOG)
    told = " ".join(document.assumed)
    assert all(word in told for word in ("order of its channels", "strategy ddp", "recomputation none", "link pcie"))


def test_a_vision_transformer_has_no_order_of_channels():
    document = check_run(run("vit-b16", "A100-80GB-SXM", 1, 128, 1000.0, precision="bf16"), CATALOG)
    assert document.expected is not None
    assert document.assumed == ()


def test_an_accelerator_whose_bandwidth_nobody_knows_has_no_expectation():
    catalog = CATALOG.model_copy(
        update={
            "accelerators": CATALOG.accelerators
            | {"RTX-3090": CATALOG.accelerators["RTX-3090"].model_copy(update={"hbm_gb_per_s": None})}
        }
    )
    document = check_run(run("resnet50", "RTX-3090", 1, 512, 1218.0), catalog)
    assert document.verdict is RunVerdict.NOT_KNOWN
