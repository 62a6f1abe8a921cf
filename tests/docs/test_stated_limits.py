"""The pages state the limits that the code has."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.decide.limits import MOST_SPOT_DAYS, MOST_SPOT_MACHINES, MOST_SPOT_PRICE_DAYS, MOST_UNKNOWN_MACHINES

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(
    ("page", "stated"),
    [
        ("recommendation.md", f"on over {MOST_SPOT_MACHINES} nodes, or for over {MOST_SPOT_DAYS} days"),
        ("recommendation.md", f"of spot or a marketplace not seen for {MOST_SPOT_PRICE_DAYS} days"),
        ("recommendation.md", f"over {MOST_UNKNOWN_MACHINES} rented nodes not known to be available"),
    ],
)
def test_a_page_states_the_limit_of_the_code(page: str, stated: str) -> None:
    assert stated in " ".join((DOCS / page).read_text(encoding="utf-8").split())
