"""Laws over the accelerators of the catalog: better data sheets, more cards and larger batches are not slower.

The laws of the physics are checked with the fitted effects of chips and accelerators on top of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import pairwise, permutations

import pytest

from planner.model.answer.reason import Reason
from planner.model.network.workload import Checkpointing, Precision, Strategy
from planner.scenario.cluster import Cluster
from planner.scenario.training_setup import TrainingSetup
from planner.speed.estimator.text_estimator import OF_TEXT
from planner.speed.physics.config_arrays import from_rows
from planner.speed.physics.planned_text_config import labels_of, planned_text_config
from tests.bundled import bundled_catalog

NETWORKS = ("gpt-305m", "llama3-8b")
BATCHES = (1, 4, 16)
COUNTS = (1, 2, 4, 8, 16, 64)
FRAMEWORKS = (None, "HF Trainer")
PER_NODE = 8
NOISE = 0.07
"""Smallest difference that counts as slower: a measurement's own error."""
SHARED = 0.16
"""Gain of two accelerators beyond their number: ZeRO shares the optimizer's traffic (GB10, 8B, 2 samples)."""
WITHOUT_PEAK = {"Ascend-910", "Inferentia1"}
ON_THE_SHEET = ("peak", "peak16", "hbm", "intra", "power", "nvlink_domain")
NOT_WORSE = ("pcie", "through_host", "number_bytes", "vector_rate")

Key = tuple[str, str, int, int, str | None]


@cache
def grid() -> tuple[dict[Key, dict[str, float]], dict[Key, float]]:
    """Return the configurations of every accelerator of the catalog, and tokens/s of the whole machine or cluster."""
    catalog = bundled_catalog()
    base = catalog.nodes["aws/p5.48xlarge"]
    configs: dict[Key, dict[str, float]] = {}
    for accelerator in catalog.accelerators.values():
        node = base.model_copy(update={"accelerator": accelerator.id, "link": None})
        for network in NETWORKS:
            for batch in BATCHES:
                for count in COUNTS:
                    for framework in FRAMEWORKS:
                        found = planned_text_config(
                            TrainingSetup(
                                workload="asked",
                                network=catalog.presets[network].architecture,
                                seq_len=2048,
                                precision=Precision.BF16,
                                checkpointing=Checkpointing.NONE,
                                strategy=Strategy.ZERO2,
                                framework=framework,
                                compiled=False,
                            ),
                            Cluster(accelerator, node, max(1, count // PER_NODE), min(count, PER_NODE)),
                            micro_batch=batch,
                            micro_batches=4,
                        )
                        if not isinstance(found, Reason):
                            configs[accelerator.id, network, batch, count, framework] = found
    labels = [labels_of(catalog.accelerators[key[0]], key[1], key[4]) for key in configs]
    assert catalog.calibration is not None
    rates = OF_TEXT.estimate(from_rows(list(configs.values())), labels, catalog.calibration, own=())
    totals = {
        key: float(rate) * key[3] for key, rate in zip(configs, rates.tokens_per_s_per_gpu, strict=True)
    }  # fmt: skip
    return configs, totals


def better(first: dict[str, float], second: dict[str, float]) -> bool:
    """Return whether the second accelerator's data sheet is nowhere worse and its generation not older."""
    return (
        first["format_step"] == second["format_step"]
        and second["generation"] >= first["generation"]
        and all(second[name] >= first[name] * 0.999 for name in ON_THE_SHEET)
        and all(second[name] <= first[name] for name in NOT_WORSE)
    )


def test_the_grid_covers_the_catalog():
    accelerators = bundled_catalog().accelerators.values()
    with_bandwidth = {accelerator.id for accelerator in accelerators if accelerator.hbm_gb_per_s is not None}
    assert len(with_bandwidth) > 60
    assert {key[0] for key in grid()[0]} >= with_bandwidth - WITHOUT_PEAK


@pytest.mark.slow
def test_no_accelerator_is_slower_than_one_that_it_beats_in_everything():
    configs, rates = grid()
    vendors = {accelerator.id: accelerator.vendor for accelerator in bundled_catalog().accelerators.values()}
    inverted = []
    for first, second in permutations(sorted({key[0] for key in configs}), 2):
        if vendors[first] != vendors[second]:
            continue
        for rest in [key[1:] for key in configs if key[0] == first]:
            mine, theirs = (first, *rest), (second, *rest)
            if (
                theirs in configs
                and better(configs[mine], configs[theirs])
                and rates[theirs] < rates[mine] * (1 - NOISE)
            ):
                inverted.append((first, second, rest, rates[theirs] / rates[mine]))
    assert inverted == []


def along(place: int) -> Iterator[list[Key]]:
    """Yield lists of keys that differ only in one place, sorted by it."""
    lines: dict[tuple[object, ...], list[Key]] = {}
    for key in grid()[0]:
        lines.setdefault((*key[:place], *key[place + 1 :]), []).append(key)
    return (sorted(line, key=lambda key: key[place]) for line in lines.values())  # type: ignore[return-value]


@pytest.mark.parametrize("place", [pytest.param(2, id="micro-batch"), pytest.param(3, id="accelerators in a node")])
def test_more_is_not_less(place: int):
    """More is not slower inside a machine with peer-to-peer. A host's bus or a network may cost more than they gain."""
    configs, rates = grid()
    falls = [
        (less, more, rates[more] / rates[less])
        for line in along(place)
        for less, more in pairwise(line)
        if more[3] <= PER_NODE and not configs[more]["through_host"] and rates[more] < rates[less] * (1 - NOISE)
    ]
    assert falls == []


def test_no_count_brings_more_than_its_share():
    """Twice the accelerators are at most twice as fast, except for the optimizer."""
    rates = grid()[1]
    leaps = [
        (less, more, rates[more] / rates[less])
        for line in along(3)
        for less, more in pairwise(line)
        if rates[more] > rates[less] * more[3] / less[3] * (1 + SHARED)
    ]
    assert leaps == []


@pytest.mark.parametrize(
    ("slower", "faster"), [("H200-SXM", "GB200-per-GPU"), ("H100-SXM", "B200-SXM"), ("H100-SXM", "H200-SXM")]
)
def test_a_small_network_is_no_faster_on_the_older_card(slower: str, faster: str):
    rates = grid()[1]
    for batch in BATCHES:
        assert rates[faster, "gpt-305m", batch, 1, None] >= rates[slower, "gpt-305m", batch, 1, None] * 0.99


def test_an_rtx_4090_is_not_five_times_faster_on_two_machines_than_on_one():
    rates = grid()[1]
    for batch in BATCHES:
        alone, two = (rates["RTX-4090", "gpt-305m", batch, count, None] for count in (8, 16))
        assert two <= 2.1 * alone
