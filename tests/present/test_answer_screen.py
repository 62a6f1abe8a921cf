"""The screen of an answer: groups of how machines are held, purchases, marks, own currency, 30 lines."""

from __future__ import annotations

from datetime import date

import pytest

from planner.model.answer.documents import CampaignDocument, ComparisonDocument, RankedOption
from planner.model.answer.reason import ReasonCode
from planner.model.currency import Currency
from planner.model.owning.hold import Hold
from planner.model.quantity import Basis, Unit
from planner.present.answer_screen import campaign_screen, comparison_screen, screen_lines
from tests.present.conftest import option, quantity


def ranked(name: str, hold: Hold, days: float, usd: float, **changes: object) -> RankedOption:
    hours = quantity(days * 24, Unit.HOURS, Basis.MODELLED, "test", low=days * 12, high=days * 48)
    cost = quantity(usd, Unit.USD, Basis.MODELLED, "test", low=usd / 2, high=usd * 2)
    fields: dict[str, object] = {
        "id": name.lower(), "name": name, "display_name": name, "hold": hold, "throughput": hours, "rank": 1,
        "campaign_hours": hours, "campaign_usd": cost, "to_pay_usd": cost, "done_by": date(2027, 1, 31),
        "meets_deadline": True, "within_budget": True, "chance_deadline": 0.97, "chance_budget": 0.88,
    }  # fmt: skip
    return option(**fields | changes)


def document(*options: RankedOption, **changes: object) -> ComparisonDocument:
    fields: dict[str, object] = {
        "plan": "Which machine?", "assumptions": (), "runs": 50, "deadline": date(2027, 6, 30), "deadline_hours": 240.0,
        "budget_usd": 20_000.0, "recommended": options[0].id, "nearest": None, "sentence": "Keep it. Or not.",
        "headline": ("Keep it.", "Or not."), "confidence": 0.8, "options": options,
    }  # fmt: skip
    return ComparisonDocument(**fields | changes)


def lines(answer: ComparisonDocument, *, width: int = 100, whole: bool = False) -> list[str]:
    return screen_lines(comparison_screen(answer, plan="plan.yaml"), width=width, whole=whole)


KEPT = ranked("DGX Station, 4x V100", Hold.HAVE, 118, 543)
RENTED = ranked("Lambda, 1x H100", Hold.RENT, 83, 8540)
SPOT = ranked("AWS p5en spot, 8x H200", Hold.RENT, 9.7, 3580, firm=False, price_stale=True, unpriced=("egress",))
BOUGHT = ranked(
    "Server, 2x H200", Hold.BUY, 36, 189, within_budget=False, chance_budget=0.0,
    pay_now_usd=quantity(114_800, Unit.USD, Basis.QUOTED, "test"), why_not="costs too much",
    why_not_codes=(ReasonCode.OVER_BUDGET,),
)  # fmt: skip


def test_the_screen_of_an_answer():
    """Ranges are half and double: 271.5 to 1,086 are 270 to 1,100. The lesser chance counts."""
    assert lines(document(KEPT, RENTED, SPOT, BOUGHT)) == [
        "Which machine?: 50 trainings by 2027-06-30 for 20,000 USD",
        "",
        "Keep it.",
        "Or not.",
        "",
        "#       machine                 done by     days      USD (90 %)          chance  known from",
        "1 HAVE  DGX Station, 4x V100    2027-01-31   118      543 (270-1,100)       88 %  modelled     <-",
        "2 RENT  Lambda, 1x H100         2027-01-31    83    8,540 (4,300-17,000)    88 %  modelled",
        "3       AWS p5en spot, 8x H200  2027-01-31   9.7    3,580 (1,800-7,200)     88 %  modelled     *s+",
        "  BUY                                             pay now + running",
        "4 no    Server, 2x H200         2027-01-31    36  115,000 + 189              0 %  over budget",
        "s spot: may be taken away.  * price out of date: planner prices refresh.  + not in the bill: egress.",
        "Why: planner explain plan.yaml    Sources: --details",
    ]  # fmt: skip


def test_where_none_is_recommended_the_nearest_is_marked():
    printed = lines(document(BOUGHT, recommended=None, nearest=BOUGHT.id))
    assert printed[-2].endswith("<-")


@pytest.mark.parametrize("width", [100, 60])
def test_what_has_no_cost_says_why_beside_its_name(width):
    small = ranked(
        "PC, 1x RTX 4090", Hold.HAVE, 1, 1, campaign_usd=None, to_pay_usd=None, campaign_hours=None, done_by=None,
        why_not="needs more", why_not_codes=(ReasonCode.MEMORY_TOO_SMALL,), chance_deadline=None, chance_budget=None,
    )  # fmt: skip
    printed = " ".join(" ".join(lines(document(KEPT, small), width=width)).split())
    assert "2 no PC, 1x RTX 4090: does not fit" in printed


def test_only_marks_that_occur_are_explained():
    printed = lines(document(KEPT, ranked("Vast.ai, 1x H100", Hold.RENT, 1, 2, price_stale=True)))
    assert printed[-2] == "* price out of date: planner prices refresh."


@pytest.mark.parametrize("width", [100, 80, 60])
def test_any_number_of_options_fits_30_lines_with_the_one_to_take(width):
    options = [ranked(f"Cloud number {place}, 8x H100", Hold.RENT, 10, 100) for place in range(200)]
    printed = lines(document(*options, recommended=options[150].id), width=width)
    assert len(printed) == 30
    assert sum("<-" in line for line in printed) == 1
    shown = sum("Cloud" in line for line in printed)
    assert f"and {200 - shown} more: --all" in printed
    assert sum("8x H100" in line for line in lines(document(*options), width=1000, whole=True)) == 200


def test_the_plan_s_own_currency_comes_before_dollars():
    """At 1,400 won: 543 USD are 0.76 million, 8,540 are 12.0; the budget of 20,000 is 28 million."""
    won = Currency(code="KRW", per_usd=1400.0, as_of=date(2026, 11, 1), source="test")
    printed = lines(document(KEPT, RENTED, currency=won), width=120)
    assert printed[0].endswith("for 28,000,000 KRW")
    assert "million KRW (90 %)" in printed[5]
    assert printed[6].split()[9:12] == ["0.76", "(0.38-1.5)", "543"]
    assert printed[7].split()[8:11] == ["12.0", "(6.0-24)", "8,540"]
    assert all("543" not in line for line in lines(document(KEPT, RENTED, currency=won), width=80))


def test_without_limits_there_is_no_chance_and_no_limit_in_the_title():
    free = ranked("PC", Hold.HAVE, 1, 1, chance_deadline=None, chance_budget=None)
    printed = lines(document(free, deadline=None, budget_usd=None, runs=1))
    assert printed[0] == "Which machine?: one training"
    assert "chance" not in printed[5]


def test_a_campaign_is_in_the_plan_s_order_without_rows_to_name():
    campaign = CampaignDocument(plan="p", assumptions=(), runs=10, options=(RENTED, KEPT))
    printed = screen_lines(campaign_screen(campaign, plan="plan.yaml"), width=100)
    assert printed[0] == "p: 10 trainings"
    assert [line[:22].strip() for line in printed[2:5]] == ["machine", "RENT  Lambda, 1x H100", "HAVE  DGX Station, 4x"]


@pytest.mark.parametrize(("usd", "named"), [(250.0, True), (None, False)], ids=["known", "not known"])
def test_own_or_rent_is_named_where_it_has_an_answer(usd: float | None, named: bool) -> None:
    """It refuses a machine whose full cost of owning nobody knows, as that of `{own: RTX-3090}` at hand."""
    full = None if usd is None else quantity(usd, Unit.USD, Basis.MODELLED, "test")
    kept = KEPT.model_copy(update={"site": "mine", "usd_total": full})
    assert any("own-or-rent" in line for line in lines(document(kept, RENTED))) is named
