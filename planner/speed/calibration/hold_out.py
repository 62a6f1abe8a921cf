"""Predictions of held-out rows: one source, family, model, scale or precision is left out at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from planner.speed.estimator.expected_error import Known, count_evidence, expected_error, groups_of
from planner.speed.estimator.text_fit import Fit, TextSample, fit_text, model_text_step
from planner.speed.physics.number_format import format_of, formats_of

if TYPE_CHECKING:
    from planner.speed.physics.config_arrays import Array
    from planner.speed.physics.observation import Observation

TRAIN_GPUS, TEST_GPUS = 64, 128
"""The scale split: trained on at most so many accelerators, tested on at least so many."""
OWN_FOLD_ROWS = 15
"""A source with fewer rows shares its fold with other small ones."""
SMALL_FOLDS = 8
ROUNDS = 2
"""Of a fit that starts from the one with everything."""
FAMILIES = {
    "B200-SXM": "blackwell server", "B300-SXM": "blackwell server", "GB200-per-GPU": "blackwell server",
    "GB300-per-GPU": "blackwell server",
}  # fmt: skip
"""Accelerators that count as one family when a family is left out; the others by generation."""


@dataclass(frozen=True)
class HeldOut:
    """Predictions of rows by fits without them; arrays run along `rows`."""

    rows: Array
    log_predicted: Array
    expected: Array
    shares: dict[str, Array]
    groups: tuple[str, ...]
    fits: tuple[tuple[Fit, Known], ...]
    """Of each fold with test rows: what was fitted, and the labels with evidence in its training rows."""


@dataclass(frozen=True)
class Fold:
    """Which rows are predicted, and which rows the fit may use."""

    test: Array
    train: Array


def text_folds(split: str, observations: Sequence[Observation]) -> list[Fold]:
    """Divide the observations for one split."""
    import numpy as np

    count = len(observations)
    if split == "scale":
        gpus = np.array([gpus_of(observation) for observation in observations])
        return [Fold(np.flatnonzero(gpus >= TEST_GPUS), np.flatnonzero(gpus <= TRAIN_GPUS))]
    keys = [KEYS[split](observation) for observation in observations]
    sizes: dict[str, int] = {}
    for key in keys:
        sizes[key] = sizes.get(key, 0) + 1
    if split == "source":
        small = sorted(key for key, size in sizes.items() if size < OWN_FOLD_ROWS)
        shared = {key: f"small sources {place % SMALL_FOLDS}" for place, key in enumerate(small)}
        keys = [shared.get(key, key) for key in keys]
    names = np.array(keys)
    everything = np.arange(count)
    return [Fold(everything[names == key], everything[names != key]) for key in sorted(set(keys))]


def gpus_of(observation: Observation) -> float:
    """Return how many accelerators an observation used."""
    config = observation.config
    return config["dp"] * config["tp"] * config["pp"] * config["cp"]


KEYS: dict[str, Callable[[Observation], str]] = {
    "source": lambda observation: observation.labels.source,
    "family": lambda observation: FAMILIES.get(observation.labels.accelerator, observation.labels.generation),
    "model": lambda observation: observation.labels.workload,
    "precision": lambda observation: format_of(observation.config),
}
"""What one fold of a split has in common."""


def predict_held_out(data: TextSample, folds: Sequence[Fold], whole: Fit) -> HeldOut:
    """Predict every fold's test rows by a fit on its training rows."""
    import numpy as np

    rows, predicted, expected, shares = [], [], [], []
    groups: list[str] = []
    fits: list[tuple[Fit, Known]] = []
    for fold in folds:
        if not len(fold.test):
            continue
        train = data.at(fold.train)
        fitted = fit_text(train, start=whole, rounds=ROUNDS)
        known = count_evidence(train.labels, train.configs.gpus, formats_of(train.configs))
        fits.append((fitted, known))
        asked = data.at(fold.test)
        rows.append(fold.test)
        log_step, parts = model_text_step(fitted, asked.configs, asked.labels)
        predicted.append(log_step)
        shares.append(parts)
        expected.append(expected_error(asked.configs, asked.labels, parts, known))
        groups += groups_of(asked.configs, asked.labels, known)
    return HeldOut(
        np.concatenate(rows),
        np.concatenate(predicted),
        np.concatenate(expected),
        {name: np.concatenate([parts[name] for parts in shares]) for name in shares[0]},
        tuple(groups),
        tuple(fits),
    )
