"""Draining of a batch: its tokens add up, and the longest answer ends it."""

import math
import random
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.speed.generation.engine import DECODING, TRAINERS_OWN, EngineCopy
from planner.speed.generation.rollouts import CompletionLengths, Rollouts, batch_schedule, generation_time
from tests.speed.generation.test_decoding import DENSE, DEVICE

LENGTHS = CompletionLengths(900.0, 4096.0)


def drawn(lengths: CompletionLengths, count: int) -> list[float]:
    """Draw lengths by the inverse of their distribution, as an independent check of its mean."""
    chance = random.Random(7)
    return [lengths.quantile(chance.random()) for _ in range(count)]


@pytest.mark.parametrize("mean", [100.0, 900.0, 2500.0, 4000.0, 4090.0])
def test_the_stated_mean_is_kept(mean: float) -> None:
    """The mean of 20,000 drawn completions, stopped at the limit, is the stated one within 2 %."""
    lengths = CompletionLengths(mean, 4096.0)
    sample = drawn(lengths, 20_000)
    assert fmean(sample) == pytest.approx(mean, rel=0.02)
    assert max(sample) <= 4096


def test_without_a_near_limit_lengths_are_log_normal() -> None:
    """The median of a log-normal with mean 900 and spread 0.6 is 900 exp(-0.18)."""
    assert CompletionLengths(900.0, 1e7).quantile(0.5) == pytest.approx(900 * math.exp(-0.18), rel=1e-6)


@given(
    sequences=st.integers(1, 3000), at_once=st.integers(1, 1500), mean=st.floats(5, 4000),
    refills=st.booleans(),
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_a_schedule_writes_every_token(sequences: int, at_once: int, mean: float, refills: bool) -> None:
    """Steps x batch add up to all tokens if the batch is refilled, and to more if ended sequences stay in it."""
    lengths = CompletionLengths(mean, 4096.0)
    schedule = batch_schedule(lengths, sequences=sequences, at_once=at_once, refills=refills)
    written = sum(stretch.steps * stretch.batch for stretch in schedule)
    assert max(stretch.batch for stretch in schedule) <= at_once * 1.001 + 2
    assert all(0 <= stretch.written <= 4096 for stretch in schedule)
    if refills:
        assert written == pytest.approx(sequences * mean, rel=0.03)
    else:
        assert written >= sequences * mean * 0.97


def test_a_batch_lasts_as_long_as_its_longest() -> None:
    """All 512 at once: the steps are those of the longest answer, and the last of them have one sequence."""
    schedule = batch_schedule(LENGTHS, sequences=512, at_once=512)
    assert sum(stretch.steps for stretch in schedule) == pytest.approx(LENGTHS.of_batch(512)[-1])
    assert schedule[0].batch > 490
    assert schedule[-1].batch < 2


def test_refilling_by_hand() -> None:
    """Three answers of 10 tokens, two at a time: 10 steps with two, then 10 with one."""
    schedule = batch_schedule(CompletionLengths(10.0, 10.0), sequences=3, at_once=2)
    assert list(schedule) == [(10.0, 2.0, 5.0), (10.0, 1.0, 5.0)]


def test_static_batches_by_hand() -> None:
    """Four answers, two at a time, one after the other: each batch lasts as long as its longer answer."""
    lengths = CompletionLengths(100.0, 1000.0)
    first, second, third, fourth = lengths.of_batch(4)
    schedule = batch_schedule(lengths, sequences=4, at_once=2, refills=False)
    assert sum(stretch.steps for stretch in schedule) == pytest.approx(third + fourth)
    assert first < second < third < fourth


def work(prompts: int = 64, group: int = 8, mean: float = 900.0) -> Rollouts:
    """Return the completions of one step."""
    return Rollouts(prompts=prompts, group=group, prompt_tokens=300.0, lengths=CompletionLengths(mean, 4096.0))


def seconds(rollouts: Rollouts, *, copies: int = 1, free: float = 40e9, trainers_own: bool = False) -> float:
    """Return the seconds of generation on `copies` of a small network."""
    constants = TRAINERS_OWN if trainers_own else DECODING
    time = generation_time(rollouts, EngineCopy(DENSE, DEVICE), constants, copies=copies, free_bytes=free)
    assert time is not None
    return time.seconds


def test_more_copies_help_until_the_longest_answer_decides() -> None:
    """Eight copies are faster than one, and a thousand hardly more than eight: the tail stays."""
    alone, eight, many = (seconds(work(), copies=copies) for copies in (1, 8, 512))
    assert eight < alone < 8 * eight
    assert many > 0.5 * eight


def test_a_small_cache_slows_generation() -> None:
    """If few sequences fit, the engine reads weights more often for the same tokens."""
    assert seconds(work(), free=0.3e9) > 1.4 * seconds(work())


def test_no_room_for_one_sequence_is_no_answer() -> None:
    """A cache that holds no sequence generates nothing."""
    assert generation_time(work(), EngineCopy(DENSE, DEVICE), DECODING, copies=1, free_bytes=1e6) is None


def test_the_trainers_own_generation_is_many_times_slower() -> None:
    """Launches from Python and static batches: at least five times the time of an engine."""
    assert seconds(work(), trainers_own=True) > 5 * seconds(work())


@given(prompts=st.integers(1, 400), mean=st.floats(10, 2000), more=st.floats(1.05, 2.0))
@settings(max_examples=25, deadline=None)
def test_longer_completions_take_longer(prompts: int, mean: float, more: float) -> None:
    """Longer completions of the same number of prompts take longer."""
    assert seconds(work(prompts=prompts, mean=mean)) < seconds(work(prompts=prompts, mean=mean * more))
