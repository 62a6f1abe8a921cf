"""The Python API: the answers of the commands as objects and DataFrames, with the same errors."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import planner
from planner import clock
from planner.cli.main import run
from planner.model.quantity import Quantity
from planner.present.frames import frame_of
from tests.conftest import NOON

EXAMPLES = Path(__file__).parents[1] / "examples"
STATION = EXAMPLES / "dgx_station_v100.yaml"
PLAN = {
    "name": "two epochs on a machine with a known step",
    "workload": {"measured": "seed-000-dgx-station-v100"},
    "work": {"epochs": 2, "samples_per_epoch": 3600},
    "options": [
        {
            "site": "dgx-station-v100",
            "power_kw": 1.0,
            "step": {"batch": 8, "seconds": 2.0, "basis": "measured", "source": "by hand"},
        },
    ],
}
"""Steps of 8 samples in 2 s are 4 samples/s: 7,200 samples take 1,800 s."""


@pytest.fixture(scope="module")
def comparison():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clock, "now", lambda: NOON)
        yield planner.compare(STATION)


@pytest.fixture
def told(capsys):
    """Return what a command prints as JSON."""

    def ask(*arguments: str):
        run([*arguments, "--json"])
        return json.loads(capsys.readouterr().out)

    return ask


def test_hours_are_samples_over_samples_per_second():
    frame = planner.estimate(PLAN).to_frame()
    assert len(frame) == 1
    row = frame.iloc[0]
    assert row["throughput"] == pytest.approx(4.0)
    assert row["training_hours"] == pytest.approx(0.5)
    assert row["epoch_hours"] == pytest.approx(0.25)
    assert row["energy_kwh"] == pytest.approx(0.5 * 1.0, rel=1e-3)  # interruptions add less than a thousandth


def test_a_comparison_is_what_the_command_answers(comparison, told):
    printed = told("compare", str(STATION))
    assert comparison.document.model_dump(mode="json") == printed
    assert comparison.headline == str(comparison) == printed["sentence"]
    assert comparison.recommended == printed["recommended"]


def test_a_frame_has_value_range_and_basis_of_every_quantity(comparison, told):
    frame = comparison.to_frame(sources=True).set_index("id")
    parts = {"": "value", "_low": "low", "_high": "high", "_basis": "basis", "_source": "source"}
    checked = 0
    for option in told("compare", str(STATION))["options"]:
        for name, value in option.items():
            if isinstance(value, dict) and "low" in value:
                row = {part: frame.loc[option["id"], name + ending] for ending, part in parts.items()}
                assert row == {part: value[part] for part in parts.values()}
                checked += 1
    assert checked > 100, "13 options with a dozen quantities each"


def test_a_frame_begins_with_what_is_looked_for_and_keeps_the_order_of_the_answer(comparison):
    frame = comparison.to_frame()
    assert list(frame.columns[:4]) == ["rank", "id", "display_name", "hold"]
    assert list(frame["id"]) == [option.id for option in comparison.document.options]
    assert not [name for name in frame if name.endswith(("_source", "_as_of"))]


def test_an_unknown_quantity_is_empty_and_its_columns_stand_there(comparison):
    frame = comparison.to_frame().set_index("id")
    unknown = [option.id for option in comparison.document.options if option.usd_per_hour is None]
    assert unknown
    assert frame.loc[unknown, ["usd_per_hour", "usd_per_hour_low", "usd_per_hour_basis"]].isna().all(axis=None)


def test_no_rows_are_a_frame_without_rows():
    assert frame_of([], first=("id",)).shape == (0, 1)


def test_every_field_that_is_a_quantity_has_its_columns(comparison):
    frame = comparison.to_frame()
    fields = type(comparison.document.options[0]).model_fields
    quantities = {name for name, field in fields.items() if Quantity in getattr(field.annotation, "__args__", ())}
    assert quantities
    assert quantities <= set(frame.columns)


def test_a_chart_shows_every_option_that_has_time_and_cost(comparison):
    specification = json.dumps(comparison.chart().to_dict())
    drawn = [one for one in comparison.document.options if one.campaign_hours and one.campaign_usd]
    assert drawn
    assert all(f'"{option.display_name}"' in specification for option in drawn)


def test_memory_is_what_the_command_answers(told):
    answer = planner.memory("llama3-8b", on="H100-SXM", gpus=8, strategy="fsdp2")
    printed = told("memory", "llama3-8b", "--on", "H100-SXM", "--gpus", "8", "--strategy", "fsdp2")
    assert answer.document.model_dump(mode="json") == printed
    assert answer.fits == printed["fits"]
    frame = answer.to_frame().set_index("checkpointing")
    assert frame.loc["full", "total_gib"] < frame.loc["none", "total_gib"]


def test_memory_of_adapters_takes_the_keys_of_a_plan():
    whole = planner.memory("llama3-8b", on="RTX-4090")
    adapted = planner.memory("llama3-8b", on="RTX-4090", adapters={"rank": 16, "frozen": "nf4"})
    assert (whole.fits, adapted.document.trained_parameters) != (adapted.fits, whole.document.trained_parameters)
    assert adapted.document.states_gib.value < whole.document.states_gib.value / 4


def test_prices_are_what_the_command_answers(told):
    frame = planner.prices(accelerator="H100", provider="lambda").to_frame()
    printed = told("prices", "show", "--accelerator", "H100", "--provider", "lambda")["prices"]
    assert list(frame["item"]) == [row["item"] for row in printed]
    assert list(frame["usd_per_hour"]) == [row["usd_per_hour"] for row in printed]
    assert isinstance(frame, pd.DataFrame)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        pytest.param(lambda: planner.compare("no-such.yaml"), "no-such.yaml: there is no such file", id="no file"),
        pytest.param(lambda: planner.estimate({"name": "x"}), "workload: is missing", id="half a plan"),
        pytest.param(
            lambda: planner.memory("llama3-8b", on="H100-SXM", strategy="fsd"), "strategy: must be", id="strategy"
        ),
        pytest.param(lambda: planner.memory("llama3-8b", on="H100-SXM", gpus=0), "gpus", id="no accelerators"),
        pytest.param(lambda: planner.memory("llama3-8b", on="no-such"), "no-such", id="unknown accelerator"),
        pytest.param(
            lambda: planner.memory("resnet50", on="H100-SXM", seq_len=8), "is an image", id="tokens of images"
        ),
        pytest.param(lambda: planner.prices(kind="cheap"), "kind: 'cheap' is not known", id="kind of price"),
    ],
)
def test_wrong_input_raises_the_error_of_the_command_line(call, says):
    with pytest.raises(planner.PlannerError, match=says) as raised:
        call()
    assert raised.value.exit_code == 2


def test_a_name_that_is_not_public_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nothing_of_ours"):
        _ = planner.nothing_of_ours


def test_public_names_are_listed():
    assert {"PlannerError", "compare", "estimate", "memory", "prices"} <= set(dir(planner))
