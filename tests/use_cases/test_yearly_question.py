"""Changes of a year's inputs, one by one: each moves the right figures in the right direction."""

from __future__ import annotations

from datetime import date

import pytest

from planner.adapters.workspace import examples_dir
from planner.model.owning.acquisition import Hold
from planner.use_cases.catalogs import open_catalog
from planner.use_cases.owning import Year, own_or_rent_in, yearly_costs
from planner.use_cases.plans import read_plan

PLAN = read_plan(examples_dir() / "station_own_or_rent.yaml")
CATALOG = open_catalog()
TODAY = date(2026, 7, 1)
PC = "pc-rtx4090"


def a_year(year: Year, *, site: str = PC) -> float:
    by_plan = own_or_rent_in(PLAN, CATALOG, year, site=site, today=TODAY).by_plan
    (own,) = [option for option in by_plan.options if option.id == by_plan.owning]
    return own.usd_per_year.value


@pytest.mark.parametrize(
    ("change", "dearer"),
    [
        pytest.param(Year(purchase_usd=6000.0), True, id="a dearer machine"),
        pytest.param(Year(purchase_usd=1500.0), False, id="a cheaper one"),
        pytest.param(Year(years=2.0), True, id="kept for less"),
        pytest.param(Year(usd_per_kwh=0.5), True, id="dearer electricity"),
        pytest.param(Year(other_use=0.5), False, id="others bear half"),
    ],
)
def test_each_input_moves_the_cost_its_way(change: Year, dearer: bool) -> None:
    assert (a_year(change) > a_year(Year())) == dearer


def test_nothing_changed_is_the_answer_of_own_or_rent() -> None:
    from planner.use_cases.owning import own_or_rent

    plain = own_or_rent(PLAN, CATALOG, today=TODAY, site=PC)
    assert own_or_rent_in(PLAN, CATALOG, Year(), site=PC, today=TODAY) == plain


def test_what_is_rented_costs_by_the_training_and_what_is_owned_hardly_more() -> None:
    costs = yearly_costs(PLAN, CATALOG, Year(), (10, 20), site=PC, today=TODAY)
    usd = {
        count: {option.display_name: option.usd_per_year.value for option in year.options if option.usd_per_year}
        for count, year in costs.items()
    }
    (rented,) = {option.display_name for option in costs[10].options if option.id == costs[10].cheapest_firm}
    assert usd[20][rented] == pytest.approx(2 * usd[10][rented], rel=0.02)
    (own,) = {
        option.display_name for option in costs[10].options if option.hold is Hold.BUY and option.id == costs[10].owning
    }
    assert usd[20][own] < 1.2 * usd[10][own]
