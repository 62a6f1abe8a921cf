"""Campaign, run without a browser."""

from __future__ import annotations

from html import unescape

import pytest

pytest.importorskip("streamlit")

from streamlit.testing.v1 import AppTest

from planner import clock
from planner.ui.scenario import examples
from planner.use_cases.catalogs import open_catalog
from planner.use_cases.plans import campaign, read_plan

MIX = {"start": "plan", "example": "campaign_mix"}


def campaign_page() -> None:
    from planner.ui import campaign_page as page

    page.render()


def opened(**parameters: str) -> AppTest:
    page = AppTest.from_function(campaign_page, default_timeout=60)
    for name, value in parameters.items():
        page.query_params[name] = value
    page.run()
    assert not page.exception
    return page


def said(page: AppTest) -> str:
    return unescape("\n".join(element.value for element in page.html))


def number(page: AppTest, label: str):
    (found,) = [box for box in page.number_input if box.label == label]
    return found


def test_the_page_places_runs_as_the_command_does() -> None:
    answer = campaign(read_plan(examples()["campaign_mix"]), open_catalog(), today=clock.today(), objective="cost")
    text = said(opened(**MIX))
    assert len(answer.placements) > 1
    for placement in answer.placements:
        assert f"{placement.name}</b>" in text
        assert f"{placement.runs} trainings" in text
    assert f"{answer.campaign_usd.value:,.0f}"[:3] in text


def test_another_limit_is_another_campaign_and_in_the_address() -> None:
    page = opened(**MIX)
    number(page, "Budget (USD)").set_value(1.0).run()
    assert "Nothing fits" in said(page)
    assert page.query_params["budget"] == "1.0"
    assert said(opened(**page.query_params)) == said(page)


def test_the_objective_is_in_the_address_and_in_the_command() -> None:
    page = opened(**MIX, objective="front")
    assert "Plans of which none is better in both" in said(page)
    assert page.query_params["objective"] == "front"
    assert "planner campaign plan.yaml --objective front" in [block.value for block in page.code]


def test_a_wrong_objective_is_named() -> None:
    assert "the link: objective: there is no 'dearest'" in said(opened(**MIX, objective="dearest"))


def test_what_cannot_be_planned_leaves_the_campaign_before_it() -> None:
    page = opened(**MIX)
    before = said(page)
    number(page, "Trainings").set_value(None).run()
    assert "The answer shown is the one before this." in said(page)
    assert before.split("calendar")[1][:200] in said(page)
