"""Bundled data, read once a process: tests share it, and no test changes it."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

from planner.adapters.catalog import load_catalog
from planner.adapters.evidence import evidence_files
from planner.adapters.stored_prices.price_filter import PriceFilter
from planner.model.catalog import Catalog
from planner.speed.physics.observation import Observation
from planner.use_cases import catalogs
from planner.use_cases.published import evidence
from planner.use_cases.published.evidence import of_images, of_text, usable_rows


@cache
def bundled_catalog() -> Catalog:
    """Return the catalog that ships with the product, without any workspace."""
    return load_catalog()


@cache
def owned_catalog() -> Catalog:
    """Return the same catalog as the owner of its measured machines sees it: every run is the reader's own."""
    return bundled_catalog().model_copy(update={"bundled_runs": frozenset()})


@cache
def bundled_rows() -> list[Observation]:
    """Return the measurements that calibrate the product, of text and of images."""
    return usable_rows(evidence_files(), bundled_catalog())


@cache
def text_rows() -> list[Observation]:
    """Return those of text, sorted by source and id."""
    return of_text(bundled_rows())


@cache
def image_rows() -> list[Observation]:
    """Return those of image networks, sorted by source and id."""
    return of_images(bundled_rows())


def share(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let use cases share them too, wherever no workspace adds to them."""

    def load(workspace: Path, *, wanted: PriceFilter) -> Catalog:
        if workspace.exists() or "PLANNER_RUNS" in os.environ:
            return load_catalog(workspace, wanted=wanted)
        return bundled_catalog()

    def rows(paths: list[Path], catalog: Catalog) -> list[Observation]:
        as_shipped = paths == evidence_files() and catalog.accelerators == bundled_catalog().accelerators
        return bundled_rows() if as_shipped else usable_rows(paths, catalog)

    monkeypatch.setattr(catalogs, "load_catalog", load)
    monkeypatch.setattr(evidence, "usable_rows", rows)
