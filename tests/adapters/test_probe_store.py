"""Probes are kept beside runs: written once, read with the catalog, refused where broken."""

import json
from pathlib import Path

import pytest

from planner.adapters.catalog import load_catalog
from planner.adapters.run_store import probe_store
from planner.errors import PlannerError, StoreError
from tests.speed.probes.test_compared_probes import probe


def test_a_probe_is_read_with_the_catalog_and_never_written_over(tmp_path: Path) -> None:
    store = probe_store(tmp_path)
    path = store.add(probe("probe-one", 1.0))

    assert load_catalog(tmp_path).probes == {"probe-one": probe("probe-one", 1.0)}
    assert store.add(probe("probe-one", 1.0)) == path, "the same twice is not an error"
    with pytest.raises(StoreError, match="another probe already has the id 'probe-one'"):
        store.add(probe("probe-one", 2.0))


def test_a_broken_probe_is_named_with_what_is_wrong(tmp_path: Path) -> None:
    path = probe_store(tmp_path).add(probe("probe-one", 1.0))
    document = json.loads(path.read_text())
    document["kernels"][0]["seconds"] = -1
    path.write_text(json.dumps(document))

    with pytest.raises(PlannerError, match=r"probe-one\.json.*seconds"):
        load_catalog(tmp_path)
