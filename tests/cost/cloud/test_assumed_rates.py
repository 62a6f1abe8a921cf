"""Unstated charges for storage and transfer: they are assumed, reported, and never let a provider win."""

from __future__ import annotations

import statistics
from datetime import date
from typing import Any

import pytest

from planner.cost.cloud.service_rates import GIB_IN_GB
from planner.decide.options.estimate_plan import estimate_plan
from planner.model.answer.bill import Bill
from planner.model.answer.option_estimate import OptionEstimate
from planner.model.catalog import Catalog
from planner.model.plan.plan import Plan
from planner.model.prices.service import Service
from planner.model.quantity import Basis, Quantity
from planner.use_cases.plans import compare
from tests.bundled import bundled_catalog

CATALOG = bundled_catalog()
TODAY = date(2026, 11, 25)
MONTHS = (10 / 24 + 30) / 30.4375
DATA = {"dataset_gb": 1000.0, "checkpoint_gb": 100.0, "checkpoints_kept": 2, "keep_days": 30.0, "egress_gb": 300.0}
STATED = {"goodput_fraction": 1.0, "setup_hours": 0.0, "idle_tail_hours": 0.0, "failed_launch_fraction": 0.0}
NOBODY_KNOWS, KNOWN = "verda/8x-b200-sxm", "aws/p6-b200.48xlarge"
AT_AWS = {"offer": KNOWN, "usd_per_hour": 50.0}


def plan(*options: dict[str, Any], data: dict[str, Any] = DATA) -> Plan:
    """One training takes exactly 10 hours."""
    step = {"batch": 10, "seconds": 10.0, "basis": "measured"}
    return Plan.model_validate(
        {
            "schema_version": 1,
            "name": "by hand",
            "workload": {"ref": "gpt-305m"},
            "work": {"epochs": 1, "samples_per_epoch": 36_000},
            "options": [option | {"step": step} for option in options],
            "assumptions": STATED,
            "data": data,
        }
    )


def priced(offer: str, usd_per_hour: float = 50.0, *, catalog: Catalog = CATALOG, **data: Any) -> OptionEstimate:
    asked = plan({"offer": offer, "usd_per_hour": usd_per_hour}, data=DATA | data)
    return estimate_plan(asked, catalog, today=TODAY).options[0]


def line(bill: Bill | None, what: str) -> Quantity:
    assert bill is not None
    (found,) = (line.usd for line in bill.lines if line.what == what)
    return found


@pytest.mark.parametrize(
    ("what", "usd", "low", "high"),
    [
        pytest.param("data set in storage", 62.86, 13.68, 186.17, id="1000 GB x 0.99932 x 0.0629 (0.01369 to 0.1863)"),
        pytest.param("checkpoints in storage", 12.57, 2.74, 37.23, id="2 x 100 GB x the same"),
        pytest.param("egress", 13.05, 0.00, 36.00, id="300 GB x 0.0435 (0 to 0.12)"),
        pytest.param("upload", 0.00, 0.00, 0.00, id="none of those known takes anything for transfer in"),
    ],
)
def test_a_line_at_an_assumed_rate(what, usd, low, high):
    found = line(priced(NOBODY_KNOWS).bill, what)
    assert (found.value, found.low, found.high) == pytest.approx((usd, low, high), abs=0.0101)
    assert found.basis is Basis.ASSUMED


def test_the_total_holds_them_and_says_so():
    """500 + 13.89 (1000 GB at 1 GB/s) + 62.86 + 12.57 + 13.05 USD; the last three at most 223.4 and 36."""
    found = priced(NOBODY_KNOWS)
    assert found.bill is not None
    assert found.bill.usd_total.value == pytest.approx(602.37, abs=0.02)
    by_what = {rate.what: rate for rate in found.bill.coverage.assumed}
    assert list(by_what) == ["storage", "egress", "ingress"]
    storage, egress = by_what["storage"], by_what["egress"]
    assert (by_what["ingress"].usd, by_what["ingress"].high_usd) == (0, 0)
    assert (storage.usd, storage.high_usd) == pytest.approx((75.43, 223.40), abs=0.02)
    assert (egress.usd, egress.high_usd) == pytest.approx((13.05, 36.0))
    assert "0.0629 USD/GB-month (0.0137 to 0.186)" in storage.reason
    assert "the catalog has no rate of verda for storage" in storage.reason
    assert found.bill.coverage.no_price == ()
    assert (found.assumed_rates, found.unpriced) == (("storage", "egress"), ())


def test_what_is_small_beside_the_bill_is_not_marked():
    """At most 36 USD of egress beside 5,000 of compute, at most 223 of storage: both below 5 %."""
    assert priced(NOBODY_KNOWS, 500.0).assumed_rates == ()
    assert priced(NOBODY_KNOWS, 50.0, egress_gb=150.0).assumed_rates == ("storage",)


def test_known_rates_are_not_touched():
    found = priced(KNOWN)
    assert found.bill is not None
    assert (found.bill.coverage.assumed, found.assumed_rates) == ((), ())
    assert line(found.bill, "egress").value == 18.00  # (300 - 100) GB x 0.09


def test_a_size_that_nobody_knows_is_still_not_on_the_bill():
    step = {"batch": 10, "seconds": 10.0, "basis": "measured"}
    asked = plan({"offer": NOBODY_KNOWS, "usd_per_hour": 50.0}, data={}).model_dump(exclude_unset=True)
    asked["workload"] = {"measured": "seed-000-dgx-station-v100"}
    asked["options"] = [{"offer": NOBODY_KNOWS, "usd_per_hour": 50.0, "step": step}]
    (found,) = estimate_plan(Plan.model_validate(asked), CATALOG, today=TODAY).options
    assert set(found.unpriced) == {"data set", "checkpoints", "egress"}
    assert found.bill is not None
    assert found.bill.coverage.assumed == ()


def test_defaults_without_rates_price_nothing():
    """Lines of a plan that was frozen before there were any: the lines are named, and are not 0."""
    bill_defaults = CATALOG.bill_defaults.model_copy(
        update={"storage_usd_per_gb_month": None, "egress_usd_per_gb": None, "ingress_usd_per_gb": None}
    )
    defaults = CATALOG.defaults.model_copy(update={"bill": bill_defaults})
    found = priced(NOBODY_KNOWS, catalog=CATALOG.model_copy(update={"defaults": defaults}))
    assert found.unpriced == ("storage", "egress", "ingress")
    assert found.bill is not None
    assert [line.what for line in found.bill.lines] == ["compute", "data to the nodes"]


@pytest.mark.parametrize(
    ("dataset_gb", "usd_per_hour", "first"),
    [
        pytest.param(100_000.0, 49.0, KNOWN, id="2,298 USD of storage at AWS, 6,286 assumed"),
        pytest.param(0.0, 40.0, NOBODY_KNOWS, id="little to keep: the cheaper machine"),
    ],
)
def test_a_missing_rate_wins_nothing(dataset_gb, usd_per_hour, first):
    """Counted as free, Verda's storage would make its bill 1,851 USD; AWS's is 4,188. Both bring it in 27.8 h."""
    small = {"checkpoint_gb": 0.0, "egress_gb": 0.0, "dataset_gb": dataset_gb}
    asked = plan(AT_AWS, {"offer": NOBODY_KNOWS, "usd_per_hour": usd_per_hour}, data=DATA | small)
    answer = compare(asked, CATALOG, today=TODAY)
    (chosen,) = (option.offer for option in answer.options if option.id == answer.recommended)
    assert chosen == first


@pytest.mark.parametrize("service", Service, ids=str)
def test_an_assumed_rate_is_the_dearer_median_of_the_known_ones(service):
    defaults = CATALOG.bill_defaults
    assumed = {
        Service.STORAGE: defaults.storage_usd_per_gb_month,
        Service.EGRESS: defaults.egress_usd_per_gb,
        Service.INGRESS: defaults.ingress_usd_per_gb,
    }[service]
    rows = [row for row in CATALOG.services if row.service is service and row.usd is not None]
    known = {row.provider: row.usd / (GIB_IN_GB if "GiB" in row.unit else 1.0) for row in rows if row.usd is not None}
    smaller = [usd for provider, usd in known.items() if provider not in ("aws", "azure", "gcp")]
    dearer = max(statistics.median(known.values()), statistics.median(smaller))
    assert assumed is not None
    ends = (dearer, min(known.values()), max(known.values()))
    assert (assumed.value, assumed.low, assumed.high) == pytest.approx(ends, rel=1e-3)
