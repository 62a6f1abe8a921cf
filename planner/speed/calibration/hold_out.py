"""Predictions of held-out rows: one source, family, model, scale or precision is left out at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from planner.speed.calibration.same_measurement import without_twins
from planner.speed.estimator.doubt import points_of
from planner.speed.estimator.expected_error import KnownLabels, count_evidence
from planner.speed.estimator.fit_sample import Fit
from planner.speed.estimator.own_runs import features
from planner.speed.estimator.text_estimator import model_text
from planner.speed.estimator.text_fit import TextSample, fit_text
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
    doubt: Array
    shares: dict[str, Array]
    groups: tuple[str, ...]
    fits: tuple[tuple[Fit, KnownLabels], ...]
    """Of each fold with test rows: what was fitted, and the labels with evidence in its training rows."""


@dataclass(frozen=True)
class Fold:
    """Which rows are predicted, and which rows the fit may use."""

    test: Array
    train: Array


def text_folds(split: str, observations: Sequence[Observation]) -> list[Fold]:
    """Divide the observations for one split; measurements that stand in both parts are not trained on."""
    import numpy as np

    count = len(observations)
    if split == "scale":
        gpus = np.array([gpus_of(observation) for observation in observations])
        return [fold_without_twins(np.flatnonzero(gpus >= TEST_GPUS), np.flatnonzero(gpus <= TRAIN_GPUS), observations)]
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
    return [
        fold_without_twins(everything[names == key], everything[names != key], observations)
        for key in sorted(set(keys))
    ]


def fold_without_twins(test: Array, train: Array, observations: Sequence[Observation]) -> Fold:
    """Return a fold whose training rows hold no measurement of its test rows, under whatever name."""
    return Fold(test, without_twins(train, test, observations))


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


def known_of(data: TextSample) -> KnownLabels:
    """Return what a sample has evidence of: labels, number formats, and settings."""
    formats, points = formats_of(data.configs), points_of(data.labels, features(data.configs))
    return count_evidence(data.labels, data.configs.gpus, formats, points=points)


def predict_held_out(data: TextSample, folds: Sequence[Fold], whole: Fit) -> HeldOut:
    """Predict every fold's test rows by a fit on its training rows."""
    import numpy as np

    rows, predicted, expected, doubts, shares = [], [], [], [], []
    groups: list[str] = []
    fits: list[tuple[Fit, KnownLabels]] = []
    for fold in folds:
        if not len(fold.test):
            continue
        train = data.at(fold.train)
        fitted = fit_text(train, start=whole, rounds=ROUNDS)
        known = known_of(train)
        fits.append((fitted, known))
        asked = data.at(fold.test)
        modelled = model_text(fitted, asked.configs, asked.labels, known)
        rows.append(fold.test)
        predicted.append(modelled.log_step)
        shares.append(modelled.place.shares)
        expected.append(modelled.place.expected)
        doubts.append(modelled.doubt)
        groups += modelled.groups
    return HeldOut(
        np.concatenate(rows),
        np.concatenate(predicted),
        np.concatenate(expected),
        np.concatenate(doubts),
        {name: np.concatenate([parts[name] for parts in shares]) for name in shares[0]},
        tuple(groups),
        tuple(fits),
    )
