"""Fits, compares and writes the shipped calibrations of text and of image networks."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from planner.adapters.catalog import load_catalog
from planner.adapters.evidence import FOLDER, IMAGE_CALIBRATION, read_calibration
from planner.adapters.files import write_text
from planner.adapters.workspace import catalogs_dir
from planner.model.evidence.calibration import Calibration
from planner.speed.calibration.image_calibration import fit_image_calibration
from planner.speed.calibration.text_calibration import Each, fit_text_calibration
from planner.use_cases.published.evidence import bundled_evidence, bundled_image_evidence, of_images


def calibrate_text(*, today: date, each: Each = map) -> Calibration:
    """Calibrate on the bundled measurements of text. `each` may be the map of a process pool."""
    return fit_text_calibration(bundled_evidence(load_catalog()), today=today, each=each)


def calibrate_images(*, today: date) -> Calibration:
    """Calibrate on the bundled measurements of image networks."""
    return fit_image_calibration(of_images(bundled_image_evidence(load_catalog())), today=today)


def shipped_image_calibration() -> Calibration:
    """Read the calibration of image networks that ships with the product."""
    return read_calibration(catalogs_dir() / FOLDER / IMAGE_CALIBRATION)


def write_calibration(made: Calibration, path: Path) -> Path:
    """Write a calibration. The date stays if it equals the existing one to six digits."""
    if path.is_file() and not differences(shipped := read_calibration(path), made):
        made = made.model_copy(update={"made_on": shipped.made_on})
    write_text(path, made.model_dump_json(indent=1) + "\n")
    return path


def differences(shipped: Calibration, made: Calibration) -> list[str]:
    """List the differences between two calibrations in their first six digits."""
    changes = [f"{name}: {shipped.constants.get(name)} and {value}" for name, value in made.constants.items()
             if f"{shipped.constants.get(name, 0):.6g}" != f"{value:.6g}"]  # fmt: skip
    if shipped.rows_sha256 != made.rows_sha256:
        changes.append("the rows, or how they are read, changed")
    if shipped.spreads != made.spreads:
        changes.append("the widths of ranges changed")
    return changes
