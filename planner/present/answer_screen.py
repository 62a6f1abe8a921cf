"""Shows the answers of `compare`, `campaign` and `estimate`: title, headline, table and further commands.

Below the table it writes the basis of an answer: reasons, bills, notes and assumptions, each once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from planner.decide.recommend.phrases import Phrases, nothing_to_pay
from planner.decide.recommend.wording import confidence_text, duration_text
from planner.model.answer.documents import (
    CampaignDocument,
    ComparisonDocument,
    EstimateDocument,
    FeasiblePlan,
    PlacedRuns,
)
from planner.model.answer.option_estimate import OptionEstimate
from planner.model.currency import Currency
from planner.model.owning.acquisition import Hold
from planner.model.plan.campaign_limits import CampaignLimits
from planner.present.bills import bill_text
from planner.present.columns.entry import Entry, entries_of
from planner.present.facts import name_text
from planner.present.option_marks import marks_explained
from planner.present.option_table import Scales, option_lines, scales
from planner.present.screen import again, command_item, fewer_rows, wrapped, wrapped_items
from planner.present.table import price_text, quantity_text
from planner.quantity.time_units import SECONDS_PER_HOUR
from planner.text.number_text import percent_text

SOURCES = ("Sources", "--details")
LATER = 1.05
"""Ratio of a plan's time to the span of its lines from which the screen explains the difference."""


@dataclass(frozen=True)
class Screen:
    """Content of a screen before it is fitted to a width."""

    title: str
    headline: Sequence[str]
    entries: Sequence[Entry]
    currency: Currency | None
    commands: Sequence[tuple[str, str]]
    """Purpose and text of each command."""
    notes: Sequence[str] = ()
    answer_id: str | None = None
    """Id of the answer; None for an answer that is older than ids."""
    more: Sequence[str] = ()
    """Keys of columns besides the usual ones."""


def comparison_screen(document: ComparisonDocument, *, plan: str | None) -> Screen:
    """Show the recommendation and the options, best first.

    `plan` is the plan's file with the given options. Without a file, no further commands are shown.
    """
    commands = [("Why", f"planner explain {plan}")] if plan else []
    if plan and document.mix is not None:
        commands.insert(0, ("What runs when", f"planner campaign {plan}"))
    owned = [option for option in document.options if option.site is not None]
    if (
        plan and owned and all(option.usd_total is not None for option in owned)
    ):  # otherwise own-or-rent may have no answer
        commands.append(("Own or rent", f"planner own-or-rent {plan}"))
    commands.append(SOURCES)
    headline = document.headline if document.confidence is not None else (document.sentence,)
    entries = entries_of(document)
    if document.mix is not None:
        headline = (*headline, _likely(document.mix, scales(entries, document.currency)))
    return Screen(
        f"{document.plan}: {_limits(document)}", headline, entries, document.currency, commands,
        document.notes, document.answer_id,
    )  # fmt: skip


def _likely(mix: FeasiblePlan, units: Scales) -> str:
    """Return the likely time and cost of a mix, with the 90 % ranges and the chance that rows have."""
    hours, usd = mix.campaign_hours, units.amount(mix.campaign_usd)
    time = " ".join(filter(None, (units.time.value(hours), units.time.title, units.time.interval(hours))))
    cost = " ".join(filter(None, (units.money.value(usd), units.money.title, units.money.interval(usd))))
    before = " before credits" if mix.credits_usd else ""
    chance = "" if mix.chance_both is None else f", {percent_text(mix.chance_both)}"
    return f"Mix: {time}, {cost}{before}{chance}."


BINDING = {
    "deadline": "the deadline", "budget": "the budget", "confidence": "no plan is sure enough",
    "nodes_not_asked": "no option has a number of nodes that its trainings may use",
}  # fmt: skip
"""Words for the limits that no plan keeps, by code."""


def campaign_screen(document: CampaignDocument, *, plan: str | None) -> Screen:
    """Show the whole campaign, and the campaign on each option alone in the plan's order."""
    commands = [*([("Recommendation", f"planner compare {plan}")] if plan else []), SOURCES]
    return Screen(
        f"{document.plan}: {_trainings(document.runs)}", _planned(document), entries_of(document), document.currency,
        commands, document.notes, document.answer_id,
    )  # fmt: skip


def _planned(document: CampaignDocument) -> list[str]:
    """Return the plan in sentences, with a line for each option that takes part."""
    if document.feasible is None:
        return []
    limits = CampaignLimits()
    if document.confidence is not None:
        limits = CampaignLimits(confidence=document.confidence)
    phrases = Phrases(limits, document.currency)
    if not document.feasible:
        missed = [BINDING.get(code, code.replace("_", " ")) for code in document.binding_limits]
        lines = [f"Nothing fits: {' and '.join(missed) or 'no plan was found'}."]
        near = document.nearest_feasible
        if near is not None:
            lines.append(f"Nearest: {_total(near, phrases)}")
        return lines + ([_line(placed, near, phrases) for placed in near.placements] if near is not None else [])
    lines = [
        f"Plan: {_total(document, phrases)}",
        *(_line(placed, document, phrases) for placed in document.placements),
    ]
    return [*lines, *_last_of_several(document)]


def _last_of_several(document: CampaignDocument) -> list[str]:
    """Explain why a plan takes longer than its lines: each end is a median, and the latest of several is later."""
    assert document.campaign_hours is not None, "it is a plan"
    starts = [datetime.fromisoformat(placement.start) for placement in document.placements]
    ends = [datetime.fromisoformat(placement.end) for placement in document.placements]
    likely = (max(ends) - min(starts)).total_seconds() / SECONDS_PER_HOUR + _wait_hours(document)
    hours = document.campaign_hours.value
    if len(ends) < 2 or hours <= LATER * likely:
        return []
    return [f"Each line is likely; in half of all cases the last of them ends within {duration_text(hours)}."]


def _total(plan: CampaignDocument | FeasiblePlan, phrases: Phrases) -> str:
    assert plan.campaign_usd is not None, "it is a plan"
    assert plan.campaign_hours is not None
    gap = "best found" if plan.optimality_gap_pct is None else "proven best"
    if plan.optimality_gap_pct:
        gap = f"within {plan.optimality_gap_pct:.2g} % of the best"
    before = " before credits" if plan.credits_usd else ""
    usd = phrases.money(plan.campaign_usd.value)
    hours, wait = plan.campaign_hours.value, _wait_hours(plan)
    waits = f", {duration_text(wait)} of it before the start" if hours > LATER * (hours - wait) else ""
    likely = f"{usd}{before}, {duration_text(hours)}{waits} ({gap})."
    return " ".join(filter(None, (likely, _promise(plan, phrases), _chances(plan))))


def _wait_hours(plan: CampaignDocument | FeasiblePlan) -> float:
    """Return the known hours from the campaign's start until the first of its machines is there."""
    waits = [placed.earliest_start_hours for placed in plan.placements]
    return min((0.0 if wait is None else wait.value for wait in waits), default=0.0)


def _promise(plan: CampaignDocument | FeasiblePlan, phrases: Phrases) -> str:
    """Write the bounds that the plan keeps with the confidence. Draws beyond its windows count as never done."""
    if plan.usd_confident is None:
        return ""
    done = "not done within its windows"
    if plan.done_by_confident is not None:
        done = f"done by {plan.done_by_confident}"
    sure = confidence_text(phrases.limits.confidence)
    after = " after credits" if plan.credits_usd else ""
    usd = nothing_to_pay(plan, bill=plan.campaign_usd) or f"at most {phrases.most(plan)}{after}"
    return f"{sure[0].upper()}{sure[1:]}: {done}, {usd}."


def _chances(plan: CampaignDocument | FeasiblePlan) -> str:
    """Write the chance to keep all limits at once, and the chance for each limit."""
    chances = (
        ("the deadline", plan.chance_deadline), ("the budget", plan.chance_budget),
        ("its windows", plan.chance_windows),
    )  # fmt: skip
    known = [(what, chance) for what, chance in chances if chance is not None]
    if len(known) < 2 or plan.chance_both is None:
        return " ".join(f"{percent_text(chance)} to keep {what}." for what, chance in known)
    parts = ", ".join(f"{what} {percent_text(chance)}" for what, chance in known)
    return f"{percent_text(plan.chance_both)} to keep all limits at once: {parts}."


def _line(placed: PlacedRuns, plan: CampaignDocument | FeasiblePlan, phrases: Phrases) -> str:
    when = f"{_moment(placed.start)} to {_moment(placed.end)}"
    before = " before credits" if plan.credits_usd else ""
    many = _trainings(placed.runs)
    return f"{many[0].upper()}{many[1:]} on {placed.name}, {when}, {phrases.money(placed.usd)}{before}."


def _moment(iso: str) -> str:
    """Write a moment to the minute: `2026-12-01 00:00`."""
    return iso[:16].replace("T", " ")


def estimate_screen(document: EstimateDocument, *, plan: str | None) -> Screen:
    """Show one training on each option, in the plan's order."""
    commands = [*([("All trainings", f"planner compare {plan}")] if plan else []), SOURCES]
    return Screen(
        f"{document.plan}: one training", (), entries_of(document), document.currency, commands, document.notes,
        document.answer_id,
    )  # fmt: skip


def screen_lines(screen: Screen, *, width: int, whole: bool = False) -> list[str]:
    """Return the screen in lines of at most `width`. Without `whole`, show as many rows as 30 lines hold."""
    rows = len(screen.entries)
    return _lines(screen, rows, width) if whole else fewer_rows(lambda shown: _lines(screen, shown, width), rows)


def _lines(screen: Screen, shown: int, width: int) -> list[str]:
    units = scales(screen.entries, screen.currency)
    kept = _shown_entries(screen.entries, shown)
    lines = [*wrapped(screen.title, width=width), ""]
    for sentence in screen.headline:
        lines += wrapped(sentence, width=width, indent="  ")
    lines += [""] if screen.headline else []
    lines += option_lines(kept, units, width=width, more=screen.more)
    left = len(screen.entries) - len(kept)
    lines += [f"and {left} more: --all"] if left else []
    explained = marks_explained([entry.option for entry in kept], units.money_text)
    lines += wrapped_items(explained, width=width, separator="  ")
    for note in screen.notes:
        lines += wrapped(f"{note[0].upper()}{note[1:]}.", width=width, indent="  ")
    commands = [command_item(label, command, width=width) for label, command in screen.commands]
    commands += again(screen.answer_id)
    return [*lines, *wrapped_items(commands, width=width, separator="    ")]


def _shown_entries(entries: Sequence[Entry], count: int) -> list[Entry]:
    """Return the first entries, with the marked ones and the first owned one of the others."""
    owned = next((entry for entry in entries if entry.option.hold is Hold.HAVE), None)
    marked = [entry for entry in entries[count:] if entry.mark or entry is owned]
    return [*entries[: count - len(marked)], *marked] if count < len(entries) else list(entries)


def _limits(document: ComparisonDocument) -> str:
    """Write the work with its limits: `50 trainings by 2027-06-30 for 20,000 USD`."""
    by = f" by {document.deadline}" if document.deadline else ""
    budget = ""
    if document.budget_usd is not None:
        budget = f" for {document.budget_usd:,.0f} USD"
        if document.currency is not None:
            budget = f" for {document.budget_usd * document.currency.per_usd:,.0f} {document.currency.code}"
    return _trainings(document.runs) + by + budget


def _trainings(runs: int) -> str:
    return "one training" if runs == 1 else f"{runs:,} trainings"


INDENT = "    "


def details_lines(document: EstimateDocument | CampaignDocument | ComparisonDocument, *, width: int) -> list[str]:
    """Return each option with its id, price, bill and reasons, then the notes with their rows, then the assumptions."""
    notes: dict[str, list[str]] = {}
    texts = ["", "Options"]
    for number, option in enumerate(document.options, start=1):
        texts.append(f"{number}  {name_text(option)} [{option.id}]: {'; '.join(_facts(option))}")
        for note in dict.fromkeys((*option.doubts, *option.notes, *_sources(option))):
            if note in document.notes:  # already shown below the table
                continue
            notes.setdefault(note, []).append(str(number))
    texts += ["", "Notes, each with the rows it is of"] if notes else []
    texts += [f"{', '.join(numbers)}  {note}" for note, numbers in notes.items()]
    texts += ["", "Assumptions"] if document.assumptions else []
    texts += [
        f"{assumption.name}: {quantity_text(assumption.quantity)}; {assumption.quantity.source}"
        for assumption in document.assumptions
    ]
    return [line for text in texts for line in wrapped(text, width=width, indent=INDENT) or [""]]


def _sources(option: OptionEstimate) -> Iterator[str]:
    """Yield the sources of the price and of the network between nodes. The notes cover a network of the plan."""
    if option.offer is not None and option.price is not None:
        dated = "" if option.price.as_of is None else f" ({option.price.as_of})"
        yield f"price from {option.price.source}{dated}"
    network = option.network
    if network is not None and network.as_of is not None and network.low_gbit_per_s is None:
        kind = "" if network.kind is None else f" of {network.kind.value}"
        yield f"{network.gbit_per_s:,g} Gbit/s{kind} between nodes: {network.source} ({network.as_of})"


def _facts(option: OptionEstimate) -> Iterator[str]:
    if option.throughput is not None:
        yield quantity_text(option.throughput)
    if option.price is not None:
        yield f"price {price_text(option)}"
    if option.not_allowed is not None:
        yield f"not allowed: {option.not_allowed}"
    if option.why_not is not None:
        yield option.why_not
    if option.bill is not None and option.offer is not None:
        yield bill_text(option.bill)
