"""Fits `calibration.json` and `calibration_images.json` of catalogs/evidence/ to the tables beside them."""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from pathlib import Path

from planner.adapters.catalog import load_catalog
from planner.model.evidence.calibration import Calibration
from planner.use_cases.evidence import bundled_image_evidence, calibrate, write_calibration
from planner.use_cases.image_evidence import calibrate_images, image_differences, write_image_calibration


def _calibrate_images(today: date) -> Calibration:
    return calibrate_images(bundled_image_evidence(load_catalog()), today=today)


def main() -> None:
    """Fit, and write; with --check, compare to six digits with what is there."""
    today = date.today()
    with ProcessPoolExecutor(max_workers=1) as second_process:
        of_images = second_process.submit(_calibrate_images, today)
        made = calibrate(today=today)
        images = of_images.result()
    if "--check" in sys.argv:
        from planner.use_cases.evidence import differences

        differing = differences(made) + image_differences(images)
        print("\n".join(differing) or "the calibrations are what these tables give, to six digits")
        sys.exit(1 if differing else 0)
    root = Path(__file__).parents[1]
    print(f"written {write_calibration(made, root)}: {made.rows} rows")
    print(f"written {write_image_calibration(images, root)}: {images.rows} rows")


if __name__ == "__main__":
    main()
