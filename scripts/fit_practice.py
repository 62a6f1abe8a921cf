"""Fits `practice.json` of catalogs/practice/ to the half of the whole trainings that nothing is scored on."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from planner.adapters.catalog import load_catalog
from planner.adapters.practice import FIT, FOLDER, TABLE, read_practice, whole_trainings
from planner.model.catalog import Catalog
from planner.model.evidence.practice import PracticeFit
from planner.model.evidence.whole_training import TrainingKind
from planner.speed.calibration.practice_fit import fit_practice
from planner.use_cases.whole_trainings import foretell
from planner.whole_file import whole_file

CATALOGS = Path(__file__).parents[1] / "catalogs"
NEUTRAL = PracticeFit(made_on=date(2026, 1, 1), trainings=0, sources=0, table_sha256="-",
                      middle=dict.fromkeys(TrainingKind, 0.0), between=0.1, within=0.1)  # fmt: skip


def fitted(catalog: Catalog, *, today: date) -> PracticeFit:
    """Return the fit to the half of the owners that is not set aside."""
    half = [one for one in whole_trainings() if one.excluded is None and not one.set_aside]
    told, _ = foretell(half, catalog.model_copy(update={"practice": NEUTRAL}), today=today)
    table = (CATALOGS / FOLDER / TABLE).read_bytes()
    return fit_practice([one.shortfall for one in told], table=table, today=today)


def main() -> None:
    """Fit and write; the day moves only where a figure does."""
    made, there = fitted(load_catalog(), today=date.today()), read_practice(CATALOGS)
    if there is not None and made.model_copy(update={"made_on": there.made_on}) == there:
        print("the fit is what the table gives")
        return
    path = CATALOGS / FOLDER / FIT
    with whole_file(path) as file:
        file.write((made.model_dump_json(indent=2) + "\n").encode())
    print(f"written {path}: {made.trainings} trainings of {made.sources} sources")


if __name__ == "__main__":
    main()
