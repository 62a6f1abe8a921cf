"""`planner watch`: replayed with the rise of the Capacity Blocks in January 2026, it names the plans that flip.

AWS asked 34.61 USD an hour for a p5e and 36.18 for a p5en in 2025, and 39.80 and 41.61 from January 2026
(administraciondesistemas.com, +15 %).
"""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from planner.model.catalog import Catalog
from planner.model.prices.offer import Price
from planner.use_cases.locks import freeze, watch
from tests.bundled import bundled_catalog
from tests.cli.refusals import one_error

IN_2025 = {"p5e.48xlarge": 34.61, "p5en.48xlarge": 36.18}
FROM_2026 = {"p5e.48xlarge": 39.80, "p5en.48xlarge": 41.61}
ALONE = {"setup_hours": 0.0, "idle_tail_hours": 0.0, "failed_launch_fraction": 0.0, "goodput_fraction": 1.0}
NO_DATA = {"dataset_gb": 0.0, "checkpoint_gb": 0.0, "egress_gb": 0.0}


def catalog_with(blocks: dict[str, float], as_of: date) -> Catalog:
    """Return the bundled catalog with these prices of blocks and no other prices."""
    rows = tuple(
        Price(
            provider="aws",
            instance_type=name,
            region="us-east-2",
            price_kind="capacity_block",
            usd_per_hour=usd,
            source="administraciondesistemas.com",
            as_of=as_of,
            fetched_at=as_of,
            confidence="third_party",
        )
        for name, usd in blocks.items()
    )
    return bundled_catalog().model_copy(update={"prices": rows})


def plan_between(folder: Path, name: str, block: str, other_usd_per_hour: float, **campaign: Any) -> None:
    """Write a plan: 20 hours, which surely fit a block of a day, against a machine at a price of one's own.

    Measured steps are known within 5 %: of 20 x its price the other stays under 1.0253 times that, 4 times in 5.
    """
    step = {"batch": 10, "seconds": 10.0, "basis": "measured"}
    plan = {
        "schema_version": 1,
        "name": name,
        "workload": {"ref": "gpt-305m"},
        "work": {"epochs": 1, "samples_per_epoch": 3600 * 20},
        "campaign": campaign,
        "options": [
            {"offer": f"aws/{block}", "region": "us-east-2", "price": "capacity_block", "step": step},
            {"offer": "coreweave/gd-8xh200ib-i128", "usd_per_hour": other_usd_per_hour, "step": step},
        ],
        "assumptions": ALONE,
        "data": NO_DATA,
    }
    (folder / f"{name}.yaml").write_text(json.dumps(plan), encoding="utf-8")


@pytest.fixture
def frozen_in_2025(tmp_path: Path) -> Path:
    """Write plans: a day of p5e costs 830.64, then 955.20 USD, of p5en 868.32, then 998.64; the other 20 times that."""
    folder = tmp_path / "plans"
    (folder / "deeper").mkdir(parents=True)
    plan_between(folder, "p5e-flips", "p5e.48xlarge", 44.0)  # 902 lies between
    plan_between(folder, "p5e-stays-cheaper", "p5e.48xlarge", 49.0)  # 1,005 lies above both
    plan_between(folder, "p5e-never-was", "p5e.48xlarge", 39.0)  # 800 lies below both
    plan_between(folder / "deeper", "p5en-flips", "p5en.48xlarge", 47.0)  # 964 lies between
    plan_between(folder, "p5en-stays-cheaper", "p5en.48xlarge", 50.0)  # 1,025 lies above both
    plan_between(folder, "over-budget", "p5en.48xlarge", 60.0, budget_usd=900.0)  # the block too, from 2026
    catalog = catalog_with(IN_2025, date(2025, 11, 15))
    for path in sorted(folder.rglob("*.yaml")):
        freeze(path, catalog, now=datetime(2025, 12, 1, 12, tzinfo=UTC))
    return folder


def test_the_rise_of_january_2026_names_the_plans_that_flip_and_no_other(frozen_in_2025: Path) -> None:
    document = watch(frozen_in_2025, catalog_with(FROM_2026, date(2026, 1, 15)))
    assert len(document.plans) == 6
    assert document.problems == ()
    flips = {plan.plan: plan.recommended_now for plan in document.plans if plan.flips}
    other = "coreweave/gd-8xh200ib-i128:any:on_demand"
    assert flips == {"p5e-flips": other, "p5en-flips": other, "over-budget": None}
    (dearer,) = (plan for plan in document.plans if plan.plan == "p5e-flips")
    assert (dearer.usd_then, dearer.usd_now) == pytest.approx((24 * 34.61, 24 * 39.80))


def test_on_the_prices_of_the_day_nothing_flips(frozen_in_2025: Path) -> None:
    document = watch(frozen_in_2025, catalog_with(IN_2025, date(2025, 11, 15)))
    assert not any(plan.flips for plan in document.plans)


def test_a_price_that_is_gone_flips_the_plans_that_rested_on_it(frozen_in_2025: Path) -> None:
    without = {name: usd for name, usd in IN_2025.items() if name == "p5en.48xlarge"}
    unpriced = bundled_catalog().model_copy(update={"prices": catalog_with(without, date(2026, 1, 15)).prices})
    kept = watch(frozen_in_2025, unpriced)
    assert not any(plan.flips for plan in kept.plans)  # an instance that the list forgot keeps its frozen price


class TestCommand:
    """Watch the same through the workspace's price file, with exit codes."""

    @pytest.fixture
    def price(self, tmp_path: Path):
        def write(usd_per_hour: float) -> None:
            folder = tmp_path / "planner-home" / "prices"
            folder.mkdir(parents=True, exist_ok=True)
            head = "provider,instance_type,region,price_kind,usd_per_hour,source,as_of\n"
            row = f"aws,p5e.48xlarge,us-east-2,capacity_block,{usd_per_hour},a quote,2026-11-20\n"
            (folder / "mine.csv").write_text(head + row, encoding="utf-8")

        return write

    @pytest.fixture
    def plans(self, planner, tmp_path: Path, price) -> Path:
        folder = tmp_path / "plans"
        folder.mkdir()
        plan_between(folder, "flips", "p5e.48xlarge", 44.0)
        plan_between(folder, "stays", "p5e.48xlarge", 60.0)
        price(34.61)
        for path in sorted(folder.glob("*.yaml")):
            assert planner("estimate", path, "--freeze").code == 0
        return folder

    def test_silence_where_nothing_flips(self, planner, plans):
        answer = planner("watch", plans)
        assert (answer.code, answer.out) == (0, "")
        assert "2 watched, 0 flip" in answer.err

    def test_a_flip_is_named_and_is_exit_code_3(self, planner, plans, price):
        price(39.80)
        answer = planner("watch", plans)
        assert answer.code == 3
        assert "flips" in answer.out
        assert "stays" not in answer.out
        document = planner("watch", plans, "--json").document
        assert next(iter(document)) == "schema_version"
        assert [(plan["plan"], plan["flips"]) for plan in document["plans"]] == [("flips", True), ("stays", False)]

    def test_a_plan_frozen_at_net_prices_is_watched_on_net_prices(self, planner, tmp_path, plans, price):
        """A quarter off 46.00 USD is 34.50, off 53.00 it is 39.75: the day turns dearer than 20 h at 44.00."""
        quarter = {"name": "quarter", "provider": "aws", "discount_fraction": 0.25, "source": "our contract"}
        book = {"schema_version": 1, "as_of": "2026-11-20", "discounts": [quarter]}
        (tmp_path / "planner-home" / "price_book.yaml").write_text(json.dumps(book), encoding="utf-8")
        price(46.0)
        assert planner("estimate", plans / "flips.yaml", "--freeze", "--with-price-book").code == 0
        (plans / "stays.lock.json").unlink()
        refused = planner("watch", plans)
        assert refused.code == 2
        assert "--with-price-book" in refused.err
        assert planner("watch", plans, "--with-price-book").code == 0
        price(53.0)
        assert planner("watch", plans, "--with-price-book").code == 3

    def test_a_broken_lock_is_reported_and_the_others_are_watched(self, planner, plans, price):
        price(39.80)
        (plans / "broken.lock.json").write_text("{", encoding="utf-8")
        answer = planner("watch", plans, "--json")
        assert answer.code == 2
        assert len(answer.document["plans"]) == 2
        assert "broken.lock.json" in answer.document["problems"][0]
        assert "broken.lock.json" in answer.err

    def test_a_folder_without_locks(self, planner, tmp_path):
        one_error(planner("watch", tmp_path), "holds no lock", "--freeze")

    def test_a_folder_that_is_not_there(self, planner, tmp_path):
        one_error(planner("watch", tmp_path / "none"), "is not a folder")
