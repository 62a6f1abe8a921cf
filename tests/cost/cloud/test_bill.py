"""Every line of a bill by hand, blocks and terms bought once, and the laws of cost."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.adapters.price_file import parse_prices
from planner.cost.cloud.bill import COMMITMENT
from planner.cost.cloud.billing_terms import BLOCK_DAYS, BillingTerms, priced_hours, sold_hours
from planner.cost.cloud.bought_hours import UNUSED
from planner.decide.campaign.campaign import campaign_option
from planner.decide.options.estimate_plan import estimate_options
from planner.model.answer.bill import Bill
from planner.model.answer.option_estimate import CampaignOption, OptionEstimate
from planner.model.plan.plan import Plan
from planner.model.prices.offer import Price, PriceKind, PriceOrigin
from tests.bundled import bundled_catalog

CATALOG = bundled_catalog()
PRICED = {(row.node, row.region, row.price_kind) for row in CATALOG.prices if row.usd_per_hour is not None}
UNPRICED = [
    row
    for row in CATALOG.prices
    if row.node in CATALOG.nodes and row.usd_per_hour is None and (row.node, row.region, row.price_kind) not in PRICED
][:12]
FEW = settings(max_examples=25, deadline=None)
P4D = {"offer": "aws/p4d.24xlarge", "usd_per_hour": 24.0}
BLOCK = P4D | {"price": "capacity_block"}
NO_LOSS = {"goodput_fraction": 1.0}
NOTHING_BESIDE = NO_LOSS | {"setup_hours": 0.0, "idle_tail_hours": 0.0, "failed_launch_fraction": 0.0}
NO_DATA = {"dataset_gb": 0.0, "checkpoint_gb": 0.0, "egress_gb": 0.0}
STATED = NO_LOSS | {"setup_hours": 0.5, "idle_tail_hours": 0.25, "failed_launch_fraction": 0.1}
DATA = {"dataset_gb": 1000.0, "checkpoint_gb": 100.0, "checkpoints_kept": 2, "keep_days": 30.0, "egress_gb": 300.0}
DATA |= {"upload_mbit_per_s": 500.0}


def plan(option: dict[str, Any], *, hours: float = 10.0, **changes: Any) -> Plan:
    """One training takes exactly `hours`."""
    step = {"batch": 10, "seconds": 10.0, "basis": "measured"}
    return Plan.model_validate(
        {
            "schema_version": 1,
            "name": "by hand",
            "workload": {"ref": "gpt-305m"},
            "work": {"epochs": 1, "samples_per_epoch": 3600.0 * hours},
            "options": [option | {"step": step}],
            "assumptions": NOTHING_BESIDE,
            "data": NO_DATA,
        }
        | changes
    )


def estimate(asked: Plan) -> OptionEstimate:
    (found,) = estimate_options(asked, CATALOG).options
    return found.option


def campaign(asked: Plan) -> CampaignOption:
    (found,) = estimate_options(asked, CATALOG).options
    day = CATALOG.defaults.pue.as_of
    assert day is not None
    return campaign_option(found, asked.campaign, CATALOG, today=day)


def bill_of(option: OptionEstimate) -> Bill:
    assert option.bill is not None
    return option.bill


def amounts(bill: Bill) -> dict[str, float]:
    return {line.what: line.usd.value for line in bill.lines}


def usd(option: OptionEstimate) -> float:
    assert option.usd_total is not None
    return option.usd_total.value


class TestByHand:
    """10 h at 24 USD on AWS, whose storage is 0.023 USD/GB-month and whose egress is 0.09 past 100 GB."""

    ASKED = plan(P4D, assumptions=STATED, data=DATA)

    @pytest.mark.parametrize(
        ("line", "expected"),
        [
            pytest.param("compute", 240.00, id="10 h x 24"),
            pytest.param("provisioning and set-up", 12.00, id="0.5 h x 24"),
            pytest.param("data to the nodes", 6.67, id="1000 GB at 1 GB/s are 0.2778 h x 24"),
            pytest.param("idle tail", 6.00, id="0.25 h x 24"),
            pytest.param("failed launches", 1.20, id="a tenth of 0.5 h x 24"),
            pytest.param("data set in storage", 22.98, id="1000 GB x 30.4167 days / 30.4375 x 0.023"),
            pytest.param("upload", 0.00, id="transfer in is free"),
            pytest.param("checkpoints in storage", 4.60, id="2 x 100 GB x 0.99932 months x 0.023"),
            pytest.param("egress", 18.00, id="(300 - 100) GB x 0.09"),
        ],
    )
    def test_a_line(self, line: str, expected: float) -> None:
        assert amounts(bill_of(estimate(self.ASKED)))[line] == expected

    def test_the_total(self) -> None:
        """240 + 12 + 6.6667 + 6 + 1.2 + 22.9843 + 4.5969 + 18 = 311.4478."""
        assert bill_of(estimate(self.ASKED)).usd_total.value == 311.45
        assert usd(estimate(self.ASKED)) == pytest.approx(311.4478, abs=5e-5)

    def test_an_upload_says_how_long_it_takes(self) -> None:
        (upload,) = (line for line in bill_of(estimate(self.ASKED)).lines if line.what == "upload")
        assert upload.hours == pytest.approx(1000 * 8 / 0.5 / 3600)  # 8,000 Gbit at 0.5 Gbit/s

    def test_ten_percent_support_is_a_tenth_of_all_the_rest(self) -> None:
        with_support = bill_of(estimate(plan(P4D, assumptions=STATED | {"support_fraction": 0.1}, data=DATA)))
        assert amounts(with_support)["support"] == pytest.approx(31.14, abs=0.011)
        assert with_support.usd_total.value == 342.59  # 311.4478 x 1.1

    def test_data_that_is_there_already_is_neither_uploaded_nor_stored_anew(self) -> None:
        lines = amounts(bill_of(estimate(plan(P4D, data=DATA | {"already_there": True}))))
        assert "upload" not in lines
        assert "data set in storage" not in lines
        assert lines["checkpoints in storage"] == 4.60

    def test_three_trainings_two_at_a_time(self) -> None:
        """Three launches; two sets of checkpoints for two waves of 10 h and 30 days."""
        bill = bill_of(campaign(plan(P4D, assumptions=STATED, data=DATA, campaign={"runs": 3, "at_once": 2})))
        assert amounts(bill)["compute"] == 720.00
        assert amounts(bill)["failed launches"] == 3.60
        months = (20 / 24 + 30) / 30.4375
        assert amounts(bill)["checkpoints in storage"] == pytest.approx(2 * 200 * months * 0.023, abs=0.01)
        assert amounts(bill)["egress"] == 18.00  # the plan's figure is of the whole campaign

    def test_a_gibibyte_price_is_turned_into_gigabytes(self) -> None:
        """Lambda: 0.20 USD a GiB-month are 0.18626 a GB-month; it charges no egress."""
        option = {"offer": "lambda/gpu_8x_h100_sxm5", "usd_per_hour": 24.0}
        lines = amounts(bill_of(estimate(plan(option, data=DATA))))
        assert lines["data set in storage"] == pytest.approx(
            1000 * (10 / 24 + 30) / 30.4375 * 0.2 / 1.073741824, abs=0.01
        )
        assert lines["egress"] == 0


class TestSizes:
    def test_from_the_workload(self) -> None:
        """36,000 samples of 512 tokens in 4 bytes; 305M parameters in 14 and 2 bytes."""
        (found,) = estimate_options(plan(P4D, data={}), CATALOG).options
        assert found.rates is not None
        sizes = found.rates.volumes
        assert sizes.dataset is not None
        assert sizes.checkpoint is not None
        assert sizes.egress is not None
        assert sizes.dataset.value == pytest.approx(36_000 * CATALOG.presets["gpt-305m"].seq_len * 4 / 1e9)
        assert sizes.checkpoint.value / sizes.egress.value == pytest.approx(7)

    def test_what_is_not_known_is_named_and_not_priced_at_0(self) -> None:
        asked = plan(P4D, data={}, workload={"measured": "seed-000-dgx-station-v100"})
        bill = bill_of(estimate(asked))
        missing = {found.what: found.reason for found in bill.coverage.no_price}
        assert set(missing) == {"data set", "checkpoints", "egress"}
        assert "data.dataset_gb" in missing["data set"]
        assert not any("storage" in line.what for line in bill.lines)


class TestTerms:
    @pytest.mark.parametrize(
        ("hours", "sold"),
        [
            pytest.param(0.1, 24, id="a day is the least"),
            pytest.param(23.5, 24, id="the last half hour is not for use"),
            pytest.param(23.6, 48, id="a little more takes two days"),
            pytest.param(14 * 24 - 0.5, 14 * 24, id="fourteen days"),
            pytest.param(14 * 24, 21 * 24, id="past fourteen days: whole weeks"),
            pytest.param(182 * 24 - 0.5, 182 * 24, id="the longest"),
            pytest.param(182 * 24, 183 * 24, id="past the longest: another block"),
        ],
    )
    def test_blocks(self, hours: float, sold: float) -> None:
        assert sold_hours(hours, BillingTerms(blocks=True)) == sold

    @pytest.mark.parametrize(
        ("hours", "terms", "sold"),
        [
            pytest.param(1.5, BillingTerms(), 1.5, id="to the second"),
            pytest.param(1.51, BillingTerms(step_hours=0.5), 2.0, id="in steps of half an hour"),
            pytest.param(1.5, BillingTerms(step_hours=0.5), 1.5, id="a whole number of steps"),
            pytest.param(0.001, BillingTerms(minimum_hours=1 / 60), 1 / 60, id="a minute at least"),
            pytest.param(10, BillingTerms(minimum_hours=8766), 8766, id="a year"),
        ],
    )
    def test_steps_and_minimums(self, hours: float, terms: BillingTerms, sold: float) -> None:
        assert sold_hours(hours, terms) == pytest.approx(sold)

    @pytest.mark.parametrize(
        ("hours", "factor", "sold", "priced"),
        [
            pytest.param(80, 1.5, 100, 100, id="within the term"),
            pytest.param(100, 1.5, 100, 100, id="all of it"),
            pytest.param(120, 1.5, 120, 130, id="20 h on demand"),
            pytest.param(170, 1.5, 200, 200, id="70 h on demand would cost 105"),
            pytest.param(250, 1.5, 250, 275, id="two terms and 50 h"),
            pytest.param(80, math.inf, 100, 100, id="within a term without hours on demand"),
            pytest.param(101, math.inf, 200, 200, id="nothing on demand"),
        ],
    )
    def test_hours_after_a_term(self, hours: float, factor: float, sold: float, priced: float) -> None:
        terms = BillingTerms(minimum_hours=100, after_factor=factor)
        assert [sold_hours(hours, terms), priced_hours(hours, terms)] == pytest.approx([sold, priced])

    @given(hours=st.floats(0, 20_000), more=st.floats(0, 5_000), step=st.sampled_from([0.0, 1 / 60, 1.0]))
    def test_sold_hours_hold_the_use_and_never_fall(self, hours: float, more: float, step: float) -> None:
        for terms in (BillingTerms(blocks=True), BillingTerms(step_hours=step), BillingTerms(minimum_hours=168.0)):
            sold = sold_hours(hours, terms)
            assert hours <= sold <= sold_hours(hours + more, terms) + 1e-9
        assert sold_hours(hours, BillingTerms(step_hours=step)) <= hours + step + 1e-9

    def test_the_lengths_are_those_that_aws_sells(self) -> None:
        assert len(BLOCK_DAYS) == 14 + 24
        assert BLOCK_DAYS[13:16] == (14, 21, 28)
        assert BLOCK_DAYS[-1] == 182

    @pytest.mark.parametrize(
        ("runs", "at_once", "expected"),
        [
            pytest.param(1, 1, 24 * 24.0, id="one training of 10 h: a day"),
            pytest.param(2, 1, 24 * 24.0, id="two one after another: the same day"),
            pytest.param(3, 1, 48 * 24.0, id="three: two days, bought once"),
            pytest.param(3, 3, 3 * 24 * 24.0, id="three side by side: a day of three sets"),
        ],
    )
    def test_a_block_is_bought_once_for_the_campaign(self, runs: int, at_once: int, expected: float) -> None:
        found = campaign(plan(BLOCK, campaign={"runs": runs, "at_once": at_once}))
        assert found.campaign_usd is not None
        assert found.campaign_usd.value == pytest.approx(expected)
        assert amounts(bill_of(found))["compute"] == 240.0 * runs
        assert amounts(bill_of(found))[UNUSED] == expected - 240.0 * runs
        assert found.smallest_purchase_usd is not None
        assert found.smallest_purchase_usd.value == pytest.approx(expected)
        assert bill_of(found).usd_upfront == expected  # a block is paid in advance

    def test_what_is_paid_by_the_hour_is_not_paid_ahead(self) -> None:
        assert bill_of(estimate(plan(P4D))).usd_upfront is None

    @pytest.mark.parametrize(("nodes", "blocks"), [(64, None), (65, "2 blocks"), (129, "3 blocks")])
    def test_a_block_holds_64_instances(self, nodes: int, blocks: str | None) -> None:
        notes = " ".join(estimate(plan(BLOCK | {"nodes": nodes})).notes)
        assert ("Capacity Block holds 64" in notes) is (blocks is not None)
        assert (blocks or "") in notes

    def test_a_savings_plan_is_paid_for_its_year(self) -> None:
        found = estimate(plan(P4D | {"price": "savings_1y"}))
        assert usd(found) == pytest.approx(8766 * 24)

    def test_a_commitment_that_is_paid_adds_nothing(self) -> None:
        found = estimate(plan(P4D | {"price": "savings_1y", "commitment_bought": True}, data=DATA))
        assert found.usd_marginal is not None
        assert usd(found) - found.usd_marginal.value == pytest.approx(
            240 + 24 / 3.6
        )  # the hours, and data to the nodes
        assert amounts(bill_of(found))[COMMITMENT] == -246.67
        assert bill_of(found).usd_total.value == 45.58  # storage 22.98, checkpoints 4.60, egress 18.00

    def test_a_row_s_minimum_is_billed_for_every_launch(self) -> None:
        """A minute at least, as AWS and Google bill: two trainings of 36 s take a minute each."""
        asked = plan({"offer": "aws/p4d.24xlarge", "region": "us-east-1"}, hours=0.01, campaign={"runs": 2})
        found = campaign(asked)
        assert found.usd_per_hour is not None
        assert found.campaign_usd is not None
        assert found.campaign_usd.value == pytest.approx(2 / 60 * found.usd_per_hour.value)


class TestLaws:
    @FEW
    @given(factor=st.floats(1e-3, 1e3))
    def test_cost_is_linear_in_price(self, factor: float) -> None:
        for option in (P4D, BLOCK):
            once, scaled = (
                estimate(plan(option | {"usd_per_hour": 24.0 * by}, assumptions=STATED)) for by in (1.0, factor)
            )
            assert usd(scaled) == pytest.approx(factor * usd(once), rel=1e-9)

    @FEW
    @given(hours=st.floats(0.1, 1e4), factor=st.floats(0.1, 10))
    def test_cost_is_linear_in_time_where_hours_are_sold_to_the_second(self, hours: float, factor: float) -> None:
        once, scaled = (usd(estimate(plan(P4D, hours=hours * by))) for by in (1.0, factor))
        assert scaled == pytest.approx(factor * once, rel=1e-9)

    @FEW
    @given(price=st.floats(1.0, 300.0), hours=st.floats(1.0, 1e3))
    def test_hourly_and_monthly_inputs_of_one_price_agree(self, price: float, hours: float) -> None:
        """A month of a mean year has 8,766 / 12 = 730.5 hours."""
        head = "provider,instance_type,region,price_kind,source,as_of"
        row = "aws,p4d.24xlarge,us-east-1,on_demand,a quote,2026-11-20"
        costs = []
        for column, amount in (("usd_per_hour", price), ("usd_per_month", price * 730.5)):
            (line,) = parse_prices(f"{head},{column}\n{row},{amount!r}\n", where="mine.csv", origin=PriceOrigin.USER)
            catalog = CATALOG.model_copy(update={"own_prices": (line[1],)})
            asked = plan({"offer": "aws/p4d.24xlarge", "region": "us-east-1"}, hours=hours)
            (found,) = estimate_options(asked, catalog).options
            costs.append(usd(found.option))
        assert costs[1] == pytest.approx(costs[0], rel=1e-9)
        assert costs[0] == pytest.approx(price * hours, rel=1e-9)

    def test_a_grant_costs_nothing_because_somebody_says_so(self) -> None:
        row = next(row for row in CATALOG.prices if row.node == "aws/p4d.24xlarge")
        grant = row.model_copy(
            update={
                "price_kind": PriceKind.GRANT,
                "usd_per_hour": 0.0,
                "low_usd_per_hour": None,
                "high_usd_per_hour": None,
            }
        )
        catalog = CATALOG.model_copy(update={"own_prices": (grant,)})
        asked = plan({"offer": "aws/p4d.24xlarge", "region": row.region, "price": "grant"}, data=DATA)
        (found,) = estimate_options(asked, catalog).options
        assert amounts(bill_of(found.option))["compute"] == 0
        assert bill_of(found.option).usd_total.value == 45.58  # storage, checkpoints and egress are paid all the same

    @FEW
    @given(hours=st.floats(0.1, 5e3), more=st.floats(0.0, 1e3))
    def test_more_hours_never_cost_less(self, hours: float, more: float) -> None:
        less, longer = (usd(estimate(plan(BLOCK, hours=each, assumptions=STATED))) for each in (hours, hours + more))
        assert less <= longer * (1 + 1e-12)

    @FEW
    @given(
        hours=st.floats(0.01, 5e3),
        price=st.floats(0.01, 300.0),
        nodes=st.integers(1, 64),
        runs=st.integers(1, 60),
        at_once=st.integers(1, 9),
        kind=st.sampled_from(["on_demand", "spot", "capacity_block", "savings_1y"]),
        dataset=st.floats(0, 1e5),
    )
    def test_every_bill_adds_up_to_the_cent(self, hours, price, nodes, runs, at_once, kind, dataset) -> None:
        option = P4D | {"usd_per_hour": price, "nodes": nodes, "price": kind}
        asked = plan(
            option, hours=hours, assumptions=STATED | {"support_fraction": 0.1}, data=DATA | {"dataset_gb": dataset}
        )
        asked = asked.model_copy(
            update={"campaign": asked.campaign.model_copy(update={"runs": runs, "at_once": at_once})}
        )
        found = campaign(asked)
        bill = bill_of(found)
        assert sum(Decimal(repr(line.usd.value)) for line in bill.lines) == Decimal(repr(bill.usd_total.value))
        assert found.campaign_usd is not None
        assert bill.usd_total.value == pytest.approx(found.campaign_usd.value, abs=0.0051)
        for line in bill.lines:
            assert line.usd.low <= line.usd.value <= line.usd.high
            assert line.usd.source
        assert found.campaign_usd.low <= found.campaign_usd.value <= found.campaign_usd.high

    @pytest.mark.parametrize("row", UNPRICED, ids=lambda row: f"{row.node} {row.region} {row.price_kind}")
    def test_no_price_is_never_0(self, row: Price) -> None:
        found = estimate(plan({"offer": row.node, "region": row.region, "price": row.price_kind.value}))
        assert found.usd_per_hour is None
        assert (found.usd_total, found.usd_marginal, found.usd_per_epoch, found.bill) == (None,) * 4
        assert "no price" in (found.why_not or "")
