"""The share of rated power that a node draws in training is listed if an option's cost or carbon uses it."""

from __future__ import annotations

from typing import Any

import pytest

from planner.decide.options.estimate_plan import estimate_plan
from planner.model.catalog import Catalog
from planner.model.plan.plan import Plan

P5 = {"offer": "aws/p5.48xlarge", "usd_per_hour": 50.0}
"""Its rated power is known, so its energy takes the share; its bill does not."""
OWN_POWER = {"site": "own-8xh200"}
"""The site says what its node draws."""
RATED = {"site": "dgx-station-v100"}
"""The site says nothing, so its electricity is counted from the data sheet."""


@pytest.mark.parametrize(
    ("options", "assumptions", "listed"),
    [
        pytest.param([P5], {}, False, id="rented"),
        pytest.param([OWN_POWER, P5], {}, False, id="a site with its own power"),
        pytest.param([RATED], {}, True, id="a site without"),
        pytest.param([RATED | {"power_kw": 1.2}], {}, False, id="a site without, with the plan's"),
        pytest.param([P5], {"carbon_kg_per_kwh": 0.4}, True, id="rented, with its carbon"),
    ],
)
def test_the_assumed_power_is_listed_if_it_is_used(
    catalog: Catalog, options: list[dict[str, Any]], assumptions: dict[str, float], listed: bool
) -> None:
    plan = {
        "schema_version": 1,
        "name": "test",
        "workload": {"ref": "gpt-305m", "seq_len": 512},
        "work": {"tokens": 1e9},
        "options": options,
        "assumptions": assumptions,
    }
    document = estimate_plan(Plan.model_validate(plan), catalog)
    assert ("power in training" in [assumption.name for assumption in document.assumptions]) == listed
