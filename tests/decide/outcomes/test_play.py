from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from planner.decide.outcomes.draws import SAMPLES, at_scores, in_strata, scores
from planner.decide.outcomes.play import Batch, PlayedLane, PlayedOption, play, side_by_side
from planner.duration.goodput import Interruptions, losses
from planner.model.answer.campaign import CostByHours, LastingCredit
from planner.model.plan.option_times import Queue, Tries
from planner.quantity.interval import Interval

OWN = PlayedOption(option="own", lanes=side_by_side(5, 2, steps_hours=10.0), launch_hours=0.5, usd=100.0)


def alone(runs: int = 5, lanes: int = 1, *, steps_hours: float = 10.0, **update: Any) -> PlayedOption:
    return replace(OWN, lanes=side_by_side(runs, lanes, steps_hours=steps_hours), launch_hours=0.0, **update)


def test_a_range_is_drawn_with_its_middle_and_its_ends():
    drawn = at_scores(Interval(10.0, 8.0, 20.0), scores("a"))
    assert np.quantile(drawn, [0.05, 0.5, 0.95]) == pytest.approx([8.0, 10.0, 20.0], rel=1e-3)
    assert (at_scores(Interval.exact(3.0), scores("a")) == 3.0).all()


def test_causes_of_two_names_are_independent_and_each_is_normal():
    first, other = scores("a", "speed"), scores("b", "speed")
    assert abs(np.corrcoef(first, other)[0, 1]) < 3 / math.sqrt(SAMPLES)
    assert np.sort(first) == pytest.approx(np.sort(other))
    assert np.mean(first <= 0.8416) == pytest.approx(0.8, abs=1 / SAMPLES)
    assert np.std(first) == pytest.approx(1.0, abs=2e-3)


def test_strata_keep_the_distribution():
    """An exponential wait of 2 h: half of all waits are under 2 ln 2 h."""
    waits = in_strata(np.random.default_rng(1).exponential(2.0, 16 * SAMPLES), "queue")
    assert len(waits) == SAMPLES
    assert np.mean(waits <= 2 * math.log(2)) == pytest.approx(0.5, abs=0.01)
    assert np.mean(waits) == pytest.approx(2.0, rel=0.01)


@pytest.mark.parametrize(("lanes", "hours"), [(1, 52.5), (2, 31.5), (5, 10.5), (9, 10.5)])
def test_without_uncertainty_runs_follow_each_other(lanes, hours):
    """5 runs of 10.5 hours: 5, 3 and 1 after another."""
    played = play([replace(OWN, lanes=side_by_side(5, lanes, steps_hours=10.0))])
    assert played.hours == pytest.approx(hours)
    assert played.usd == pytest.approx(100.0)


def test_a_mix_ends_with_its_last_run_and_costs_the_sum():
    late = replace(OWN, option="spot", lanes=side_by_side(1, 1, steps_hours=10.0, opens=40.0), usd=7.0)
    played = play([OWN, late])
    assert played.hours == pytest.approx(50.5)
    assert played.usd == pytest.approx(107.0)


def test_the_error_of_a_speed_is_common_to_all_runs_of_an_option():
    """50 runs of a machine that may be twice as slow spread like one; what each run adds of its own averages out."""
    shared = alone(50, speed_error=Interval.within_factor(1.0, 2.0))
    own = alone(50, convergence=0.5)
    wide, narrow = play([shared]), play([own])
    low, high = wide.hours_at(0.05), wide.hours_at(0.95)
    assert (low, high) == pytest.approx((250.0, 1000.0), rel=0.05)
    assert np.std(narrow.hours) == pytest.approx(500 * 0.5 / 1.645 / math.sqrt(50), rel=0.05)


def test_two_placements_of_an_option_err_together():
    half = replace(OWN, lanes=side_by_side(1, 1, steps_hours=10.0), speed_error=Interval.within_factor(1.0, 2.0))
    together = play([half, half])
    apart = play([half, replace(half, option="other")])
    assert np.std(together.usd) == pytest.approx(math.sqrt(2) * np.std(apart.usd), rel=0.05)


def test_cost_follows_the_hours_that_interruptions_add():
    lost = Interruptions(interval_hours=1.0, preemptions_per_hour=0.4, restart_hours=0.2)
    spot = PlayedOption(option="spot", lanes=side_by_side(4, 4, steps_hours=20.0), lost=lost, usd=80.0)
    played = play([spot])
    assert np.mean(played.usd) == pytest.approx(80.0, rel=0.005)
    assert np.mean(played.hours) > 20.0 * losses(lost).total, "the last of four runs is later than the mean"


def test_a_fixed_cost_does_not_grow():
    bought = replace(OWN, hourly_share=0.0, speed_error=Interval.within_factor(1.0, 3.0))
    assert play([bought]).usd == pytest.approx(100.0)


def test_an_option_has_the_same_samples_whatever_else_is_simulated():
    doubtful = replace(OWN, speed_error=Interval.within_factor(1.0, 2.0), wait=Interval(5.0, 2.0, 20.0))
    once, again = play([doubtful]), play([doubtful])
    assert (once.hours == again.hours).all()
    beside = play([doubtful, replace(doubtful, option="cheap", usd=0.0)])
    assert beside.usd == pytest.approx(once.usd)
    other = play([replace(doubtful, option="other")])
    assert (once.hours != other.hours).any()


def test_chances_are_shares_of_the_samples():
    played = play([alone(speed_error=Interval.within_factor(1.0, 2.0))])
    assert played.chance_by(50.0) == pytest.approx(0.5, abs=0.02)
    assert played.chance_by(100.0) == pytest.approx(0.95, abs=0.01)
    assert played.chance_within(np.full(SAMPLES, 100.0)) == pytest.approx(0.5, abs=0.02)
    assert played.chance_of_both(hours=100.0, budget=np.full(SAMPLES, 100.0)) == pytest.approx(0.5, abs=0.02)


def test_a_median_of_nothing_is_nothing_half_of_the_time():
    drawn = at_scores(Interval(0.0, 0.0, 10.0), scores("a"))
    assert np.mean(drawn == 0) == pytest.approx(0.5, abs=0.01)
    assert np.quantile(drawn, 0.95) == pytest.approx(10.0, rel=0.02)


def test_a_phase_begins_when_the_phase_before_has_ended_everywhere():
    """Lane one: 10 h, then 5 h; lane two opens at 4 and runs 20 h, so that the second phase begins at 24."""
    lanes = (PlayedLane((Batch(1, 10.0), Batch(1, 5.0, phase=1))), PlayedLane((Batch(2, 10.0),), opens=4.0))
    played = play([PlayedOption(option="own", lanes=lanes)])
    assert played.hours == pytest.approx(29.0)


def test_a_run_that_overruns_its_window_is_not_in_time():
    """90 % within a factor of 2: half of the runs of 10 h end within 10 h."""
    lane = PlayedLane((Batch(1, 10.0),), closes=10.0)
    played = play([PlayedOption(option="block", lanes=(lane,), speed_error=Interval.within_factor(1.0, 2.0))])
    assert np.mean(played.in_windows) == pytest.approx(0.5, abs=0.02)
    assert played.chance_by(1e6) == pytest.approx(0.5, abs=0.02)
    assert played.chance_of_both(hours=1e6, budget=np.full(SAMPLES, 1.0)) == pytest.approx(0.5, abs=0.02)
    assert max(played.hours) > 15


def test_a_block_that_does_not_hold_the_work_keeps_no_budget():
    """100 USD for any hours, but half of the runs of 10 h do not end in 10 h, and have to be paid for again."""
    lane = PlayedLane((Batch(1, 10.0),), most_hours=10.0)
    block = PlayedOption(
        option="block", lanes=(lane,), speed_error=Interval.within_factor(1.0, 2.0), usd=100.0, hourly_share=0.0,
    )  # fmt: skip
    assert play([block]).chance_within(np.full(SAMPLES, 150.0)) == pytest.approx(0.5, abs=0.02)


def test_a_run_that_ends_with_its_window_is_in_time():
    lane = PlayedLane((Batch(3, 10.0),), opens=1.0, closes=31.0)
    assert play([PlayedOption(option="block", lanes=(lane,))]).chance_by(31.0) == 1.0


@pytest.mark.parametrize(
    ("wait", "mean"),
    [
        pytest.param(Queue(busy=0.5, job_hours=4.0), 0.5 * 4 / (2 * 0.5), id="M/D/1"),
        pytest.param(Tries(had=1, of=4, every_hours=24.0), 72.0, id="had every fourth day"),
    ],
)
def test_a_queue_delays_the_first_run_of_every_lane_alike(wait, mean):
    """Asked for 5 h after the campaign's first. One machine is shared, and machines that appear are all there."""
    queued = replace(OWN, ordered_at=5.0, wait=wait)
    played = play([queued])
    waits = played.hours - 31.5
    assert abs(np.mean(waits) - 5.0 - mean) <= 3 * np.std(waits, ddof=1) / math.sqrt(len(waits))
    assert min(waits) >= 5.0


def test_each_set_of_machines_waits_in_a_queue_for_its_own():
    """Two of three jobs of 4 h on two machines end after 2 x 4 / 2 h in the mean, and the third 4 h later."""
    lanes = (PlayedLane((Batch(1, 10.0),)), PlayedLane((Batch(1, 10.0),)))
    queued = PlayedOption(option="queued", lanes=lanes, wait=Queue(jobs=3, job_hours=4.0, machines=2))
    waits = play([queued]).hours - 10.0
    assert abs(np.mean(waits) - 8.0) <= 3 * np.std(waits, ddof=1) / math.sqrt(len(waits))


def test_the_wait_for_an_early_order_starts_with_the_order():
    ordered = replace(OWN, ordered_at=-24.0, wait=Interval.exact(30.0))
    assert play([ordered]).hours == pytest.approx(37.5)
    early = replace(OWN, ordered_at=-48.0, wait=Interval.exact(30.0))
    assert play([early]).hours == pytest.approx(31.5)


def lasting(usd: float, hours: float = 1e9) -> LastingCredit:
    return LastingCredit(hours=hours, usd=usd)


def test_credits_pay_the_bills_of_their_provider_alone():
    """100 of aws and 100 of lambda, 130 of credits of aws: lambda's remains."""
    streams = [replace(OWN, option=name, payer=name) for name in ("aws", "lambda")]
    assert play(streams, credits={"aws": [lasting(130.0)]}).usd == pytest.approx(100.0)
    assert play(streams, credits={"lambda": [lasting(30.0)]}).usd == pytest.approx(170.0)


def test_many_runs_are_drawn_at_once():
    """A million runs of 10 h, each off by 16.45 % (90 %) by itself: 10 million hours within 0.01 %."""
    played = play([alone(10**6, convergence=0.1645)])
    assert np.mean(played.hours) == pytest.approx(1e7, rel=1e-4)
    assert np.std(played.hours) == pytest.approx(10 * 0.1 * 1000, rel=0.1)


def test_a_credit_pays_where_the_last_run_ends_before_it_expires():
    """31.5 hours by hand (`OWN`: three runs of 10.5 h on the longer lane): paid until hour 32, not until hour 31."""
    streams = [replace(OWN, payer="aws")]
    assert play(streams, credits={"aws": [lasting(60.0, 32.0)]}).usd == pytest.approx(40.0)
    assert play(streams, credits={"aws": [lasting(60.0, 31.0)]}).usd == pytest.approx(100.0)


def test_a_term_costs_its_least_until_the_work_outlasts_it():
    """The term of 62.5 h holds 1.25 times the likely 50 h; of 100 h it costs 100 / 62.5 = 1.6 times its least."""
    rent = CostByHours(hours=(0.0, 62.5, 625.0), usd=(100.0, 100.0, 1000.0), least_factor=1.0, most_factor=1.0)
    term = alone(usd=100.0, rent=rent)
    term = replace(term, lanes=tuple(replace(lane, billed_hours=50.0) for lane in term.lanes))
    assert play([term]).usd == pytest.approx(100.0)
    slow = play([replace(term, speed_error=Interval.exact(2.0))])
    assert slow.usd == pytest.approx(160.0)
