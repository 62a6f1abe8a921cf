"""Why an option has no time, no cost or no place: the codes, in the order of the sentence, and the figures in them."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from planner.adapters.documents import read_model
from planner.adapters.workspace import examples_dir
from planner.decide.options.estimate_plan import estimate_plan
from planner.decide.recommend.answer_plan import answer_plan
from planner.model.answer.option_estimate import OptionEstimate
from planner.model.answer.reason import ReasonCode, codes_of, text_of
from planner.model.catalog import Catalog
from planner.model.plan.plan import Plan
from planner.speed.throughput.predict import predict
from planner.speed.throughput.prediction import NoPrediction
from tests.speed.physics.llama_prediction import question

TODAY = date(2026, 11, 21)
P4D = {"offer": "aws/p4d.24xlarge", "region": "us-east-1"}
SEOUL_BLOCK = {"price": "capacity_block", "region": "ap-northeast-2"}
STATION = {"site": "dgx-station-v100"}
SERVICE = {"offer": "acme/llama", "price": "hosted_training", "usd_per_million_tokens": 2.5}
LLAMA = {"workload": {"ref": "llama3-8b", "seq_len": 4096}}
IMAGES = {"workload": {"ref": "resnet50"}, "work": {"epochs": 1.0, "samples_per_epoch": 1000.0}}
NO_PEAK = dict.fromkeys(("fp32_tflops", "tf32_tflops", "fp16_tflops", "bf16_tflops", "fp8_tflops"))
STEP = {"batch": 64, "seconds": 1.0, "basis": "measured"}


def estimated(catalog: Catalog, option: dict[str, Any], **changes: Any) -> OptionEstimate:
    plan = {
        "schema_version": 1,
        "name": "test",
        "workload": {"ref": "gpt-305m", "seq_len": 512},
        "work": {"tokens": 1e9},
        "training": {"strategy": "ddp"},
        "options": [option],
    } | changes
    (estimate,) = estimate_plan(Plan.model_validate(plan), catalog).options
    return estimate


@pytest.mark.parametrize(
    ("option", "changes", "codes", "figures"),
    [
        pytest.param(P4D, {}, (), {}, id="nothing speaks against it"),
        pytest.param(
            {"offer": "aws/inf2.48xlarge", "usd_per_hour": 13.0}, {}, ("cannot_train",), {}, id="made for inference"
        ),
        pytest.param(P4D, {"training": {"precision": "float8"}}, ("no_float8",), {}, id="an A100 knows no float8"),
        pytest.param(
            P4D, {"training": {"global_batch": 4, "strategy": "ddp"}}, ("batch_too_small",),
            {"global_batch": 4, "accelerators": 8},
            id="4 sequences for 8 accelerators",
        ),
        pytest.param(
            P4D, LLAMA, ("memory_too_small",),
            {
                "hbm_gib": 39.39, "usable_gib": pytest.approx(39.39 / 1.0770, rel=1e-3),
                "needed_gib": pytest.approx(8.03 * 18 / 1.0737 + 5, abs=7),
            },
            id="8.03 billion parameters x 16 bytes of states and 2 of a 16-bit copy, and the activations",
        ),
        pytest.param(
            {"offer": "aws/g5.xlarge", "usd_per_hour": 1.0, "nodes": 2}, LLAMA | {"training": {"strategy": "auto"}},
            ("memory_too_small", "no_split_fits"), None, id="119.7 GiB on two cards of 24, however divided",
        ),
        pytest.param(P4D | SEOUL_BLOCK, {}, ("no_price",), {}, id="blocks are sold elsewhere"),
        pytest.param(
            P4D | SEOUL_BLOCK, LLAMA, ("memory_too_small", "no_price"), None,
            id="two reasons, in the order of the sentence",
        ),
        pytest.param(
            STATION | {"power_cap_w": 200.0}, {}, ("cap_not_measured",), {"power_cap_w": 200}, id="no run has this cap"
        ),
        pytest.param(
            {"site": "h200-x1"}, {"workload": {"ref": "cpu-smoke"}}, ("network_too_small",), None, id="a tiny network"
        ),
        pytest.param(SERVICE, LLAMA, ("time_not_stated",), {}, id="a service says nothing of its time"),
        pytest.param(SERVICE, IMAGES, ("time_not_stated", "no_tokens"), {}, id="images are no tokens"),
        pytest.param(
            P4D | {"step": STEP}, {"goodput": {"gpu_hours_per_failure": 0.08, "restart_hours": 0.5}}, ("never_ends",),
            {"between_interruptions_hours": pytest.approx(0.01), "restart_hours": 0.5}, id="0.08 GPU-hours over 8 GPUs",
        ),
    ],
)  # fmt: skip
def test_the_reasons_of_an_option(
    catalog: Catalog, option: dict[str, Any], changes: dict[str, Any], codes: tuple[str, ...], figures: Any
) -> None:
    got = estimated(catalog, option, **changes)
    assert got.why_not_codes == codes
    assert got.why_not == text_of(got.reasons)
    if figures is not None:
        told = {name: value for reason in got.reasons for name, value in reason.figures.items()}
        assert {name: told[name] for name in figures} == figures
        assert bool(told) is bool(figures)


def test_the_shortage_is_the_difference_of_the_figures(catalog: Catalog) -> None:
    got = estimated(catalog, P4D, **LLAMA)
    (reason,) = got.reasons
    lacking = reason.figures["needed_gib"] - reason.figures["usable_gib"]
    assert f"which has 39.39: {lacking:.1f} GiB too little" in reason.text


@pytest.mark.parametrize(
    ("training", "changes", "lacking", "code"),
    [
        pytest.param(
            {}, {"workload": {"ref": "llama3-8b", "seq_len": 4_000_001}}, {}, "sample_too_long", id="4 M tokens"
        ),
        pytest.param({"framework": "NeuronX Distributed"}, {}, {}, "framework_not_supported", id="Trainium's alone"),
        pytest.param({}, {}, {"hbm_gb_per_s": None}, "hardware_not_known", id="no bandwidth"),
        pytest.param({}, {}, NO_PEAK, "hardware_not_known", id="no peak"),
        pytest.param({}, {"assumptions": {"mfu": 0.4}}, NO_PEAK, "hardware_not_known", id="a share of no peak"),
        pytest.param({}, {"workload": {"ref": "cpu-smoke", "seq_len": 128}}, {}, "network_too_small", id="tiny"),
    ],
)  # fmt: skip
def test_why_there_is_no_estimate(
    catalog: Catalog, training: dict[str, Any], changes: dict[str, Any], lacking: dict[str, Any], code: str
) -> None:
    h100 = catalog.accelerators["H100-SXM"].model_copy(update=lacking)
    known = catalog.model_copy(update={"accelerators": catalog.accelerators | {"H100-SXM": h100}})
    answer = predict(*question(known, training, **changes), known)
    assert isinstance(answer, NoPrediction)
    assert answer.reason.code == code
    assert answer.reason.text.startswith("no estimate: ")


@pytest.mark.parametrize("path", sorted(examples_dir().glob("*.yaml")), ids=lambda path: path.stem)
def test_the_sentence_is_its_reasons_joined(catalog: Catalog, path: Any) -> None:
    plan = read_model(Plan, path)
    options = (*estimate_plan(plan, catalog, today=TODAY).options, *answer_plan(plan, catalog, today=TODAY).options)
    assert options
    for option in options:
        assert option.why_not == text_of(option.reasons)
        assert option.why_not_codes == codes_of(option.reasons)
        assert option.not_allowed == text_of(option.not_allowed_reasons)


def test_every_code_says_what_it_means_and_names_itself() -> None:
    assert all(code.value == code.name.lower() for code in ReasonCode)
