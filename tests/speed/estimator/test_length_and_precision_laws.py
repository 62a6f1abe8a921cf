"""Laws over lengths of samples and number formats of every accelerator of the catalog: no cliff, no inversion."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import pytest

from planner.model.answer.reason import Reason
from planner.model.network.workload import Checkpointing, Precision, Strategy
from planner.scenario.cluster import Cluster
from planner.scenario.training_setup import TrainingSetup
from planner.speed.estimator.text_estimator import OF_TEXT
from planner.speed.physics.config_arrays import from_rows
from planner.speed.physics.planned_text_config import labels_of, planned_text_config
from tests.bundled import bundled_catalog

LENGTHS = tuple(512 << doubling for doubling in range(9))
"""512 to 131,072 tokens."""
NETWORKS = ("gpt-305m", "llama3-8b")
FRAMEWORKS = (None, "HF Trainer")
ACCELERATORS = 8
NOISE, SHARED = 0.07, 0.16
"""Tolerances of test_catalog_laws.py."""

CONVERSION = 0.10
"""Loss from converting numbers to 8 bits if their peak is that of 16 bits (Trainium1)."""


class LawCase(NamedTuple):
    accelerator: str
    network: str
    framework: str | None
    seq_len: int
    precision: Precision

    def at(self, seq_len: int) -> LawCase:
        return self._replace(seq_len=seq_len)


@cache
def grid() -> tuple[dict[LawCase, dict[str, float]], dict[LawCase, float]]:
    """Return configurations, and seconds of one sample on eight accelerators, one sample each."""
    catalog = bundled_catalog()
    assert catalog.calibration is not None
    base = catalog.nodes["aws/p5.48xlarge"]
    configs: dict[LawCase, dict[str, float]] = {}
    for accelerator in catalog.accelerators.values():
        node = base.model_copy(update={"accelerator": accelerator.id, "link": None})
        for network in NETWORKS:
            for framework in FRAMEWORKS:
                for seq_len in LENGTHS:
                    for precision in Precision:
                        if precision is Precision.FLOAT8 and accelerator.fp8_tflops is None:
                            continue
                        found = planned_text_config(
                            TrainingSetup(
                                workload="asked",
                                network=catalog.presets[network].architecture,
                                seq_len=seq_len,
                                precision=precision,
                                checkpointing=Checkpointing.NONE,
                                strategy=Strategy.ZERO2,
                                framework=framework,
                                compiled=False,
                            ),
                            Cluster(accelerator, node, 1, ACCELERATORS),
                            micro_batch=1,
                            micro_batches=4,
                        )
                        if not isinstance(found, Reason):
                            configs[LawCase(accelerator.id, network, framework, seq_len, precision)] = found
    labels = [labels_of(catalog.accelerators[case.accelerator], case.network, case.framework) for case in configs]
    rates = OF_TEXT.estimate(from_rows(list(configs.values())), labels, catalog.calibration, own=())
    each = zip(configs, rates.tokens_per_s_per_gpu, strict=True)
    return configs, {case: case.seq_len / float(rate) for case, rate in each}


@pytest.mark.slow
def test_the_grid_covers_the_catalog():
    assert len({case.accelerator for case in grid()[0]}) > 60
    assert {case.precision for case in grid()[0]} == set(Precision)


def test_twice_the_length_takes_longer_and_at_most_four_times_as_long():
    """Products take twice as long, attention four times, launches as long as before."""
    seconds = grid()[1]
    wrong = [
        (case, seconds[case.at(2 * case.seq_len)] / seconds[case])
        for case in seconds
        if case.at(2 * case.seq_len) in seconds
        and not seconds[case] * 0.999 <= seconds[case.at(2 * case.seq_len)] <= 4 * seconds[case]
    ]
    assert wrong == []


def test_no_length_is_a_cliff():
    """Each doubling costs at least as much as the one before, because quadratic work dominates more and more."""
    seconds = grid()[1]
    wrong = []
    for case in seconds:
        twice, four = case.at(2 * case.seq_len), case.at(4 * case.seq_len)
        if four in seconds:
            first, second = seconds[twice] / seconds[case], seconds[four] / seconds[twice]
            if second < first * 0.999:
                wrong.append((case, first, second))
    assert wrong == []


PAIRS = (
    (Precision.FP32, Precision.TF32),
    (Precision.TF32, Precision.BF16),
    (Precision.FP32, Precision.FP16),
    (Precision.FP16, Precision.BF16),
    (Precision.BF16, Precision.FP16),
    (Precision.BF16, Precision.FLOAT8),
)


@pytest.mark.parametrize(("more", "fewer"), PAIRS, ids=lambda precision: precision.value)
def test_fewer_bits_are_not_slower_where_their_peak_is_no_lower(more: Precision, fewer: Precision):
    configs, seconds = grid()
    compared = [(case, case._replace(precision=fewer)) for case in seconds if case.precision is more]
    alike = [pair for pair in compared if pair[1] in seconds and configs[pair[1]]["peak"] >= configs[pair[0]]["peak"]]
    assert len(alike) > 500
    noise = CONVERSION if fewer is Precision.FLOAT8 else NOISE
    assert [pair for pair in alike if seconds[pair[1]] * (1 - noise) > seconds[pair[0]]] == []


@pytest.mark.parametrize("accelerator", ["V100-SXM2-16GB", "MI350X", "RTX-3090", "L40"])
def test_tf32_without_faster_hardware_for_it_is_fp32(accelerator: str):
    seconds = grid()[1]
    for case in seconds:
        if case.accelerator == accelerator and case.precision is Precision.TF32:
            assert seconds[case] == seconds[case._replace(precision=Precision.FP32)]


@pytest.mark.parametrize(("more", "fewer"), PAIRS, ids=lambda precision: precision.value)
def test_fewer_bits_gain_no_more_than_peaks_and_bytes(more: Precision, fewer: Precision):
    configs, seconds = grid()
    leaps = []
    for case in seconds:
        other = case._replace(precision=fewer)
        if case.precision is more and other in seconds:
            mine, theirs = configs[case], configs[other]
            most = max(
                1.0,
                theirs["peak"] / mine["peak"],
                theirs["peak16"] / mine["peak16"],
                mine["number_bytes"] / theirs["number_bytes"],
            )
            if seconds[case] > seconds[other] * most * (1 + SHARED):
                leaps.append((case, seconds[case] / seconds[other], most))
    assert leaps == []
