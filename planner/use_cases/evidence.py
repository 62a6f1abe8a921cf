"""Published measurements: listed, checked, added; the calibration made of them; how well it predicts."""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from planner.adapters.catalog import accelerator_aliases
from planner.adapters.evidence import CALIBRATION, FOLDER, evidence_files, read_calibration, read_measurements
from planner.adapters.image_networks import read_image_networks
from planner.adapters.workspace import catalogs_dir, workspace_dir
from planner.errors import InputError
from planner.model.catalog import Catalog
from planner.model.evidence.calibration import Calibration
from planner.model.evidence.measurement import Measurement
from planner.model.hardware.accelerator_name import accelerator_named
from planner.speed.calibration.baselines import METHODS, baseline_predictions
from planner.speed.calibration.image_accuracy import predict_image_rows, train_image_folds
from planner.speed.calibration.metrics import error_figures, groups, macro, macro_errors, overall, ranking, regret
from planner.speed.calibration.scored_rows import ScoredRow, without
from planner.speed.calibration.text_accuracy import predict_text_rows, train_text_folds
from planner.speed.calibration.text_calibration import fit_text_calibration
from planner.speed.evidence.measured_image_config import is_of_images, observe_image
from planner.speed.evidence.measured_text_config import observe
from planner.speed.physics.observation import Observation, Refusal
from planner.use_cases.image_evidence import (
    differences_between,
    of_images,
    of_text,
    shipped_image_calibration,
    write_over,
)

USABLE = ("ok", "hw-assumed")
"""Beginnings of quality flags of rows of the fit; `weak` rows are predicted and excluded from it."""
UNUSABLE = ("suspect", "duplicate", "check")
"""Rows that are not even predicted: their own source doubts them, or they stand there twice."""


def observations_of(rows: list[Measurement], catalog: Catalog) -> tuple[list[Observation], list[Refusal]]:
    """Describe measurements for the physics; the others with the reason."""
    aliases, networks = accelerator_aliases(), read_image_networks()
    seen: list[Observation] = []
    refused: list[Refusal] = []
    for row in rows:
        if row.quality.startswith(UNUSABLE):
            refused.append(Refusal(row.id, f"quality: {row.quality.split(':')[0]}", row.quality))
            continue
        observed = (
            observe_image(row, accelerator_named(row.gpu, catalog.accelerators, aliases), networks)
            if is_of_images(row, networks)
            else observe(row, catalog.accelerators, aliases)
        )
        if isinstance(observed, Observation) and not row.quality.startswith(USABLE):
            observed = replace(observed, in_fit=False)
        if isinstance(observed, Refusal):
            refused.append(observed)
        else:
            seen.append(observed)
    return seen, refused


def bundled_evidence(catalog: Catalog) -> list[Observation]:
    """Return the measurements that calibrate the product, sorted by id: of text, not of images."""
    return of_text(_usable_rows(evidence_files(), catalog))


def bundled_image_evidence(catalog: Catalog) -> list[Observation]:
    """Return the measurements of image networks that calibrate the product, sorted by source and id."""
    return list(of_images(_usable_rows(evidence_files(), catalog)))


def all_evidence(catalog: Catalog, home: str | None = None) -> list[Observation]:
    """Return the bundled measurements and the user's own tables."""
    return _usable_rows(evidence_files(workspace_dir(home)), catalog)


def _usable_rows(paths: list[Path], catalog: Catalog) -> list[Observation]:
    rows = [row for path in paths for row in read_measurements(path) if row.quality.startswith(USABLE)]
    return sorted(observations_of(rows, catalog)[0], key=lambda one: (one.labels.source, one.id))


def calibrate(*, today: date) -> Calibration:
    """Calibrate on the bundled evidence."""
    from planner.adapters.catalog import load_catalog

    return fit_text_calibration(bundled_evidence(load_catalog()), today=today)


def write_calibration(made: Calibration, root: Path) -> Path:
    """Write the calibration where the product reads it; the date stays when nothing else changed."""
    return write_over(made, root / "catalogs" / FOLDER / CALIBRATION, changed=bool(differences(made)))


def differences(made: Calibration) -> list[str]:
    """List where a calibration differs from the shipped one in six digits."""
    return differences_between(read_calibration(), made)


def evidence_list(catalog: Catalog, home: str | None = None) -> dict[str, Any]:
    """Count the evidence by table, source, accelerator and framework, and the user's runs."""
    tables = []
    for path in evidence_files(workspace_dir(home)):
        rows = read_measurements(path)
        seen, refused = observations_of(rows, catalog)
        own = not path.is_relative_to(catalogs_dir())
        tables.append({"table": path.name, "own": own, "rows": len(rows), "usable": len(seen), "refused": len(refused)})
    every = all_evidence(catalog, home)
    count = {
        level: dict(Counter(getattr(one.labels, level) for one in every).most_common())
        for level in ("accelerator", "framework", "source")
    }
    calibration = catalog.calibration
    return {
        "schema_version": 1,
        "kind": "evidence",
        "tables": tables,
        "runs": len(catalog.runs),
        "counts": count,
        "calibrated_on": None if calibration is None else calibration.made_on.isoformat(),
        "calibrated_rows": None if calibration is None else calibration.rows,
        "calibrated_image_rows": None if catalog.image_calibration is None else catalog.image_calibration.rows,
    }


def evidence_check(path: Path, catalog: Catalog) -> dict[str, Any]:
    """Return for every row of a table whether it can be used, and if not, why."""
    rows = read_measurements(path)
    seen, refused = observations_of(rows, catalog)
    weak = [row.id for row in rows if row.quality.startswith("weak")]
    return {
        "schema_version": 1,
        "kind": "evidence_check",
        "rows": len(rows),
        "usable": len(seen) - len([one for one in seen if one.id in set(weak)]),
        "weak": len(weak),
        "refused": dict(Counter(one.reason for one in refused).most_common()),
        "refusals": [{"id": one.id, "reason": one.reason} for one in refused],
    }


def evidence_add(path: Path, catalog: Catalog, home: str | None = None) -> Path:
    """Copy a table of measurements into the workspace, where estimates find it; nothing is overwritten."""
    rows = read_measurements(path)
    seen, refused = observations_of(rows, catalog)
    if not seen:
        reason = Counter(one.reason for one in refused).most_common(1)
        raise InputError(
            f"{path}: no row can be used{': ' + reason[0][0] if reason else ''}.",
            fix="See every row's reason with: planner evidence check FILE",
        )
    target = workspace_dir(home) / FOLDER / path.name
    if target.exists():
        if target.read_bytes() == path.read_bytes():
            return target
        raise InputError(f"{target}: another table already has this name.", fix="Give the file another name.")
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, target)
    return target


def accuracy(
    path: Path | None, catalog: Catalog, *, anchors: int, leave_out: str | None, today: date, home: str | None = None
) -> dict[str, Any]:
    """Predict the rows of a table (default: the bundled evidence) and score them beside the baselines."""
    from planner.adapters.catalog import load_catalog

    unreadable: list[InputError] = []
    rows = [row for file in ([path] if path else evidence_files()) for row in read_measurements(file, unreadable)]
    if unreadable and not rows:
        raise unreadable[0]
    observations, refused = observations_of(rows, catalog)
    refused += [Refusal(str(place), "a cell cannot be read", str(error)) for place, error in enumerate(unreadable)]
    every = _usable_rows(evidence_files(workspace_dir(home)), load_catalog())
    asked, evidence = of_text(observations), of_text(every)
    if leave_out is None and path is None:
        leave_out = "source"
    folds = train_text_folds(asked, evidence, read_calibration(), leave_out=leave_out, today=today) if asked else []
    scored = predict_text_rows(asked, folds, anchors=anchors)
    pool = [*asked, *without(evidence, asked)]
    images = of_images(observations)
    image_folds = (
        train_image_folds(images, of_images(every), shipped_image_calibration(), leave_out=leave_out, today=today)
        if images
        else []
    )
    scored += predict_image_rows(images, image_folds, anchors=anchors, first=len(pool))
    pool += [*images, *without(of_images(every), images)]
    return accuracy_document(len(rows) + len(unreadable), refused, scored, pool, leave_out, anchors)


def accuracy_document(
    rows: int,
    refused: list[Refusal],
    scored: list[ScoredRow],
    pool: list[Observation],
    leave_out: str | None,
    anchors: int,
) -> dict[str, Any]:
    """Return the document of `planner accuracy --json`."""
    predicted = {one.observation.id for one in scored}
    skipped = Counter(one.reason for one in refused)
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
        "baselines": {name: error_figures([error for _, error in errors]) | {"rows": len(errors)}
                      for name, errors in by_method.items()},
        "baselines_macro": {name: macro_errors(errors) for name, errors in by_method.items()},
        "ranking": ranking(scored),
        "regret": regret(scored),
        "groups": groups(scored),
        "predictions": [
            {
                "id": one.observation.id,
                "measured": one.observation.tokens_per_s_per_gpu * unit,
                "predicted": one.predicted * unit,
                "low_80": one.low_80 * unit,
                "high_80": one.high_80 * unit,
                "low_90": one.low_90 * unit,
                "high_90": one.high_90 * unit,
                "group": one.group,
            }
            for one in scored
            for unit in [one.observation.unit_per_token]
        ],
    }  # fmt: skip


def _baselines(
    scored: list[ScoredRow], pool: list[Observation], leave_out: str | None
) -> dict[str, list[tuple[str, float]]]:
    """Return every baseline's error on the same rows, each from the evidence that our prediction was fitted on."""
    errors: dict[str, list[tuple[str, float]]] = {name: [] for name in METHODS}
    asked = {one.observation.id for one in scored}
    trained_on: dict[tuple[bool, tuple[int, ...]], list[Observation]] = {}
    for one in scored:
        images = bool(of_images([one.observation]))
        key = (images, () if leave_out is None else one.trained_on)
        if key not in trained_on:
            every = (
                [each for each in pool if each.id not in asked]
                if leave_out is None
                else [pool[i] for i in one.trained_on]
            )
            trained_on[key] = list(of_images(every)) if images else of_text(every)
        for name, value in baseline_predictions(one.observation, trained_on[key]).items():
            errors[name].append((one.observation.labels.source, value / one.observation.tokens_per_s_per_gpu - 1))
    return errors
