from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from planner.decide.simulation.campaigns import Stream, play
from planner.decide.simulation.draws import by_chance, from_range
from planner.duration.goodput import Interruptions, losses
from planner.quantity.interval import Interval

OWN = Stream(option="own", runs=5, lanes=2, steps_hours=10.0, launch_hours=0.5, usd=100.0)


def test_a_range_is_drawn_with_its_middle_and_its_ends():
    drawn = from_range(np.random.default_rng(1), Interval(10.0, 8.0, 20.0), (200_000,))
    assert np.quantile(drawn, [0.05, 0.5, 0.95]) == pytest.approx([8.0, 10.0, 20.0], rel=0.01)
    assert (from_range(np.random.default_rng(1), Interval.exact(3.0), (4,)) == 3.0).all()


def test_convergence_spreads_by_run():
    drawn = by_chance(np.random.default_rng(1), 0.1645, (200_000,))
    assert np.std(drawn) == pytest.approx(0.1, rel=0.01)
    assert np.mean(drawn) == pytest.approx(1.0, abs=0.001)


@pytest.mark.parametrize(("lanes", "hours"), [(1, 52.5), (2, 31.5), (5, 10.5), (9, 10.5)])
def test_without_doubt_runs_follow_each_other(lanes, hours):
    """5 runs of 10.5 hours: 5, 3 and 1 after another."""
    played = play([replace(OWN, lanes=lanes)], replications=3)
    assert played.finish_hours == pytest.approx([hours] * 3)
    assert played.usd == pytest.approx([100.0] * 3)


def test_a_mix_ends_with_its_last_run_and_costs_the_sum():
    late = replace(OWN, option="spot", runs=1, start_hours=40.0, usd=7.0)
    played = play([OWN, late], replications=3)
    assert played.finish_hours == pytest.approx([50.5] * 3)
    assert played.usd == pytest.approx([107.0] * 3)


def test_the_error_of_a_speed_is_common_to_all_runs_of_an_option():
    """50 runs of a machine that may be twice as slow spread like one; what each run adds of its own averages out."""
    shared = replace(OWN, runs=50, lanes=1, launch_hours=0.0, speed_error=Interval.within_factor(1.0, 2.0))
    alone = replace(shared, speed_error=Interval.exact(1.0), convergence=0.5)
    wide, narrow = play([shared], replications=4000), play([alone], replications=4000)
    low, _, high = wide.hours_at((0.05, 0.5, 0.95))
    assert (low, high) == pytest.approx((250.0, 1000.0), rel=0.05)
    assert np.std(narrow.finish_hours) == pytest.approx(500 * 0.5 / 1.645 / math.sqrt(50), rel=0.05)


def test_two_placements_of_an_option_err_together():
    half = replace(OWN, runs=1, speed_error=Interval.within_factor(1.0, 2.0))
    together = play([half, half], replications=4000)
    apart = play([half, replace(half, option="other")], replications=4000)
    assert np.std(together.usd) == pytest.approx(math.sqrt(2) * np.std(apart.usd), rel=0.05)


def test_cost_follows_the_hours_that_interruptions_add():
    lost = Interruptions(interval_hours=1.0, preemptions_per_hour=0.4, restart_hours=0.2)
    spot = Stream(option="spot", runs=4, lanes=4, steps_hours=20.0, lost=lost, usd=80.0)
    played = play([spot], replications=20_000)
    assert np.mean(played.usd) == pytest.approx(80.0, rel=0.005)
    assert np.mean(played.finish_hours) > 20.0 * losses(lost).total, "the last of four runs is later than the mean"


def test_what_is_paid_once_does_not_grow():
    bought = replace(OWN, hourly_share=0.0, speed_error=Interval.within_factor(1.0, 3.0))
    assert play([bought], replications=50).usd == pytest.approx([100.0] * 50)


def test_a_seed_plays_the_same_again_whatever_stands_beside():
    doubtful = replace(OWN, speed_error=Interval.within_factor(1.0, 2.0), wait=Interval(5.0, 2.0, 20.0))
    once, again = play([doubtful], replications=100), play([doubtful], replications=100)
    assert (once.finish_hours == again.finish_hours).all()
    beside = play([doubtful, replace(doubtful, option="cheap", usd=0.0)], replications=100)
    assert beside.usd == pytest.approx(once.usd)
    other = play([doubtful], replications=100, seed=1)
    assert (once.finish_hours != other.finish_hours).any()


def test_chances_are_shares_of_the_replications():
    played = play([replace(OWN, lanes=1, launch_hours=0.0, speed_error=Interval.within_factor(1.0, 2.0))])
    assert played.chance_by(50.0) == pytest.approx(0.5, abs=0.02)
    assert played.chance_by(100.0) == pytest.approx(0.95, abs=0.01)
    assert played.chance_within(100.0) == pytest.approx(0.5, abs=0.02)
    assert played.chance_of_both(hours=100.0, usd=100.0) == pytest.approx(0.5, abs=0.02)
