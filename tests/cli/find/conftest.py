"""Fixture for plans that leave their options to the planner."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

FITTED = {
    "schema_version": 1,
    "name": "fitted",
    "workload": {"ref": "llama3-8b"},
    "work": {"tokens": 35e6},
    "training": {"precision": "bf16", "adapters": {"rank": 16}},
}


@pytest.fixture(scope="module")
def plan_path(tmp_path_factory):
    def write(options, **more) -> Path:
        path = tmp_path_factory.mktemp("plans") / "plan.yaml"
        path.write_text(yaml.safe_dump(FITTED | {"options": options} | more, sort_keys=False), encoding="utf-8")
        return path

    return write
