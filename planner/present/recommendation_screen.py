"""Shows a recommendation on a screen: the plan, its certainty, changes that would reverse it, and alternatives."""

from __future__ import annotations

from collections.abc import Sequence

from planner.decide.recommend.phrases import Phrases
from planner.decide.recommend.rank import TIE_FRACTION
from planner.decide.recommend.wording import ratio_text
from planner.model.answer.recommendation import Alternative, RecommendationDocument
from planner.model.plan.campaign_limits import CampaignLimits
from planner.present.screen import Column, again, command_item, fewer_rows, table_lines, wrapped, wrapped_items
from planner.present.table import Row
from planner.text.number_text import percent_text

CENT = 0.005
TURNS_SHOWN = 4
MEASUREMENTS_SHOWN = 1
PLACEMENTS = (
    Column(key="machine", title="plan", wrap=24),
    Column(key="runs", title="runs", right=True),
    Column(key="start", title="start"),
    Column(key="end", title="likely end"),
    Column(key="usd", title="cost", right=True),
)
NEAREST = (Column(key="machine", title="nearest plan", wrap=24), *PLACEMENTS[1:])
ALTERNATIVES = (
    Column(key="machine", title="not recommended", wrap=20),
    Column(key="usd", title="at most", right=True, drop=2),
    Column(key="done", title="done by", drop=1),
    Column(key="why", title="why not", wrap=18),
)


def screen_lines(document: RecommendationDocument, *, plan: str, width: int, every: bool = False) -> list[str]:
    """Return the whole answer as lines of a screen. `every` shows all turning points and all other options."""
    count = len(document.alternatives)
    return _lines(document, count, plan, width, every=True) if every else fewer_rows(
        lambda shown: _lines(document, shown, plan, width, every=False), count
    )  # fmt: skip


def recommendation_rows(document: RecommendationDocument) -> list[Row]:
    """Return one row per change that would reverse the answer, in plain numbers for programs."""
    rows = [
        {
            "what": "measurement", "input": "speed", "option": measurement.option, "today": "", "at": "", "unit": "",
            "then": measurement.instead or "", "USD": f"{measurement.usd:.2f}",
            "worth USD": f"{measurement.worth_usd:.2f}", "says": measurement.sentence,
            "command": measurement.command or "",
        }
        for measurement in document.measurements
    ]  # fmt: skip
    rows += [
        {
            "what": "turning point", "input": point.input, "option": point.option or "", "today": f"{point.today:.6g}",
            "at": f"{point.at:.6g}", "unit": point.unit, "then": point.then or "", "USD": "", "worth USD": "",
            "says": point.sentence, "command": "",
        }
        for point in document.turning_points
    ]  # fmt: skip
    head: Row = {
        "what": "recommendation", "input": "", "option": document.recommended or document.nearest or "", "today": "",
        "at": "", "unit": "", "then": "", "USD": "", "worth USD": "", "says": document.sentence, "command": "",
    }  # fmt: skip
    return [head, *rows]


def _lines(document: RecommendationDocument, shown: int, plan: str, width: int, *, every: bool) -> list[str]:
    lines = [*wrapped(document.plan, width=width), ""]
    for sentence in document.headline:
        lines += wrapped(sentence, width=width, indent="  ")
    columns = PLACEMENTS if document.feasible else NEAREST
    lines += ["", *table_lines(columns, _placements(document), width=width)] if document.placements else []
    for text in (_chance_text(document), _robustness(document)):
        lines += wrapped(text, width=width, indent="  ") if text else []
    lines += ["", "What would change it:"]
    changes = _measurements(document, every=every) + _turns(document, every=every)
    for text in changes or ["Nothing that was tried within a factor of 5, nor any measurement worth its cost."]:
        lines += [f"  {line}" for line in wrapped(text, width=width - 2, indent="  ")]
    if document.alternatives:
        lines += ["", *table_lines(ALTERNATIVES, _alternatives(document)[:shown], width=width)]
        left = len(document.alternatives) - shown
        lines += [f"and {left} more: --all"] if left > 0 else []
    for note in document.notes:
        lines += wrapped(f"{note[0].upper()}{note[1:]}.", width=width, indent="  ")
    commands = [("All options", f"planner compare {plan}"), ("Why", f"planner explain {plan}")]
    return [
        *lines,
        *wrapped_items(
            [*(command_item(*command, width=width) for command in commands), *again(document.answer_id)],
            width=width,
            separator="    ",
        ),
    ]


def _phrases(document: RecommendationDocument) -> Phrases:
    """Return the phrases for amounts, in the plan's currency where it has one."""
    return Phrases(CampaignLimits(), document.currency)


def _placements(document: RecommendationDocument) -> list[dict[str, str]]:
    return [
        {
            "machine": placement.display_name, "runs": f"{placement.runs:,}", "start": str(placement.start),
            "end": str(placement.end), "usd": _phrases(document).money(placement.usd.value),
        }
        for placement in document.placements
    ]  # fmt: skip


def _chance_text(document: RecommendationDocument) -> str:
    """Write the chance that the plan keeps its limits; empty without limits."""
    chance = document.chance_both
    return "" if chance is None else f"It keeps the limits with {percent_text(min(chance, 0.99))}."


def _robustness(document: RecommendationDocument) -> str:
    """Write the cost of other confidences: `If you accept 50 %: 26 USD less, done by 2027-04-02.`"""
    parts = []
    own = next((level.done_by for level in document.at_confidence if level.confidence == document.confidence), None)
    for level in document.at_confidence:
        if level.confidence == document.confidence:
            continue
        asked = "if you accept" if level.confidence < document.confidence else "at"
        sure = f"{asked} {100 * level.confidence:.3g} %:"
        if level.recommended is None and not level.options:
            parts.append(f"{sure} no option")
        elif level.more_usd is not None:
            name = level.display_name or ("a mix" if level.options and document.recommended is not None else None)
            other = f" ({name})" if name and level.recommended != document.recommended else ""
            more = "more" if level.more_usd >= 0 else "less"
            done = f", done by {level.done_by}" if level.done_by is not None and level.done_by != own else ""
            usd = _phrases(document).money(abs(level.more_usd))
            parts.append(f"{sure} {'the same cost' if abs(level.more_usd) < CENT else f'{usd} {more}'}{other}{done}")
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}." if parts else ""


def _measurements(document: RecommendationDocument, *, every: bool) -> list[str]:
    return [
        text
        for measurement in document.measurements[: None if every else MEASUREMENTS_SHOWN]
        for text in (measurement.sentence, *([f"  {measurement.command}"] if measurement.command else []))
    ]


def _turns(document: RecommendationDocument, *, every: bool) -> list[str]:
    points: Sequence[str] = [point.sentence for point in document.turning_points]
    return list(points if every else points[:TURNS_SHOWN])


def _alternatives(document: RecommendationDocument) -> list[dict[str, str]]:
    return [
        {
            "machine": alternative.display_name,
            "usd": "" if alternative.usd_confident is None else _phrases(document).most(alternative),
            "done": str(alternative.done_by_confident or ""),
            "why": _why(alternative, document),
        }
        for alternative in document.alternatives
    ]


def _why(alternative: Alternative, document: RecommendationDocument) -> str:
    """Write why an option is not recommended: for a feasible one, how much dearer and later it is."""
    own = next((level for level in document.at_confidence if level.confidence == document.confidence), None)
    base, end = (own.usd, own.done_by) if own is not None and document.feasible else (None, None)
    if (
        not alternative.feasible
        or alternative.usd_confident is None
        or alternative.done_by_confident is None
        or not base
        or end is None
    ):
        return alternative.why_not or ""
    days = (alternative.done_by_confident - end).days
    when = f"{abs(days)} {'day' if abs(days) == 1 else 'days'} {'later' if days > 0 else 'sooner'}"
    sold = alternative.after_sale_usd
    ratio = (alternative.usd_confident if sold is None else sold) / base
    tie = ": a tie" if 1 - TIE_FRACTION <= ratio < 1 and not days else ""
    return f"{ratio_text(ratio)}{tie}{f', {when}' if days else ''}"
