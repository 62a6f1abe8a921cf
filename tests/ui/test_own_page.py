"""Own or rent, run without a browser."""

from __future__ import annotations

from html import unescape

import pytest

pytest.importorskip("streamlit")

from streamlit.testing.v1 import AppTest

from planner import clock
from planner.ui.ask.link import form_of
from planner.ui.ask.question import StampedCatalog, answer_form
from planner.ui.scenario import examples
from planner.use_cases.catalogs import open_catalog
from planner.use_cases.owning import Year, own_or_rent, own_or_rent_in
from planner.use_cases.plans import read_plan


def own_page() -> None:
    from planner.ui.own import page

    page.render()


def opened(**parameters: str) -> AppTest:
    page = AppTest.from_function(own_page, default_timeout=60)
    for name, value in parameters.items():
        page.query_params[name] = value
    page.run()
    assert not page.exception
    return page


def said(page: AppTest) -> str:
    return unescape("\n".join(element.value for element in page.html))


STATION = {"start": "plan", "example": "station_own_or_rent"}


def test_the_page_answers_as_own_or_rent_does_in_dollars_and_won() -> None:
    plan = read_plan(examples()["station_own_or_rent"])
    owned = tuple(option for option in plan.options if not option.offer)
    expected = own_or_rent_in(plan, open_catalog(), Year(), site=owned[0].site, today=clock.today())
    text = said(opened(**STATION))
    assert expected.headline[0] in text
    assert "KRW a year" in text
    assert "USD a year" in text


QUESTION = {"start": "train", "machines": "have:1xRTX-4090", "kwh": "0.31"}


@pytest.mark.slow
def test_the_page_keeps_the_machines_of_the_question_and_counts_as_the_command_does() -> None:
    """A card that no site describes, no number of trainings, 0.31 USD a kWh: as `planner own-or-rent` of its plan."""
    page = opened(**QUESTION)
    (machine,) = [box for box in page.selectbox if box.label == "Machine asked about"]
    assert machine.value == "own/RTX-4090-x1"
    known = StampedCatalog(("bundled",), open_catalog())
    plan = answer_form(form_of({name: [value] for name, value in QUESTION.items()}), known, now=clock.now()).plan
    expected = own_or_rent(plan, known.catalog, today=clock.today())
    text = said(page)
    assert expected.headline[0] in text
    assert expected.horizons is not None
    assert expected.horizons.text in text
    sliders = {slider.label: slider.value for slider in page.slider}
    assert sliders["Trainings a year"] == round(expected.by_plan.trainings_wanted) > 1
    assert sliders["A kWh (USD)"] == 0.31
    assert len(expected.by_plan.options) == text.count("<tr") - 1
    assert page.query_params["machines"] in ("have:1xRTX-4090", ["have:1xRTX-4090"])
    assert "trainings" not in page.query_params


def test_a_pc_at_home_has_no_staff() -> None:
    plan = read_plan(examples()["station_own_or_rent"])
    pc = own_or_rent(plan, open_catalog(), today=clock.today(), site="pc-rtx4090")
    assert "staff" not in {line.part for line in pc.annual if line.usd_per_node_year.value}


@pytest.mark.slow
def test_a_number_of_trainings_that_the_question_states_is_the_page_s() -> None:
    page = opened(start="train", machines="have:2xRTX-3090", runs="12")
    assert {slider.label: slider.value for slider in page.slider}["Trainings a year"] == 12
    assert "the campaign's 12 trainings" in said(page)


def test_a_slider_is_in_the_answer_and_in_the_address() -> None:
    page = opened(**STATION)
    before = said(page)
    (slider,) = [slider for slider in page.slider if slider.label == "Trainings a year"]
    slider.set_value(150.0).run()
    assert not page.exception
    assert said(page) != before
    assert page.query_params["trainings"] == "150"
    assert said(opened(**page.query_params)) == said(page)


def test_a_question_without_a_machine_shows_the_example() -> None:
    page = opened(start="offers")
    assert "names no machine to own" in said(page)


@pytest.mark.parametrize("value", ["many", "nan", "1e999"])
def test_a_wrong_number_in_the_address_is_named(value: str) -> None:
    assert "is not a number" in said(opened(**STATION, trainings=value))


@pytest.mark.parametrize("value", ["0", "-5", "1e15"])
def test_a_number_beyond_the_slider_is_its_end(value: str) -> None:
    assert 'class="headline"' in said(opened(**STATION, trainings=value))
