"""Formulas that print themselves: their text is what their code does, with any constant of it."""

from __future__ import annotations

import ast
import inspect
import math
import sys
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.cost.cloud.cloud_cost import rent_usd
from planner.cost.ownership import owned_cost
from planner.cost.power import energy
from planner.decide.owning.yearly_cost import owning_usd
from planner.duration import goodput
from planner.duration.goodput import train_hours
from planner.duration.practice import stretched_hours
from planner.model.owning.acquisition import Acquisition
from planner.model.quantity import Basis, Unit
from planner.quantity.conversion import interval, to_quantity
from planner.quantity.formula import exp, formula, largest, log, named, stated, total
from planner.quantity.formula_text import printed
from planner.quantity.interval import Interval
from planner.quantity.recorded_number import recording
from planner.speed.memory.activations import SavedBytes
from planner.speed.memory.device_memory import Parts
from planner.speed.memory.planned_settings import PossibleNeed, chance_within
from planner.speed.memory.states import States
from tests.formula_evaluation import evaluated

SITE = owned_cost.OwnedInputs(
    acquisition=Acquisition.PURCHASE, gpus=8, server_usd=3e5, network_fraction_of_capex=0.1,
    storage_fraction_of_capex=0.05, grants_usd=1e4, resale_usd=0.0, lease_usd_per_month=100.0, years=5.0,
    residual_fraction=0.2, discount_rate_per_year=0.08, maintenance_fraction_per_year=0.07,
    maintenance_usd_per_node_year=50.0, software_usd_per_gpu_year=40.0, colocation_usd_per_kw_month=180.0,
    reserved_kw=10.0, room_usd_per_month=30.0, training_kw=8.0, idle_kw=2.0, pue=1.4, usd_per_kwh=0.11,
    demand_usd_per_kw_month=9.0, contracted_kw=11.0, fte_per_node=0.05, usd_per_fte_year=1.5e5,
    spares_fraction_of_nodes=0.03, availability=0.97, busy_fraction=0.6, lead_time_months=2.0,
)  # fmt: skip
LOSS = goodput.Interruptions(
    input_stall=0.1, evaluation=0.02, interval_hours=0.5, checkpoint_hours=0.01, unsaved_hours=0.02,
    failures_per_hour=0.01, preemptions_per_hour=0.03, restart_hours=0.25,
)  # fmt: skip
WORK = Interval(10.0, 8.0, 13.0)
CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "hours of steps": (train_hours, {"samples": 1e6, "samples_per_s": WORK, "goodput_fraction": 0.9}),
    "practice": (stretched_hours, {"benchmark_hours": WORK, "practice": Interval(1.3, 1.0, 2.0)}),
    "losses": (goodput.losses, {"interruptions": LOSS}),
    "best interval": (
        goodput.optimal_interval_hours, {"checkpoint_hours": 0.01, "interruptions_per_hour": 0.04}
    ),
    "rent": (rent_usd, {"hours": WORK, "nodes": 4, "usd_per_node_hour": Interval.exact(55.0), "trainings": 3}),
    "energy": (energy.node_energy_kwh, {"hours": WORK, "nodes": 3, "power_kw": Interval.exact(5.0)}),
    "electricity": (
        energy.energy_usd, {"energy_kwh": WORK, "pue": Interval.exact(1.4), "usd_per_kwh": Interval.exact(0.1)}
    ),
    "carbon": (energy.carbon_kg, {"energy_kwh": WORK, "pue": Interval.exact(1.4), "kg_per_kwh": 0.3}),
    "power": (
        energy.average_power_kw,
        {"rated_kw": 10.0, "busy_fraction": 0.7, "training": Interval.exact(0.8), "idle": Interval.exact(0.2)},
    ),
    "recovery factor": (owned_cost.recovery_factor, {"rate_per_year": 0.08, "years": 5.0}),
    "owning": (owned_cost.annual_cost, {"inputs": SITE}),
    "busy hours": (owned_cost.busy_gpu_hours_per_year, {"inputs": SITE}),
    "busy hour": (owned_cost.usd_per_busy_gpu_hour, {"inputs": SITE}),
    "busy hour at the margin": (owned_cost.marginal_usd_per_busy_gpu_hour, {"inputs": SITE}),
    "a year": (owning_usd, {"inputs": SITE, "nodes": 2, "gpu_hours": 1e4, "other_use": 0.25}),
    "fit": (chance_within, {"likely": [PossibleNeed(0.4, 70.0), PossibleNeed(0.6, 85.0)], "size_gib": 80.0}),
}  # fmt: skip
"""Formulas and inputs at which every term of them counts."""


@pytest.mark.parametrize(("function", "inputs"), CASES.values(), ids=CASES.keys())
def test_the_text_with_its_inputs_gives_the_number(function: Any, inputs: dict[str, Any]) -> None:
    """And the number is that of the plain function, which nothing records."""
    plain, remembered = _numbers(function(**inputs)), _recorded(function, inputs)
    assert remembered.keys() == plain.keys()
    for name, (value, text, result) in remembered.items():
        assert value == pytest.approx(plain[name], rel=1e-12)
        assert result == pytest.approx(value, rel=1e-9), text


WITHOUT_CONSTANTS = {
    "practice", "rent", "energy", "electricity", "carbon", "recovery factor", "busy hour", "busy hour at the margin",
    "fit",
}  # fmt: skip
"""Products and the like: no number of their own counts at these inputs."""


@pytest.mark.parametrize("name", CASES)
def test_another_constant_changes_the_text_as_well_as_the_number(name: str) -> None:
    function, inputs = CASES[name]
    before = _recorded(function, inputs)
    moved = 0
    for other in _mutants(function):
        try:
            after = _recorded(other, inputs)
        except (ValueError, ZeroDivisionError, OverflowError):  # it computes nothing
            continue
        for part, (value, text, result) in after.items():
            assert result == pytest.approx(value, rel=1e-9), text
            if not math.isclose(value, before[part][0], rel_tol=1e-9):
                moved += 1
                assert text != before[part][1], part
    assert (moved == 0) == (name in WITHOUT_CONSTANTS)


def test_other_errors_of_estimates_change_the_inputs_of_the_chance_to_fit(monkeypatch) -> None:
    function, inputs = CASES["fit"]
    (before,) = _recorded(function, inputs).values()
    spreads = {"usual": (0.5, 0.045), "large": (0.5, 0.2)}
    monkeypatch.setattr("planner.speed.memory.planned_settings.SPREADS", spreads)
    (after,) = _recorded(function, inputs).values()
    assert after[0] != pytest.approx(before[0])
    assert after[2] == pytest.approx(after[0], rel=1e-9)
    with recording():
        (shown,) = printed(_numbers(function(**inputs)))
    numbers = {given.name: given.value for given in shown.inputs if given.name.endswith("_errors")}
    assert numbers == {
        f"{what}_of_{kind}_errors": value
        for kind, spread in spreads.items()
        for what, value in zip(("share", "width"), spread, strict=True)
    }


def _mutants(function: Any) -> Iterator[Callable[..., Any]]:
    """Yield the formula with one number of its own changed, or one constant of its module that it reads."""
    plain = function.__wrapped__
    source = textwrap.dedent(inspect.getsource(plain))
    home = vars(sys.modules[plain.__module__])
    tree = ast.parse(source)
    numbers = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and type(node.value) in (int, float)]
    for number in numbers:
        kept = number.value
        number.value = kept * 1.37 + 0.11
        yield _compiled(tree, home, plain.__name__)
        number.value = kept
    read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    for name in sorted(read):
        if type(home.get(name)) in (int, float):
            yield _compiled(tree, home | {name: home[name] * 1.37}, plain.__name__)


def _compiled(tree: ast.Module, home: dict[str, Any], name: str) -> Callable[..., Any]:
    space = dict(home)
    exec(compile(ast.fix_missing_locations(tree), "mutant", "exec"), space)
    found: Callable[..., Any] = space[name]
    return found


def _recorded(function: Callable[..., Any], inputs: dict[str, Any]) -> dict[str, tuple[float, str, float]]:
    """Return of each number of the result: its value, its text with those of all formulas below, what that gives."""
    with recording():
        numbers = _numbers(function(**inputs))
    found = {}
    for name, number in numbers.items():
        formulas = printed({name: number})
        values: dict[str, float] = {}
        for shown in reversed(formulas):
            given = {input_.name: input_.value for input_ in shown.inputs}
            values[shown.name] = evaluated(shown.text, given)
            assert values[shown.name] == pytest.approx(shown.value, rel=1e-9), shown
        text = " ".join(shown.text for shown in formulas)
        found[name] = (float(number), text, values[formulas[0].name] if formulas else float(number))
    return found


def _numbers(result: Any) -> dict[str, float]:
    if isinstance(result, Interval):
        return {"value": result.value}
    if isinstance(result, float | int):
        return {"value": result}
    return {name: value for name, value in vars(result).items() if isinstance(value, float) and value} if result else {}


@given(st.floats(0.1, 1e6), st.floats(0.1, 1e6), st.floats(0.1, 10))
def test_any_arithmetic_prints_what_gives_the_same(first: float, two: float, three: float) -> None:
    """Signs, brackets, powers, functions, and terms of 0 and factors of 1, which are left out."""

    @formula("h")
    def mixed(first: float, two: float, three: float) -> float:
        """Return some arithmetic."""
        nothing, whole = 0 * first, three / three
        ratio = (first - two) / (first + two) * whole - -(three**2) / 3
        return (
            largest(ratio, -ratio) + nothing - (two - first) + exp(log(first / two) / three) * 2 + total([first, two])
        )

    (value, text, result) = _recorded(mixed, {"first": first, "two": two, "three": three})["value"]
    assert result == pytest.approx(value, rel=1e-9), text


def test_inputs_have_names_units_and_where_they_come_from() -> None:
    price = to_quantity(Interval.exact(2.5), Unit.USD_PER_HOUR, Basis.QUOTED, "a list")
    with recording():
        hours = named("run_hours", stated("steps", 7200.0, "steps", "the plan") / 3600, "h", "of one run")
        usd = rent_usd(hours=Interval.exact(hours), nodes=1, usd_per_node_hour=interval(price, Unit.USD_PER_HOUR))
        rent, below = printed({"total": to_quantity(usd, Unit.USD, Basis.QUOTED, "a bill").value})
    assert (rent.name, rent.text, rent.value, rent.unit) == ("rent_usd", "hours x usd_per_node_hour", 5.0, "USD")
    assert rent.where == "planner/cost/cloud/cloud_cost.py: rent_usd"
    assert [(given.name, given.source, given.formula) for given in rent.inputs] == [
        ("hours", "", "run_hours"), ("usd_per_node_hour", "a list", None),
    ]  # fmt: skip
    assert (below.name, below.text, below.meaning) == ("run_hours", "steps / 3600", "of one run")
    assert [(given.name, given.value, given.unit, given.source) for given in below.inputs] == [
        ("steps", 7200.0, "steps", "the plan")
    ]


def test_what_is_computed_twice_the_same_way_is_printed_once_and_unlike_ones_have_names_of_their_own() -> None:
    with recording():
        first, again = (named("cost", stated("a", 2.0, "", "plan") * 3, "USD") for _ in range(2))
        other = named("cost", stated("a", 2.0, "", "plan") * 4, "USD")
        (whole, *below) = printed({"sum": first + again + other})
    assert whole.text == "cost + cost + cost_2"
    assert [(each.name, each.text) for each in below] == [("cost", "a x 3"), ("cost_2", "a x 4")]


def test_nothing_is_remembered_outside_of_a_recording() -> None:
    hours = train_hours(samples=3600.0, samples_per_s=Interval.exact(1.0), goodput_fraction=1.0)
    assert type(hours.value) is float
    assert type(stated("a", 1.0, "h", "plan")) is float
    assert printed({"hours": hours.value}) == ()


def test_the_fullest_moment_adds_up_what_it_holds() -> None:
    parts = Parts(States(2e9, 2e9, 4e9, 0.0), SavedBytes(8e9, 1e9, 5e8), 3e9, 1e9, 1.05)
    with recording():
        (whole, *_) = printed({"total": parts.fullest().total_gib})
    assert whole.text == "states_gib + activations_gib + logits_gib + buffers_gib"
    assert evaluated(whole.text, {given.name: given.value for given in whole.inputs}) == pytest.approx(
        (2e9 + 4e9 + 8e9 + 3e9 + 1e9) * 1.05 / 2**30 + 1
    )
