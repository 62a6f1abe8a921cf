"""Lists, checks and adds published measurements of text and of image networks."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from planner.adapters.bundled_tables import read_image_networks
from planner.adapters.catalog import accelerator_aliases
from planner.adapters.evidence import FOLDER, evidence_files, read_measurements
from planner.adapters.workspace import catalogs_dir, workspace_dir
from planner.errors import InputError, StoreError
from planner.model.catalog import Catalog
from planner.model.evidence.measurement import Excluded, Measurement, exclusion_of, usual_settings
from planner.model.hardware.accelerator_name import accelerator_named
from planner.speed.evidence.measured_image_config import is_of_images, observe_image
from planner.speed.evidence.measured_text_config import observe
from planner.speed.physics.observation import Observation, Refusal
from planner.whole_file import whole_file

USABLE = ("ok", "hw-assumed")
"""Prefixes of `quality` whose rows calibrate, unless a rule excludes them. Rows with other flags are only predicted."""
UNUSABLE = ("suspect", "duplicate", "check")
"""Prefixes of `quality` whose rows are not even predicted: their source doubts them, or they are duplicates."""


def observations_of(rows: list[Measurement], catalog: Catalog) -> tuple[list[Observation], list[Refusal]]:
    """Return the measurements as the physics takes them, and the refused ones with the reason."""
    aliases, networks = accelerator_aliases(), read_image_networks()
    observations: list[Observation] = []
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
        if isinstance(observed, Refusal):
            refused.append(observed)
        else:
            text = observed.sample == "tokens"
            in_fit = _calibrates(row, text=text)
            left_open = 2 if not in_fit else int(bool(usual_settings(row, text=text)))
            labels = replace(observed.labels, left_open=left_open)
            observations.append(replace(observed, in_fit=in_fit, labels=labels))
    return observations, refused


def bundled_evidence(catalog: Catalog) -> list[Observation]:
    """Return the text measurements that calibrate the bundled estimator, sorted by source and id."""
    return of_text(usable_rows(evidence_files(), catalog))


def bundled_image_evidence(catalog: Catalog) -> list[Observation]:
    """Return the image measurements that calibrate the bundled estimator, sorted by source and id."""
    return list(of_images(usable_rows(evidence_files(), catalog)))


def all_evidence(catalog: Catalog, home: str | None = None) -> list[Observation]:
    """Return the measurements of the bundled tables and of the user's own that can calibrate."""
    return usable_rows(evidence_files(workspace_dir(home)), catalog)


def usable_rows(paths: list[Path], catalog: Catalog) -> list[Observation]:
    """Return the measurements of these tables that can calibrate, sorted by source and id."""
    rows = [row for path in paths for row in read_measurements(path) if row.quality.startswith(USABLE)]
    fitted = [observation for observation in observations_of(rows, catalog)[0] if observation.in_fit]
    return sorted(fitted, key=lambda observation: (observation.labels.source, observation.id))


def _calibrates(row: Measurement, *, text: bool) -> bool:
    return row.quality.startswith(USABLE) and exclusion_of(row, text=text) is None


def of_images(observations: Sequence[Observation]) -> list[Observation]:
    """Return the measurements of image networks."""
    return [observation for observation in observations if observation.sample == "image"]


def of_text(observations: Sequence[Observation]) -> list[Observation]:
    """Return the measurements of text networks."""
    return [observation for observation in observations if observation.sample == "tokens"]


def evidence_list(catalog: Catalog, home: str | None = None) -> dict[str, Any]:
    """Count the published rows by table, source, accelerator and framework, and the user's runs."""
    tables = []
    for path in evidence_files(workspace_dir(home)):
        rows = read_measurements(path)
        observations, refused = observations_of(rows, catalog)
        usable = sum(observation.in_fit for observation in observations)
        tables.append(
            {
                "table": path.name, "own": not path.is_relative_to(catalogs_dir()), "rows": len(rows),
                "usable": usable, "only_predicted": len(observations) - usable, "refused": len(refused),
            }
        )  # fmt: skip
    every = all_evidence(catalog, home)
    count = {
        level: dict(Counter(getattr(observation.labels, level) for observation in every).most_common())
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
    """Count the rows of a table that can calibrate, and the others by reason."""
    rows = read_measurements(path)
    observations, refused = observations_of(rows, catalog)
    row_of = {row.id: row for row in rows}
    codes = Counter(
        exclusion_of(row_of[observation.id], text=observation.sample == "tokens") or Excluded.DOUBTED
        for observation in observations
        if not observation.in_fit
    )
    return {
        "schema_version": 1,
        "kind": "evidence_check",
        "rows": len(rows),
        "usable": sum(observation.in_fit for observation in observations),
        "excluded": {code.value: count for code, count in codes.most_common()},
        "refused": dict(Counter(refusal.reason for refusal in refused).most_common()),
        "refusals": [{"id": refusal.id, "reason": refusal.reason} for refusal in refused],
    }


def evidence_add(path: Path, catalog: Catalog, home: str | None = None) -> Path:
    """Copy a table of measurements into the workspace, where estimates find it. Never overwrites a file."""
    rows = read_measurements(path)
    observations, refused = observations_of(rows, catalog)
    if not observations:
        reason = Counter(refusal.reason for refusal in refused).most_common(1)
        raise InputError(
            f"{path}: no row can be used{': ' + reason[0][0] if reason else ''}.",
            fix="See every row's reason with: planner evidence check FILE",
        )
    if path.suffix != ".csv":
        raise InputError(
            f"{path}: only files that end in .csv are read.", fix="Give the file a name that ends in .csv."
        )
    target, content = workspace_dir(home) / FOLDER / path.name, path.read_bytes()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(target, replace=False) as file:
            file.write(content)
    except FileExistsError:
        if not target.is_file() or target.read_bytes() != content:
            problem = f"{target}: another table already has this name."
            raise InputError(problem, fix="Give the file another name.") from None
    except OSError as error:
        raise StoreError(
            f"{target}: cannot be written: {os.strerror(error.errno or 0)}; nothing was added.",
            fix="Free some space, or name another workspace with PLANNER_HOME.",
        ) from error
    return target
