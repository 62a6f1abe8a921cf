"""Folds that leave out one source, family, model, scale or precision at a time, and predictions of their rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from planner.speed.calibration.same_measurement import without_twins
from planner.speed.estimator.expected_error import KnownLabels
from planner.speed.estimator.fit_sample import Fit, FitSample, OfPhysics
from planner.speed.estimator.own_runs import UpdatePoints
from planner.speed.physics.accelerator_facts import format_of

if TYPE_CHECKING:
    from planner.speed.estimator.text_estimator import Physics
    from planner.speed.physics.config_arrays import Array
    from planner.speed.physics.observation import Observation

TRAIN_GPUS, TEST_GPUS = 64, 128
"""Largest training in accelerators that the scale split trains on, and smallest one that it tests."""
OWN_FOLD_ROWS = 15
"""Number of rows from which a source has its own fold. Smaller sources share folds."""
SMALL_FOLDS = 8
"""Number of folds that small sources share."""
FAMILIES = {
    "B200-SXM": "blackwell server", "B300-SXM": "blackwell server", "GB200-per-GPU": "blackwell server",
    "GB300-per-GPU": "blackwell server",
}  # fmt: skip
"""Families of accelerators that are left out together. The family of all others is their generation."""


@dataclass(frozen=True)
class Fold:
    """Places of the rows to predict, and of the rows that the fit may use."""

    test: Array
    train: Array


def text_folds(split: str, observations: Sequence[Observation]) -> list[Fold]:
    """Return the folds of one split. No fold trains on a measurement that it tests."""
    import numpy as np

    if split == "scale":
        gpus = np.array([gpus_of(observation) for observation in observations])
        test, train = np.flatnonzero(gpus >= TEST_GPUS), np.flatnonzero(gpus <= TRAIN_GPUS)
        return [Fold(test, without_twins(train, test, observations))]
    keys = [KEYS[split](observation) for observation in observations]
    return folds_by_key(shared_by_small(keys) if split == "source" else keys, observations)


def shared_by_small(sources: Sequence[str]) -> list[str]:
    """Return the sources of rows, with small sources replaced by shared names."""
    sizes = Counter(sources)
    small = sorted(source for source, size in sizes.items() if size < OWN_FOLD_ROWS)
    shared = {source: f"small sources {place % SMALL_FOLDS}" for place, source in enumerate(small)}
    return [shared.get(source, source) for source in sources]


def folds_by_key(
    keys: Sequence[str], observations: Sequence[Observation], *, tested: Collection[str] | None = None
) -> list[Fold]:
    """Return a fold for each key, or for those `tested`. It trains on the other rows, except twins of its own."""
    import numpy as np

    names, places = np.array(keys), np.arange(len(keys))
    folds = []
    for key in sorted(set(keys) if tested is None else set(keys).intersection(tested)):
        test = places[names == key]
        folds.append(Fold(test, without_twins(places[names != key], test, observations)))
    return folds


def folds_that_ask(folds: Sequence[Fold], pool: Sequence[Observation], *, asked: int) -> list[Fold]:
    """Return the folds that test some of the first `asked` rows, without training rows that are excluded from fits."""
    import numpy as np

    in_fit = np.array([row.in_fit for row in pool])
    return [Fold(fold.test, fold.train[in_fit[fold.train]]) for fold in folds if (fold.test < asked).any()]


def gpus_of(observation: Observation) -> float:
    """Return the number of accelerators of an observation."""
    config = observation.config
    return config["dp"] * config["tp"] * config["pp"] * config["cp"]


KEYS: dict[str, Callable[[Observation], str]] = {
    "source": lambda observation: observation.labels.source,
    "family": lambda observation: FAMILIES.get(observation.labels.accelerator, observation.labels.generation),
    "model": lambda observation: observation.labels.workload,
    "precision": lambda observation: format_of(observation.config),
}
"""Property that the test rows of a fold share, by split."""


class HeldOut(NamedTuple):
    """Predictions of a fold's rows by a fit without them. The arrays run along `rows`."""

    rows: Array
    errors: Array
    """ln(measured seconds / predicted)."""
    place: UpdatePoints
    doubt: Array
    groups: tuple[str, ...]
    fit: Fit
    """Fit to the fold's training rows."""
    known: KnownLabels
    """Labels with evidence in the training rows."""


def predict_held_out(
    physics: Physics[OfPhysics], data: FitSample[OfPhysics], fold: Fold, whole: Fit, *, rounds: int
) -> HeldOut:
    """Predict the test rows of a fold by a fit to its training rows, which starts from the fit to all rows."""
    trained_on, asked = data.at(fold.train), data.at(fold.test)
    fit, known = physics.fit(trained_on, whole, rounds=rounds), physics.known(trained_on)
    modelled = physics.modelled(fit, asked.configs, asked.labels, known)
    errors = asked.log_seconds - modelled.log_step
    return HeldOut(fold.test, errors, modelled.place, modelled.doubt, modelled.groups, fit, known)
