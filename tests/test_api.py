"""The Python API: the answers of the commands as objects and DataFrames, with the same errors."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest

import planner
from planner import clock
from planner.cli.main import run
from planner.model.quantity import Quantity
from planner.present.notebook import frame_of
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
    frame = planner.estimate(PLAN).to_frame(all=True)
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
    frame = comparison.to_frame(all=True)
    assert list(frame.columns[:4]) == ["rank", "id", "display_name", "hold"]
    assert list(frame["id"]) == [option.id for option in comparison.document.options]
    assert not [name for name in frame if name.endswith(("_source", "_as_of"))]


def test_an_unknown_quantity_is_empty_and_its_columns_stand_there(comparison):
    frame = comparison.to_frame(all=True).set_index("id")
    unknown = [option.id for option in comparison.document.options if option.usd_per_hour is None]
    assert unknown
    assert frame.loc[unknown, ["usd_per_hour", "usd_per_hour_low", "usd_per_hour_basis"]].isna().all(axis=None)


def test_no_rows_are_a_frame_without_rows():
    assert frame_of([], first=("id",)).shape == (0, 1)


def test_every_field_that_is_a_quantity_has_its_columns(comparison):
    frame = comparison.to_frame(all=True)
    fields = type(comparison.document.options[0]).model_fields
    quantities = {name for name, field in fields.items() if Quantity in getattr(field.annotation, "__args__", ())}
    assert quantities
    assert quantities <= set(frame.columns)


def test_a_chart_shows_every_option_that_has_time_and_cost(comparison):
    specification = json.dumps(comparison.chart().to_dict())
    drawn = [option for option in comparison.document.options if option.campaign_hours and option.campaign_usd]
    assert drawn
    assert all(f'"{option.display_name}"' in specification for option in drawn)


def test_memory_is_what_the_command_answers(told):
    answer = planner.memory("llama3-8b", on="H100-SXM", gpus=8, strategy="fsdp2")
    printed = told("memory", "llama3-8b", "--on", "H100-SXM", "--gpus", "8", "--strategy", "fsdp2")
    assert answer.document.model_dump(mode="json") == printed
    assert answer.fits == printed["fits"]
    frame = answer.to_frame().set_index("checkpointing")
    assert frame.loc["full", "total_gib"] < frame.loc["none", "total_gib"]


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        pytest.param({"method": "dpo", "reference": "model"}, "--method dpo --reference model", id="dpo"),
        pytest.param(
            {"method": "grpo", "completion": "350-512", "group": 8, "prompts": 16, "seq_len": 1024},
            "--method grpo --completion 350-512 --group 8 --prompts 16 --seq-len 1024",
            id="grpo",
        ),
        pytest.param({"method": "qlora"}, "--method qlora", id="qlora"),
        pytest.param({"method": "full", "gpus": 8, "tensor": 8}, "--method full --gpus 8 --tensor 8", id="tensor"),
        pytest.param(
            {"framework": "HF Trainer", "attention": "eager"},
            "--framework 'HF Trainer' --attention eager",
            id="trainer",
        ),
    ],
)
def test_memory_of_every_method_is_what_the_command_answers(told, stated, words):
    answer = planner.memory("llama3-8b", on="H100-SXM", **stated)
    printed = told("memory", "llama3-8b", "--on", "H100-SXM", *shlex.split(words))
    assert answer.document.model_dump(mode="json") == printed


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


QUESTION = {"data": "50000x700", "epochs": 3, "on": ["lambda/gpu_8x_h100_sxm5"], "budget": 300}


def test_a_question_is_what_the_command_answers(told, tmp_path):
    answer = planner.ask("llama3-8b", method="lora", **QUESTION)
    printed = told(
        "ask", "llama3-8b", "--method", "lora", "--data", "50000x700", "--epochs", "3", "--on",
        "lambda/gpu_8x_h100_sxm5", "--budget", "300",
    )  # fmt: skip
    assert answer.document.model_dump(mode="json") == printed
    assert any("(--by)" in assumption for assumption in answer.assumed)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(lambda: planner.ask("llama3-8b", **QUESTION), id="ask"),
        pytest.param(lambda: planner.compare(STATION), id="compare"),
        pytest.param(lambda: planner.estimate(PLAN), id="estimate"),
        pytest.param(lambda: planner.prices(accelerator="H100"), id="prices"),
    ],
)
def test_a_frame_has_twelve_columns_or_all(answer):
    frame, whole = answer().to_frame(), answer().to_frame(all=True)
    assert frame.shape[1] == 12
    assert list(whole.columns[:12]) == list(frame.columns)
    assert whole.shape[1] > 12


class Page(HTMLParser):
    """Cells of the tables of a page, its text, and the elements that are still open at its end."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.said = ""
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag != "br":
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.said += data
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def test_a_notebook_shows_headline_table_and_id(comparison):
    page = Page(comparison._repr_html_())
    assert page.open == []
    assert all(sentence in page.said for sentence in comparison.document.headline)
    column = page.rows[0].index("machine")
    machines = " ".join(row[column] for row in page.rows[1:]).replace("\u00a0", " ").casefold()
    assert all(option.display_name.casefold() in machines for option in comparison.document.options)
    assert f"planner show {comparison.document.answer_id}" in page.said
    assert "Quantity(" not in page.said


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        pytest.param(lambda: planner.ask("llama3-8b", **QUESTION), "Assumed: no deadline", id="ask"),
        pytest.param(lambda: planner.estimate(PLAN), "two epochs on a machine", id="estimate"),
        pytest.param(lambda: planner.memory("llama3-8b", on="H100-SXM"), "checkpointing", id="memory"),
        pytest.param(lambda: planner.prices(accelerator="H100"), "USD/accelerator-h", id="prices"),
    ],
)
def test_every_answer_shows_itself(answer, says):
    page = Page(answer()._repr_html_())
    assert page.open == []
    assert says in page.said
    assert len(page.rows) > 1


def test_markup_in_a_name_is_text():
    name = "<script>alert(1)</script>"
    page = planner.estimate(PLAN | {"name": name})._repr_html_()
    assert "<script" not in page
    assert name in Page(page).said


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"method": "lor"}, "method: 'lor' is not known"),
        ({"runs": 0}, "runs is 0"),
        ({"lora_rank": 0, "method": "lora"}, "lora_rank is 0"),
        ({"data": "many"}, "is not a number of samples"),
    ],
    ids=["method", "runs", "rank", "data"],
)
def test_a_wrong_question_is_an_error(arguments, says):
    with pytest.raises(planner.PlannerError, match=says):
        planner.ask("llama3-8b", **(QUESTION | arguments))


def test_one_sentence_where_pandas_is_missing(comparison, monkeypatch):
    monkeypatch.setattr("planner.api.find_spec", lambda _: None)
    with pytest.raises(planner.PlannerError, match=re.escape("pip install 'training-planner[app]'")):
        comparison.to_frame()


def test_importing_the_package_imports_nothing_of_it():
    code = (
        "import sys, planner; print(sorted(name for name in sys.modules if name.startswith(('planner.', 'pydantic'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_name_that_is_not_public_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nothing_of_ours"):
        _ = planner.nothing_of_ours


def test_public_names_are_listed():
    assert {"PlannerError", "ask", "compare", "estimate", "memory", "prices"} <= set(dir(planner))
