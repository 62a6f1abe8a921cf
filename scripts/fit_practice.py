"""Fits `practice.json` of catalogs/practice/ to the whole trainings in that folder."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from planner.adapters.catalog import load_catalog
from planner.adapters.evidence import FIT, PRACTICE_FOLDER, TABLE, read_practice, whole_trainings
from planner.model.catalog import Catalog
from planner.model.evidence.whole_training import PracticeFit
from planner.use_cases.published.whole_trainings import fitted_practice
from planner.whole_file import whole_file

CATALOGS = Path(__file__).parents[1] / "catalogs"


def fitted(catalog: Catalog, *, today: date) -> PracticeFit:
    """Return the fit to all trainings that are not excluded."""
    table = (CATALOGS / PRACTICE_FOLDER / TABLE).read_bytes()
    rows = [whole_training for whole_training in whole_trainings() if whole_training.excluded is None]
    return fitted_practice(rows, catalog, table=table, today=today)


def main() -> None:
    """Fit and write. The date changes only if a figure changes."""
    made, there = fitted(load_catalog(), today=date.today()), read_practice(CATALOGS)
    if there is not None and made.model_copy(update={"made_on": there.made_on}) == there:
        print("the fit is that of the table")
        return
    path = CATALOGS / PRACTICE_FOLDER / FIT
    with whole_file(path) as file:
        file.write((made.model_dump_json(indent=2) + "\n").encode())
    print(f"written {path}: {made.trainings} trainings of {made.sources} sources")


if __name__ == "__main__":
    main()
