"""Published measurements of image networks: told apart from those of text, and the calibration made of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from planner.adapters.evidence import FOLDER, IMAGE_CALIBRATION, read_calibration
from planner.adapters.files import write_text
from planner.adapters.workspace import catalogs_dir
from planner.model.evidence.calibration import Calibration
from planner.speed.calibration.image_calibration import fit_image_calibration
from planner.speed.physics.observation import Observation
from planner.speed.physics.planned_image_config import ImageObservation


def of_images(observations: Sequence[Observation]) -> list[ImageObservation]:
    """Return the measurements of image networks."""
    return [one for one in observations if isinstance(one, ImageObservation)]


def of_text(observations: Sequence[Observation]) -> list[Observation]:
    """Return the others."""
    return [one for one in observations if not isinstance(one, ImageObservation)]


def shipped_image_calibration() -> Calibration:
    """Read the calibration of images that ships with the product."""
    return read_calibration(catalogs_dir() / FOLDER / IMAGE_CALIBRATION)


def calibrate_images(observations: Sequence[Observation], *, today: date) -> Calibration:
    """Calibrate on the measurements of images among these."""
    return fit_image_calibration(of_images(observations), today=today)


def write_image_calibration(made: Calibration, root: Path) -> Path:
    """Write the calibration where the product reads it; the date stays when nothing else changed."""
    return write_over(made, root / "catalogs" / FOLDER / IMAGE_CALIBRATION, changed=bool(image_differences(made)))


def image_differences(made: Calibration) -> list[str]:
    """List where a calibration differs from the shipped one in six digits."""
    return [f"images: {one}" for one in differences_between(shipped_image_calibration(), made)]


def write_over(made: Calibration, path: Path, *, changed: bool) -> Path:
    """Write a calibration; where nothing else changed, with the date of the one that stands there."""
    if path.is_file() and not changed:
        made = made.model_copy(update={"made_on": read_calibration(path).made_on})
    write_text(path, made.model_dump_json(indent=1) + "\n")
    return path


def differences_between(shipped: Calibration, made: Calibration) -> list[str]:
    """List where two calibrations, of text or of images, differ in six digits."""
    changes = [f"{name}: {shipped.constants.get(name)} and {value}" for name, value in made.constants.items()
             if f"{shipped.constants.get(name, 0):.6g}" != f"{value:.6g}"]  # fmt: skip
    if shipped.rows_sha256 != made.rows_sha256:
        changes.append("the rows, or how they are read, changed")
    if shipped.spreads != made.spreads:
        changes.append("the widths of ranges changed")
    return changes
