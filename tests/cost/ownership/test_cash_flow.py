"""The cash flow of owning, against numpy_financial and tables by hand, to the cent."""

from __future__ import annotations

from typing import Any

import numpy_financial as npf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.cost.ownership.cash_flow import TaxTerms, flows, net_present_value, npv_usd, payback_months
from planner.cost.ownership.owned_cost import OwnedInputs, annual_cost, busy_gpu_hours_per_year, recovery_factor
from planner.model.owning.acquisition import Acquisition
from tests.cost.ownership.owning import node

PURCHASE: dict[str, Any] = {"network_fraction_of_capex": 0.0, "storage_fraction_of_capex": 0.0, "server_usd": 100_000.0}
BARE: dict[str, Any] = {
    "maintenance_fraction_per_year": 0.0,
    "colocation_usd_per_kw_month": 0.0,
    "fte_per_node": 0.0,
    "usd_per_kwh": 0.0,
    "gpus": 1,
    "busy_fraction": 0.5,
}
"""A node whose only bill is what a case adds."""
HOURS = 0.5 * 8766
"""Busy GPU-hours a year of a bare node."""


def bare(**changes: Any) -> OwnedInputs:
    return node(**(PURCHASE | BARE | changes))


CASES = [
    pytest.param(
        bare(years=5.0, residual_fraction=0.15), 8.0, None, 0.08,
        [-100_000, *[8 * HOURS] * 4, 8 * HOURS + 15_000], id="a purchase with 15 % residual",
    ),
    pytest.param(
        bare(years=4.0, residual_fraction=0.0, room_usd_per_month=500.0), 10.0, None, 0.08,
        [-100_000, *[10 * HOURS - 6_000] * 4], id="a purchase, worthless in the end, in a room",
    ),
    pytest.param(
        bare(years=3.0, residual_fraction=-0.1), 12.0, None, 0.08,
        [-100_000, *[12 * HOURS] * 2, 12 * HOURS - 10_000], id="a negative residual: disposal costs",
    ),
    pytest.param(
        bare(acquisition=Acquisition.LEASE, lease_usd_per_month=3_000.0, years=3.0, residual_fraction=0.0),
        9.0, None, 0.08,
        [0, *[9 * HOURS - 36_000] * 3], id="a lease",
    ),
    pytest.param(
        bare(acquisition=Acquisition.ALREADY_OWNED, resale_usd=30_000.0, years=2.0, residual_fraction=0.5),
        4.0, None, 0.08,
        [-30_000, 4 * HOURS, 4 * HOURS + 15_000], id="already owned: not sold now, sold in two years",
    ),
    pytest.param(
        bare(acquisition=Acquisition.ALREADY_OWNED, resale_usd=0.0, years=1.0, residual_fraction=0.0,
             maintenance_usd_per_node_year=700.0), 1.0, None, 0.08,
        [0, HOURS - 700], id="zero life left: one more year of a machine without a buyer",
    ),
    pytest.param(
        bare(years=5.0, residual_fraction=0.1, grants_usd=20_000.0), 6.0, None, 0.05,
        [-80_000, *[6 * HOURS] * 4, 6 * HOURS + 10_000], id="a grant of 20,000",
    ),
    pytest.param(
        bare(years=4.0, residual_fraction=0.0), 9.0, TaxTerms(rate=0.24, credits_usd=25_000.0), 0.08,
        [-100_000, (9 * HOURS) * 0.76 + 0.24 * 25_000 + 25_000, *[(9 * HOURS) * 0.76 + 0.24 * 25_000] * 3],
        id="a tax credit of 25 %, straight line over four years, 24 % tax",
    ),
    pytest.param(
        bare(years=3.0, residual_fraction=0.2), 9.0, TaxTerms(rate=0.3, schedule_fractions=(0.6, 0.4)), 0.08,
        [-100_000, 9 * HOURS * 0.7 + 18_000, 9 * HOURS * 0.7 + 12_000, 9 * HOURS * 0.7 + 20_000 - 0.3 * 20_000],
        id="written off in two years, then sold at a taxed gain",
    ),
    pytest.param(
        bare(acquisition=Acquisition.ALREADY_OWNED, resale_usd=40_000.0, years=2.0, residual_fraction=0.25), 5.0,
        TaxTerms(rate=0.25, book_usd=10_000.0), 0.08,
        [-40_000 + 0.25 * 30_000, 5 * HOURS * 0.75 + 1_250, 5 * HOURS * 0.75 + 1_250 + 10_000 - 0.25 * 10_000],
        id="already owned, with a book value under the resale value",
    ),
    pytest.param(
        bare(years=2.0, residual_fraction=0.3, spares_fraction_of_nodes=0.1), 11.0, None, 0.12,
        [-110_000, 11 * HOURS, 11 * HOURS + 33_000], id="a tenth in spares",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("inputs", "rent", "tax", "rate", "table"), CASES)
def test_npv_to_the_cent(inputs, rent, tax, rate, table):
    inputs = node(**(inputs.__dict__ | {"discount_rate_per_year": rate}))
    ours = npv_usd(inputs, rent_usd_per_gpu_hour=rent, tax=tax, after_tax=tax is not None)
    assert ours == pytest.approx(npf.npv(rate, table), abs=0.005)


@pytest.mark.parametrize(("inputs", "rent", "tax", "rate", "table"), CASES)
def test_npv_at_rate_zero_is_the_sum(inputs, rent, tax, rate, table):
    inputs = node(**(inputs.__dict__ | {"discount_rate_per_year": 0.0}))
    laid_out = flows(inputs, rent_usd_per_gpu_hour=rent, tax=tax)
    total = sum(flow.after_tax_usd for flow in laid_out)
    assert npv_usd(inputs, rent_usd_per_gpu_hour=rent, tax=tax, after_tax=True) == pytest.approx(total, abs=1e-6)
    assert total == pytest.approx(sum(table), abs=0.005)


YEARS = st.integers(min_value=1, max_value=15).map(float)
USD = st.floats(min_value=100.0, max_value=1e6)
RATES = st.floats(min_value=0.0, max_value=0.4)
FRACTIONS = st.floats(min_value=-0.2, max_value=0.9)


@given(server=USD, years=YEARS, rate=RATES, residual=FRACTIONS, rent=st.floats(0, 20))
def test_the_cash_flow_and_the_yearly_cost_agree(server, years, rate, residual, rent):
    """A yearly surplus of rent over full cost, for as many years, is worth the present value of the cash flow."""
    inputs = node(server_usd=server, years=years, discount_rate_per_year=rate, residual_fraction=residual)
    yearly = rent * busy_gpu_hours_per_year(inputs) - annual_cost(inputs).total
    worth = yearly / recovery_factor(rate_per_year=rate, years=years)
    assert npv_usd(inputs, rent_usd_per_gpu_hour=rent) == pytest.approx(
        worth, rel=1e-6, abs=0.01 + 1e-7 * server * years
    )


@given(server=USD, years=YEARS, tax_rate=st.floats(0.0, 0.5), rate=RATES)
def test_selling_at_the_book_value_changes_nothing(server, years, tax_rate, rate):
    """A sale at book value is taxed nowhere: buying and selling at once is worth nothing."""
    kept = node(
        acquisition=Acquisition.ALREADY_OWNED,
        resale_usd=server,
        years=years,
        residual_fraction=0.0,
        discount_rate_per_year=rate,
    )
    at_book = flows(kept, rent_usd_per_gpu_hour=0.0, tax=TaxTerms(rate=tax_rate, book_usd=server))
    assert at_book[0].tax_usd == 0
    assert at_book[-1].tax_usd == pytest.approx(0.0, abs=1e-6 * server), "written off to the 0 that it fetches"


def test_months_to_pay_back():
    """100,000 at 8 x 4,383 = 35,064 a year is 34.22 months; two months of waiting come on top."""
    assert payback_months(bare(years=5.0), rent_usd_per_gpu_hour=8.0) == pytest.approx(34.223, abs=1e-3)
    assert payback_months(bare(years=5.0, lead_time_months=2.0), rent_usd_per_gpu_hour=8.0) == pytest.approx(
        36.223, abs=1e-3
    )


def test_what_never_pays_back():
    assert payback_months(bare(years=2.0), rent_usd_per_gpu_hour=8.0) is None, "not in its 24 months"
    assert payback_months(bare(room_usd_per_month=9_999.0), rent_usd_per_gpu_hour=8.0) is None, "it saves nothing"


def test_a_part_of_a_year_counts_as_a_part():
    laid_out = flows(bare(years=2.5), rent_usd_per_gpu_hour=1.0)
    assert [flow.years for flow in laid_out] == [0, 1, 1, 0.5, 0]
    assert [flow.at_years for flow in laid_out] == [0, 1, 2, 2.5, 2.5]
    assert laid_out[3].rent_saved_usd == pytest.approx(HOURS / 2)


@given(months=st.floats(min_value=0, max_value=36))
def test_waiting_for_the_machine_lowers_its_worth(months):
    now = npv_usd(bare(), rent_usd_per_gpu_hour=9.0)
    later = npv_usd(bare(lead_time_months=months), rent_usd_per_gpu_hour=9.0)
    assert later <= now


def test_present_value_by_hand():
    assert net_present_value([(0, -100), (1, 110)], rate_per_year=0.10) == pytest.approx(0)
