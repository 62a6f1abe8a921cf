"""A rule of one row as one test of all rows, which lists every row that breaks it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

Row = TypeVar("Row")


def every(rows: Iterable[tuple[str, Row]]) -> Callable[[Callable[[Row], None]], Callable[[], None]]:
    """Make a test of a rule; the rule asserts about one of the rows, which are given with their names."""
    named = list(rows)
    assert named

    def decorate(rule: Callable[[Row], None]) -> Callable[[], None]:
        def test() -> None:
            broken = []
            for name, row in named:
                try:
                    rule(row)
                except AssertionError as error:
                    broken.append(f"{name}: {str(error).splitlines()[0]}")
            assert not broken, f"{len(broken)} of {len(named)} rows break the rule:\n" + "\n".join(broken)

        test.__name__, test.__doc__, test.__module__ = rule.__name__, rule.__doc__, rule.__module__
        return test

    return decorate
