"""Every bundled machine has a unique name, without an id that repeats its accelerators."""

from __future__ import annotations

import re

from planner.decide.options.estimate_plan import estimate_plan
from planner.model.plan.plan import Plan
from planner.model.prices.offer import Price
from planner.scenario.price_choice import SEARCHED_KINDS, prices_by_terms
from tests.bundled import bundled_catalog

CATALOG = bundled_catalog()
STEP = {"batch": 10, "seconds": 10.0, "basis": "measured"}


def test_no_name_repeats_its_card_or_lacks_the_count():
    priced: list[Price] = [row for node, _, row in prices_by_terms(CATALOG, SEARCHED_KINDS) if node in CATALOG.nodes]
    options = [
        {"offer": row.node, "price": row.price_kind.value, "step": STEP}
        for row in priced
        if row.usd_per_hour is not None
    ]
    work = {"epochs": 1, "samples_per_epoch": 36_000}
    head = {"schema_version": 1, "name": "all", "workload": {"ref": "gpt-305m"}, "work": work}
    names = [
        option.display_name
        for option in estimate_plan(Plan.model_validate(head | {"options": options}), CATALOG).options
    ]
    assert len(names) > 300
    assert len(names) == len(set(names))
    assert not [name for name in names if not re.search(r", \d+x [A-Z]", name)]
    assert not [name for name in names if re.search(r"\b\d+x-|vcpu|nvlink|  ", name)]
