"""The Decide page, run without a browser: what it says, and that it stays alive whatever it is given."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from html import unescape
from pathlib import Path

import pytest

pytest.importorskip("streamlit")

from streamlit.testing.v1 import AppTest

from planner import clock
from planner.adapters.workspace import examples_dir, workspace_dir
from planner.use_cases.catalogs import open_catalog
from planner.use_cases.plans import compare, read_plan

FIRST = examples_dir() / "dgx_station_v100.yaml"
OTHER = examples_dir() / "local_pc.yaml"
OWN_PLAN = FIRST.read_bytes().replace(
    b"name: DGX Station against newer servers and the cloud", b"name: My <i>own</i> plan"
)


def decide() -> None:
    from planner.ui import decide_page

    decide_page.render()


@pytest.fixture
def page() -> AppTest:
    return checked(AppTest.from_function(decide, default_timeout=60).run())


def checked(page: AppTest) -> AppTest:
    assert not page.exception
    return page


def said(page: AppTest) -> str:
    return unescape("\n".join(element.value for element in page.html))


def control(page: AppTest, label: str):
    found = [widget for widget in [*page.number_input, *page.date_input, *page.selectbox] if widget.label == label]
    assert len(found) == 1, f"{len(found)} controls are labelled {label}"
    return found[0]


def upload(page: AppTest, label: str, *files: tuple[str, bytes]) -> AppTest:
    (uploader,) = [widget for widget in page.file_uploader if widget.label == label]
    values = [(name, data, "application/octet-stream") for name, data in files]
    uploader.set_value(values if uploader.accept_multiple_files else (values[0] if values else None))
    return checked(page.run())


def sentence_of(path: Path) -> str:
    return compare(read_plan(path), open_catalog(), today=clock.today()).headline[0]


def test_a_first_visit_shows_a_worked_example(page: AppTest) -> None:
    assert read_plan(FIRST).name in said(page)
    assert sentence_of(FIRST) in said(page)
    assert control(page, "Trainings in the campaign").value == read_plan(FIRST).campaign.runs
    assert [button.label for button in page.get("download_button")] == [
        "HTML report",
        "Markdown report",
        "CSV of all numbers",
    ]


def test_every_option_stands_in_the_table_with_range_and_basis(page: AppTest) -> None:
    text = said(page)
    for option in compare(read_plan(FIRST), open_catalog(), today=clock.today()).options:
        assert option.display_name in text
    for word in ("modelled", "measured", "assumed", "90 % range", "Formula and source"):
        assert word in text


def test_another_example_can_be_chosen(page: AppTest) -> None:
    control(page, "Question").set_value(OTHER.stem)
    checked(page.run())
    assert sentence_of(OTHER) in said(page)


@pytest.mark.parametrize("example", sorted(path.stem for path in examples_dir().glob("*.yaml")))
def test_every_example_draws_a_page(page: AppTest, example: str) -> None:
    control(page, "Question").set_value(example)
    checked(page.run())
    assert read_plan(examples_dir() / f"{example}.yaml").name in said(page)


def test_the_trainings_of_the_form_are_answered(page: AppTest) -> None:
    plan = read_plan(FIRST)
    fewer = plan.model_copy(update={"campaign": plan.campaign.model_copy(update={"runs": 7})})
    expected = compare(fewer, open_catalog(), today=clock.today()).headline[0]
    assert expected not in said(page)
    control(page, "Trainings in the campaign").set_value(7)
    checked(page.run())
    assert expected in said(page)


def test_the_tariff_of_the_form_is_the_one_in_the_formulas(page: AppTest) -> None:
    assert "x 0.12 USD/kWh" in said(page)
    control(page, "Electricity (USD/kWh)").set_value(0.24)
    checked(page.run())
    assert "x 0.24 USD/kWh" in said(page)


def test_when_nothing_is_feasible_the_page_names_the_limit_and_the_nearest_option(page: AppTest) -> None:
    control(page, "Budget (USD)").set_value(1.0)
    checked(page.run())
    text = said(page)
    assert "Nothing fits: the nearest, " in text
    assert " of 1.00 USD" in text
    assert page.warning
    assert "All options" in [heading.value for heading in page.subheader]


def test_limits_can_be_taken_away(page: AppTest) -> None:
    control(page, "Budget (USD)").set_value(None)
    control(page, "Deadline (end of that day)").set_value(None)
    checked(page.run())
    assert "2027-06-30" not in said(page)


def test_doubtful_evidence_is_told_at_the_top(page: AppTest) -> None:
    control(page, "Question").set_value("p5e_vs_a100")
    checked(page.run())
    boxes = [element.value for element in page.html if "The evidence is doubtful</b><ul>" in element.value]
    assert "cannot be true" in boxes[0]


def test_free_electricity_is_told_in_words_because_the_chart_cannot_show_it(page: AppTest) -> None:
    control(page, "Electricity (USD/kWh)").set_value(0.0)
    checked(page.run())
    assert "cost 0, which a log axis cannot show" in said(page)


def test_a_deadline_before_the_start_is_one_clear_error(page: AppTest) -> None:
    control(page, "Deadline (end of that day)").set_value(read_plan(FIRST).campaign.start)
    checked(page.run())
    assert 'role="alert"' not in said(page)
    control(page, "Deadline (end of that day)").set_value(date(2026, 11, 30))
    checked(page.run())
    assert "is before start 2026-12-01" in said(page)
    assert sentence_of(FIRST) in said(page)


def test_an_uploaded_plan_takes_the_page_and_its_name_is_text(page: AppTest) -> None:
    upload(page, "Your own plan (YAML or JSON)", ("mine.yaml", OWN_PLAN))
    assert "My <i>own</i> plan" in said(page)
    assert "<i>own</i>" not in "".join(element.value for element in page.html)
    assert control(page, "Question").value == "your plan"


@pytest.mark.parametrize(
    ("name", "data", "problem"),
    [
        pytest.param("bad.yaml", b"options: [", "bad.yaml:2: is not YAML", id="broken YAML"),
        pytest.param("bad.json", b'{"name": ', "is not JSON: the file ends too early", id="cut JSON"),
        pytest.param("empty.yaml", b"", "empty.yaml: holds nothing", id="empty"),
        pytest.param("photo.yaml", b"\xff\xd8\xff", "is not UTF-8 text", id="not text"),
        pytest.param("large.yaml", b"#" * 1_000_001, "at most 1 MB are read", id="too large"),
        pytest.param("typo.yaml", OWN_PLAN.replace(b"campaign:", b"campain:"), "campain: is no key", id="wrong key"),
        pytest.param(
            "site.yaml", OWN_PLAN.replace(b"site: h200-x1", b"site: h200-x9"), "no site 'h200-x9'", id="unknown site"
        ),
    ],
)
def test_a_bad_upload_is_explained_and_the_previous_plan_stays(
    page: AppTest, name: str, data: bytes, problem: str
) -> None:
    upload(page, "Your own plan (YAML or JSON)", (name, data))
    assert problem in said(page)
    assert 'role="alert"' in said(page)
    assert sentence_of(FIRST) in said(page)


def test_a_bad_upload_after_a_good_one_keeps_the_good_one(page: AppTest) -> None:
    upload(page, "Your own plan (YAML or JSON)", ("mine.yaml", OWN_PLAN))
    upload(page, "Your own plan (YAML or JSON)", ("bad.yaml", b"options: ["))
    assert "My <i>own</i> plan" in said(page)
    assert "is not YAML" in said(page)
    upload(page, "Your own plan (YAML or JSON)")
    assert "My <i>own</i> plan" in said(page)
    assert "is not YAML" not in said(page)
    control(page, "Question").set_value(FIRST.stem)
    checked(page.run())
    assert read_plan(FIRST).name in said(page)


def bundled_run(change: Callable[[str], str]) -> bytes:
    run = open_catalog().runs["seed-000-dgx-station-v100"]
    return change(run.model_dump_json()).encode()


def test_an_uploaded_run_can_be_planned_with_in_this_session(page: AppTest) -> None:
    plan = OWN_PLAN.replace(b"measured: seed-000-dgx-station-v100", b"measured: mine-1")
    upload(page, "Your own plan (YAML or JSON)", ("mine.yaml", plan))
    assert "mine-1" in said(page)
    assert 'role="alert"' in said(page)
    run = bundled_run(lambda text: text.replace('"id":"seed-000-dgx-station-v100"', '"id":"mine-1"'))
    upload(page, "Your run records (JSON)", ("run.json", run))
    assert 'role="alert"' not in said(page)
    assert "mine-1" in said(page)
    assert not workspace_dir().exists()


def test_a_run_with_a_taken_id_is_refused(page: AppTest) -> None:
    upload(page, "Your run records (JSON)", ("run.json", bundled_run(str)))
    assert "there already is a run with the id 'seed-000-dgx-station-v100'" in said(page)
    assert sentence_of(FIRST) in said(page)


def test_a_broken_workspace_is_reported_and_the_bundled_catalog_answers() -> None:
    expected = sentence_of(FIRST)
    runs = workspace_dir() / "runs"
    runs.mkdir(parents=True)
    (runs / "broken.json").write_text("{", encoding="utf-8")
    page = checked(AppTest.from_function(decide, default_timeout=60).run())
    assert "broken.json" in said(page)
    assert expected in said(page)


def test_the_details_follow_the_chosen_option(page: AppTest) -> None:
    control(page, "Option").set_value("dgx-station-v100")
    checked(page.run())
    assert "run seed-000-dgx-station-v100" in said(page)


def test_it_says_where_the_hours_go(page: AppTest) -> None:
    text = said(page)
    assert "Where the hours of one training go" in text
    assert "failures: restarts" in text
    assert "a checkpoint's size cannot be counted" in text  # the document names no network


def test_a_rented_option_without_a_price_is_not_called_owned(page):
    upload(page, "Your own plan (YAML or JSON)", ("p5e.yaml", (examples_dir() / "p5e_vs_a100.yaml").read_bytes()))
    checked(control(page, "Option").set_value("aws/p5e.48xlarge:us-east-2:on_demand:4n").run())
    bill = next(box for box in page.expander if box.label == "The bill, line by line")
    (text,) = [element.value for element in bill.get("html")]
    assert "Not known" in text
