"""Models refuse what contradicts itself, and say which key: units, ranges, and networks that cannot be built."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from planner.model.defaults import BillDefaults, Defaults
from planner.model.evidence.run import LaunchFacts, RunRecord
from planner.model.hardware.storage import StorageKind
from planner.model.network.architecture import MoeDecoder, check_seq_len
from planner.model.network.image_architecture import Vit
from planner.model.plan.plan_option import PlanOption
from planner.model.prices.offer import Price
from tests.bundled import bundled_catalog

CATALOG = bundled_catalog()
VIT = CATALOG.presets["vit-b16"].architecture
KW = {"value": 1.0, "low": 1.0, "high": 1.0, "unit": "kW", "basis": "measured", "source": "a meter"}
USD = KW | {"unit": "USD"}
RATIO = KW | {"unit": "ratio"}
TERMS = {"target": "aws/p5.48xlarge", "nodes": 1, "purchase": "on_demand", "no_price_reason": None}
STEP = {"batch": 8, "seconds": 1.0, "basis": "measured"}


def dumped(model: BaseModel | None) -> dict[str, Any]:
    assert model is not None
    return model.model_dump(mode="python")


RUN = dumped(CATALOG.runs["seed-003-rtx3090-ddp-x1"])
GOODPUT = CATALOG.defaults.goodput
BILL = CATALOG.bill_defaults
ON_DEMAND = next(row for row in CATALOG.prices if row.usd_per_hour and row.price_kind == "on_demand")


@pytest.mark.parametrize(
    ("model", "good", "changes", "words"),
    [
        pytest.param(RunRecord, RUN, {"power": USD}, "power is in USD; write it in kW", id="power in dollars"),
        pytest.param(
            RunRecord, RUN, {"accelerator_power": USD}, "accelerator_power is in USD; write it in kW", id="the cards'"
        ),
        pytest.param(
            LaunchFacts, TERMS | {"price": USD | {"unit": "USD/h"}}, {"price": USD}, "price is in USD", id="a price"
        ),
        pytest.param(
            LaunchFacts,
            TERMS | {"price": USD | {"unit": "USD/h"}},
            {"price": None},
            "needs either price or no_price_reason",
            id="no price and no reason",
        ),
        pytest.param(
            StorageKind,
            dumped(CATALOG.storage["s3"]),
            {"read_low": 1e6},
            "read_gb_per_s must lie between read_low and read_high",
            id="storage outside its range",
        ),
        pytest.param(
            type(GOODPUT), dumped(GOODPUT), {"restart_hours": KW}, "restart_hours is in kW; write it in h", id="goodput"
        ),
        pytest.param(
            type(GOODPUT),
            dumped(GOODPUT),
            {"restart_hours": KW | {"unit": "h", "low": 0.0}},
            "restart_hours must be over 0 in its whole range",
            id="a restart in no time",
        ),
        pytest.param(
            BillDefaults, dumped(BILL), {"keep_days": KW}, "keep_days is in kW; write it in days", id="days in kW"
        ),
        pytest.param(
            BillDefaults,
            dumped(BILL),
            {"keep_days": KW | {"unit": "days", "low": 0.0}},
            "keep_days must be over 0 in its whole range, or exactly 0",
            id="days that may be none",
        ),
        pytest.param(
            BillDefaults,
            dumped(BILL),
            {"setup_hours": KW | {"unit": "h", "high": 1.1e9}},
            "high must be 0, or at least 1e-09 and at most 1e+09, has 1.1e+09",
            id="hours of set-up that no bill holds",
        ),
        pytest.param(
            BillDefaults,
            dumped(BILL),
            {"upload_mbit_per_s": KW | {"unit": "Mbit/s", "low": 9e-10}},
            "low must be 0, or at least 1e-09 and at most 1e+09, has 9e-10",
            id="a line over which nothing ever arrives",
        ),
        pytest.param(
            Defaults,
            dumped(CATALOG.defaults),
            {"electricity": KW | {"unit": "USD/kWh", "low": -0.1}},
            "low must be 0, or at least 1e-09 and at most 1e+09, has -0.1",
            id="electricity that pays",
        ),
        pytest.param(
            Defaults, dumped(CATALOG.defaults), {"pue": KW}, "pue is in kW; write it in ratio", id="a ratio in kW"
        ),
        pytest.param(
            Defaults,
            dumped(CATALOG.defaults),
            {"cloud_pue": RATIO | {"low": 0.9}},
            "cloud_pue must be at least 1 in its whole range",
            id="a building that draws less than its machines",
        ),
        pytest.param(
            Defaults,
            dumped(CATALOG.defaults),
            {"idle_power_fraction": RATIO | {"high": 1.1}},
            "idle_power_fraction must be at most 1 in its whole range",
            id="more than all power",
        ),
        pytest.param(
            Price,
            dumped(ON_DEMAND),
            {"no_price_reason": "sold out"},
            "needs either usd_per_hour or no_price_reason",
            id="a price and a reason why there is none",
        ),
        pytest.param(
            PlanOption,
            {"site": "a", "step": STEP},
            {"step": STEP | {"low_seconds": 1.5}},
            "seconds must lie between low_seconds and high_seconds",
            id="a step below its range",
        ),
        pytest.param(
            PlanOption,
            {"site": "a", "step": STEP, "power_cap_w": 200.0, "power_kw": 1.0},
            {"power_kw": None},
            "power_cap_w with a step of your own needs power_kw",
            id="a limit whose power was not measured",
        ),
        pytest.param(
            Vit, dumped(VIT), {"image_size": 225}, "image_size (225) must be a multiple of patch_size", id="patches"
        ),
        pytest.param(Vit, dumped(VIT), {"heads": 7}, "hidden (768) must be a multiple of heads (7)", id="heads"),
    ],
)
def test_a_contradiction_is_refused(
    model: type[BaseModel], good: dict[str, Any], changes: dict[str, Any], words: str
) -> None:
    model.model_validate(good)
    with pytest.raises(ValidationError, match=re.escape(words)):
        model.model_validate(good | changes)


def test_a_mixture_is_not_cut_to_dense_layers_alone() -> None:
    mixture = CATALOG.presets["qwen3-30b-a3b"].architecture
    assert isinstance(mixture, MoeDecoder)
    first_is_dense = mixture.model_copy(update={"dense_layers": (0,), "ffn_hidden": 6144})
    assert first_is_dense.cut(2).dense_layers == (0,)
    with pytest.raises(ValueError, match="its first 1 layers are dense"):
        first_is_dense.cut(1)


def test_a_cut_without_its_dense_layers_has_no_width_of_theirs() -> None:
    mixture = CATALOG.presets["qwen3-30b-a3b"].architecture
    assert isinstance(mixture, MoeDecoder)
    last_is_dense = mixture.model_copy(update={"dense_layers": (mixture.layers - 1,), "ffn_hidden": 6144})
    cut = last_is_dense.cut(2)
    assert (cut.layers, cut.dense_layers, cut.ffn_hidden) == (2, (), None)


def test_an_image_has_no_length_in_tokens_and_a_text_has_one() -> None:
    with pytest.raises(ValueError, match="a sample of this vit is an image"):
        check_seq_len(VIT, 128)
    with pytest.raises(ValueError, match="a decoder's samples have a length in tokens"):
        check_seq_len(CATALOG.presets["gpt-305m"].architecture, None)
