"""Fits `calibration.json` and `calibration_images.json` of catalogs/evidence/ to the tables in that folder."""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from pathlib import Path

from planner.adapters.evidence import CALIBRATION, FOLDER, IMAGE_CALIBRATION, read_calibration
from planner.adapters.workspace import catalogs_dir
from planner.use_cases.published.accuracy import calibrate_images, calibrate_text, differences, write_calibration


def main() -> None:
    """Fit and write. With --check, compare the fit to six digits with the existing files."""
    today = date.today()
    with ProcessPoolExecutor(max_workers=2) as processes:
        of_images = processes.submit(calibrate_images, today=today)
        made = {CALIBRATION: calibrate_text(today=today, each=processes.map), IMAGE_CALIBRATION: of_images.result()}
    if "--check" in sys.argv:
        shipped = catalogs_dir() / FOLDER
        differing = [
            f"{name}: {difference}"
            for name, calibration in made.items()
            for difference in differences(read_calibration(shipped / name), calibration)
        ]
        print("\n".join(differing) or "the calibrations are those of these tables, to six digits")
        sys.exit(1 if differing else 0)
    root = Path(__file__).parents[1]
    for name, calibration in made.items():
        print(f"written {write_calibration(calibration, root / 'catalogs' / FOLDER / name)}: {calibration.rows} rows")


if __name__ == "__main__":
    main()
