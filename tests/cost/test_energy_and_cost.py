"""Time, energy and money are products; each law is checked by hand."""

from __future__ import annotations

import pytest

from planner.cost.cloud.cloud_cost import rent_usd
from planner.cost.power.energy import average_power_kw, energy_usd, node_energy_kwh
from planner.duration.goodput import train_hours
from planner.quantity.interval import Interval


def test_an_epoch_of_the_dgx_station() -> None:
    """19,252 batches of 128 at 1.06 s are 20,407 s."""
    hours = train_hours(samples=19_252 * 128, samples_per_s=Interval.exact(128 / 1.06), goodput_fraction=1.0)
    assert hours.value * 3600 == pytest.approx(20_407.12)


def test_half_the_goodput_takes_twice_as_long() -> None:
    fast = train_hours(samples=1e6, samples_per_s=Interval(10, 8, 12), goodput_fraction=1.0)
    slow = train_hours(samples=1e6, samples_per_s=Interval(10, 8, 12), goodput_fraction=0.5)
    assert slow == pytest.approx(fast.scaled(2))


def test_slow_is_the_high_end_of_time() -> None:
    hours = train_hours(samples=3600, samples_per_s=Interval(2, 1, 4), goodput_fraction=1.0)
    assert hours == (0.5, 0.25, 1.0)


def test_energy_of_the_document() -> None:
    """3 kW over 56.69 h are 170.1 kWh; at PUE 1.4 and 0.12 USD/kWh they cost 28.57 USD."""
    energy = node_energy_kwh(hours=Interval.exact(56.6864), nodes=1, power_kw=Interval.exact(3.0))
    usd = energy_usd(energy_kwh=energy, pue=Interval.exact(1.4), usd_per_kwh=Interval.exact(0.12))
    assert energy.value == pytest.approx(170.06, abs=0.01)
    assert usd.value == pytest.approx(28.57, abs=0.01)


def test_renting_two_nodes_for_ten_hours_at_24_dollars() -> None:
    assert rent_usd(hours=Interval.exact(10), nodes=2, usd_per_node_hour=Interval.exact(24)).value == 480


@pytest.mark.parametrize(
    ("busy", "expected_kw"),
    [
        pytest.param(1.0, 7.6, id="all at work"),
        pytest.param(0.5, 5.05, id="half of them: 10 x (0.76 x 0.5 + 0.25 x 0.5)"),
    ],
)
def test_idle_accelerators_draw_less(busy: float, expected_kw: float) -> None:
    power = average_power_kw(
        rated_kw=10, busy_fraction=busy, training=Interval(0.76, 0.6, 0.82), idle=Interval(0.25, 0.2, 0.35)
    )
    assert power.value == pytest.approx(expected_kw)
    assert power.low < power.value < power.high
