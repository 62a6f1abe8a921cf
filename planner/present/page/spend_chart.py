"""Draws the spending of a campaign over time, with its budget, as an altair chart."""

from __future__ import annotations

from datetime import UTC
from typing import Any

from planner.present.charts import inline_data
from planner.present.page.campaign import CampaignPage

LINE, LIMIT = "#0072B2", "#D55E00"
WITHIN_REACH = 4.0
"""Ratio of the budget to the spending beyond which it is only written, because it would flatten the line."""


def spend_chart(page: CampaignPage) -> Any:
    """Return the chart; None if there is no plan."""
    import altair as alt  # imported late: takes 0.5 s

    points = page.spent()
    if not points:
        return None
    words, money = page.words, page.money
    per_usd = page.document.currency.per_usd if page.document.currency else 1.0
    rows = [
        {"at": at.astimezone(UTC).isoformat(), "spent": usd * per_usd, "text": money.text(usd)} for at, usd in points
    ]
    x = alt.X("at:T", title=None)
    y = alt.Y("spent:Q", title=words("Spent ({code})", code=money.code), scale=alt.Scale(zero=True))
    tooltip = [alt.Tooltip("at:T", title=words("Day")), alt.Tooltip("text:N", title=words("Spent"))]
    base = alt.Chart(inline_data(alt, rows)).encode(x=x, y=y, tooltip=tooltip)
    layers = [base.mark_area(color=LINE, opacity=0.18), base.mark_line(color=LINE, strokeWidth=2.5, point=True)]
    budget = drawn_budget(page)
    if budget is not None:
        text = words("budget {usd}", usd=money.text(budget))
        limit = alt.Chart(inline_data(alt, [{"spent": budget * per_usd, "text": text}]))
        layers.append(limit.mark_rule(color=LIMIT, strokeDash=[6, 4], strokeWidth=2).encode(y="spent:Q"))
        label = limit.mark_text(align="left", baseline="bottom", dx=5, dy=-3, color=LIMIT, fontSize=12)
        layers.append(label.encode(y="spent:Q", x=alt.value(0), text="text:N"))
    described = words("What is spent by when: {usd} in all", usd=money.text(points[-1][1]))
    return alt.LayerChart(layer=layers).properties(width="container", height=260, description=described)


def drawn_budget(page: CampaignPage) -> float | None:
    """Return the budget if it is near enough to be drawn; else None."""
    budget, points = page.budget_usd, page.spent()
    if budget is None or not points or budget > WITHIN_REACH * points[-1][1]:
        return None
    return budget
