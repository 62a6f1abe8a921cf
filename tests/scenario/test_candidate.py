"""Options joined with the catalog: the machine of a run, and names that join with nothing."""

from __future__ import annotations

from typing import Any

import pytest

from planner.errors import NotFoundError
from planner.model.catalog import Catalog
from planner.scenario.candidate import Candidate
from planner.scenario.machine import machine_of
from tests.speed.throughput.asking import asked

TWO_CARDS = "seed-003-rtx3090-ddp-x2"


def candidate_of(catalog: Catalog, option: dict[str, Any]) -> Candidate:
    return asked(catalog, option, workload={"ref": "gpt-305m"})[1]


def test_the_machine_of_a_run_is_an_option_with_as_many_accelerators_as_it_used(catalog: Catalog) -> None:
    found = candidate_of(catalog, {"run": TWO_CARDS})
    assert (found.node.id, found.accelerator.id) == ("rtx3090-x10", "RTX-3090")
    assert (found.nodes, found.accelerators_per_node, found.price) == (1, 2, None)
    assert found.site is not None
    assert found.site.source == f"run {TWO_CARDS}"


def test_a_machine_that_no_catalog_knows_is_described_by_its_run_alone(catalog: Catalog) -> None:
    run = catalog.runs[TWO_CARDS]
    hardware = run.hardware.model_copy(update={"node": None, "accelerator": "RTX-9090"})
    mine = run.model_copy(update={"id": "mine", "hardware": hardware, "environment": {"machine": "under my desk"}})
    node, accelerator = machine_of(mine, catalog)
    assert (node.id, node.name, node.accelerators) == ("run/mine", "under my desk", 2)
    assert (accelerator.id, accelerator.hbm_gib, accelerator.bf16_tflops) == ("RTX-9090", None, None)
    assert {node.source, accelerator.source} == {"run mine"}
    wordy = mine.model_copy(update={"environment": {"machine": "H100 " * 1000}})
    assert machine_of(wordy, catalog)[0].name == "H100 " * 40


def test_an_unknown_run_names_the_nearest(catalog: Catalog) -> None:
    with pytest.raises(NotFoundError, match=f"Did you mean {TWO_CARDS}"):
        candidate_of(catalog, {"run": TWO_CARDS.replace("ddp", "dpp")})


def test_a_site_on_a_node_that_is_not_there_says_so(catalog: Catalog) -> None:
    site = catalog.sites["rtx3090-x10"].model_copy(update={"node": "rtx3090-x11"})
    lost = catalog.model_copy(update={"sites": {"lost": site.model_copy(update={"id": "lost"})}})
    with pytest.raises(NotFoundError, match=r"site lost.*rtx3090-x11"):
        candidate_of(lost, {"site": "lost"})


def test_a_node_of_an_accelerator_that_is_not_there_says_so(catalog: Catalog) -> None:
    known = {name: row for name, row in catalog.accelerators.items() if name != "RTX-3090"}
    with pytest.raises(NotFoundError, match=r"node rtx3090-x10.*RTX-3090"):
        candidate_of(catalog.model_copy(update={"accelerators": known}), {"site": "rtx3090-x10"})
