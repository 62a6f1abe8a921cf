"""Reads the private price book of a workspace, only when requested."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from planner.adapters.documents import read_own_model
from planner.adapters.workspace import exists_in_workspace, workspace_dir
from planner.cost.cloud.net_price import with_book
from planner.errors import InputError
from planner.model.catalog import Catalog
from planner.model.prices.price_book import PriceBook

NAME = "price_book.yaml"
FIX = "Its keys are in docs/prices.md. A fraction is between 0 and 1: 0.13 is 13 % off."


def read_book(path: Path) -> PriceBook:
    """Read a price book."""
    return read_own_model(PriceBook, path, fix=FIX)


def own_book(home: str | None) -> PriceBook:
    """Return the workspace's price book. Raises InputError if there is none."""
    path = workspace_dir(home) / NAME
    if not exists_in_workspace(path):
        raise InputError(f"{path}: there is no price book.", fix="Write one (docs/prices.md), or leave out the flag.")
    return read_book(path)


def booked(catalog: Catalog, home: str | None, *, today: date) -> Catalog:
    """Return the catalog at the workspace's own net prices."""
    return with_book(catalog, own_book(home), on=today)
