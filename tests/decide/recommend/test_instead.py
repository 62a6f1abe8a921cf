"""The next best option if the first is sold out, and the request for a quote of machines of unknown supply."""

from __future__ import annotations

from datetime import date

import pytest

from planner.decide.recommend.instead import quote_request
from planner.model.plan.campaign_limits import CampaignLimits
from planner.model.prices.offer import PriceKind
from tests.decide.recommend.by_hand import TODAY, compared, option

FIRM = {"price_kind": PriceKind.ON_DEMAND, "firm": True}
LEASED = {"site": "leased", "offer": None, "hold": "rent"}
OURS = {"site": "ours", "offer": None, "hold": "have"}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param([option("a", 10, 10), option("b", 10, 20), option("c", 10, 30)], "b", id="the next in order"),
        pytest.param(
            [option("a", 10, 10), option("a2", 5, 20, offer="a"), option("c", 10, 30)], "c", id="another machine"
        ),
        pytest.param(
            [option("slow", 100, 9), option("a", 10, 10), option("c", 11, 14)], "c", id="none that is ten times slower"
        ),
        pytest.param(
            [
                option("a", 10, 10, offer="x/a", accelerators=1),
                option("b", 10, 11, offer="x/b", accelerators=1),
                option("c", 10, 30, offer="x/c", accelerators=8),
            ],
            "c",
            id="no second name of the same cards",
        ),
        pytest.param(
            [option("a", 10, 50), option("block", 10, 100, paid_ahead_hours=24.0), option("hours", 10, 70, spread=1.9)],
            "hours",
            id="firm hours that likely cost a quarter less than a block, at the confidence under twice as much",
        ),
        pytest.param(
            [
                option("spot", 10, 10, offer="x/a", price_kind=PriceKind.SPOT),
                option("hours", 10, 20, offer="x/a", **FIRM),
                option("b", 10, 30),
            ],
            "hours",
            id="the same machine at a firm price",
        ),
        pytest.param([option("a", 10, 10), option("ours", 10, 20, **OURS)], "ours", id="what stands there"),
        pytest.param([option("a", 10, 10), option("b", 10, 20, hold="buy")], None, id="no purchase for an hour's wait"),
        pytest.param([option("ours", 10, 10, **OURS), option("b", 10, 20)], None, id="what one has is not sold out"),
        pytest.param([option("a", 10, 10)], None, id="nothing else"),
        pytest.param([option("leased", 10, 10, **LEASED), option("b", 10, 20)], "b", id="no lease for itself"),
        pytest.param([option("leased", 10, 10, **LEASED)], None, id="nothing beside a lease"),
    ],
)
def test_the_next_best(options, expected):
    answer = compared(options, CampaignLimits())
    assert answer.next_best == expected
    named = [note for note in answer.notes if note.startswith("if ")]
    assert [note.split(" is sold out: ")[1].split(",")[0] for note in named] == ([expected] if expected else [])


def test_the_request_for_a_quote():
    """16 machines of 8: 100 hours are 5 days, as a day begun is a day."""
    many = option("aws/p5.48xlarge", 100, 9000, nodes=16, accelerators=128, region="us-east-1", ready_on=TODAY, **FIRM)
    many = many.model_copy(update={"hours_confident": 100.0})
    text = quote_request(many, CampaignLimits(), today=TODAY)
    assert text.startswith("Please quote 16 machines of type p5.48xlarge (8x H100-SXM each) in us-east-1")
    assert "from 2026-11-21 to 2026-11-26 (5 days)" in text
    later = quote_request(many, CampaignLimits(start=date(2027, 1, 1)), today=TODAY)
    assert "from 2027-01-01 to 2027-01-06 (5 days)" in later
    [listed] = compared([many], CampaignLimits()).options
    assert listed.quote_request == text


@pytest.mark.parametrize("hours", [3e8, 1e30])
def test_a_request_ends_with_the_calendar(hours):
    endless = option("aws/p5.48xlarge", hours, 9000, nodes=16, ready_on=TODAY, **FIRM)
    endless = endless.model_copy(update={"hours_confident": hours})
    assert "to 9999-12-31 (" in quote_request(endless, CampaignLimits(), today=TODAY)


@pytest.mark.parametrize("nodes", [1, 8])
def test_available_machines_need_no_request(nodes):
    assert quote_request(option("a", 10, 10, nodes=nodes, **FIRM), CampaignLimits(), today=TODAY) is None
