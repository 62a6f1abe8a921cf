"""A site resolved: its own figures first, then the defaults, each named; grants, circuits and residual curves."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.cost.ownership.incentives import apply_incentives, schedule_of, sum_of
from planner.cost.ownership.owed_anyway import OWED, avoidable
from planner.cost.ownership.owned_cost import annual_cost, capex_usd
from planner.cost.ownership.residual import residual_fraction
from planner.cost.ownership.resolve_site import NoOwningCost, resolve_site
from planner.cost.ownership.resolved_site import ResolvedSite
from planner.cost.power.circuit import overloads
from planner.model.answer.reason import ReasonCode, text_of
from planner.model.currency import Currency
from planner.model.owning.acquisition import Hold, Incentive, IncentiveKind
from planner.model.owning.site import ResidualPoint, Site
from planner.model.plan.plan import Plan
from tests.bundled import bundled_catalog

CATALOG = bundled_catalog()
NODE = CATALOG.nodes["hgx-h200-8x"]
BARE: dict[str, Any] = {"schema_version": 1, "id": "s", "name": "S", "node": NODE.id, "source": "me"}
PLAN = Plan.model_validate(
    {
        "schema_version": 1,
        "name": "p",
        "workload": {"ref": "gpt-305m"},
        "work": {"tokens": 1e9},
        "options": [{"site": "pc-rtx4090"}],
    }
)


def resolved(plan: Plan = PLAN, *, accelerator: str = NODE.accelerator, **changes: Any) -> ResolvedSite:
    found = outcome(plan, accelerator=accelerator, **changes)
    assert isinstance(found, ResolvedSite), found
    return found


def outcome(plan: Plan = PLAN, *, accelerator: str = NODE.accelerator, **changes: Any) -> ResolvedSite | NoOwningCost:
    site = Site.model_validate(BARE | {"as_of": date(2026, 11, 1)} | changes)
    return resolve_site(site, NODE, CATALOG.accelerators[accelerator], plan, CATALOG)


def with_assumptions(**given: Any) -> Plan:
    return PLAN.model_copy(update={"assumptions": PLAN.assumptions.model_copy(update=given)})


def test_what_a_purchase_leaves_out_is_taken_from_the_defaults_and_named():
    found = resolved(purchase={"server_usd": 300_000})
    assert set(found.defaults) == {
        "residual", "discount_rate_per_year", "network_fraction_of_capex", "storage_fraction_of_capex", "years",
        "maintenance_fraction_per_year", "software_usd_per_gpu_year", "fte_per_node", "usd_per_fte_year",
        "spares_fraction_of_nodes", "colocation_usd_per_kw_month", "training_kw", "idle_kw", "pue", "electricity",
        "availability", "busy_fraction", "lead_time_months",
    }  # fmt: skip
    for name in found.defaults:
        quantity = found.quantities.get({"electricity": "usd_per_kwh", "residual": "residual_fraction"}.get(name, name))
        assert quantity is not None, name
        assert quantity.source


def test_a_site_that_says_everything_takes_no_default():
    site = CATALOG.sites["own-8xh200"]
    found = resolve_site(site, NODE, CATALOG.accelerators[NODE.accelerator], PLAN, CATALOG)
    assert isinstance(found, ResolvedSite)
    assert found.defaults == ()
    assert annual_cost(found.inputs).total == pytest.approx(149_503, rel=1e-3)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        pytest.param({}, "neither purchase, lease nor already_owned", id="nothing said"),
        pytest.param({"already_owned": {"bought_on": "2024-01-01"}}, "neither resale_usd nor paid_usd", id="no worth"),
        pytest.param(
            {"already_owned": {"paid_usd": 5}}, "neither bought_on nor remaining_life_years", id="of unknown age"
        ),
        pytest.param(
            {"lease": {"usd_per_month": 5, "term_months": 12}}, "maintenance_included", id="a lease without maintenance"
        ),
    ],
)
def test_what_cannot_be_known_has_its_reason(changes, words):
    found = outcome(**changes)
    assert isinstance(found, NoOwningCost)
    assert words in found.reason


def test_resale_by_age_follows_the_curve():
    """Bought for 100,000 three years before: 38 % today; two more years: 15 of 38 of that."""
    found = resolved(already_owned={"paid_usd": 100_000, "bought_on": "2023-11-02"}, life_years=5)
    assert found.inputs.resale_usd == pytest.approx(38_000, rel=2e-3)
    assert found.inputs.years == pytest.approx(2.0, abs=0.01)
    assert found.inputs.residual_fraction == pytest.approx(15 / 38, rel=0.01)
    assert capex_usd(found.inputs) == found.inputs.resale_usd


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        pytest.param({"bought_on": "2015-01-01"}, "5 years of life", id="older than its life"),
        pytest.param(
            {"remaining_life_years": 0, "bought_on": "2024-01-01"}, "remaining_life_years 0", id="by the owner"
        ),
    ],
)
def test_a_machine_past_its_life_is_looked_at_one_year_at_a_time(changes, words):
    found = resolved(already_owned={"resale_usd": 2_000} | changes, life_years=5)
    assert found.inputs.years == 1
    assert "one year at a time" in found.notes[0]
    assert words in found.notes[0]


def test_the_end_of_software_support_ends_the_useful_life():
    found = resolved(accelerator="V100-DGXS-32GB", already_owned={"resale_usd": 2_000, "bought_on": "2025-01-01"})
    assert found.inputs.years == 1
    assert "software support has ended" in found.notes[0]


def test_a_purchase_whose_software_is_no_longer_supported_is_told():
    supported = resolved(purchase={"server_usd": 5})
    ended = resolved(accelerator="V100-DGXS-32GB", purchase={"server_usd": 5})
    said = "it may serve less than its life: software support has ended"
    assert not any(note.startswith(said) for note in supported.notes)
    assert any(note.startswith(said) for note in ended.notes)
    assert ended.inputs.years == supported.inputs.years


def test_the_owner_s_years_left_are_the_years_that_count():
    """Six years of life with two and a half remaining make it three and a half years old."""
    found = resolved(already_owned={"resale_usd": 2_000, "remaining_life_years": 2.5}, life_years=6)
    assert found.inputs.years == 2.5
    assert found.notes == resolved(purchase={"server_usd": 5}).notes


def test_without_a_rated_power_there_is_no_cost_of_owning():
    site = Site.model_validate(BARE | {"as_of": date(2026, 11, 1), "purchase": {"server_usd": 5}})
    node = NODE.model_copy(update={"rated_kw": None})
    found = resolve_site(site, node, CATALOG.accelerators[NODE.accelerator], PLAN, CATALOG)
    assert isinstance(found, NoOwningCost)
    assert "names no rated power" in found.reason


def test_the_place_s_price_by_hour_and_by_month_agree():
    monthly = resolved(purchase={"server_usd": 5}, colocation={"usd_per_kw_month": 730.5, "power_included": False})
    hourly = resolved(purchase={"server_usd": 5}, colocation={"usd_per_kw_hour": 1.0, "power_included": False})
    assert annual_cost(hourly.inputs) == annual_cost(monthly.inputs)


def test_a_place_that_includes_power_charges_no_electricity_even_where_the_plan_states_one():
    place = {"usd_per_kw_month": 200, "power_included": True}
    found = resolved(with_assumptions(electricity_usd_per_kwh=0.5), purchase={"server_usd": 5}, colocation=place)
    assert annual_cost(found.inputs).power == 0
    assert "power_included" in found.quantities["usd_per_kwh"].source


def test_a_demand_charge_is_paid_for_the_contracted_power():
    """10.2 kW x PUE 1.5 x 7,470 / 1,439 USD x 12."""
    found = resolved(with_assumptions(tariff="kr-industrial-a2-hv", pue=1.5), purchase={"server_usd": 5})
    assert annual_cost(found.inputs).demand == pytest.approx(10.2 * 1.5 * 7470 / 1439 * 12)
    own = resolved(tariff="kr-industrial-a2-hv", contracted_kw_per_node=20, purchase={"server_usd": 5})
    assert annual_cost(own.inputs).demand == pytest.approx(20 * 7470 / 1439 * 12)


def test_a_demand_charge_in_the_plan_s_currency_is_paid_at_the_plan_s_rate():
    """7,470 KRW at 1,000 a USD: the rate of the energy beside it, and not the tariff's own."""
    won = Currency(code="KRW", per_usd=1000.0, as_of=date(2026, 11, 1), source="my bank")
    plan = with_assumptions(tariff="kr-industrial-a2-hv", pue=1.5).model_copy(update={"currency": won})
    found = resolved(plan, purchase={"server_usd": 5})
    assert annual_cost(found.inputs).demand == pytest.approx(10.2 * 1.5 * 7.47 * 12)


def test_moving_the_life_moves_the_resale_along_the_curve():
    found = resolved(purchase={"server_usd": 100_000}, life_years=5)
    longer = found.moved(found.inputs, "years", 6.0)
    assert (found.inputs.residual_fraction, longer.residual_fraction) == pytest.approx((0.15, 0.10))


CURVE = tuple(
    ResidualPoint.model_validate({"age_years": age, "fraction": share})
    for age, share in ((1.0, 0.7), (3.0, 0.3), (6.0, -0.05))
)


@pytest.mark.parametrize(
    ("age", "share"),
    [(0.0, 0.7), (1.0, 0.7), (2.0, 0.5), (3.0, 0.3), (4.5, 0.125), (6.0, -0.05), (20.0, -0.05)],
)
def test_the_residual_curve_by_hand(age, share):
    assert residual_fraction(CURVE, age_years=age).value == pytest.approx(share)


@given(age=st.floats(0, 12), later=st.floats(0, 12))
def test_a_falling_curve_never_rises_with_age(age, later):
    assert (
        residual_fraction(CURVE, age_years=age + later).value <= residual_fraction(CURVE, age_years=age).value + 1e-12
    )


def incentive(kind: IncentiveKind, **changes: Any) -> Incentive:
    fields: dict[str, Any] = {"name": "line", "kind": kind, "rate": 0.25, "eligible": True, "eligibility": "who asks"}
    return Incentive.model_validate(fields | {"source": "a law", "as_of": date(2026, 1, 1)} | changes)


@pytest.mark.parametrize(
    ("line", "usd", "words"),
    [
        pytest.param(incentive(IncentiveKind.GRANT), 50_000, "0.25 x 200,000", id="a quarter of capex"),
        pytest.param(incentive(IncentiveKind.GRANT, base="server"), 37_500, "0.25 x 150,000", id="of the server alone"),
        pytest.param(incentive(IncentiveKind.TAX_CREDIT, cap_usd=10_000), 10_000, "capped", id="up to its cap"),
        pytest.param(incentive(IncentiveKind.GRANT, eligible=False), None, "eligible", id="not checked"),
        pytest.param(incentive(IncentiveKind.GRANT, expires=date(2026, 10, 31)), None, "expired", id="a day too late"),
        pytest.param(incentive(IncentiveKind.GRANT, expires=date(2026, 11, 1)), 50_000, "0.25", id="on its last day"),
    ],
)
def test_an_incentive(line, usd, words):
    (found,) = apply_incentives((line,), server_usd=150_000, capex_usd=200_000, on=date(2026, 11, 1))
    assert found.usd == usd
    assert found.counts is (usd is not None)
    assert words in found.reason
    assert sum_of((found,), line.kind) == (usd or 0)


def test_a_schedule_counts_only_where_it_is_claimed():
    schedule = incentive(IncentiveKind.ACCELERATED_DEPRECIATION, rate=None, schedule_fractions=(0.6, 0.4))
    for eligible, expected in ((True, (0.6, 0.4)), (False, ())):
        line = schedule.model_copy(update={"eligible": eligible})
        found = apply_incentives((line,), server_usd=1, capex_usd=1, on=date(2026, 11, 1))
        assert schedule_of(found) == expected


def test_a_grant_lowers_the_recovery_by_its_share():
    shares = {"network_fraction_of_capex": 0, "storage_fraction_of_capex": 0}
    purchase = {"server_usd": 100_000} | shares
    plain, granted = (
        resolved(purchase=purchase, life_years=5, incentives=lines)
        for lines in ([], [incentive(IncentiveKind.GRANT, rate=0.4)])
    )
    assert annual_cost(granted.inputs).recovery == pytest.approx(0.6 * annual_cost(plain.inputs).recovery)
    assert annual_cost(granted.inputs).residual == annual_cost(plain.inputs).residual


@pytest.mark.parametrize(
    ("changes", "nodes", "words"),
    [
        pytest.param({"circuit_kw": 20}, 2, "2 x 10.2 kW = 20.4 kW, circuit_kw is 20", id="over the circuit"),
        pytest.param({"circuit_kw": 20.4}, 2, None, id="just on the circuit"),
        pytest.param({"rack_kw": 10}, 1, "1 x 10.2 kW = 10.2 kW, rack_kw is 10", id="one node over its rack"),
        pytest.param(
            {"rack_kw": 20, "nodes_per_rack": 2}, 4, "2 x 10.2 kW = 20.4 kW, rack_kw is 20", id="two in a rack"
        ),
        pytest.param({"rack_kw": 20, "nodes_per_rack": 2}, 1, None, id="one of two in a rack"),
        pytest.param({}, 100, None, id="no limit named"),
    ],
)
def test_what_fits_the_wiring(changes, nodes, words):
    site = Site.model_validate(BARE | {"as_of": date(2026, 11, 1)} | changes)
    text = text_of(overloads(site, NODE, nodes=nodes))
    assert (text is None) if words is None else (words in (text or ""))


def test_a_circuit_and_a_rack_are_two_reasons_with_both_loads():
    """Two nodes of 10.2 kW: 20.4 kW on a circuit of 20, and 10.2 kW in each rack of 10."""
    changes = {"as_of": date(2026, 11, 1), "circuit_kw": 20, "rack_kw": 10}
    circuit, rack = overloads(Site.model_validate(BARE | changes), NODE, nodes=2)
    assert (circuit.code, circuit.figures) == (ReasonCode.CIRCUIT_OVERLOADED, {"load_kw": 20.4, "circuit_kw": 20})
    assert (rack.code, rack.figures) == (ReasonCode.RACK_OVERLOADED, {"load_kw": 10.2, "rack_kw": 10})


def test_of_a_signed_lease_only_the_electricity_of_trainings_can_be_avoided():
    """The electricity remains: 8,766 h x 70 % busy x 5 kW x the price. Rate, people, place and rest are owed anyway."""
    lease = {"usd_per_month": 10_000, "term_months": 36, "maintenance_included": True}
    found = resolved(lease=lease, colocation={"usd_per_kw_month": 184, "power_included": False})
    left = avoidable(found, Hold.HAVE)
    assert set(found.quantities) - set(left.quantities) <= set(OWED)
    assert {"usd_per_kwh", "pue", "busy_fraction"} <= set(left.quantities)
    assert not set(OWED) & set(left.quantities)
    inputs = left.inputs
    assert (inputs.lease_usd_per_month, inputs.fte_per_node, inputs.idle_kw) == (0, 0, 0)
    power = inputs.training_kw * inputs.busy_fraction * 8766 * inputs.pue * inputs.usd_per_kwh
    assert annual_cost(inputs).total == pytest.approx(power)
    assert avoidable(found, Hold.BUY) is found
