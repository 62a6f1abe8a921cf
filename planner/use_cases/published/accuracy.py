"""Scores the planner's predictions of published measurements: `planner accuracy`.

Also fits, compares and writes the shipped calibrations.
"""

from __future__ import annotations

from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

from planner.adapters.catalog import load_catalog
from planner.adapters.evidence import FOLDER, IMAGE_CALIBRATION, evidence_files, read_calibration, read_measurements
from planner.adapters.files import write_text
from planner.adapters.workspace import catalogs_dir, workspace_dir
from planner.errors import InputError
from planner.model.catalog import Catalog
from planner.model.evidence.calibration import Calibration
from planner.speed.calibration.accuracy import train_image_folds, train_text_folds
from planner.speed.calibration.image_calibration import fit_image_calibration
from planner.speed.calibration.metrics import (
    METHODS,
    baseline_predictions,
    error_figures,
    groups,
    macro,
    macro_errors,
    overall,
    parts,
    ranking,
    regret,
)
from planner.speed.calibration.same_measurement import without
from planner.speed.calibration.scored_rows import ScoredRow, predict_folds
from planner.speed.calibration.text_calibration import Each, fit_text_calibration
from planner.speed.physics.observation import Observation, Refusal
from planner.use_cases.published.evidence import (
    bundled_evidence,
    bundled_image_evidence,
    observations_of,
    of_images,
    of_text,
    usable_rows,
)
from planner.use_cases.published.whole_trainings import is_whole, left_out_document, whole_rows_document


def accuracy(
    path: Path | None, catalog: Catalog, *, anchors: int, leave_out: str | None, today: date, home: str | None = None
) -> dict[str, Any]:
    """Predict the rows of a table (default: the bundled evidence), and score them together with the baselines."""
    unreadable: list[InputError] = []
    rows = [row for file in ([path] if path else evidence_files()) for row in read_measurements(file, unreadable)]
    if unreadable and not rows:
        raise unreadable[0]
    whole = [row for row in rows if is_whole(row)]
    observations, refused = observations_of([row for row in rows if not is_whole(row)], catalog)
    refused += [Refusal(str(place), "a cell cannot be read", str(error)) for place, error in enumerate(unreadable)]
    every = usable_rows(evidence_files(workspace_dir(home)), load_catalog())
    asked, evidence = of_text(observations), of_text(every)
    if leave_out is None and path is None:
        leave_out = "source"
    folds = train_text_folds(asked, evidence, read_calibration(), leave_out=leave_out, today=today) if asked else []
    scored = predict_folds(asked, folds, anchors=anchors)
    pool = [*asked, *without(evidence, asked)]
    images = of_images(observations)
    image_folds = (
        train_image_folds(images, of_images(every), shipped_image_calibration(), leave_out=leave_out, today=today)
        if images
        else []
    )
    scored += predict_folds(images, image_folds, anchors=anchors, first=len(pool))
    pool += [*images, *without(of_images(every), images)]
    document = accuracy_document(len(rows) - len(whole) + len(unreadable), refused, scored, pool, leave_out, anchors)
    if path is None:
        return document | {"whole_trainings": left_out_document(catalog, today=today)}
    return document | ({"whole_trainings": whole_rows_document(whole, catalog, today=today)} if whole else {})


def accuracy_document(
    rows: int,
    refused: list[Refusal],
    scored: list[ScoredRow],
    pool: list[Observation],
    leave_out: str | None,
    anchors: int,
) -> dict[str, Any]:
    """Return the document of `planner accuracy --json`."""
    predicted = {row.observation.id for row in scored}
    skipped = Counter(refusal.reason for refusal in refused)
    used = rows - len(refused) - len(predicted)
    if used:
        skipped["used as an anchor, or not asked in this split"] = used
    by_method = _baselines(scored, pool, leave_out)
    return {
        "schema_version": 1,
        "kind": "accuracy",
        "leave_out": leave_out,
        "anchors": anchors,
        "rows": rows,
        "predicted": len(scored),
        "skipped": dict(skipped.most_common()),
        "overall": overall(scored),
        "macro": macro(scored),
        "parts": {name: {"rows": len(part), "overall": overall(part), "macro": macro(part)}
                  for name, part in parts(scored).items()},
        "baselines": {name: error_figures([error for _, error in errors]) | {"rows": len(errors)}
                      for name, errors in by_method.items()},
        "baselines_macro": {name: macro_errors(errors) for name, errors in by_method.items()},
        "ranking": ranking(scored),
        "regret": regret(scored),
        "groups": groups(scored),
        "predictions": [
            {
                "id": row.observation.id,
                "measured": row.observation.tokens_per_s_per_gpu * unit,
                "predicted": row.predicted * unit,
                "low_80": row.low_80 * unit,
                "high_80": row.high_80 * unit,
                "low_90": row.low_90 * unit,
                "high_90": row.high_90 * unit,
                "group": row.group,
            }
            for row in scored
            for unit in [row.observation.unit_per_token]
        ],
    }  # fmt: skip


def _baselines(
    scored: list[ScoredRow], pool: list[Observation], leave_out: str | None
) -> dict[str, list[tuple[str, float]]]:
    """Return every baseline's errors on the same rows, fitted on the same evidence as the planner's prediction."""
    errors: dict[str, list[tuple[str, float]]] = {name: [] for name in METHODS}
    asked = {row.observation.id for row in scored}
    trained_on: dict[tuple[bool, tuple[int, ...]], list[Observation]] = {}
    for row in scored:
        images = bool(of_images([row.observation]))
        key = (images, () if leave_out is None else row.trained_on)
        if key not in trained_on:
            every = (
                [observation for observation in pool if observation.id not in asked]
                if leave_out is None
                else [pool[i] for i in row.trained_on]
            )
            trained_on[key] = list(of_images(every)) if images else of_text(every)
        for name, value in baseline_predictions(row.observation, trained_on[key]).items():
            errors[name].append((row.observation.labels.source, value / row.observation.tokens_per_s_per_gpu - 1))
    return errors


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
