"""The age at which the price of a launch is called old."""

from __future__ import annotations

from datetime import date

import pytest

from planner.launcher.plan.target import Target
from planner.model.prices.offer import Price, PriceKind
from planner.use_cases.launching.launch_rate import launch_price
from planner.use_cases.launching.launch_target import LaunchTerms
from tests.bundled import bundled_catalog

TODAY = date(2026, 11, 23)


@pytest.mark.parametrize(
    ("purchase", "as_of", "old"),
    [
        pytest.param("on_demand", date(2026, 10, 24), False, id="30 days are allowed"),
        pytest.param("on_demand", date(2026, 10, 23), True, id="31 days are not"),
        pytest.param("spot", date(2026, 11, 22), False, id="spot: one day is allowed"),
        pytest.param("spot", date(2026, 11, 21), True, id="spot: two days are not"),
    ],
)
def test_a_price_is_old_at_the_age_at_which_every_answer_calls_it_stale(purchase, as_of, old):
    price = Price(
        provider="aws", instance_type="p4d.24xlarge", region="us-east-1",
        price_kind=PriceKind(purchase), usd_per_hour=24.0,
        source="a test", as_of=as_of, fetched_at=as_of, confidence="list",
    )  # fmt: skip
    catalog = bundled_catalog().model_copy(update={"prices": (price,)})
    target = Target(provider="aws", name="p4d.24xlarge", purchase=purchase)
    notes = launch_price(target, LaunchTerms(), catalog, {}, today=TODAY).notes
    assert any("days old" in note for note in notes) is old
