"""Renders a campaign as a page: a calendar of the trainings, and the spending over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo

from planner.model.answer.documents import CampaignDocument, FeasiblePlan, PlacedRuns
from planner.model.owning.acquisition import Hold
from planner.model.prices.offer import PriceKind
from planner.present.page.answer import KeyFigure, mix_figures
from planner.present.page.templating import render
from planner.present.page.words import MoneyFormat, Words

ROOM = 1.04
"""Length of the calendar, relative to the drawn work."""
WITHIN_REACH = 3.0
"""Ratio of a deadline to the work beyond which it is only written."""
PAID_AHEAD = (PriceKind.CAPACITY_BLOCK, PriceKind.LEASE)


@dataclass(frozen=True)
class CalendarBar:
    """A bar of the calendar, as shares of its width."""

    name: str
    runs: int
    nodes: int
    left: float
    width: float
    when: str
    usd: str
    groups: str


@dataclass(frozen=True)
class CampaignCalendar:
    """Bars of a calendar with its ends, and the position of the deadline; None if there is none or it is too far."""

    rows: Sequence[CalendarBar]
    deadline: float | None
    deadline_off: bool
    start: str
    end: str


@dataclass(frozen=True)
class CampaignPage:
    """A campaign with its limits and the language of the page."""

    document: CampaignDocument
    words: Words
    deadline: date | None
    budget_usd: float | None
    confidence: float

    @property
    def money(self) -> MoneyFormat:
        """Format of its amounts."""
        return MoneyFormat(self.words, self.document.currency)

    @property
    def plan(self) -> FeasiblePlan | None:
        """Plan of the campaign, else the nearest feasible one."""
        document = self.document
        if not document.feasible:
            return document.nearest_feasible
        assert document.campaign_usd is not None, "a plan has it"
        assert document.campaign_hours is not None, "a plan has it"
        names = FeasiblePlan.model_fields.keys() & CampaignDocument.model_fields.keys()
        return FeasiblePlan(**{name: getattr(document, name) for name in names})

    def headline_html(self) -> str:
        """Render the sentences of the headline."""
        return render("answer.html", "headline", self, self.words, sentences=self.sentences())

    def sentences(self) -> list[str]:
        """Return where the trainings run, or which limits forbid every plan."""
        words, document, plan = self.words, self.document, self.plan
        said = []
        if not document.feasible:
            limits = ", ".join(words(limit) for limit in document.binding_limits) or words("no plan was found")
            said.append(words("Nothing fits: {limits}.", limits=limits))
        if plan is None:
            return said
        said += [words("Nearest:")] if said else []
        placed = plan.placements
        if len(placed) == 1:
            runs, name = placed[0].runs, placed[0].name
            all_of_them = words("All {n} trainings on {name}.", n=f"{runs:,}", name=name)
            said.append(words("One training on {name}.", name=name) if runs == 1 else all_of_them)
        else:
            said.append(
                words(
                    "{n} trainings on {k} options.", n=f"{sum(placement.runs for placement in placed):,}", k=len(placed)
                )
            )
        gap = plan.optimality_gap_pct
        if gap is None:
            said.append(words("It is the best plan that was found."))
        elif gap:
            said.append(words("At most {gap} % from the best plan.", gap=words.number(gap, digits=2)))
        else:
            said.append(words("Proven: no plan is better."))
        return said

    def figures_html(self) -> str:
        """Render the figures "done by", "to pay" and "how sure"."""
        return render("answer.html", "figures", self, self.words, figures=self.figures())

    def figures(self) -> Sequence[KeyFigure]:
        """Return the three figures of the plan; dashes if there is no plan."""
        if self.plan is None:
            return [KeyFigure(self.words(name), "-", "") for name in ("Done by", "To pay", "How sure")]
        return mix_figures(self.plan, self.words, self.money, asked=self.confidence)

    def calendar_html(self) -> str:
        """Render the calendar; empty if there is no plan."""
        drawn = self.calendar()
        return "" if drawn is None else render("campaign.html", "calendar", self, self.words, drawn)

    def calendar(self) -> CampaignCalendar | None:
        """Return one bar per placement, from the campaign's start to beyond its end; None if there is no plan."""
        if self.plan is None or not self.plan.placements:
            return None
        placed = self.plan.placements
        spans = [_span(placement) for placement in placed]
        first, last = min(start for start, _ in spans), max(end for _, end in spans)
        wide = max((last - first) * ROOM, timedelta(hours=1))
        due = None if self.deadline is None else _end_of(self.deadline, first.tzinfo)
        off = due is not None and not timedelta() <= due - first <= WITHIN_REACH * wide
        if due is not None and not off:
            wide = max(wide, (due - first) * ROOM)
        rows = [
            CalendarBar(
                name=placement.name, runs=placement.runs, nodes=placement.nodes, left=(start - first) / wide,
                width=(end - start) / wide, when=self._when(start, end), usd=self.money.text(placement.usd),
                groups=_groups(placement),
            )
            for placement, (start, end) in zip(placed, spans, strict=True)
        ]  # fmt: skip
        line = None if due is None or off else (due - first) / wide
        days = self.words.day
        return CampaignCalendar(rows, line, off, days(first.date()), days((first + wide).date()))

    def _when(self, start: datetime, end: datetime) -> str:
        """Write both ends as days, with hours if they are less than four days apart."""
        if end - start > timedelta(days=4):
            return f"{self.words.day(start.date())} - {self.words.day(end.date())}"
        return f"{self.words.day(start.date())} {start:%H:%M} - {self.words.day(end.date())} {end:%H:%M}"

    def spent(self) -> list[tuple[datetime, float]]:
        """Return the USD spent up to each moment: rent and electricity as they run, purchases and blocks at once."""
        if self.plan is None or not self.plan.placements:
            return []
        ahead = {
            option.id for option in self.document.options if option.hold is Hold.BUY or option.price_kind in PAID_AHEAD
        }
        spans = [(*_span(placement), placement.usd, placement.option in ahead) for placement in self.plan.placements]
        moments = sorted({moment for start, end, _, _ in spans for moment in (start, end)})
        at_once = sum(usd for start, _, usd, paid in spans if paid and start == moments[0])
        points = [(moments[0], 0.0)] if at_once else []
        return points + [(moment, sum(_paid(span, moment) for span in spans)) for moment in moments]

    def front_html(self) -> str:
        """Render the plans of the front of cost and time; empty if it was not requested."""
        if not self.document.front:
            return ""
        rows = [
            (
                self.money.text(plan.campaign_usd.value), self.words.hours(plan.campaign_hours.value),
                "; ".join(f"{placed.name}: {placed.runs:,}" for placed in plan.placements),
            )
            for plan in self.document.front
        ]  # fmt: skip
        return render("campaign.html", "front", self.words, rows)


def _groups(placed: PlacedRuns) -> str:
    """Write the number of runs of each group; empty if there is only one group."""
    if len(placed.groups) < 2:
        return ""
    return ", ".join(f"{name} {count:,}" for name, count in placed.groups.items())


def _span(placed: PlacedRuns) -> tuple[datetime, datetime]:
    return datetime.fromisoformat(placed.start), datetime.fromisoformat(placed.end)


def _end_of(day: date, zone: tzinfo | None) -> datetime:
    return datetime.combine(day + timedelta(days=1), time(), tzinfo=zone)


def _paid(span: tuple[datetime, datetime, float, bool], moment: datetime) -> float:
    """Return the USD of a placement that are paid up to a moment."""
    start, end, usd, ahead = span
    if moment < start:
        return 0.0
    if ahead or end <= start:
        return usd
    return usd * min(1.0, (moment - start) / (end - start))
