"""A form in an address: it comes back unchanged, and wrong changes by hand are refused with a message."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.adapters.user_text import secrets_noted
from planner.adapters.workspace import examples_dir
from planner.errors import InputError
from planner.model.network.training_method import TrainingMethod
from planner.ui.ask.form import STARTS, Form, MachineRow, Start, WeightsChoice
from planner.ui.ask.link import LONGEST_UNPACKED, form_of, packed, parameters_of
from planner.ui.scenario import first_form, plan_of_form

MACHINES = st.builds(
    MachineRow,
    name=st.sampled_from(["RTX-3090", "dgx-station-v100", "A100-80GB-SXM"]),
    count=st.integers(1, 72),
    buy=st.booleans(),
    usd=st.none() | st.floats(1, 1e6).map(lambda usd: float(f"{usd:.3g}")),
)
FORMS = st.builds(
    Form,
    start=st.sampled_from([Start.TRAIN, Start.BUY, Start.OFFERS]),
    method=st.sampled_from(WeightsChoice),
    learns=st.none() | st.sampled_from(TrainingMethod),
    completion=st.none() | st.integers(1, 10_000),
    amount=st.sampled_from(["data", "samples", "tokens"]),
    machines=st.lists(MACHINES, max_size=6).map(tuple),
    find=st.booleans(),
    offers=st.lists(st.sampled_from(["lambda/gpu_8x_h100_sxm5", "aws/p5.48xlarge:spot"]), unique=True).map(tuple),
    budget=st.none() | st.floats(0, 1e12),
    deadline=st.none() | st.dates(date(1990, 1, 1), date(2100, 12, 31)),
    config=st.none() | st.text(st.characters(codec="utf-8"), max_size=300),
)


@given(FORMS)
def test_what_was_asked_comes_back(form: Form) -> None:
    assert form_of(parameters_of(form)) == form


@pytest.mark.parametrize("start", [Start.TRAIN, Start.BUY, Start.OFFERS])
def test_a_starting_point_is_one_word(start: Start) -> None:
    assert parameters_of(STARTS[start]) == {"start": [start.value]}


def test_an_empty_address_is_the_first_starting_point() -> None:
    assert form_of({}) == STARTS[Start.TRAIN]


@pytest.mark.parametrize("example", sorted(path.stem for path in examples_dir().glob("*.yaml")))
def test_an_example_keeps_its_limits(example: str) -> None:
    form = first_form(Start.PLAN, example, None)
    assert form_of({"start": ["plan"], "example": [example]}) == form
    changed = form.changed(runs=3, budget=None)
    assert form_of(parameters_of(changed)) == changed


def test_a_plan_of_ones_own_travels_in_the_link() -> None:
    text = (examples_dir() / "local_pc.yaml").read_text(encoding="utf-8")
    form = first_form(Start.PLAN, None, text)
    assert form_of(parameters_of(form)) == form


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        pytest.param({"start": ["nowhere"]}, "no starting point 'nowhere'", id="start"),
        pytest.param({"budget": ["many"]}, "budget", id="no number"),
        pytest.param({"epochs": ["-1"]}, "epochs", id="below zero"),
        pytest.param({"budget": ["nan"]}, "budget", id="not a number"),
        pytest.param({"samples": ["1_0"]}, "samples: has underscores", id="grouped digits"),
        pytest.param({"samples": ["\u0663"]}, "samples", id="digits of another script"),
        pytest.param({"machines": ["have:\u0663xRTX-3090"]}, "is not a machine", id="such digits of a machine"),
        pytest.param({"machines": ["2xRTX-3090"]}, "is not a machine", id="machine"),
        pytest.param({"machines": ["have:1xRTX-3090"] * 7}, "machines", id="too many machines"),
        pytest.param({"config": ["%%%"]}, "cut off or changed", id="cut"),
        pytest.param({"config": [packed("{}")[:-3]]}, "cut off or changed", id="shortened"),
        pytest.param({"config": [packed("x" * (LONGEST_UNPACKED + 1))]}, "more than", id="bomb"),
        pytest.param({"start": ["plan"], "example": ["../../etc/passwd"]}, "example", id="a path as a name"),
        pytest.param({"start": ["plan"], "plan": [packed("a: &a [*a]")]}, "your plan", id="a plan that is none"),
    ],
)
def test_a_wrong_link_is_refused_with_words(parameters: dict[str, list[str]], said: str) -> None:
    with pytest.raises(InputError, match=said):
        form_of(parameters)


def test_a_secret_in_a_link_is_hidden_and_noted() -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    text = (examples_dir() / "local_pc.yaml").read_text(encoding="utf-8")
    name = next(line for line in text.splitlines() if line.startswith("name:"))
    with secrets_noted() as noted:
        form = form_of({"start": ["plan"], "plan": [packed(text.replace(name, f"name: with {secret}"))]})
    assert plan_of_form(form).name == "with [hidden]"
    assert secret not in str(form)
    assert "the link: its plan: holds a secret (name)" in noted[0]
    with secrets_noted() as noted:
        assert form_of(parameters_of(form)) == form
    assert noted == []


def test_what_the_form_does_not_know_is_left_alone() -> None:
    assert form_of({"utm_source": ["mail"], "lang": ["ko"]}) == STARTS[Start.TRAIN]
