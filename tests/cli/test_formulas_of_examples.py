"""Every formula that an example plan reaches, computed again from what is printed of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest

from tests.formula_evaluation import evaluated
from tests.source_arithmetic import recomputed

FAST = ("local_pc", "p5e_vs_a100")
PLANS = (
    *FAST, "campaign_mix", "dgx_station_v100", "gpu_guide_llama3_8b", "own_8xh200", "qlora_llama3_8b",
    "rtx3090_cluster", "station_own_or_rent",
)  # fmt: skip


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in FAST else [pytest.mark.slow], id=name) for name in PLANS]
)
def test_the_printed_text_gives_the_number_of_every_formula_of_an_option(planner, example, name: str) -> None:
    """And every input that is computed names a formula of the same value."""
    options = planner("explain", example(name), "--json").document["options"]
    for option in options:
        check(option["formulas"])
        for part in option["parts"]:
            if part["times"] is not None:
                alone = evaluated(part["formula"], values(part))
                factor = option["correction"]["factor"]
                assert alone * part["times"] * factor == pytest.approx(part["seconds"], rel=1e-9), part["name"]
    first = {formula["name"]: formula["value"] for formula in options[0]["formulas"]}
    answer = options[0]["answer"]
    if answer["usd_confident"] is not None and first:
        assert first["usd_confident"] == pytest.approx(answer["usd_confident"], rel=1e-12)


@pytest.mark.parametrize(
    "name", ["own_8xh200", pytest.param("station_own_or_rent", marks=pytest.mark.slow), "p5e_vs_a100"]
)
def test_a_year_owned_or_rented_is_computed_from_what_is_printed(planner, example, name: str) -> None:
    """The parts of its cost add up to what the headline says, and are those of its formula."""
    document = planner("own-or-rent", example(name), "--json").document
    check(document["formulas"])
    own = next(option for option in document["by_plan"]["options"] if option["id"] == document["by_plan"]["owning"])
    year = own["usd_per_year"]["value"]
    parts = sum(year_part["usd_per_node_year"]["value"] for year_part in document["year_parts"])
    assert parts * document["nodes"] == pytest.approx(year)
    assert any(formula["value"] == pytest.approx(year, rel=1e-12) for formula in document["formulas"])


def test_the_chance_to_fit_is_a_mixture_of_totals_that_are_printed(planner) -> None:
    document = planner(
        "memory", "llama3-8b", "--on", "H100-SXM", "--gpus", "8", "--strategy", "fsdp2", "--json"
    ).document
    check(document["formulas"])
    by_name = {formula["name"]: formula for formula in document["formulas"]}
    assert by_name["chance_to_fit"]["value"] == pytest.approx(document["chance"], rel=1e-9)
    assert by_name["total_gib"]["value"] == pytest.approx(document["total_gib"]["value"], rel=1e-12)
    totals = [entry["value"] for entry in by_name["chance_to_fit"]["inputs"] if entry["name"].startswith("need_gib")]
    assert len(totals) > 3, "four ways to compute the loss, and two kinds of kernels"
    assert totals[0] == by_name["total_gib"]["value"]


def test_the_gain_of_a_cause_is_a_ratio_of_expected_rates(planner) -> None:
    document = planner("check-run", "seed-003-rtx3090-ddp-x10", "--json").document
    check(document["formulas"])
    by_name = {formula["name"]: formula for formula in document["formulas"]}
    for cause in document["causes"]:
        gain = by_name[f"gain_of_{cause['code']}"]
        assert gain["value"] == pytest.approx(cause["gain"], rel=1e-12)
        assert by_name[f"gain_of_{cause['code']}_to"]["value"] == pytest.approx(cause["gain_high"], rel=1e-12)
    assert by_name["gain_of_small_batch"]["text"] == "expected_without_small_batch / expected_as_stated"


def test_an_explanation_takes_two_screens_unless_all_of_it_is_asked_for(planner, example) -> None:
    plan = example("p5e_vs_a100")
    short, whole = planner("explain", plan).out, planner("explain", plan, "--all").out
    assert len(short.splitlines()) <= 80
    assert short.count("\n== ") == 1
    assert "3 more options: --option N or ID" in short
    assert len(whole.splitlines()) > 1000
    assert whole.count("\n== ") == 4
    assert "electricity_usd 80.14984 USD = energy_kwh x pue x usd_per_kwh" in short
    assert any(
        line.strip().startswith("usd_confident ") and "x factor_at_confidence" in line for line in short.splitlines()
    )


def check(formulas: list[dict[str, Any]]) -> None:
    """Assert that every text gives its number, and that what an input names is there with the same value."""
    by_name = {formula["name"]: formula for formula in formulas}
    assert len(by_name) == len(formulas)
    for formula in formulas:
        assert evaluated(formula["text"], values(formula)) == pytest.approx(formula["value"], rel=1e-9, abs=1e-12), (
            formula
        )
        for each in formula["inputs"]:
            if each["formula"] is not None:
                assert by_name[each["formula"]]["value"] == pytest.approx(each["value"], rel=1e-12), each


def values(formula: dict[str, Any]) -> dict[str, float]:
    """Return the numbers that a text names."""
    return {entry["name"]: entry["value"] for entry in formula["inputs"]}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in FAST else [pytest.mark.slow], id=name) for name in PLANS]
)
def test_the_products_that_a_source_begins_with_give_its_number(planner, example, name: str) -> None:
    """`606.46 kWh x 1.6 PUE x 0.0826 USD/kWh` are 80.15 USD: to the digits that are printed; cents of a bill add up."""
    found = [
        (part, quantity)
        for quantity in quantities(planner("compare", example(name), "--json").document)
        if (part := recomputed(quantity["source"])) is not None
    ]
    assert len(found) > 10
    for product, quantity in found:
        number = math.ceil(product) if ", rounded up;" in quantity["source"] else product
        assert number == pytest.approx(quantity["value"], rel=1e-3, abs=0.011), quantity["source"]


def quantities(document: Any) -> Iterator[dict[str, Any]]:
    """Yield every quantity of an answer."""
    if isinstance(document, dict):
        if {"value", "low", "high", "source"} <= set(document):
            yield document
        for value in document.values():
            yield from quantities(value)
    elif isinstance(document, list):
        for value in document:
            yield from quantities(value)
