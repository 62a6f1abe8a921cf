"""Ids of answers, and the inputs that change them."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from planner.decide.recommend.frozen_inputs import reachable
from planner.use_cases import answer_ids, plans, version
from planner.use_cases.memory import MemoryRequest, estimate_memory
from tests.bundled import bundled_catalog
from tests.conftest import NOON

ROOT = Path(__file__).parents[2]
STATION = ROOT / "examples" / "dgx_station_v100.yaml"
TODAY = NOON.date()
CATALOG = bundled_catalog()
PLAN = plans.read_plan(STATION)


def id_of(plan=PLAN, catalog=CATALOG, today=TODAY):
    return plans.compare(plan, catalog, today=today).answer_id


def test_an_id_is_the_beginning_of_a_hash_of_what_the_formula_names() -> None:
    parts = [
        version.VERSION,
        "comparison",
        "2026-11-21",
        PLAN.model_dump_json(),
        reachable(PLAN, CATALOG, used_runs=()).model_dump_json(),
    ]
    assert id_of() == hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


def offer_price(raised: bool):
    offers = {option.offer for option in PLAN.options if option.offer}
    assert offers
    prices = tuple(
        price.model_copy(update={"usd_per_hour": price.usd_per_hour * 2})
        if (price.node in offers) is raised and price.usd_per_hour
        else price
        for price in CATALOG.prices
    )
    return CATALOG.model_copy(update={"prices": prices})


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"today": TODAY + timedelta(days=1)}, id="the day, from which ages and deadlines count"),
        pytest.param({"catalog": offer_price(True)}, id="a price of an option"),
        pytest.param({"plan": PLAN.model_copy(update={"options": PLAN.options[:1]})}, id="the plan"),
    ],
)
def test_another_input_is_another_id(changed) -> None:
    assert id_of(**changed) != id_of()


def test_another_version_is_another_id(monkeypatch: pytest.MonkeyPatch) -> None:
    before = id_of()
    monkeypatch.setattr(version, "VERSION", "99.0")
    assert id_of() != before


def test_a_price_that_no_option_has_changes_nothing() -> None:
    assert id_of(catalog=offer_price(False)) == id_of()


def test_each_verb_has_its_own() -> None:
    answers = (plans.compare, plans.estimate, plans.campaign)
    assert len({answer(PLAN, CATALOG, today=TODAY).answer_id for answer in answers}) == len(answers)


def test_a_document_without_a_plan_has_the_hash_of_itself() -> None:
    document = estimate_memory(MemoryRequest(workload="gpt-305m", on="H100-SXM"), CATALOG)
    text = document.model_copy(update={"answer_id": None}).model_dump_json()
    assert document.answer_id == hashlib.sha256(f"{version.VERSION}\0{text}".encode()).hexdigest()[:12]
    assert answer_ids.document_id(document) == document.answer_id


@pytest.mark.slow
def test_the_order_of_sets_in_memory_does_not_count() -> None:
    """Python draws the order of sets anew in every process."""
    code = (
        "from datetime import date; from pathlib import Path; from planner.use_cases import catalogs, plans\n"
        f"plan = plans.read_plan(Path({str(STATION)!r}))\n"
        "print(plans.compare(plan, catalogs.catalog_for(plan), today=date(2026, 11, 21)).answer_id)"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(told) == 1
