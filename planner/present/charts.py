"""Draws cost against time of an answer's options, as an altair chart or as SVG, without network access.

Colours and shapes show the basis of a number, here and on pages and reports.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from planner.model.answer.documents import ComparisonDocument
from planner.model.answer.option_estimate import RankedOption
from planner.model.quantity import Basis, Quantity, Unit
from planner.present.facts import interval_text, name_text, value_text
from planner.present.table import accelerators_text, number_text
from planner.quantity.time_units import HOURS_PER_DAY

if TYPE_CHECKING:
    import altair as alt

BASIS_COLOUR = {
    Basis.MEASURED: "#009E73",
    Basis.QUOTED: "#0072B2",
    Basis.MODELLED: "#E69F00",
    Basis.ASSUMED: "#D55E00",
}
"""Okabe-Ito colours, which people with any kind of colour vision can distinguish."""

BASIS_SHAPE = {
    Basis.MEASURED: "circle",
    Basis.QUOTED: "square",
    Basis.MODELLED: "triangle-up",
    Basis.ASSUMED: "diamond",
}
"""Shapes as a second sign besides the colour, on charts and before words."""


DAYS_FROM_HOURS = 96.0
"""Longest time in hours from which the time axis is in days."""
FAR_FACTOR = 30.0
"""Ratio of a limit to all options beyond which it is not on the axis, where it would squeeze the options."""
MARGIN = 1.35
INK = "#777777"
"""Grey that is readable on white and on black."""

CHART_READING = (
    "Numbers are the ranks in the table. Bars are 90 % ranges. A ring marks the Pareto front: no other option is both "
    "faster and cheaper."
)


@dataclass(frozen=True)
class Axes:
    """Time unit and ends of the two logarithmic axes."""

    hours_per_unit: float
    time_domain: tuple[float, float]
    usd_domain: tuple[float, float]

    @property
    def time_title(self) -> str:
        """Title of the time axis."""
        return "Campaign time (days, log)" if self.hours_per_unit == HOURS_PER_DAY else "Campaign time (hours, log)"


def drawable(comparison: ComparisonDocument) -> list[RankedOption]:
    """Return the options with a known time and cost above 0, because a logarithmic axis cannot show 0."""
    return [
        option
        for option in comparison.options
        if option.campaign_hours is not None
        and option.payable_usd is not None
        and option.campaign_hours.value > 0
        and option.payable_usd.value > 0
    ]


def not_drawn(comparison: ComparisonDocument) -> list[str]:
    """Return the options that the chart cannot show, each with the reason."""
    drawn = {option.id for option in drawable(comparison)}
    return [f"{name_text(option)} ({_missing(option)})" for option in comparison.options if option.id not in drawn]


def cost_time_chart(comparison: ComparisonDocument) -> alt.LayerChart | None:
    """Draw cost against time of all options, with ranges, the Pareto front and the limits; None without options."""
    import altair as alt  # imported late: takes 0.5 s, and the core does not install it

    options = drawable(comparison)
    axes = _axes(options, comparison)
    if axes is None:
        return None
    rows = _joined_labels([_row(option, axes, comparison) for option in options], axes)
    x = alt.X("time:Q", title=axes.time_title, scale=_log(alt, axes.time_domain), axis=_axis(alt, axes.time_domain))
    y = alt.Y("usd:Q", title="To pay (USD, log)", scale=_log(alt, axes.usd_domain), axis=_axis(alt, axes.usd_domain))
    present = [basis for basis in Basis if any(row["time basis"] == basis.value for row in rows)]
    colour = alt.Color(
        "time basis:N",
        title="How the time is known",
        scale=alt.Scale(domain=[b.value for b in Basis], range=[BASIS_COLOUR[b] for b in Basis]),
        legend=alt.Legend(values=[b.value for b in present], orient="top", symbolSize=120, symbolOpacity=1),
    )
    shape = alt.Shape(
        "time basis:N",
        title="How the time is known",
        scale=alt.Scale(domain=[b.value for b in Basis], range=[BASIS_SHAPE[b] for b in Basis]),
    )
    tooltip = [alt.Tooltip(f"{name}:N") for name in ("option", "accelerators", "time", "cost", "time basis", "verdict")]
    tooltip[2:4] = [alt.Tooltip("time text:N", title="time"), alt.Tooltip("cost text:N", title="cost")]
    chart = alt.Chart(inline_data(alt, rows))
    layers = _limit_layers(alt, comparison, axes)
    layers += [
        chart.transform_filter("datum.front")
        .mark_line(interpolate="step-after", color=INK, strokeWidth=1, clip=True, tooltip=False)
        .encode(x=x, y=y, order="time:Q"),
        chart.mark_rule(strokeWidth=2, opacity=0.4, clip=True).encode(
            x=alt.X("time low:Q"), x2="time high:Q", y=y, color=colour, tooltip=tooltip
        ),
        chart.mark_rule(strokeWidth=2, opacity=0.4, clip=True).encode(
            x=x, y=alt.Y("usd low:Q"), y2="usd high:Q", color=colour, tooltip=tooltip
        ),
        chart.transform_filter("datum.front")
        .mark_point(shape="circle", size=420, filled=False, color=INK, strokeWidth=1.5, clip=True)
        .encode(x=x, y=y, tooltip=tooltip),
        chart.mark_point(size=130, filled=True, opacity=1, clip=True).encode(
            x=x, y=y, color=colour, shape=shape, tooltip=tooltip
        ),
        chart.mark_text(align="left", dx=9, dy=-13, fontSize=13, fontWeight="bold", color=INK, clip=True).encode(
            x=x, y=y, text="label:N"
        ),
    ]
    described = f"Cost against time of {len(rows)} options. {comparison.sentence}"
    layered = alt.LayerChart(layer=layers)
    return layered.properties(width="container", height=470, description=described)


def chart_svg(comparison: ComparisonDocument) -> str | None:
    """Return the chart as SVG, drawn offline; None if there is nothing to draw or the app's extra is missing."""
    try:
        import altair  # noqa: F401
        import vl_convert
    except ImportError:
        return None
    chart = cost_time_chart(comparison)
    if chart is None:
        return None
    specification = chart.properties(width=820, background="white").to_dict()
    svg: str = vl_convert.vegalite_to_svg(specification, allowed_base_urls=[])
    return svg


def _axes(options: Sequence[RankedOption], comparison: ComparisonDocument) -> Axes | None:
    hours = [quantity for option in options if (quantity := option.campaign_hours)]
    usd = [quantity for option in options if (quantity := option.payable_usd)]
    if not hours or not usd:
        return None
    per_unit = HOURS_PER_DAY if max(quantity.value for quantity in hours) >= DAYS_FROM_HOURS else 1.0
    return Axes(
        hours_per_unit=per_unit,
        time_domain=_domain(hours, limit=comparison.deadline_hours, divisor=per_unit),
        usd_domain=_domain(usd, limit=comparison.budget_usd, divisor=1.0),
    )


def _domain(quantities: Sequence[Quantity], *, limit: float | None, divisor: float) -> tuple[float, float]:
    """Return the ends of an axis: all ranges with a margin, and the limit unless it is far away."""
    values = [quantity.value for quantity in quantities]
    low = min(quantity.low if quantity.low > 0 else quantity.value / 10 for quantity in quantities)
    high = max(quantity.high for quantity in quantities)
    if limit is not None and min(values) / FAR_FACTOR < limit < max(values) * FAR_FACTOR:
        low, high = min(low, limit), max(high, limit)
    return low / divisor / MARGIN, high / divisor * MARGIN


def _row(option: RankedOption, axes: Axes, comparison: ComparisonDocument) -> dict[str, Any]:
    hours, usd = option.campaign_hours, option.payable_usd
    assert hours is not None
    assert usd is not None
    unit = axes.hours_per_unit
    return {
        "label": str(option.rank or "-"),
        "option": name_text(option),
        "accelerators": accelerators_text(option),
        "time": hours.value / unit,
        "time low": max(hours.low / unit, axes.time_domain[0]),
        "time high": hours.high / unit,
        "usd": usd.value,
        "usd low": max(usd.low, axes.usd_domain[0]),
        "usd high": usd.high,
        "time text": f"{value_text(hours)} ({interval_text(hours)})",
        "cost text": f"{value_text(usd)} ({interval_text(usd)}), {usd.basis.value}",
        "time basis": hours.basis.value,
        "front": option.pareto,
        "recommended": option.id == comparison.recommended,
        "verdict": option.why_not or "recommended",
    }


def _joined_labels(rows: list[dict[str, Any]], axes: Axes) -> list[dict[str, Any]]:
    """Join the ranks of options at the same spot into one label, `4, 5`."""
    spots: dict[tuple[int, int], dict[str, Any]] = {}
    for row in rows:
        spot = _cell(row["time"], axes.time_domain), _cell(row["usd"], axes.usd_domain)
        first = spots.setdefault(spot, row)
        if first is not row:
            first["label"] += f", {row['label']}"
            row["label"] = ""
    return rows


def _cell(value: float, domain: tuple[float, float]) -> int:
    return round(math.log(value / domain[0]) / math.log(domain[1] / domain[0]) * 80)


def _limit_layers(alt: Any, comparison: ComparisonDocument, axes: Axes) -> list[alt.Chart]:
    layers = []
    x = alt.X("time:Q", scale=_log(alt, axes.time_domain))
    y = alt.Y("usd:Q", scale=_log(alt, axes.usd_domain))
    line = {"color": INK, "strokeDash": [6, 4], "strokeWidth": 1.5, "clip": True}
    deadline_hours = comparison.deadline_hours
    if deadline_hours is not None and _within(deadline_hours / axes.hours_per_unit, axes.time_domain):
        row = {"time": deadline_hours / axes.hours_per_unit, "text": f"deadline {comparison.deadline}"}
        chart = alt.Chart(inline_data(alt, [row]))
        layers.append(chart.mark_rule(**line).encode(x=x, tooltip="text:N"))
        text = chart.mark_text(align="right", baseline="top", dx=-5, dy=5, color=INK, fontSize=12)
        layers.append(text.encode(x=x, y=alt.value(0), text="text:N"))
    if comparison.budget_usd is not None and _within(comparison.budget_usd, axes.usd_domain):
        budget = f"budget {number_text(comparison.budget_usd, Unit.USD)} USD"
        chart = alt.Chart(inline_data(alt, [{"usd": comparison.budget_usd, "text": budget}]))
        layers.append(chart.mark_rule(**line).encode(y=y, tooltip="text:N"))
        text = chart.mark_text(align="left", baseline="bottom", dx=5, dy=-4, color=INK, fontSize=12)
        layers.append(text.encode(x=alt.value(0), y=y, text="text:N"))
    return layers


def _log(alt: Any, domain: tuple[float, float]) -> Any:
    return alt.Scale(type="log", domain=list(domain), nice=False)


def _axis(alt: Any, domain: tuple[float, float]) -> Any:
    return alt.Axis(format=",.6~g", values=ticks(domain), labelOverlap="greedy")


def ticks(domain: tuple[float, float]) -> list[float]:
    """Return round numbers in a logarithmic domain: 1, 2 and 5 times powers of ten, or every digit if it is narrow."""
    exponents = range(math.floor(math.log10(domain[0])), math.ceil(math.log10(domain[1])) + 1)
    for digits in ((1,), (1, 2, 5), range(1, 10), [tenth / 10 for tenth in range(10, 100)]):
        ticks = [float(f"{digit}e{exponent}") for exponent in exponents for digit in digits]
        ticks = [value for value in ticks if _within(value, domain)]
        if len(ticks) >= 5:
            return ticks
    return ticks


def inline_data(alt: Any, rows: list[dict[str, Any]]) -> Any:
    """Return rows as data of an altair chart. Wraps an untyped function."""
    return alt.Data(values=rows)


def _within(value: float, domain: tuple[float, float]) -> bool:
    return math.isfinite(value) and domain[0] <= value <= domain[1]


def _missing(option: RankedOption) -> str:
    problems = []
    for name, quantity in (("time", option.campaign_hours), ("cost", option.payable_usd)):
        if quantity is None:
            problems.append(f"{name} not known")
        elif quantity.value <= 0:
            problems.append(f"{name} 0, which a log axis cannot show")
    return ", ".join(problems)
