"""The calendar and the money of a campaign, in shares and sums that are worked out by hand."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from planner.model.answer.documents import CampaignDocument, FeasiblePlan, PlacedRuns
from planner.model.answer.option_estimate import CampaignOption
from planner.model.currency import Currency
from planner.model.owning.acquisition import Hold
from planner.model.quantity import Basis
from planner.present.page.campaign import CampaignPage
from planner.present.page.charts import drawn_budget, spend_chart
from planner.present.page.words import Words
from tests.present.conftest import HOURS, USD, quantity
from tests.present.conftest import option as ranked

DAY1, DAY2, DAY3, DAY5 = (datetime(2026, 12, day, tzinfo=UTC) for day in (1, 2, 3, 5))


def placed(option: str, start: datetime, end: datetime, usd: float, **more) -> PlacedRuns:
    fields = {"name": option.upper(), "runs": 4, "nodes": 1, "groups": {"": 4}, "earliest_start_hours": None}
    return PlacedRuns(option=option, start=start.isoformat(), end=end.isoformat(), usd=usd, **fields | more)


def plan_of(*placements: PlacedRuns) -> FeasiblePlan:
    return FeasiblePlan(
        campaign_usd=quantity(sum(placement.usd for placement in placements), USD, Basis.MODELLED, "a sum"),
        campaign_hours=quantity(96, HOURS, Basis.MODELLED, "a sum"), chance_deadline=0.9, chance_budget=None,
        usd_confident=320.0, done_by_confident=date(2026, 12, 5), optimality_gap_pct=0.0, placements=placements,
    )  # fmt: skip


RENTED = placed("rent", DAY1, DAY5, 200.0)
OWNED = placed("own", DAY2, DAY3, 100.0, runs=1_234, nodes=2, groups={"short": 1000, "long": 234})


def page_of(*placements: PlacedRuns, language: str = "en", deadline=None, budget=None, **more) -> CampaignPage:
    plan = plan_of(*placements).model_dump()
    fields = {"plan": "Which?", "assumptions": (), "runs": 8, "feasible": True, "options": ()}
    document = CampaignDocument(**plan | fields | more)
    return CampaignPage(document, Words(language), deadline, budget, 0.8)


def test_bars_are_shares_of_the_calendar() -> None:
    calendar = page_of(RENTED, OWNED).calendar()
    assert calendar is not None
    rented, owned = calendar.rows
    assert [rented.left, rented.width] == pytest.approx([0, 1 / 1.04])  # four days of 4 x 1.04
    assert [owned.left, owned.width] == pytest.approx([1 / 4.16, 1 / 4.16])
    assert (calendar.start, calendar.end, calendar.deadline) == ("Dec 1, 2026", "Dec 5, 2026", None)
    assert (owned.runs, owned.nodes, owned.usd, owned.groups) == (1234, 2, "100 USD", "short 1,000, long 234")
    assert rented.groups == ""


@pytest.mark.parametrize(
    ("deadline", "at", "off"),
    [
        pytest.param(date(2026, 12, 4), 4 / 4.16, False, id="ends with its day"),
        pytest.param(date(2026, 12, 8), 8 / (8 * 1.04), False, id="the calendar reaches to it"),
        pytest.param(date(2027, 12, 8), None, True, id="too far"),
        pytest.param(date(2026, 11, 1), None, True, id="before the start"),
    ],
)
def test_the_deadline_stands_at_the_end_of_its_day(deadline: date, at: float | None, off: bool) -> None:
    calendar = page_of(RENTED, deadline=deadline).calendar()
    assert calendar is not None
    assert calendar.deadline == (None if at is None else pytest.approx(at))
    assert calendar.deadline_off is off


def test_money_is_spent_as_machines_run() -> None:
    # 50 USD a day for four days, and 100 USD on the second day
    assert page_of(RENTED, OWNED).spent() == [(DAY1, 0), (DAY2, 50), (DAY3, 200), (DAY5, 300)]


def test_a_purchase_is_paid_when_it_begins() -> None:
    bought = ranked(id="rent", name="a PC", hold=Hold.BUY)
    spent = page_of(RENTED, OWNED, options=(bought.model_dump(include=set(CampaignOption.model_fields)),)).spent()
    assert spent == [(DAY1, 0.0), (DAY1, 200), (DAY2, 200), (DAY3, 300), (DAY5, 300)]


@pytest.mark.parametrize(("budget", "drawn"), [(None, None), (500.0, 500.0), (1200.0, 1200.0), (1201.0, None)], ids=str)
def test_a_budget_that_would_flatten_the_line_is_not_drawn(budget: float | None, drawn: float | None) -> None:
    assert drawn_budget(page_of(RENTED, OWNED, budget=budget)) == drawn


def test_the_chart_counts_in_the_plans_currency() -> None:
    pytest.importorskip("altair")
    won = Currency(code="KRW", per_usd=1000, as_of=date(2026, 11, 1), source="a bank")
    chart = spend_chart(page_of(RENTED, OWNED, budget=400.0, currency=won.model_dump())).to_dict()
    data = [layer["data"]["values"] for layer in chart["layer"] if "data" in layer]
    assert [row["spent"] for row in data[0]] == [0, 50_000, 200_000, 300_000]
    assert data[-1] == [{"spent": 400_000, "text": "budget 400,000 KRW"}]


def test_what_is_proven_is_said() -> None:
    # 4 and 1,234 runs
    assert page_of(RENTED, OWNED).sentences() == ["1,238 trainings on 2 options.", "Proven: no plan is better."]
    assert page_of(RENTED).sentences()[0] == "All 4 trainings on RENT."
    page = page_of(placed("rent", DAY1, DAY5, 200.0, runs=1))
    assert page.sentences()[0] == "One training on RENT."
    assert "1 training<" in page.calendar_html().replace("</span>", "<")
    assert "1 trainings" not in page.calendar_html()
    assert page_of(RENTED, optimality_gap_pct=1.26).sentences()[1] == "At most 1.3 % from the best plan."
    assert page_of(RENTED, optimality_gap_pct=None).sentences()[1] == "It is the best plan that was found."


def test_where_nothing_fits_the_nearest_plan_is_shown() -> None:
    near = plan_of(RENTED).model_dump()
    nothing = {"feasible": False, "placements": (), "campaign_usd": None, "campaign_hours": None}
    page = page_of(RENTED, **nothing, binding_limits=("deadline", "budget"), nearest_feasible=near)
    assert page.sentences()[:3] == ["Nothing fits: deadline, budget.", "Nearest:", "All 4 trainings on RENT."]
    assert page.figures()[1].value == "at most 320 USD"
    assert "RENT" in page.calendar_html()


def test_without_any_plan_the_page_keeps_its_shape() -> None:
    nothing = {"feasible": False, "placements": (), "campaign_usd": None, "campaign_hours": None}
    page = page_of(RENTED, **nothing)
    assert page.sentences() == ["Nothing fits: no plan was found."]
    assert [figure.value for figure in page.figures()] == ["-", "-", "-"]
    assert (page.calendar_html(), page.front_html(), spend_chart(page)) == ("", "", None)


def test_a_plan_whose_cost_was_not_simulated_says_the_middle() -> None:
    assert page_of(RENTED, usd_confident=None).figures()[1].value == "200 USD"


@pytest.mark.parametrize(
    ("language", "value"), [("en", "at most 320 USD after credits"), ("ko", "크레딧 적용 후 최대 320 USD")]
)
def test_what_credits_pay_is_said(language: str, value: str) -> None:
    to_pay = page_of(RENTED, language=language, credits_usd=80.0).figures()[1]
    assert to_pay.value == value
    assert to_pay.below != page_of(RENTED, language=language).figures()[1].below


def test_the_front_is_a_row_a_plan() -> None:
    text = page_of(RENTED, front=(plan_of(RENTED).model_dump(), plan_of(OWNED, RENTED).model_dump())).front_html()
    assert text.count("<tr>") == 3
    assert "OWN: 1,234; RENT: 4" in text


def test_names_are_text() -> None:
    evil = "<img src=x onerror=alert(1)>"
    page = page_of(placed("rent", DAY1, DAY5, 1.0, name=evil, groups={evil: 1, "b": 3}))
    for text in (page.calendar_html(), page.headline_html()):
        assert "<img" not in text
        assert "&lt;img" in text


def test_korean() -> None:
    page = page_of(RENTED, OWNED, language="ko", deadline=date(2026, 12, 9))
    assert page.sentences() == ["학습 1,238회를 선택지 2개에 배치.", "더 나은 계획이 없음이 증명되었습니다."]
    assert "기한" in page.calendar_html()
