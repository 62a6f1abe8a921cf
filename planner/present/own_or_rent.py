"""Writes the answer to "own or rent" as rows of tables, and draws its curve as an altair chart or as SVG."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner.model.answer.own_or_rent import OwnOrRentDocument
from planner.model.currency import LocalAmount
from planner.model.quantity import Quantity, Unit
from planner.present.bills import amount_text
from planner.present.charts import inline_data
from planner.present.short_figures import Scale
from planner.present.table import NOT_KNOWN, Row, quantity_text
from planner.quantity.conversion import derived, interval

if TYPE_CHECKING:
    import altair as alt

PERCENT = 0.01


def cost_rows(document: OwnOrRentDocument) -> list[Row]:
    """Return one row per part of the yearly cost, and the sum, for the headline's year if known."""
    lines = document.year_parts or document.annual
    rows = [
        {
            "part": line.part,
            "USD a node-year": quantity_text(line.usd_per_node_year),
            "USD/busy GPU-h": f"{line.usd_per_busy_gpu_hour + 0.0:.4f}",
        }
        for line in lines
    ]
    total = {
        "part": "total",
        "USD a node-year": quantity_text(_a_node_year(document)),
        "USD/busy GPU-h": f"{_per_busy_hour(document).value:.4f}",
    }
    return [*rows, total]


def _a_node_year(document: OwnOrRentDocument) -> Quantity:
    year = document.by_plan
    if year is None or not document.year_parts:
        return document.annual_usd_per_node
    usd = next(option.usd_per_year for option in year.options if option.id == year.owning)
    assert usd is not None, "the machine that is asked about has a cost"
    per_node = interval(usd, Unit.USD_PER_YEAR).scaled(1 / document.nodes)
    return derived(per_node, Unit.USD_PER_YEAR, usd, source="sum of the parts")


def _per_busy_hour(document: OwnOrRentDocument) -> Quantity:
    if document.by_plan is None or not document.year_parts:
        return document.usd_per_busy_gpu_hour
    return document.by_plan.usd_per_busy_gpu_hour


def rival_rows(document: OwnOrRentDocument) -> list[Row]:
    """Return one row per rented option, without the columns that are empty in all of them."""
    several = len({rival.why_not for rival in document.rivals}) > 1
    rows = [
        {
            "rented": rival.display_name or rival.id,
            "USD/GPU-h": _short(rival.usd_per_gpu_hour),
            "speed of ours": _short(rival.speed_ratio),
            "USD of the same work": _short(rival.usd_per_owned_gpu_hour),
            "break-even % busy": _short(rival.break_even_utilisation, divisor=PERCENT),
            "NPV of owning, USD": _short(rival.npv_usd),
            "after tax, USD": _short(rival.npv_after_tax_usd),
            "payback, months": _short(rival.payback_months),
            "why not": rival.why_not or "" if several else "",
        }
        for rival in document.rivals
    ]
    return [
        {name: row[name] for name in row if any(each[name] not in ("", NOT_KNOWN) for each in rows)} for row in rows
    ]


def rival_title(document: OwnOrRentDocument) -> str:
    """Return the title of the table of rented options, with the reason that all of them share."""
    title, reasons = "Against the cloud, by the price of the hour", {rival.why_not for rival in document.rivals}
    return f"{title} ({reasons.pop()})" if len(reasons) == 1 and reasons != {None} else title


def not_compared_rows(document: OwnOrRentDocument) -> list[Row]:
    """Return one row per machine of the year that is not compared, with the reason."""
    year = document.by_plan
    left_out = [] if year is None else [option for option in year.options if option not in year.compared]
    return [{"machine": option.display_name, "why not": option.why_not or NOT_KNOWN} for option in left_out]


def choice_rows(document: OwnOrRentDocument) -> list[Row]:
    """Return one row per choice, cheapest first."""
    return [
        {
            "choice": choice.kind.value.replace("_", " "),
            "machine": choice.display_name or choice.id,
            "nodes": str(choice.nodes or NOT_KNOWN),
            "trainings a year": f"{choice.trainings_per_year:.4g}",
            "USD a year": _short(choice.usd_per_year) + in_own_currency(choice.local_per_year),
            "USD a training": _short(choice.usd_per_training) + in_own_currency(choice.local_per_training),
            "USD at once": NOT_KNOWN if choice.usd_upfront is None else f"{choice.usd_upfront:,.0f}",
            "why not": choice.why_not or "",
        }
        for choice in document.choices
    ]


def sensitivity_rows(document: OwnOrRentDocument) -> list[Row]:
    """Return one row per input, the most influential first."""
    return [
        {
            "input": row.input,
            "from": f"{row.low:.4g}",
            "now": f"{row.value:.4g}",
            "to": f"{row.high:.4g} {row.unit}",
            "own - rent, USD/GPU-h": f"{row.at_low_usd:+.3f} to {row.at_high_usd:+.3f}",
            "switching value": "none in range" if row.flips_at is None else f"{row.flips_at:.4g}",
        }
        for row in document.sensitivities
    ]


def detail_notes(document: OwnOrRentDocument) -> list[str]:
    """Return both questions with their answers, the sentence at the site's busy share, incentives, defaults, notes."""
    local = in_own_currency(document.local_per_busy_gpu_hour)
    lines = [
        document.full_question,
        f"  {quantity_text(document.usd_per_busy_gpu_hour)}{local}",
        document.marginal_question,
        f"  {quantity_text(document.marginal_usd_per_busy_gpu_hour)}",
        document.site_sentence,
    ]
    for incentive in document.incentives:
        counts = "counts" if incentive.counts else "does not count"
        lines.append(f"incentive {incentive.name}: {counts}, {incentive.reason}")
    defaults = [resolved.name for resolved in document.inputs if resolved.default]
    if defaults:
        lines.append(f"default values are used for: {', '.join(defaults)} (see --inputs)")
    return [*lines, *document.notes, *([document.why_not] if document.why_not else [])]


def input_rows(document: OwnOrRentDocument) -> list[Row]:
    """Return one row per resolved input."""
    return [
        {
            "input": resolved.name,
            "value": quantity_text(resolved.quantity),
            "default": "default" if resolved.default else "",
            "source": resolved.quantity.source,
        }
        for resolved in document.inputs
    ]


def in_own_currency(amount: LocalAmount | None) -> str:
    """Write an amount in the plan's own currency, to follow the one in USD; empty if there is none."""
    return "" if amount is None else f" = {amount_text(amount)}"


def _short(quantity: Quantity | None, *, divisor: float = 1.0) -> str:
    """Write a value and its 90 % range in the unit of its column."""
    if quantity is None:
        return NOT_KNOWN
    scale = Scale("", divisor, money=True)
    return f"{scale.value(quantity)} {scale.interval(quantity)}".strip()


OWN, RENT = "#0072B2", "#777777"
HIGHEST = 2.0
"""End of the axis, relative to the highest rent or the cost at the planned share. The curve rises far beyond it."""


def curve_chart(document: OwnOrRentDocument) -> alt.LayerChart:
    """Draw USD per busy GPU-hour against the busy share: the curve with its band, and a line for each rent.

    A rent is the price of the work that one owned accelerator does in an hour. Owning breaks even where a line crosses
    the curve.
    """
    import altair as alt

    points = [
        {
            "busy": point.busy_fraction,
            "usd": point.usd_per_busy_gpu_hour,
            "low": point.low_usd_per_busy_gpu_hour,
            "high": point.high_usd_per_busy_gpu_hour,
        }
        for point in document.curve
    ]
    rents = {
        rival.id: rival.usd_per_owned_gpu_hour.value
        for rival in document.rivals
        if rival.usd_per_owned_gpu_hour is not None
    }
    highest = max([document.usd_per_busy_gpu_hour.value, *rents.values()])
    scale = alt.Scale(domain=[0, min(HIGHEST * highest, max(point["high"] for point in points))])
    x = alt.X("busy:Q", title="Share of the hours in which it works", axis=alt.Axis(format="%"))
    y = alt.Y("usd:Q", title="USD per busy GPU-hour", scale=scale)
    curve = alt.Chart(inline_data(alt, points))
    lines = alt.Chart(inline_data(alt, [{"rented": name, "usd": usd} for name, usd in rents.items()]))
    layers: list[alt.Chart] = [
        curve.mark_area(color=OWN, opacity=0.15, clip=True).encode(x=x, y=alt.Y("low:Q", scale=scale), y2="high:Q"),
        curve.mark_line(color=OWN, strokeWidth=2, clip=True).encode(x=x, y=y),
    ]
    if rents:
        layers.append(lines.mark_rule(color=RENT, strokeDash=[6, 4]).encode(y=y))
        text = lines.mark_text(align="right", baseline="bottom", dx=-4, dy=-3, color=RENT, fontSize=11)
        layers.append(text.encode(x=alt.value("width"), y=y, text="rented:N"))
    chart = alt.LayerChart(layer=layers)
    return chart.properties(width=720, height=420, title=f"{document.name}: own or rent", description=document.sentence)


def curve_svg(document: OwnOrRentDocument) -> str | None:
    """Return the chart as SVG, drawn offline; None if the app's extra is missing."""
    try:
        import altair  # noqa: F401
        import vl_convert
    except ImportError:
        return None
    specification = curve_chart(document).properties(background="white").to_dict()
    svg: str = vl_convert.vegalite_to_svg(specification, allowed_base_urls=[])
    return svg
