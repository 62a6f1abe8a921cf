"""The table of `campaign` excludes what `compare` does, with its words."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

STEP = {"batch": 10, "seconds": 10.0, "low_seconds": 10.0, "high_seconds": 10.0, "basis": "measured"}
P4D = {"offer": "aws/p4d.24xlarge", "region": "us-east-1", "usd_per_hour": 20.0, "step": STEP}


@pytest.mark.parametrize(
    ("limits", "given", "reason"),
    [
        pytest.param({"budget_usd": 150.0}, {}, "over budget", id="10 h at 20 USD are over 150 USD"),
        pytest.param({"deadline": "2026-12-01", "runs": 3}, {"usd_per_hour": 5.0}, "late", id="30 h are over 24"),
        pytest.param({}, {"price": "spot", "usd_per_hour": 5.0}, "not allowed", id="no spot"),
    ],
)  # fmt: skip
def test_a_row_that_compare_excludes_says_no_and_why(planner, plan_file, limits, given, reason):
    plan = {
        "schema_version": 1, "name": "test", "workload": {"ref": "gpt-305m", "seq_len": 512},
        "work": {"epochs": 1, "samples_per_epoch": 36000},
        "options": [P4D | {"usd_per_hour": 5.0, "step": STEP | {"batch": 100}}, P4D | given],
        "campaign": {"start": "2026-12-01", "at_once": 1} | limits, "limits": {"spot": "never"},
    }  # fmt: skip
    path = plan_file(yaml.safe_dump(plan))
    compared, planned = (planner(command, path, "--json") for command in ("compare", "campaign"))
    excluded = [option for option in compared.document["options"] if not _may_be_taken(option)]
    assert len(excluded) == 1
    same = planned.option(excluded[0]["id"])
    assert (same["why_not"], same["why_not_codes"]) == (excluded[0]["why_not"], excluded[0]["why_not_codes"])
    (row,) = [line for line in planner("campaign", path, "--format", "table").out.splitlines() if line[:3] == "no "]
    assert reason in row


def _may_be_taken(option: dict[str, Any]) -> bool:
    kept = option["meets_deadline"] and option["within_budget"] and option["keeps_both"] is not False
    return bool(kept) and option["not_allowed"] is None
