"""The cost of owning: the published check value, part by part, and what must hold of any machine."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.cost.ownership.break_even import break_even_utilisation
from planner.cost.ownership.owned_cost import (
    annual_cost,
    busy_gpu_hours_per_year,
    capex_usd,
    marginal_usd_per_busy_gpu_hour,
    recovery_factor,
    usd_per_busy_gpu_hour,
)
from planner.model.owning.acquisition import Acquisition
from tests.cost.ownership.owning import CHECK, node

SHARES = st.floats(min_value=0.02, max_value=0.98)
RATES = st.floats(min_value=0.0, max_value=0.5)
USD = st.floats(min_value=0.0, max_value=1e6)


@pytest.mark.parametrize(
    ("part", "usd"),
    [
        pytest.param("recovery", 101_701, id="406,061 x 0.25046"),
        pytest.param("residual", -10_382, id="15 % of it, discounted five years"),
        pytest.param("colocation", 22_522, id="184 x 10.2 x 12"),
        pytest.param("maintenance", 21_887, id="7 % of the server's price"),
        pytest.param("staff", 7_500, id="0.05 x 150,000"),
        pytest.param("power", 6_276, id="6.19 kW x 1.4 x 8,766 x 0.0826"),
    ],
)
def test_the_check_value_part_by_part(part, usd):
    assert getattr(annual_cost(CHECK), part) == pytest.approx(usd, rel=1e-3)


def test_the_check_value_in_all():
    assert capex_usd(CHECK) == pytest.approx(406_061, rel=1e-5)
    assert annual_cost(CHECK).total == pytest.approx(149_503, rel=1e-3)


@pytest.mark.parametrize(("busy", "usd"), [(0.3, 7.006), (0.7, 3.046), (0.9, 2.385)])
def test_the_check_value_of_a_busy_hour(busy, usd):
    assert usd_per_busy_gpu_hour(node(busy_fraction=busy)) == pytest.approx(usd, rel=1e-3)


@pytest.mark.parametrize(
    ("rent", "percent"),
    [
        pytest.param(7.912, 26.5, id="p5en on demand"),
        pytest.param(5.201, 40.6, id="p5en Capacity Block"),
        pytest.param(4.39, 48.2, id="RunPod"),
    ],
)
def test_the_check_value_of_break_even(rent, percent):
    found = break_even_utilisation(CHECK, rent_usd_per_gpu_hour=rent)
    assert found is not None
    assert 100 * found == pytest.approx(percent, abs=0.2)


def test_against_the_lowest_spot_price_it_never_breaks_even():
    found = break_even_utilisation(CHECK, rent_usd_per_gpu_hour=14.8209 / 8)
    assert found is not None
    assert found > 1
    assert break_even_utilisation(CHECK, rent_usd_per_gpu_hour=0.05) is None, "power alone is dearer"


@pytest.mark.parametrize(
    ("rate", "years", "factor"),
    [
        pytest.param(0.08, 5, 0.250456, id="a textbook's table, 8 % and 5 years"),
        pytest.param(0.10, 10, 0.162745, id="a textbook's table, 10 % and 10 years"),
        pytest.param(0.0, 4, 0.25, id="no interest"),
    ],
)
def test_the_recovery_factor(rate, years, factor):
    assert recovery_factor(rate_per_year=rate, years=years) == pytest.approx(factor, abs=1e-6)


@given(rate=st.floats(min_value=1e-12, max_value=1e-6), years=st.floats(min_value=0.5, max_value=30))
def test_the_recovery_factor_has_no_step_at_rate_zero(rate, years):
    assert recovery_factor(rate_per_year=rate, years=years) == pytest.approx(1 / years, rel=1e-4)


@given(low=SHARES, high=SHARES)
def test_an_hour_gets_cheaper_the_busier_the_machine_is(low, high):
    low, high = sorted((low, high))
    cheap, dear = usd_per_busy_gpu_hour(node(busy_fraction=high)), usd_per_busy_gpu_hour(node(busy_fraction=low))
    assert cheap <= dear * (1 + 1e-12)


@given(rent=st.floats(min_value=0.2, max_value=50))
def test_at_break_even_an_hour_costs_its_rent(rent):
    share = break_even_utilisation(CHECK, rent_usd_per_gpu_hour=rent)
    if share is not None:
        assert usd_per_busy_gpu_hour(node(busy_fraction=share)) == pytest.approx(rent, rel=1e-9)


@given(usd_per_kw_month=USD, busy=SHARES, pue=st.floats(min_value=1, max_value=3))
def test_power_that_the_place_includes_is_not_charged_again(usd_per_kw_month, busy, pue):
    beside = node(colocation_usd_per_kw_month=usd_per_kw_month, busy_fraction=busy, pue=pue)
    within = annual_cost(replace(beside, usd_per_kwh=0.0))
    assert within.power == 0
    assert annual_cost(beside).total - within.total == pytest.approx(annual_cost(beside).power, rel=1e-9, abs=1e-6)


@given(server=USD, network=st.floats(0, 0.4), storage=st.floats(0, 0.4), years=st.floats(0.5, 20), rate=RATES)
def test_capex_never_enters_the_marginal_view(server, network, storage, years, rate):
    changed = node(
        server_usd=server,
        network_fraction_of_capex=network,
        storage_fraction_of_capex=storage,
        years=years,
        discount_rate_per_year=rate,
        grants_usd=server / 3,
        resale_usd=server,
        fte_per_node=0.5,
    )
    assert marginal_usd_per_busy_gpu_hour(changed) == marginal_usd_per_busy_gpu_hour(CHECK)


def test_the_marginal_hour_by_hand():
    assert marginal_usd_per_busy_gpu_hour(CHECK) == pytest.approx(7.752 * 1.4 * 0.0826 / 8)


@given(availability=SHARES)
def test_outages_make_an_hour_dearer_in_proportion(availability):
    there = usd_per_busy_gpu_hour(node(availability=availability))
    assert there * availability == pytest.approx(usd_per_busy_gpu_hour(CHECK))
    assert busy_gpu_hours_per_year(node(availability=availability)) == pytest.approx(8 * 8766 * 0.7 * availability)


def test_a_lease_by_hand():
    """10,000 a month, 3 % spares, no purchase: 120,000 and 3,600 a year."""
    leased = annual_cost(
        node(
            acquisition=Acquisition.LEASE,
            lease_usd_per_month=10_000.0,
            spares_fraction_of_nodes=0.03,
            residual_fraction=0.0,
            maintenance_fraction_per_year=0.0,
        )
    )
    assert (leased.lease, leased.recovery, leased.residual) == (120_000, 0, 0)
    assert leased.spares == pytest.approx(3_600)


def test_what_is_already_owned_ties_up_what_it_would_sell_for():
    """20,000 today, half of it in two years, at 10 %: 11,523.81 a year to recover, 4,761.90 back."""
    kept = annual_cost(
        node(
            acquisition=Acquisition.ALREADY_OWNED,
            server_usd=100_000.0,
            resale_usd=20_000.0,
            years=2.0,
            residual_fraction=0.5,
            discount_rate_per_year=0.10,
        )
    )
    assert kept.recovery == pytest.approx(20_000 * 0.1 * 1.21 / 0.21, abs=0.01)
    assert kept.residual == pytest.approx(-10_000 * 0.1 / 0.21, abs=0.01)
    assert kept.maintenance == pytest.approx(7_000), "of the price that was paid"


def test_spares_are_their_share_of_the_capital():
    plain, spared = annual_cost(CHECK), annual_cost(node(spares_fraction_of_nodes=0.1))
    assert spared.spares == pytest.approx(0.1 * (plain.recovery + plain.residual))
    assert spared.total - plain.total == pytest.approx(spared.spares)
