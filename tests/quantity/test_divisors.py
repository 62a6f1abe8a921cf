"""Divisors against trying every number, and of numbers too large to try them all."""

from __future__ import annotations

import pytest

from planner.speed.throughput.strategy_space import divisors


@pytest.mark.parametrize("most", [None, 1, 7, 12, 1000])
def test_divisors_are_those_that_trying_every_number_finds(most):
    for number in range(1, 400):
        tried = [n for n in range(1, min(number, most or number) + 1) if number % n == 0]

        assert divisors(number, most=most) == tried


def test_a_number_too_large_to_try_has_its_divisors_too():
    assert divisors(10**12)[-3:] == [25 * 10**10, 5 * 10**11, 10**12]
    assert divisors(10**30, most=16) == [1, 2, 4, 5, 8, 10, 16]
