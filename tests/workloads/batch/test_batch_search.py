"""The search for a micro-batch: laws over any device, and the cases of the recorded H100 rates."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.model.evidence.run import Probe
from planner.workloads.batch.prober import BatchSearch, allowed_sizes, search_micro_batch

POWERS = [2**power for power in range(13)]
ANY = list(range(1, 65))
H100 = {1: 12.0, 2: 15.8, 4: 18.6, 8: 19.7, 16: 19.9, 32: 20.0}
"""Samples/s of qwen3-0.6b on an H100 at 4,096 tokens; 16 and more do not fit there and stand for a larger card."""
FLAT = {1: 60.0, 2: 98.0, 4: 99.0, 8: 100.0, 16: 101.0}


def searched(
    largest: int,
    rate: Callable[[int], float],
    *,
    start: int,
    allowed: Sequence[int],
    most: int | None = None,
    used: Mapping[int, float] | None = None,
) -> tuple[BatchSearch[Probe], list[int]]:
    """Search on a device that holds up to `largest`; return what was found and which sizes were asked for."""
    asked: list[int] = []

    def probe(size: int) -> Probe:
        asked.append(size)
        if size > largest:
            return Probe(micro_batch=size, samples_per_s=None, refused="out of memory")
        return Probe(micro_batch=size, samples_per_s=rate(size), device_memory_fraction=(used or {}).get(size))

    return search_micro_batch(probe, start=start, allowed=allowed, most=most), asked


@given(
    largest=st.integers(0, 5000),
    start=st.integers(1, 5000),
    most=st.none() | st.integers(1, 5000),
    full_at=st.integers(1, 512),
    allowed=st.sampled_from([POWERS, list(range(1, 4097)), [n for n in range(1, 361) if 360 % n == 0], [7], [3, 4]]),
)
def test_what_is_chosen_fits_and_is_the_smallest_within_3_percent_of_everything_tried(
    largest: int, start: int, most: int | None, full_at: int, allowed: list[int]
) -> None:
    found, asked = searched(
        largest, lambda size: min(size, full_at) + 1e-3 * size, start=start, allowed=allowed, most=most
    )
    rates = {probe.micro_batch: probe.samples_per_s for probe in found.probes if probe.samples_per_s is not None}
    assert (found.chosen is None) == (min(allowed) > largest)
    if found.chosen is not None:
        assert found.chosen == min(size for size, rate in rates.items() if rate >= 0.97 * max(rates.values()))
    assert len(asked) == len(set(asked)), "a probe was run twice"
    assert len(asked) <= math.log2(max(allowed) + 1) + 4
    assert set(asked) <= set(allowed)
    assert [probe.micro_batch for probe in found.probes] == asked


@pytest.mark.parametrize(
    ("largest", "start", "most", "chosen", "tried"),
    [
        pytest.param(8, 8, 8, 8, [8, 4], id="the estimate is right, and rules 16 out"),
        pytest.param(8, 8, 16, 8, [8, 16, 4], id="the estimate does not rule 16 out, and it does not fit"),
        pytest.param(8, 16, 16, 8, [16, 8, 4], id="out of memory at the start"),
        pytest.param(8, 4, 8, 8, [4, 8], id="the estimate is one size too low"),
        pytest.param(4, 4, 8, 4, [4, 8, 2], id="the larger one does not fit"),
        pytest.param(32, 8, 32, 4 * 2, [8, 16, 4], id="16 gains 1 %: no 32, and 8 is within 3 % of it"),
        pytest.param(0, 2, 2, None, [2, 1], id="nothing fits"),
        pytest.param(8, 1, 1, 1, [1], id="the estimate rules all other sizes out"),
    ],
)
def test_the_recorded_rates_take_at_most_three_probes(
    largest: int, start: int, most: int, chosen: int | None, tried: list[int]
) -> None:
    found, asked = searched(largest, H100.__getitem__, start=start, allowed=POWERS[:6], most=most)
    assert (found.chosen, asked) == (chosen, tried)


def test_a_size_that_is_ruled_out_is_tried_where_under_half_of_the_memory_was_used() -> None:
    """An estimate far too high: 1 uses 20 % of the device, 2 uses 30 %, 4 just half."""
    used = {1: 0.2, 2: 0.3, 4: 0.5}
    found, asked = searched(8, H100.__getitem__, start=1, allowed=POWERS[:6], most=1, used=used)
    assert (found.chosen, asked) == (4, [1, 2, 4])


@pytest.mark.parametrize(
    ("largest", "start", "chosen", "tried"),
    [
        pytest.param(16, 8, 4, [8, 16, 4], id="16, its half and its quarter"),
        pytest.param(8, 8, 2, [8, 16, 4, 2], id="8, its half and its quarter, after one that does not fit"),
    ],
)
def test_the_quarter_is_tried_where_half_is_as_good(largest: int, start: int, chosen: int, tried: list[int]) -> None:
    found, asked = searched(largest, FLAT.__getitem__, start=start, allowed=POWERS[:5])
    assert (found.chosen, asked) == (chosen, tried)


@pytest.mark.parametrize(
    ("share", "largest", "start", "most", "chosen", "tried"),
    [
        pytest.param(12, 8, 8, 8, 6, [6, 3], id="12: 6 is the largest divisor up to 8"),
        pytest.param(24, 64, 3, None, 24, [3, 6, 12, 24], id="24: no estimate, each double is faster"),
        pytest.param(7, 64, 4, 4, 1, [1], id="7: only 1 and 7 divide it, and 7 is ruled out"),
        pytest.param(15, 5, 15, 15, 5, [15, 5, 1], id="15: after 5 comes 1, the largest up to half of it"),
    ],
)
def test_only_divisors_of_the_share_are_tried(
    share: int, largest: int, start: int, most: int | None, chosen: int, tried: list[int]
) -> None:
    found, asked = searched(largest, float, start=start, allowed=allowed_sizes(share), most=most)
    assert (found.chosen, asked) == (chosen, tried)


def test_after_a_size_that_does_not_fit_no_larger_one_is_tried() -> None:
    found, asked = searched(4, float, start=9, allowed=ANY)
    assert (found.chosen, asked) == (4, [9, 4, 8, 2])


def test_a_size_that_is_refused_is_never_chosen() -> None:
    """Fast, but its allocator had to try again."""
    probes = {
        4: Probe(micro_batch=4, samples_per_s=10.0),
        8: Probe(micro_batch=8, samples_per_s=30.0, refused="the allocator had to try again 2 times"),
        2: Probe(micro_batch=2, samples_per_s=6.0),
    }
    found = search_micro_batch(probes.__getitem__, start=4, allowed=[1, 2, 4, 8])
    assert found.chosen == 4


@pytest.mark.parametrize("allowed", [[], [0, 1]], ids=["none", "zero"])
def test_no_sizes_are_our_mistake(allowed: list[int]) -> None:
    with pytest.raises(ValueError, match="allowed must hold"):
        search_micro_batch(lambda size: Probe(micro_batch=size, samples_per_s=1.0), start=1, allowed=allowed)
