"""Rows of a year of trainings: their chances, and the rent that each is compared with, computed by hand."""

from __future__ import annotations

import math
from statistics import NormalDist

import pytest

from planner.decide.owning.year_option import pay_as_you_go, with_chances
from planner.model.answer.planned_year import YearOption
from planner.model.answer.reason import ReasonCode
from planner.model.owning.acquisition import Hold
from planner.model.prices.offer import PriceKind
from planner.model.quantity import Basis, Quantity, Unit


def row(name: str, usd: float | None, *, hold: Hold = Hold.RENT, factor: float = 2.0, **changes: object) -> YearOption:
    year = None
    if usd is not None:
        year = Quantity(
            value=usd, low=usd / factor, high=usd * factor, unit=Unit.USD_PER_YEAR, basis=Basis.MODELLED, source="hand"
        )
    fields: dict[str, object] = {
        "id": name, "display_name": name, "hold": hold, "firm": True, "price_kind": None, "nodes": None,
        "usd_per_year": year, "local_per_year": None, "above_owning_usd_per_year": None, "chance_owning_cheaper": None,
        "break_even": None, "usd_at_once": None, "price_stale": False, "why_not": None,
    }  # fmt: skip
    return YearOption.model_validate(fields | changes)


def less(mine: float, other: float, factor: float = 2.0) -> float:
    """Return P(mine < other) of two log-normal costs whose 90 % ranges are a factor both ways."""
    deviation = math.sqrt(2) * math.log(factor) / NormalDist().inv_cdf(0.95)
    return NormalDist().cdf(math.log(other / mine) / deviation)


OURS = row("ours", 3000.0, hold=Hold.HAVE)
PC = row("pc", 1300.0, hold=Hold.BUY)
DEAR = row("dear", 9000.0)


def test_every_row_is_compared_with_the_machine_in_question():
    """The recommended row's chance is its own: 0.92 for the PC against keeping, 0.08 for keeping against the PC."""
    found = {option.id: option for option in with_chances([PC, OURS, DEAR], "ours")}
    assert found["pc"].chance_costs_less == pytest.approx(less(1300, 3000), abs=0.02)
    assert found["pc"].chance_costs_less > 0.9
    assert found["pc"].costs_less_than == "ours"
    assert found["dear"].chance_costs_less == pytest.approx(less(9000, 3000), abs=0.02)


def test_what_both_have_in_common_cancels():
    """Both err by the same practice alone: what costs less does so in every sample."""
    shared = {"error_causes": (("practice typical", 0.4),)}
    pc, ours = row("pc", 2900.0, hold=Hold.BUY, **shared), row("ours", 3000.0, hold=Hold.HAVE, **shared)
    found = {each.id: each for each in with_chances([pc, ours], "ours")}
    assert found["pc"].chance_costs_less > 0.999
    assert found["ours"].chance_costs_less < 0.001
    assert found["pc"].chance_owning_cheaper < 0.001


def test_the_machine_itself_is_compared_with_the_cheapest_that_may_be_recommended():
    spot = row("spot", 100.0, firm=False)
    broken = row("broken", 50.0, why_not="it does not fit", why_not_codes=(ReasonCode.NO_PRICE,))
    dear = row("over budget", 200.0, hold=Hold.BUY, over_budget=True)
    own = next(row for row in with_chances([spot, broken, dear, PC, OURS, DEAR], "ours") if row.id == "ours")
    assert own.costs_less_than == "pc"
    assert own.chance_costs_less == pytest.approx(less(3000, 1300), abs=0.02)


def test_a_row_without_a_cost_has_no_chance():
    found = {option.id: option for option in with_chances([OURS, row("unknown", None)], "ours")}
    assert found["unknown"].chance_costs_less is None
    assert found["ours"].chance_costs_less is None


@pytest.mark.parametrize(
    ("rents", "chosen"),
    [
        pytest.param([row("term", 10.0, price_kind=PriceKind.SAVINGS_3Y), row("hourly", 20.0, price_kind="on_demand")],
                     "hourly", id="on demand before a cheaper term"),
        pytest.param([row("dear", 30.0, price_kind="on_demand"), row("hourly", 20.0, price_kind="on_demand")],
                     "hourly", id="the cheapest of them"),
        pytest.param([row("spot", 5.0, price_kind="spot", firm=False), row("hourly", 20.0, price_kind="on_demand")],
                     "hourly", id="never spot"),
        pytest.param([row("term", 10.0, price_kind=PriceKind.SAVINGS_3Y)], "term", id="a term where that is all"),
        pytest.param([row("spot", 5.0, price_kind="spot", firm=False)], None, id="nothing firm"),
    ],
)  # fmt: skip
def test_the_cheapest_hourly_rent(rents: list[YearOption], chosen: str | None):
    assert pay_as_you_go(rents) == chosen
