"""Cost and start of a campaign on an owned, bought or rented machine: figures by hand, and laws."""

from __future__ import annotations

import math
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.decide.campaign.budget import budget_of
from planner.decide.campaign.campaign import campaign_option
from planner.decide.campaign.chances import with_chances
from planner.decide.options.estimate_plan import estimate_options
from planner.errors import InputError
from planner.model.answer.option_estimate import CampaignOption
from planner.model.owning.acquisition import Hold
from planner.model.owning.site import Site
from planner.model.plan.plan import Plan
from planner.model.prices.price_book import Credit
from tests.bundled import bundled_catalog

Option = dict[str, Any]
TODAY = date(2026, 12, 1)
STEP = {"batch": 10, "seconds": 10.0, "basis": "measured"}
"""3,600 samples an hour: one training of the plan below takes 10 hours."""
PC: dict[str, Any] = {
    "schema_version": 1, "id": "mine", "name": "Mine", "node": "pc-rtx4090", "rated_kw": 1.0, "power": 1.0, "pue": 1.0,
    "electricity": 0.1,
    "purchase": {"server_usd": 10_000, "network_fraction_of_capex": 0, "storage_fraction_of_capex": 0},
    "residual": [{"age_years": 0, "fraction": 1}, {"age_years": 1, "fraction": 0.6}], "life_years": 5,
    "maintenance_fraction_per_year": 0.1, "software_usd_per_gpu_year": 200, "room": {"usd_per_month": 50},
    "staff": {"fte_per_node": 0.5}, "lead_time_months": 1, "source": "by hand", "as_of": TODAY,
}  # fmt: skip
"""One card, 1 kW at 0.1 USD/kWh: an hour of training draws 0.1 USD. It loses 40 % of its price in its first year."""


RENTED = {"offer": "aws/p4d.24xlarge", "usd_per_hour": 24.0}
"""240 USD for ten hours."""


def campaign_on(
    option: dict[str, Any] | None = None,
    *,
    site: dict[str, Any] | None = None,
    credit: Credit | None = None,
    **limits: Any,
) -> CampaignOption:
    """Run trainings of ten hours each on one option; the site `mine` is PC with changes."""
    plan = Plan.model_validate(
        {
            "schema_version": 1,
            "name": "ten hours",
            "workload": {"ref": "gpt-305m"},
            "work": {"epochs": 1, "samples_per_epoch": 36_000},
            "options": [{"step": STEP} | (option or {"site": "mine"})],
            "campaign": limits,
            "assumptions": {
                "setup_hours": 0.0,
                "idle_tail_hours": 0.0,
                "failed_launch_fraction": 0.0,
                "goodput_fraction": 1.0,
            },
            "data": {"dataset_gb": 0.0, "checkpoint_gb": 0.0, "egress_gb": 0.0},
        }
    )
    catalog = bundled_catalog()
    mine = Site.model_validate(PC | (site or {}))
    changed = {"sites": catalog.sites | {"mine": mine}, "credits": (credit,) if credit else ()}
    catalog = catalog.model_copy(update=changed)
    (estimate,) = estimate_options(plan, catalog).options
    alone = campaign_option(estimate, plan.campaign, catalog, today=TODAY)
    return with_chances(alone, plan.campaign, budget=budget_of(plan.campaign), today=TODAY)


def usd(option: CampaignOption, name: str) -> float:
    quantity = getattr(option, name)
    assert quantity is not None, name
    return float(quantity.value)


class TestBuyingForCampaigns:
    def test_every_figure_of_a_purchase(self) -> None:
        """73 trainings are 730 h, 30.4 days: the 31st day is the last.

        ready: one month of 30.4375 days, whole days: 31.            electricity: 730 h x 0.1 = 73.00
        kept for 31 days: maintenance 1,000 + software 200 a year, x 31 / 365.25 = 101.85; the room 2 months begun = 100
        left: 10,000 x (1 - 0.4 x 31 / 365.25) x (1 - 0.25 lost in selling) = 7,245.38
        Half an administrator is paid anyhow: no bill.
        """
        got = campaign_on(runs=73)
        assert (got.hold, got.ready_on) == (Hold.BUY, TODAY + timedelta(days=31))
        assert got.finish == got.done_by == TODAY + timedelta(days=31 + 30)
        assert usd(got, "pay_now_usd") == 10_000
        assert usd(got, "campaign_usd") == pytest.approx(73 + 101.848 + 100, abs=0.01)
        assert usd(got, "cash_usd") == usd(got, "to_pay_usd") == pytest.approx(10_274.848, abs=0.01)
        assert usd(got, "left_usd") == pytest.approx(7_245.38, abs=0.01)
        assert got.taken_off_usd is None
        assert got.bill is not None
        assert [line.what for line in got.bill.lines] == ["electricity", "maintenance", "software", "room"]
        assert got.bill.usd_total.value == pytest.approx(274.85)

    def test_network_storage_and_grants_are_part_of_what_is_paid_now(self) -> None:
        """10,000 / (1 - 0.15 - 0.05) = 12,500, less a grant of 20 % of it."""
        grant = {
            "name": "g", "kind": "grant", "rate": 0.2, "eligible": True, "eligibility": "all", "source": "law",
            "as_of": TODAY,
        }  # fmt: skip
        shares = {"server_usd": 10_000, "network_fraction_of_capex": 0.15, "storage_fraction_of_capex": 0.05}
        assert usd(campaign_on(site={"purchase": shares}), "pay_now_usd") == pytest.approx(12_500)
        assert usd(campaign_on(site={"purchase": shares, "incentives": [grant]}), "pay_now_usd") == pytest.approx(
            10_000
        )

    def test_ranges_of_the_price_reach_cash_out(self) -> None:
        price = {"value": 10_000, "low": 8_000, "high": 13_000}
        got = campaign_on(site={"purchase": PC["purchase"] | {"server_usd": price}})
        assert got.pay_now_usd is not None
        assert got.cash_usd is not None
        assert (got.pay_now_usd.low, got.pay_now_usd.high) == pytest.approx((8_000, 13_000))
        assert got.cash_usd.high >= 13_000

    def test_a_resale_lowers_the_payment_and_not_the_cash_out(self) -> None:
        kept, sold = campaign_on(runs=73), campaign_on({"site": "mine", "sell_after": True}, runs=73)
        assert usd(sold, "taken_off_usd") == usd(sold, "left_usd") == usd(kept, "left_usd")
        assert usd(sold, "to_pay_usd") == usd(kept, "to_pay_usd")

    def test_the_share_of_other_users_is_taken_off(self) -> None:
        """Half of its busy hours: 20 h on the wall, and half of all but the electricity of 1.00 USD."""
        got = campaign_on({"site": "mine", "other_use": 0.5}, runs=1)
        assert usd(got, "campaign_hours") == 20
        assert usd(got, "taken_off_usd") == pytest.approx((usd(got, "cash_usd") - 1.0) / 2)

    def test_the_option_s_price_comes_before_the_site_s(self) -> None:
        assert usd(campaign_on({"site": "mine", "purchase_usd": 7_000.0}), "pay_now_usd") == 7_000

    def test_two_at_once_are_two_machines(self) -> None:
        assert usd(campaign_on(site={"nodes": 2}, runs=2, at_once=2), "pay_now_usd") == 20_000

    @pytest.mark.parametrize(
        "option",
        [
            pytest.param({"own": "RTX-4090", "hold": "buy"}, id="a card"),
            pytest.param({"site": "dgx-station-v100", "hold": "buy"}, id="another of what is owned"),
            pytest.param({"site": "rtx3090-x10-nvlink"}, id="a site that says buy, and no price"),
        ],
    )
    def test_without_a_price_it_is_no_option(self, option: dict[str, Any]) -> None:
        got = campaign_on(option)
        assert (got.campaign_usd, got.cash_usd, got.to_pay_usd, got.pay_now_usd) == (None, None, None, None)
        (reason,) = (reason for reason in got.blocking_reasons if reason.code == "purchase_not_known")
        assert reason.text == "its price is not known; give purchase_usd"

    def test_the_published_server(self) -> None:
        """312,667 USD for the server is 77 % of 406,061; three months are 91.3 days, so the 92nd from today."""
        got = campaign_on({"site": "hgx-h200-8x"}, deadline=TODAY + timedelta(days=7), budget_usd=500.0)
        assert got.ready_on == TODAY + timedelta(days=92)
        assert usd(got, "pay_now_usd") == pytest.approx(312_667 / 0.77)
        assert (got.meets_deadline, got.within_budget) == (False, False)


class TestHaving:
    @pytest.mark.parametrize(
        "option", [{"site": "mine", "hold": "have"}, {"site": "own-8xh200"}, {"own": "RTX-4090"}], ids=str
    )
    def test_an_owned_machine_adds_only_its_electricity(self, option: dict[str, Any]) -> None:
        got = campaign_on(option)
        assert (got.hold, got.ready_on, got.finish) == (Hold.HAVE, TODAY, TODAY)
        assert (got.pay_now_usd, got.left_usd) == (None, None)
        assert got.campaign_usd == got.cash_usd == got.to_pay_usd
        assert usd(got, "campaign_usd") == pytest.approx(usd(got, "usd_marginal"))

    def test_the_full_cost_of_owning_is_shown_beside(self) -> None:
        got = campaign_on({"site": "mine", "hold": "have"}, runs=3)
        assert usd(got, "full_usd") == pytest.approx(3 * usd(got, "usd_total"))

    def test_hours_that_others_use_stretch_the_campaign_and_cost_nothing(self) -> None:
        alone, shared = (
            campaign_on({"site": "mine", "hold": "have"}),
            campaign_on({"site": "mine", "hold": "have", "other_use": 0.75}),
        )
        assert (usd(alone, "campaign_hours"), usd(shared, "campaign_hours")) == (10, 40)
        assert usd(alone, "campaign_usd") == usd(shared, "campaign_usd")
        assert "others use 0.75 of its busy hours, so the campaign takes 1 / 0.25 as long" in shared.notes

    def test_a_signed_lease_stands_there_and_one_to_be_signed_is_owed_whole(self) -> None:
        """36 months at 300 USD are 10,800, however short the campaign; a month of lead time comes before."""
        lease: Option = {
            "purchase": None, "residual": [], "life_years": None,
            "lease": {"usd_per_month": 300, "term_months": 36, "maintenance_included": True},
        }  # fmt: skip
        signed, unsigned = campaign_on({"site": "mine", "hold": "have"}, site=lease), campaign_on(site=lease)
        assert (signed.hold, unsigned.hold) == (Hold.HAVE, Hold.RENT)
        assert usd(signed, "cash_usd") == pytest.approx(1.0)
        assert usd(unsigned, "cash_usd") >= 10_800
        assert unsigned.bill is not None
        (term,) = (line for line in unsigned.bill.lines if line.what == "lease, its whole term")
        assert term.usd.value == 10_800
        assert unsigned.ready_on == TODAY + timedelta(days=31)

    @pytest.mark.parametrize(("runs", "lasts"), [(4_383, True), (4_384, False)], ids=["five years", "ten hours more"])
    def test_work_that_outlasts_the_machine_needs_another(self, runs: int, lasts: bool) -> None:
        """Five years are 43,830 hours."""
        codes = [reason.code for reason in campaign_on(runs=runs).not_allowed_reasons]
        assert codes == ([] if lasts else ["needs_replacement"])


class TestWhenItIsReady:
    def test_the_day_that_the_plan_says(self) -> None:
        got = campaign_on({"site": "mine", "ready_on": date(2027, 1, 15)})
        assert (got.ready_on, got.finish) == (date(2027, 1, 15), date(2027, 1, 15))

    @pytest.mark.parametrize(
        ("start", "first"), [(date(2026, 12, 5), date(2027, 1, 1)), (date(2027, 2, 1), date(2027, 2, 1))], ids=str
    )
    def test_the_lead_time_runs_from_today_and_not_from_the_campaign_s_start(self, start: date, first: date) -> None:
        got = campaign_on(start=start)
        assert (got.ready_on, got.finish) == (date(2027, 1, 1), first)

    @pytest.mark.parametrize(
        ("option", "days"),
        [
            pytest.param({"own": "RTX-4090", "count": 2}, 7, id="a PC in a week: 0.22 months are 6.7 days"),
            pytest.param({"own": "RTX-4090", "count": 4}, 92, id="four cards are a server"),
            pytest.param({"own": "A100-80GB-PCIe"}, 92, id="as is a machine of a data centre's card"),
        ],
    )
    def test_the_usual_lead_time_is_the_default(self, option: dict[str, Any], days: int) -> None:
        got = campaign_on(option | {"hold": "buy", "purchase_usd": 5_000.0})
        assert got.ready_on == TODAY + timedelta(days=days)

    def test_the_deadline_is_counted_from_there(self) -> None:
        """It is ready on the 31st day from today, and ten hours later done: by that day's end more likely than not."""
        in_time, too_late = (campaign_on(deadline=TODAY + timedelta(days=days)).chance_deadline for days in (31, 30))
        assert in_time is not None
        assert too_late is not None
        assert in_time > 0.5 > too_late


class TestCredits:
    def credit(self, usd: float, expires: date) -> Credit:
        return Credit(name="c", provider="aws", usd=usd, expires=expires, source="a letter")

    @pytest.mark.parametrize(
        ("credit", "to_pay"),
        [(100.0, 140), (240.0, 0), (5_000.0, 0)],
        ids=["a part", "all of it", "more than all"],
    )
    def test_they_pay_their_part_and_the_budget_sees_the_rest(self, credit: float, to_pay: float) -> None:
        got = campaign_on(RENTED, credit=self.credit(credit, date(2030, 1, 1)), budget_usd=150.0)
        assert usd(got, "cash_usd") == pytest.approx(240)
        assert usd(got, "to_pay_usd") == pytest.approx(to_pay)
        assert got.within_budget is True

    def test_one_that_expires_before_the_last_day_pays_nothing(self) -> None:
        got = campaign_on(RENTED, credit=self.credit(5_000.0, TODAY - timedelta(days=1)), budget_usd=150.0)
        assert got.to_pay_usd == got.cash_usd
        assert got.within_budget is False


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ({"site": "mine", "hold": "rent"}, "has no lease"),
        ({"site": "mine", "hold": "use"}, "belongs to a grant or a service"),
        ({"site": "own-8xh200", "sell_after": True}, "is not to be bought"),
        ({"own": "RTX-4090", "purchase_usd": 3_000.0}, "is not to be bought"),
    ],
    ids=str,
)
def test_keys_that_do_not_fit_the_machine_are_refused(option: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        campaign_on(option)


@settings(deadline=None)
@given(
    server=st.floats(100, 1e6), spread=st.floats(1, 3), months=st.floats(0, 24), more=st.floats(0, 24),
    runs=st.integers(1, 400), drop=st.floats(0, 1.5), others=st.floats(0, 0.9),
)  # fmt: skip
def test_laws_of_a_purchase(
    server: float, spread: float, months: float, more: float, runs: int, drop: float, others: float
) -> None:
    """Cash out includes the first payment; a resale brings at most the price; a longer lead time is never sooner."""
    price = {"value": server, "low": server / spread, "high": server * spread}
    site = {
        "purchase": PC["purchase"] | {"server_usd": price}, "lead_time_months": months,
        "residual": [{"age_years": 0, "fraction": 1}, {"age_years": 1, "fraction": 1 - drop}],
    }  # fmt: skip
    got = campaign_on({"site": "mine", "sell_after": True, "other_use": others}, site=site, runs=runs)
    later = campaign_on(site=site | {"lead_time_months": months + more}, runs=runs)
    assert None not in (got.pay_now_usd, got.cash_usd, got.to_pay_usd, got.left_usd, got.taken_off_usd)
    for part in ("low", "value", "high"):
        now, cash, left = (getattr(quantity, part) for quantity in (got.pay_now_usd, got.cash_usd, got.left_usd))
        assert 0 <= left <= now * (1 + 1e-12)
        assert now <= cash * (1 + 1e-12)
        assert getattr(got.to_pay_usd, part) <= cash
        assert 0 <= getattr(got.taken_off_usd, part) <= cash * (1 + 1e-12)
    assert got.ready_on is not None
    assert later.ready_on is not None
    assert later.ready_on >= got.ready_on >= TODAY + timedelta(days=math.floor(months * 30.4375))
