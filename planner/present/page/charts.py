"""Draws charts of pages: a year's cost against the number of trainings, and a campaign's spending over time."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC
from typing import TYPE_CHECKING, Any

from planner.model.answer.planned_year import PlannedYear
from planner.present.charts import inline_data
from planner.present.page.campaign import CampaignPage
from planner.present.page.words import MoneyFormat, Words

if TYPE_CHECKING:
    import altair as alt

COLOURS = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7"]
DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 1], [1, 3]]
MOST_LINES = 6
"""Largest number of lines: the machine in question, and the cheapest other ways."""
FEWEST = 10
"""Smallest end of the axis. It ends at three times the planned trainings, and at least at 30."""


def year_chart(costs: Mapping[int, PlannedYear], asked: float, money: MoneyFormat) -> alt.LayerChart | None:
    """Return the chart; None if fewer than two numbers of trainings have a cost."""
    import altair as alt

    rows, names = _rows(costs, asked, money)
    if len({row["trainings"] for row in rows}) < 2:
        return None
    words = money.words
    data = inline_data(alt, rows)
    x = alt.X("trainings:Q", title=words("Trainings a year"), scale=alt.Scale(nice=False))
    y = alt.Y("cost:Q", title=words("{code} a year", code=money.code), scale=alt.Scale(zero=True))
    scale = alt.Scale(domain=names, range=COLOURS[: len(names)])
    dash = alt.Scale(domain=names, range=DASHES[: len(names)])
    legend = alt.Legend(
        title=None, orient="bottom", columns=1, labelLimit=300, symbolType="stroke", symbolStrokeWidth=3, symbolSize=400
    )
    tooltip = [
        alt.Tooltip("way:N", title=words("Way")),
        alt.Tooltip("trainings:Q", title=words("Trainings a year")),
        alt.Tooltip("text:N", title=words("A year")),
    ]
    lines = alt.Chart(data).mark_line(strokeWidth=2.5).encode(
        x=x, y=y, color=alt.Color("way:N", scale=scale, legend=legend),
        strokeDash=alt.StrokeDash("way:N", scale=dash, legend=legend), tooltip=tooltip,
    )  # fmt: skip
    asked_mark = alt.Chart(inline_data(alt, [{"trainings": asked, "text": words("you")}]))
    rule = asked_mark.mark_rule(color="#777777", strokeDash=[6, 4], strokeWidth=1.5).encode(x="trainings:Q")
    text = asked_mark.mark_text(
        align="left", baseline="top", dx=5, dy=2, color="#777777", fontSize=13, fontWeight="bold"
    )
    layers: list[Any] = [lines, rule, text.encode(x="trainings:Q", y=alt.value(0), text="text:N")]
    chart = alt.LayerChart(layer=layers)
    described = words("Cost of a year against trainings, by way: {ways}", ways="; ".join(names))
    return chart.properties(width="container", height=480, description=described)


def _rows(costs: Mapping[int, PlannedYear], asked: float, money: MoneyFormat) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the points and the names of the lines, the machine in question first."""
    if not costs:
        return [], []
    nearest = costs[min(costs, key=lambda count: abs(count - asked))]
    first = sorted(nearest.compared, key=lambda option: option.id != nearest.owning)[:MOST_LINES]
    names = {option.id: option.display_name for option in first}
    per_usd = money.currency.per_usd if money.currency else 1.0
    rows = [
        {
            "way": names[option.id],
            "trainings": count,
            "cost": option.usd_per_year.value * per_usd,
            "text": money.text(option.usd_per_year.value),
        }
        for count, year in costs.items()
        if year.trainings is None or year.trainings >= count
        for option in year.compared
        if option.id in names and option.usd_per_year is not None
    ]
    return rows, list(names.values())


def counts_around(asked: int) -> tuple[int, ...]:
    """Return the numbers of trainings at which costs are computed."""
    scale_count = max(asked, FEWEST)
    return tuple(
        sorted(
            {1, asked, scale_count // 2, scale_count, scale_count + scale_count // 2, 2 * scale_count, 3 * scale_count}
        )
    )


def lacking(words: Words) -> str:
    """Return the text that replaces a missing chart."""
    return words("There is nothing to draw: the time of a training is not known.")


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
