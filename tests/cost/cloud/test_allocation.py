"""An allocation is limited to its node-hours and its window; work beyond either is not allowed, whatever it costs."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from planner.decide.recommend.answer_plan import answer_plan
from planner.model.plan.plan import Plan
from planner.model.prices.offer import PriceKind, PriceOrigin
from tests.bundled import bundled_catalog

CATALOG = bundled_catalog()
TODAY = date(2026, 11, 21)
P5 = next(row for row in CATALOG.prices if (row.node, row.region) == ("aws/p5.48xlarge", "us-east-1"))


def answer(kind: PriceKind = PriceKind.GRANT, *, alone: bool = False, **cells: Any):
    """Two trainings of 40 hours on a grant (or another kind), beside the same machine on demand unless `alone`."""
    free = {"price_kind": kind, "usd_per_hour": 0.0, "low_usd_per_hour": None, "high_usd_per_hour": None}
    grant = P5.model_copy(update=free | {"origin": PriceOrigin.USER, "as_of": TODAY} | cells)
    step = {"batch": 1, "seconds": 144.0, "basis": "measured"}
    machine = {"offer": "aws/p5.48xlarge", "region": "us-east-1", "step": step}
    asked = {
        "schema_version": 1, "name": "p", "workload": {"ref": "gpt-305m"},
        "work": {"epochs": 1.0, "samples_per_epoch": 1000.0},
        "campaign": {"runs": 2, "start": date(2027, 1, 1)},
        "options": [machine | {"price": kind.value}, *([] if alone else [machine])],
        "assumptions": {
            "setup_hours": 1.0, "idle_tail_hours": 0.0, "failed_launch_fraction": 0.0, "goodput_fraction": 1.0,
        },
        "data": {"dataset_gb": 0.0},
    }  # fmt: skip
    catalog = CATALOG.model_copy(update={"own_prices": (grant,)})
    return answer_plan(Plan.model_validate(asked), catalog, today=TODAY)


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        pytest.param({}, None, id="no limit is stated"),
        pytest.param({"node_hours_limit": 84.03}, None, id="2 x (40 + 1 of set-up) hours fit, 4 in 5"),
        pytest.param({"node_hours_limit": 84.0}, "holds 84 node-hours, up to 84.1 are needed", id="a little less"),
        pytest.param({"node_hours_limit": 82.0}, "up to 84.1 are needed", id="fits with an even chance alone"),
        pytest.param({"valid_from": date(2027, 1, 1), "valid_until": date(2027, 1, 4)}, None, id="its very days"),
        pytest.param(
            {"valid_until": date(2027, 1, 3)}, "ends on 2027-01-03, the work on 2027-01-04", id="over too soon"
        ),
        pytest.param({"valid_from": date(2027, 1, 2)}, None, id="the work waits until it opens"),
        pytest.param(
            {"valid_from": date(2027, 1, 2), "valid_until": date(2027, 1, 4)},
            "ends on 2027-01-04, the work on 2027-01-05", id="and is over too late then",
        ),
    ],
)  # fmt: skip
def test_an_allocation_holds_what_it_holds(cells, reason):
    """80 hours from the morning of 1 January end on the 4th.

    The measured hours have a range of 5 %: 82 x ((40 x 1.05 + 1) / 41) ^ (0.8416 / 1.645) = 84.02 node-hours hold the
    work with 4 in 5.
    """
    found = answer(**cells)
    grant = next(option for option in found.options if option.price_kind is PriceKind.GRANT)
    assert (grant.not_allowed is None) is (reason is None)
    assert (found.recommended == grant.id) is (reason is None)
    assert reason is None or reason in (grant.not_allowed or "")
    assert grant.ready_on == cells.get("valid_from", TODAY)


def test_the_last_day_of_an_offer_is_that_of_accepting_it():
    found = answer(PriceKind.LEASE, usd_per_hour=1.0, valid_until=date(2026, 12, 1))
    assert found.recommended == "aws/p5.48xlarge:us-east-1:lease"
    assert all(option.not_allowed is None for option in found.options)


def test_a_grant_that_is_too_small_is_not_called_a_place():
    sentence = answer(alone=True, node_hours_limit=82.0).sentence
    assert sentence.startswith("Nothing fits: no option can take the work. Of ")
    assert "holds 82 node-hours, up to 84.1 are needed" in sentence
