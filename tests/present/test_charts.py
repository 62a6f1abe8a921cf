"""The chart is tested as the specification that the browser gets, and as the SVG in the report."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

pytest.importorskip("altair")

from planner.model.answer.documents import ComparisonDocument
from planner.model.quantity import Basis, Unit
from planner.present import charts
from tests.present.conftest import option, owned, quantity, rented, unpriced


def drawn(comparison: ComparisonDocument) -> dict[str, Any]:
    chart = charts.cost_time_chart(comparison)
    assert chart is not None
    document: dict[str, Any] = chart.to_dict()
    return document


def layers(specification: dict[str, Any], mark: str) -> list[dict[str, Any]]:
    return [layer for layer in specification["layer"] if layer["mark"]["type"] == mark]


def points(specification: dict[str, Any]) -> list[dict[str, Any]]:
    (layer,) = [layer for layer in layers(specification, "point") if layer["mark"]["filled"]]
    rows: list[dict[str, Any]] = (
        layer["data"]["values"] if "values" in layer.get("data", {}) else _named(specification, layer)
    )
    return rows


def _named(specification: dict[str, Any], layer: dict[str, Any]) -> list[dict[str, Any]]:
    data = layer.get("data") or specification["data"]
    rows: list[dict[str, Any]] = specification["datasets"][data["name"]] if "name" in data else data["values"]
    return rows


def test_known_options_are_points_with_their_ranges_in_days(comparison: ComparisonDocument) -> None:
    first, second = points(drawn(comparison))
    assert first["option"] == "Our <b>DGX</b>, 4x V100"
    assert first["time"] == pytest.approx(100 / 24)
    assert (first["time low"], first["time high"]) == pytest.approx((95 / 24, 105 / 24))
    assert (second["usd"], second["usd low"], second["usd high"]) == (1966.4, 983.2, 3932.8)


def test_short_campaigns_are_drawn_in_hours(comparison: ComparisonDocument) -> None:
    short = comparison.model_copy(update={"options": (rented(),)})
    assert points(drawn(short))[0]["time"] == 20
    assert "hours" in json.dumps(drawn(short))


def test_both_axes_are_logarithmic_not_rounded_and_marks_are_clipped(comparison: ComparisonDocument) -> None:
    specification = drawn(comparison)
    for layer in specification["layer"]:
        for channel in ("x", "y"):
            scale = layer["encoding"].get(channel, {}).get("scale")
            assert scale is None or (scale["type"], scale["nice"], "clamp" in scale) == ("log", False, False)
        if layer["mark"]["type"] != "text":
            assert layer["mark"]["clip"] is True


def test_basis_is_told_by_colour_and_by_shape(comparison: ComparisonDocument) -> None:
    (layer,) = [layer for layer in layers(drawn(comparison), "point") if layer["mark"]["filled"]]
    colour, shape = layer["encoding"]["color"], layer["encoding"]["shape"]
    assert colour["field"] == shape["field"] == "time basis"
    assert colour["scale"]["domain"] == shape["scale"]["domain"] == [basis.value for basis in Basis]
    assert len(set(colour["scale"]["range"])) == len(set(shape["scale"]["range"])) == 4
    assert colour["legend"]["values"] == ["measured", "modelled"]


def test_deadline_and_budget_are_dashed_rules(comparison: ComparisonDocument) -> None:
    text = json.dumps(drawn(comparison))
    assert "deadline 2026-11-30" in text
    assert "budget 1,000 USD" in text
    dashed = [layer for layer in layers(drawn(comparison), "rule") if "strokeDash" in layer["mark"]]
    assert len(dashed) == 2


def test_without_limits_no_rule_is_drawn(comparison: ComparisonDocument) -> None:
    free = comparison.model_copy(update={"budget_usd": None, "deadline": None, "deadline_hours": None})
    assert not [layer for layer in layers(drawn(free), "rule") if "strokeDash" in layer["mark"]]


def test_a_far_limit_is_left_out_instead_of_squeezing_the_options(comparison: ComparisonDocument) -> None:
    rich = comparison.model_copy(update={"budget_usd": 1e12})
    assert "budget" not in {row.get("text", "")[:6] for row in points(drawn(rich))}
    assert "budget 1" not in json.dumps(drawn(rich))


def test_unknown_and_free_options_are_named_because_a_log_axis_has_no_place_for_them(
    comparison: ComparisonDocument,
) -> None:
    nothing = quantity(0, Unit.USD, Basis.ASSUMED, "0 USD/kWh")
    free = owned().model_copy(update={"id": "free", "display_name": "Free PC", "campaign_usd": nothing})
    mixed = comparison.model_copy(update={"options": (free, rented(), unpriced())})
    assert [row["option"] for row in points(drawn(mixed))] == ["Cloud 8x, 8x H100"]
    assert charts.not_drawn(mixed) == [
        "Free PC (cost 0, which a log axis cannot show)",
        "Mystery (4x A100) (cost not known)",
    ]


def test_a_range_that_reaches_down_to_0_ends_at_the_edge(comparison: ComparisonDocument) -> None:
    down_to_0 = quantity(10, Unit.USD, Basis.ASSUMED, "a source", high=20).model_copy(update={"low": 0.0})
    cheap = owned().model_copy(update={"campaign_usd": down_to_0})
    (row,) = points(drawn(comparison.model_copy(update={"options": (cheap,)})))
    assert 0 < row["usd low"] < 10


def test_nothing_known_draws_nothing(comparison: ComparisonDocument) -> None:
    empty = comparison.model_copy(update={"options": (unpriced(),)})
    assert charts.cost_time_chart(empty) is None
    assert charts.chart_svg(empty) is None


def test_options_on_one_spot_share_a_label(comparison: ComparisonDocument) -> None:
    twin = owned().model_copy(update={"id": "twin", "rank": 2})
    twins = comparison.model_copy(update={"options": (owned(), twin, rented().model_copy(update={"rank": 3}))})
    assert [row["label"] for row in points(drawn(twins))] == ["1, 2", "", "3"]


@pytest.mark.parametrize(
    ("domain", "expected"),
    [
        pytest.param((1, 20), [1, 2, 5, 10, 20], id="one decade"),
        pytest.param((1, 1e5), [1, 10, 100, 1000, 1e4, 1e5], id="many decades"),
        pytest.param((3.5, 9.5), [4, 5, 6, 7, 8, 9], id="part of a decade"),
        pytest.param((1.08, 1.56), [1.1, 1.2, 1.3, 1.4, 1.5], id="narrow"),
    ],
)
def test_ticks_are_round_numbers(domain: tuple[float, float], expected: list[float]) -> None:
    assert charts.ticks(domain) == pytest.approx(expected)


def test_the_svg_is_drawn_offline_and_names_the_limits(comparison: ComparisonDocument) -> None:
    pytest.importorskip("vl_convert")
    svg = charts.chart_svg(comparison)
    assert svg is not None
    assert svg.startswith("<svg")
    assert "deadline 2026-11-30" in svg
    assert "<script" not in svg
    assert "href=" not in svg


def test_without_the_apps_extra_there_is_no_svg(
    comparison: ComparisonDocument, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    assert charts.chart_svg(comparison) is None


def test_an_option_is_named_by_its_rank(comparison: ComparisonDocument) -> None:
    unranked = option(id="x", name="x", campaign_hours=owned().campaign_hours, campaign_usd=owned().campaign_usd)
    assert points(drawn(comparison.model_copy(update={"options": (unranked,)})))[0]["label"] == "-"
