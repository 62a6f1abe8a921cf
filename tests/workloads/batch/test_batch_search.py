"""The search for a micro-batch: laws over any device, and a table of the cases that a person would ask about."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.model.evidence.run import Probe
from workloads.batch.batch_search import BatchSearch, search_micro_batch

POWERS = [2**power for power in range(13)]
Rate = Callable[[int], float]


def searched(largest: int, rate: Rate, *, start: int, allowed: list[int]) -> tuple[BatchSearch[Probe], list[int]]:
    """Search on a device that holds up to `largest`; return what was found and which sizes were asked for."""
    asked: list[int] = []

    def probe(size: int) -> Probe:
        asked.append(size)
        if size > largest:
            return Probe(micro_batch=size, samples_per_s=None, refused="out of memory")
        return Probe(micro_batch=size, samples_per_s=rate(size))

    return search_micro_batch(probe, start=start, allowed=allowed), asked


def growing(size: int) -> float:
    """Every doubling pays by 10 %."""
    return 100.0 * size**0.1375


@given(
    largest=st.integers(0, 5000),
    start=st.integers(1, 5000),
    allowed=st.sampled_from([POWERS, list(range(1, 4097)), [n for n in range(1, 361) if 360 % n == 0], [7], [3, 4]]),
)
def test_where_more_is_faster_the_largest_that_fits_is_found_in_few_probes(
    largest: int, start: int, allowed: list[int]
) -> None:
    found, asked = searched(largest, float, start=start, allowed=allowed)
    found_largest = max((probe.micro_batch for probe in found.probes if probe.fits), default=None)
    assert found_largest == max((size for size in allowed if size <= largest), default=None)
    assert (found.chosen is None) == (found_largest is None)
    assert len(asked) == len(set(asked)), "a probe was run twice"
    assert len(asked) <= 2 * math.log2(max(allowed) + 1) + 4
    assert set(asked) <= set(allowed)
    assert [probe.micro_batch for probe in found.probes] == asked


@given(largest=st.integers(1, 4096), start=st.integers(1, 4096), full_at=st.integers(1, 512))
def test_what_is_chosen_fits_and_is_within_3_percent_of_everything_tried(
    largest: int, start: int, full_at: int
) -> None:
    found, _ = searched(largest, lambda size: min(size, full_at) + 1e-3 * size, start=start, allowed=POWERS)
    rates = {probe.micro_batch: probe.samples_per_s for probe in found.probes if probe.samples_per_s is not None}
    assert found.chosen is not None
    assert found.chosen <= largest
    assert rates[found.chosen] >= 0.97 * max(rates.values())
    assert all(size >= found.chosen for size, rate in rates.items() if rate >= 0.97 * max(rates.values()))


@pytest.mark.parametrize(
    ("rates", "largest", "start", "chosen", "tried"),
    [
        pytest.param({}, 40, 8, 40, [8, 16, 32, 64, 48, 40, 44, 42, 41, 20, 10], id="double, bisect, half, quarter"),
        pytest.param({}, 5, 8, 5, [8, 4, 6, 5, 2, 1], id="a start too large halves, then bisects"),
        pytest.param({}, 0, 2, None, [2, 1], id="nothing fits"),
        pytest.param({8: 99, 16: 100, 32: 101}, 40, 8, 8, [8, 16, 32], id="fourfold gains 2 %: the sweep is done"),
        pytest.param({8: 98, 16: 100, 32: 101}, 31, 8, 8, [8, 16, 32, 24, 28, 30, 31, 15, 7], id="within 3 %"),
    ],
)
def test_the_order_of_the_search(
    rates: dict[int, float], largest: int, start: int, chosen: int | None, tried: list[int]
) -> None:
    """Rates that are not given grow with the size, so that the largest is the best."""
    flat = max(rates.values(), default=0.0)
    found, asked = searched(
        largest,
        lambda size: rates.get(size, (flat if size > 8 else 0.5 * flat) or growing(size)),
        start=start,
        allowed=list(range(1, 65)),
    )
    assert (found.chosen, asked) == (chosen, tried)


def test_a_size_that_is_refused_is_never_chosen() -> None:
    """Fast, but its allocator had to try again."""
    probes = {
        4: Probe(micro_batch=4, samples_per_s=10.0),
        8: Probe(micro_batch=8, samples_per_s=30.0, refused="the allocator had to try again 2 times"),
        1: Probe(micro_batch=1, samples_per_s=3.0),
        2: Probe(micro_batch=2, samples_per_s=6.0),
    }
    found = search_micro_batch(probes.__getitem__, start=4, allowed=[1, 2, 4, 8])
    assert found.chosen == 4


@pytest.mark.parametrize("allowed", [[], [0, 1]], ids=["none", "zero"])
def test_no_sizes_are_our_mistake(allowed: list[int]) -> None:
    with pytest.raises(ValueError, match="allowed must hold"):
        search_micro_batch(lambda size: Probe(micro_batch=size, samples_per_s=1.0), start=1, allowed=allowed)
