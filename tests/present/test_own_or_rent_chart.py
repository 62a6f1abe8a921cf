"""The own-or-rent curve: every point and every rent is in the chart, and it draws without a network."""

from __future__ import annotations

from datetime import date

import pytest

from planner.adapters.documents import read_model
from planner.adapters.workspace import examples_dir
from planner.model.answer.own_or_rent import OwnOrRentDocument
from planner.model.plan.plan import Plan
from planner.present.own_or_rent import curve_chart, curve_svg
from planner.use_cases.owning import own_or_rent
from tests.bundled import bundled_catalog


@pytest.fixture(scope="module")
def document() -> OwnOrRentDocument:
    return own_or_rent(
        read_model(Plan, examples_dir() / "own_8xh200.yaml"), bundled_catalog(), today=date(2026, 11, 21)
    )


def test_the_chart_holds_the_curve_and_a_line_for_each_rent(document):
    specification = curve_chart(document).to_dict()
    band, curve, rents, names = specification["layer"]
    assert [point["usd"] for point in curve["data"]["values"]] == [p.usd_per_busy_gpu_hour for p in document.curve]
    assert band["data"] == curve["data"]
    assert {row["rented"] for row in rents["data"]["values"]} == {rival.id for rival in document.rivals}
    assert names["encoding"]["text"]["field"] == "rented"
    assert specification["description"] == document.sentence


def test_it_draws_without_anything_to_rent(document):
    alone = document.model_copy(update={"rivals": ()})
    assert len(curve_chart(alone).to_dict()["layer"]) == 2


def test_it_draws_offline(document):
    svg = curve_svg(document)
    assert svg is not None
    assert svg.startswith("<svg")
    assert "runpod/8x-h200-sxm" in svg
