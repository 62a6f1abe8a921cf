"""DeviceMemory model against published peaks, and against runs that did not fit."""

from __future__ import annotations

from statistics import mean, median

import pytest

from benchmarks.memory_peaks import FREE, MemoryPeak, ScoredPeak, calibration_bins, estimate, scaled
from planner.adapters.csv_rows import read_rows
from planner.adapters.workspace import catalogs_dir
from planner.model.network.trainer_memory import TrainerMemory
from planner.speed.memory.constants import FITTED
from planner.speed.memory.planned_settings import PossibleNeed, chance_within


@pytest.fixture(scope="module")
def peaks() -> list[MemoryPeak]:
    return read_rows(MemoryPeak, catalogs_dir() / "memory" / "peaks.csv")


def test_published_peaks_are_met(peaks: list[MemoryPeak]) -> None:
    errors = [abs(estimate(peak).error) for peak in peaks if peak.peak_gib is not None]
    assert len(errors) > 350
    assert mean(errors) < 0.08
    assert median(errors) < 0.045


def test_runs_that_failed_are_rarely_said_to_fit(peaks: list[MemoryPeak]) -> None:
    """The runs failed on an A100 of 80 GB, and the benchmark left their rows empty."""
    chances = [
        chance_within([PossibleNeed(1.0, estimate(peak).needed_gib)], 80.0)
        for peak in peaks
        if peak.measured_as == "failed"
    ]
    assert len(chances) > 30
    assert sum(chance >= 0.8 for chance in chances) <= 1
    assert mean(chances) < 0.1


def test_runs_that_ran_are_rarely_said_not_to_fit(peaks: list[MemoryPeak]) -> None:
    ran = [peak for peak in peaks if peak.gpu == "A100-80GB" and peak.peak_gib is not None]
    chances = [chance_within([PossibleNeed(1.0, estimate(peak).needed_gib)], 80.0) for peak in ran]
    assert sum(chance <= 0.2 for chance in chances) / len(chances) < 0.02


OF_THE_BENCHMARK = {"fused_norms", "repeated_heads", "gradient_buckets", "loss_chunks"}
OF_SOME_TRAINERS = {"offloads_inputs", "keeps_frozen_inputs", "copies_gradients"}
"""Settings that no publication of this table states. Trainers of reports have them (planner/scenario/trainers.py)."""


def test_every_setting_of_a_trainer_is_a_column() -> None:
    assert set(TrainerMemory.model_fields) - OF_THE_BENCHMARK - OF_SOME_TRAINERS <= set(MemoryPeak.model_fields)


def test_free_constants_alone_are_scaled() -> None:
    changed = scaled([2.0] * len(FREE))
    assert (changed.saved_fused, changed.eager_logits) == (2 * FITTED.saved_fused, FITTED.eager_logits)


def test_bins_by_hand(peaks: list[MemoryPeak]) -> None:
    """A run that took 50 GiB, as estimated, has no chance on 25 GiB, an even one on 50, and a sure one on 100."""
    peak = next(peak for peak in peaks if peak.peak_gib is not None).model_copy(update={"peak_gib": 50.0})
    bins = calibration_bins([ScoredPeak(peak, 50.0, 50.0)], (25.0, 50.0, 100.0))
    assert [(bin.low, bin.cases, bin.fitted) for bin in bins] == [(0.0, 1, 0.0), (0.5, 1, 1.0), (0.9, 1, 1.0)]
