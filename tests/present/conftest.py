"""A small comparison, written by hand: one owned, one rented and one unpriced option."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from planner.model.answer.bill import Bill, BillLine, Coverage, Uncounted
from planner.model.answer.documents import Assumption, ComparisonDocument
from planner.model.answer.option_estimate import RankedOption
from planner.model.answer.recommendation import RecommendationDocument, SuggestedMeasurement, TurningPoint
from planner.model.currency import LocalAmount
from planner.model.network.workload import Strategy
from planner.model.prices.offer import PriceKind
from planner.model.quantity import Basis, Quantity, Unit
from planner.present.page.words import Words
from planner.present.report.report import Report

HOURS, USD = Unit.HOURS, Unit.USD


def quantity(value: float, unit: Unit, basis: Basis, source: str, *, low: float = 0, high: float = 0) -> Quantity:
    return Quantity(
        value=value,
        low=low or value,
        high=high or value,
        unit=unit,
        basis=basis,
        source=source,
        as_of=date(2026, 11, 1),
    )


def option(**changes: Any) -> RankedOption:
    known = RankedOption.model_fields
    fields: dict[str, Any] = {
        name: None if field.is_required() else field.get_default() for name, field in known.items()
    }
    fields |= {"nodes": 1, "accelerators": 4, "accelerator": "V100-DGXS-32GB", "strategy": Strategy.DDP, "at_once": 1}
    fields |= {"runs": (), "notes": (), "doubts": (), "pareto": False, "fits": True}
    fields |= {"why_not_codes": (), "reasons": (), "not_allowed_reasons": ()}
    return RankedOption(**fields | changes)


def owned() -> RankedOption:
    time = quantity(100, HOURS, Basis.MEASURED, "10 trainings x 10 h; run r1: 2 samples/s", low=95, high=105)
    cost = quantity(12.5, USD, Basis.ASSUMED, "100 kWh x 0.125 USD/kWh | the plan", low=10, high=15)
    return option(
        id="our-dgx",
        name="Our <b>DGX</b> (4x V100)",
        display_name="Our <b>DGX</b>, 4x V100",
        site="our-dgx",
        training_hours=quantity(10, HOURS, Basis.MEASURED, "run r1: 2 samples/s", low=9.5, high=10.5),
        usd_marginal=quantity(1.25, USD, Basis.ASSUMED, "10 kWh x 0.125 USD/kWh", low=1, high=1.5),
        energy_kwh=quantity(10, Unit.KWH, Basis.MEASURED, "10 h x 1 kW", low=9.5, high=10.5),
        campaign_hours=time,
        campaign_usd=cost,
        finish=date(2026, 11, 26),
        meets_deadline=True,
        within_budget=True,
        rank=1,
        pareto=True,
        runs=("r1",),
        notes=("=not a formula", "fp32 <only>"),
        doubts=("r1: faster than its peak",),
    )


def rented() -> RankedOption:
    price = quantity(98.32, Unit.USD_PER_HOUR, Basis.QUOTED, "on_demand in any: price list")
    return option(
        id="cloud/8x:any:on_demand",
        name="Cloud 8x (8x H100-SXM)",
        display_name="Cloud 8x, 8x H100",
        offer="cloud/8x",
        region="any",
        price_kind=PriceKind.ON_DEMAND,
        accelerators=8,
        accelerator="H100-SXM",
        usd_per_hour=price,
        training_hours=quantity(2, HOURS, Basis.MODELLED, "first model", low=1, high=4),
        usd_marginal=quantity(196.64, USD, Basis.MODELLED, "2 h x 98.32 USD/h", low=98.32, high=393.28),
        usd_total=quantity(196.64, USD, Basis.MODELLED, "2 h x 98.32 USD/h", low=98.32, high=393.28),
        campaign_hours=quantity(20, HOURS, Basis.MODELLED, "10 x 2 h", low=10, high=40),
        campaign_usd=quantity(1966.4, USD, Basis.MODELLED, "10 x 196.64 USD", low=983.2, high=3932.8),
        finish=date(2026, 11, 22),
        meets_deadline=True,
        within_budget=False,
        rank=2,
        pareto=True,
        bill=bill_of_ten(),
        why_not="costs 1,966 USD, 966 USD over the budget",
    )


def bill_of_ten() -> Bill:
    """Ten trainings of 2 h, 20 USD of set-up, and an egress without a price."""

    def line(what: str, usd: float, each: float | None, count: float, **changes: Any) -> BillLine:
        amount = quantity(usd, USD, Basis.MODELLED, f"{count:g} x {each}", low=usd / 2, high=usd * 2)
        fields: dict[str, Any] = {"hours": None, "currency": "USD", "local": usd * 1400, "quantity_unit": "node-h"}
        return BillLine(what=what, usd=amount, quantity=count, usd_per_unit=each, **fields | changes)

    return Bill(
        trainings=10,
        lines=(
            line("compute", 1946.40, 98.32, 19.8),
            line("provisioning and set-up", 20.00, 98.32, 0.2034),
            line("upload", 0.0, 0.0, 500.0, quantity_unit="GB", hours=2.2222),
        ),
        usd_total=quantity(1966.40, USD, Basis.MODELLED, "1,946.40 + 20.00 + 0.00", low=983.20, high=3932.80),
        local_total=LocalAmount(code="KRW", value=2752960.0, low=1376480.0, high=5505920.0),
        coverage=Coverage(
            priced=("compute", "provisioning and set-up", "upload"),
            no_price=(Uncounted(what="egress", reason="no <dated> source was found"),),
            unsupported=("taxes",),
        ),
    )


def unpriced() -> RankedOption:
    return option(
        id="cloud/mystery",
        name="Mystery (4x A100)",
        offer="cloud/mystery",
        accelerator="A100-40GB-SXM",
        campaign_hours=quantity(50, HOURS, Basis.MODELLED, "10 x 5 h", low=25, high=100),
        why_not="no price: the catalog has no on_demand price of cloud/mystery; give usd_per_hour",
    )


@pytest.fixture
def comparison() -> ComparisonDocument:
    tariff = quantity(0.125, Unit.USD_PER_KWH, Basis.ASSUMED, "the plan: assumptions.electricity_usd_per_kwh")
    return ComparisonDocument(
        plan="Which machine & when <script>alert(1)</script>?",
        assumptions=(Assumption(name="electricity", quantity=tariff),),
        runs=10,
        deadline=date(2026, 11, 30),
        deadline_hours=240,
        budget_usd=1000,
        recommended="our-dgx",
        nearest=None,
        sentence="Take our-dgx: 10 trainings take 4.167 days and cost 12.50 USD; time is measured (r1).",
        headline=("Take our-dgx: 10 trainings take 4.167 days and cost 12.50 USD", "time is measured (r1)"),
        options=(owned(), rented(), unpriced()),
    )


def report_of(
    comparison: ComparisonDocument, language: str = "en", *, advice: RecommendationDocument | None = None
) -> Report:
    """Return the report of a comparison of 21 November 2026."""
    day = date(2026, 11, 21)
    return Report(comparison, Words(language), start=day, written_on=day, advice=advice)


def advice() -> RecommendationDocument:
    """Return one worthwhile run, and one price at which the answer turns."""
    return RecommendationDocument(
        plan="Which machine?", currency=None, runs=10, deadline=None, budget_usd=None, confidence=0.8,
        recommended="our-dgx", nearest=None, headline=(), sentence="", placements=(), simulated=None, regret_usd=None,
        measurements=(
            SuggestedMeasurement(
                option="cloud/8x:any:on_demand", display_name="Cloud 8x, 8x H100", usd=33, worth_usd=90,
                chance_to_change=0.2, instead=None, command="planner launch cpu-smoke",
                sentence="Measure Cloud 8x, 8x H100 with one 20-minute run, about 33 USD: it decides between A and B.",
            ),
        ),
        turning_points=(
            TurningPoint(
                input="price", option="cloud/8x:any:on_demand", unit="USD/h", today=98.3, at=40, side="below",
                then="cloud/8x:any:on_demand",
                sentence="If Cloud 8x, 8x H100 costs below 40 USD an hour (now 98.3), Cloud 8x, 8x H100 wins.",
            ),
        ),
        swings=(), at_confidence=(), alternatives=(),
    )  # fmt: skip
