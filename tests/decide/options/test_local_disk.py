"""A data set is compared with the local disks of a rented machine."""

from __future__ import annotations

import pytest

from planner.decide.options.estimate_plan import estimate_plan
from planner.model.plan.plan import Plan
from tests.bundled import bundled_catalog

CATALOG = bundled_catalog()
P4D, NO_DISK, SILENT = "aws/p4d.24xlarge", "aws/p3.16xlarge", "hyperstack/1x-h100-sxm"
"""AWS states eight NVMe disks of 1,000 GB for p4d, and no local disk for p3; no source states those of the third."""


def notes(offer: str, gigabytes: float) -> list[str]:
    plan = Plan.model_validate({
        "schema_version": 1, "name": "test", "workload": {"ref": "gpt-305m", "seq_len": 512},
        "work": {"epochs": 1, "samples_per_epoch": 36000}, "options": [{"offer": offer}],
        "data": {"dataset_gb": gigabytes},
    })  # fmt: skip
    [option] = estimate_plan(plan, CATALOG).options
    return [note for note in option.notes if "data set has" in note]


TOO_LARGE = "the data set has 9,000 GB, a node's local disks 8,000: read it from storage, or rent a volume"
NO_DISKS = "the data set has 500 GB, a node no local disks: read it from storage, or rent a volume"
NOT_KNOWN = "the data set has 500 GB; how much a node's local disks hold is not known"


@pytest.mark.parametrize(
    ("offer", "gigabytes", "expected"),
    [
        pytest.param(P4D, 7_900.0, [], id="fits"),
        pytest.param(P4D, 9_000.0, [TOO_LARGE], id="too large"),
        pytest.param(NO_DISK, 90.0, [], id="small enough for any disk"),
        pytest.param(NO_DISK, 500.0, [NO_DISKS], id="no disks"),
        pytest.param(SILENT, 90.0, [], id="small enough for unknown disks"),
        pytest.param(SILENT, 500.0, [NOT_KNOWN], id="unknown disks"),
    ],
)
def test_a_data_set_beside_the_local_disks(offer: str, gigabytes: float, expected: list[str]) -> None:
    assert notes(offer, gigabytes) == expected
