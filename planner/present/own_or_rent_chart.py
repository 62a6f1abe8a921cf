"""Draws the own-or-rent curve, as an altair chart or as SVG, without network access."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner.model.answer.own_or_rent import OwnOrRentDocument
from planner.present.charts import inline_data

if TYPE_CHECKING:
    import altair as alt

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
