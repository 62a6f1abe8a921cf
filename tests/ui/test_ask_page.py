"""The Ask page, run without a browser: its texts, and that it survives any input."""

from __future__ import annotations

from html import unescape
from pathlib import Path

import pytest

pytest.importorskip("streamlit")

from streamlit.testing.v1 import AppTest

from planner import clock
from planner.adapters.workspace import examples_dir, workspace_dir
from planner.ui.ask.form import STARTS, Start
from planner.ui.ask.question import answer_form
from planner.ui.catalogs import known_catalog
from planner.use_cases.catalogs import catalog_for, open_catalog
from planner.use_cases.plans import compare, read_plan

FIRST = examples_dir() / "dgx_station_v100.yaml"
EXAMPLES = sorted(path.stem for path in examples_dir().glob("*.yaml"))
OWN_PLAN = FIRST.read_bytes().replace(
    b"name: DGX Station against newer servers and the cloud", b"name: My <i>own</i> plan"
)
CONFIG = (
    b'{"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 2048, "num_hidden_layers": 16,'
    b' "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 8192, "vocab_size": 128256,'
    b' "max_position_embeddings": 8192, "tie_word_embeddings": true}'
)


def ask_page() -> None:
    from planner.ui.ask import page

    page.render()


def opened(**parameters: str | list[str]) -> AppTest:
    page = AppTest.from_function(ask_page, default_timeout=60)
    for name, value in parameters.items():
        page.query_params[name] = value
    return checked(page.run())


@pytest.fixture
def plan_page() -> AppTest:
    return opened(start="plan")


def checked(page: AppTest) -> AppTest:
    assert not page.exception
    return page


def said(page: AppTest) -> str:
    return unescape("\n".join(element.value for element in page.html))


def control(page: AppTest, label: str):
    widgets = [*page.number_input, *page.date_input, *page.selectbox, *page.multiselect, *page.toggle, *page.button]
    found = [widget for widget in [*widgets, *page.button_group] if widget.label == label]
    assert len(found) == 1, f"{len(found)} controls are labelled {label}"
    return found[0]


def change(page: AppTest, label: str, value: object) -> AppTest:
    control(page, label).set_value(value)
    return checked(page.run())


def upload(page: AppTest, label: str, *files: tuple[str, bytes]) -> AppTest:
    (uploader,) = [widget for widget in page.file_uploader if widget.label == label]
    values = [(name, data, "application/octet-stream") for name, data in files]
    uploader.set_value(values if uploader.accept_multiple_files else (values[0] if values else None))
    return checked(page.run())


def sentence_of(path: Path) -> str:
    plan = read_plan(path)
    return compare(plan, catalog_for(plan), today=clock.today()).headline[0]


@pytest.mark.slow
@pytest.mark.parametrize("start", [Start.TRAIN, Start.BUY, Start.OFFERS])
def test_every_starting_point_has_an_answer_before_anything_is_typed(start: Start) -> None:
    today = clock.today()
    expected = answer_form(STARTS[start], known_catalog((), today), now=clock.now()).document
    page = opened(start=start.value)
    assert expected.recommended is not None
    assert expected.headline[0] in said(page)
    assert [button.label for button in page.get("download_button")] == [
        "Plan (YAML)",
        "Report (HTML)",
        "Workbook (XLSX)",
        "All numbers (CSV)",
    ]


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_has_the_answer_of_compare(example: str) -> None:
    page = opened(start="plan", example=example)
    assert sentence_of(examples_dir() / f"{example}.yaml") in said(page)


def test_a_row_opens_the_bill_the_time_and_the_arithmetic(plan_page: AppTest) -> None:
    text = said(plan_page)
    for option in compare(read_plan(FIRST), open_catalog(), today=clock.today()).options:
        assert option.display_name in text
    for word in ("The bill", "Where the hours of one training go", "Arithmetic and sources", "x 0.12 USD/kWh"):
        assert word in text


def test_figures_come_without_formulas(plan_page: AppTest) -> None:
    (figures,) = [element.value for element in plan_page.html if 'class="figures"' in element.value]
    assert " x " not in figures
    for name in ("Done by", "To pay", "How sure"):
        assert name in figures


def test_the_answer_follows_a_change_and_so_does_the_address(plan_page: AppTest) -> None:
    plan = read_plan(FIRST)
    fewer = plan.model_copy(update={"campaign": plan.campaign.model_copy(update={"runs": 7})})
    expected = compare(fewer, open_catalog(), today=clock.today()).headline[0]
    assert expected not in said(plan_page)
    change(plan_page, "Trainings", 7)
    assert expected in said(plan_page)
    assert dict(plan_page.query_params) == {"start": "plan", "example": FIRST.stem, "runs": "7"}
    assert expected in said(opened(**plan_page.query_params))


def test_a_tariff_in_the_form_is_the_one_in_the_formulas(plan_page: AppTest) -> None:
    change(plan_page, "A kWh (USD)", 0.24)
    assert "x 0.24 USD/kWh" in said(plan_page)


def test_limits_can_be_taken_away(plan_page: AppTest) -> None:
    change(plan_page, "Budget (USD)", None)
    change(plan_page, "Deadline", None)
    assert "line: budget" not in said(plan_page)
    assert "line: deadline" not in said(plan_page)


def test_when_nothing_fits_the_page_keeps_its_shape(plan_page: AppTest) -> None:
    change(plan_page, "Budget (USD)", 1.0)
    text = said(plan_page)
    assert "Nothing fits: the nearest, " in text
    assert 'class="bars"' in text
    assert 'class="options"' in text


def test_the_machines_of_the_form_are_answered() -> None:
    page = opened(start="train", find="false", offers=["lambda/gpu_1x_h100_sxm5"])
    assert "your 2x RTX 3090" in said(page)
    change(page, "Machine 1", "RTX-4090")
    change(page, "Count 1", 1)
    assert "your RTX 4090" in said(page) or "your 1x RTX 4090" in said(page)
    control(page, "Remove 1").click()
    checked(page.run())
    assert "RTX 4090" not in said(page)
    assert "Lambda, 1x H100" in said(page)


def test_a_machine_to_buy_costs_its_price() -> None:
    page = opened(start="train", find="false", budget="none", machines=["buy:1xRTX-4090@1600"])
    assert "1,600.00" in said(page) or "1,600" in said(page)


def test_nothing_to_run_on_is_asked_for_and_the_answer_before_it_stays() -> None:
    page = opened(start="train", find="false", offers=["lambda/gpu_1x_h100_sxm5"])
    before = [element.value for element in page.html if 'class="headline"' in element.value]
    control(page, "Remove 1").click()
    checked(page.run())
    change(page, "Offers to compare", [])
    text = said(page)
    assert "on which machines?" in text
    assert "The answer shown is the one before this." in text
    assert [element.value for element in page.html if 'class="headline"' in element.value] != []
    assert before


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"model": "flux-1-dev"}, "The planner has no formula for diffusion."),
        ({"model": "sdxl"}, "The planner has no formula for diffusion."),
        ({"machines": ["have:8xTPU-v5e"]}, "the power of TPU-v5e is not published, so owning one is not modelled"),
        ({"machines": ["have:1xM3-Ultra"]}, "Apple's chips are not modelled"),
        ({"machines": ["have:1xmac studio"]}, "Apple's chips are not modelled"),
    ],
)
def test_what_is_not_modelled_leaves_no_answer_of_another(named: dict[str, str | list[str]], message: str) -> None:
    page = opened(start="train", **named)
    assert message in said(page)
    assert not [element.value for element in page.html if 'class="headline"' in element.value]


def test_a_discount_and_credits_are_taken_off() -> None:
    full = opened(start="offers", offers=["aws/p5.48xlarge:on_demand"], budget="none")
    net = opened(start="offers", offers=["aws/p5.48xlarge:on_demand"], budget="none", discount="10", credits="2000")
    assert "c after credits" in said(net)
    assert "c after credits" not in said(full)


def test_amounts_stand_in_the_chosen_currency() -> None:
    page = opened(start="buy", currency="KRW")
    assert "KRW" in said(page)
    assert control(page, "KRW for a US dollar").value == 1439


def test_an_uploaded_plan_takes_the_page(plan_page: AppTest) -> None:
    upload(plan_page, "Your own plan (YAML or JSON)", ("mine.yaml", OWN_PLAN))
    assert control(plan_page, "Plan").value == ""
    assert "plan" in plan_page.query_params


def test_an_uploaded_network_is_what_is_trained() -> None:
    page = opened(start="train", find="false", offers=["lambda/gpu_1x_h100_sxm5"])
    upload(page, "The model's config.json", ("config.json", CONFIG))
    assert "Model: config.json, from its file" in [element.value for element in page.text]
    assert "config" in page.query_params


BAD_FILES = {
    "no YAML": (b"options: [", "is not YAML"),
    "a bomb of merges": (b"a: &a [x]\n" + b"".join(b"b%d: &b%d [*a, *a]\n" % (n, n) for n in range(50)), "mine.yaml"),
    "a number too large": (b"schema_version: 1\nname: 1e999999", "mine.yaml"),
    "not text": (b"\xff\xfe\x00", "is not UTF-8"),
    "a zip": (b"PK\x03\x04" + b"\x00" * 100, "mine.yaml"),
    "too large": (b"#" * 20_000_000, "MB"),
}


@pytest.mark.parametrize("kind", BAD_FILES)
def test_a_bad_upload_is_named_and_the_answer_stays(plan_page: AppTest, kind: str) -> None:
    data, expected = BAD_FILES[kind]
    upload(plan_page, "Your own plan (YAML or JSON)", ("mine.yaml", data))
    text = said(plan_page)
    assert expected in text
    assert 'role="alert"' in text
    assert sentence_of(FIRST) in text


@pytest.mark.slow
def test_names_are_text() -> None:
    page = opened(start="train", find="false", machines=["have:1x<img src=x onerror=alert(1)>"])
    shown = "\n".join(element.value for element in page.html)
    assert "<img" not in shown


@pytest.mark.slow
@pytest.mark.parametrize("name", ["budget", "machines", "start", "config"])
def test_a_wrong_address_is_named_and_an_answer_is_shown(name: str) -> None:
    page = opened(**{name: "%%"})
    text = said(page)
    assert "the link" in text
    assert 'class="headline"' in text


@pytest.mark.slow
def test_a_wrong_workspace_is_named_and_the_bundled_catalog_answers() -> None:
    prices = workspace_dir() / "prices"
    prices.mkdir(parents=True)
    (prices / "mine.csv").write_text("provider,nonsense\nx,y\n", encoding="utf-8")
    page = opened(start="plan")
    assert "mine.csv" in said(page)
    assert 'class="headline"' in said(page)


def test_up_to_four_answers_are_pinned_with_what_differs(plan_page: AppTest) -> None:
    for runs in (50, 51, 52, 53):
        change(plan_page, "Trainings", runs)
        control(plan_page, "Pin this answer").click()
        checked(plan_page.run())
    assert "Pin this answer" not in [button.label for button in plan_page.button]
    text = said(plan_page)
    assert "Answer 4" in text
    assert "runs: - -> 53" in text
    control(plan_page, "Unpin all").click()
    checked(plan_page.run())
    assert "Answer 4" not in said(plan_page)


def test_korean_is_a_choice_of_the_address() -> None:
    page = opened(start="plan", lang="ko")
    assert "유지: DGX Station, 4x V100" in said(page)
    assert control(page, "학습 횟수").value == 50
    assert page.query_params["lang"] == "ko"


def test_what_would_turn_the_answer_is_asked_for(plan_page: AppTest) -> None:
    assert 'class="turns"' not in said(plan_page)
    control(plan_page, "Find the values at which the answer turns").click()
    checked(plan_page.run())
    assert 'class="turns"' in said(plan_page)
    change(plan_page, "Trainings", 7)
    assert 'class="turns"' not in said(plan_page)


def test_more_columns_stand_in_the_table_and_in_the_address(plan_page: AppTest) -> None:
    assert "energy (90 %)" not in said(plan_page)
    change(plan_page, "More columns", ["energy_kwh", "carbon_kg"])
    text = said(plan_page)
    assert "energy (90 %)" in text
    assert " kWh</b>" in text
    assert "No option has 'kg CO2 a training': the plan states no assumptions.carbon_kg_per_kwh." in text
    assert dict(plan_page.query_params)["columns"] == "energy_kwh,carbon_kg"
    assert "energy (90 %)" in said(opened(**plan_page.query_params))


def test_a_column_of_the_address_that_there_is_not_is_said(plan_page: AppTest) -> None:
    assert "there is no column 'energi'" in said(opened(start="plan", example=FIRST.stem, columns="energi"))
