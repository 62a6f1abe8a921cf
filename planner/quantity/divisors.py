"""The divisors of a whole number."""

from __future__ import annotations

from math import isqrt


def divisors(number: int, *, most: int | None = None) -> list[int]:
    """Return the divisors of a number of 1 or more that are at most `most`, the smallest first.

    Tries the numbers up to its square root, and none above `most`: each divisor above the root has one below.
    """
    low = [n for n in range(1, min(isqrt(number), number if most is None else most) + 1) if number % n == 0]
    high = [number // n for n in reversed(low) if n * n < number]
    return low + [n for n in high if most is None or n <= most]
