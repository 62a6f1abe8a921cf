"""Answers plans: estimate, campaign and comparison.

Also reads plans, lists their options and writes a first plan. It is the one place where an answer takes its day from
the clock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from planner.adapters.documents import PLAN_LIMIT_BYTES, parse_model, read_text
from planner.adapters.mapping_text import parse_mapping
from planner.adapters.user_text import without_secrets
from planner.adapters.workspace import templates_dir
from planner.decide.campaign.alone import Alone, each_alone
from planner.decide.find.dozen import DEARER, DOZEN, chosen_dozen, found_note, shortlist
from planner.decide.options.estimate_plan import (
    Estimated,
    Paced,
    estimate_options,
    paced_again,
    paced_candidates,
    without_limits,
)
from planner.decide.owning.horizons import answer_with_year
from planner.decide.placement.instance import Objective
from planner.decide.recommend.answer_plan import campaign_document, rank_alone, sooner_notes
from planner.decide.recommend.phrases import Phrases
from planner.decide.recommend.why_not import with_exclusions
from planner.duration.calendar import NOON, zone_of
from planner.errors import InputError, NotFoundError
from planner.model.answer.documents import CampaignDocument, ComparisonDocument, EstimateDocument
from planner.model.catalog import Catalog
from planner.model.plan.campaign_limits import CampaignLimits
from planner.model.plan.find_filters import FindFilters
from planner.model.plan.plan import Plan
from planner.scenario.region_groups import check_places
from planner.use_cases.answer_ids import plan_answer_id, with_id
from planner.use_cases.catalogs import accelerators_meant
from planner.use_cases.network_files import with_config
from planner.use_cases.runs import find_run

OWN_MACHINE = "  - {own: RTX-3090, count: 2}\n"
"""Line of the template that the machine of a run replaces."""
ASSUMED_OWN_KW = 0.2
"""Power in kW that `planner init` writes for the machine of a run, for the user to correct."""
PLAN_FIX = "Write a commented example with: planner init"
SAID_TO_BE_HAD = (
    "Only some sources say what is to be had: with planner prices refresh Lambda's API, and AWS of your quotas; "
    "or leave it out."
)


def read_plan(path: Path) -> Plan:
    """Read a plan file (YAML or JSON) with the network of the configuration file that it names."""
    plan = parse_plan(read_text(path, limit_bytes=PLAN_LIMIT_BYTES, fix=PLAN_FIX), where=str(path))
    return with_config(plan, folder=path.parent)


def parse_plan(text: str, *, where: str) -> Plan:
    """Read a plan from text; `where` names it in errors."""
    data = without_secrets(parse_mapping(text, where=where, fix=PLAN_FIX), text=text, where=where)
    return parse_model(Plan, data, where=where, text=text, fix=PLAN_FIX)


class ListedPlan(NamedTuple):
    """A plan with listed options, and the speeds that were computed to find them; None if none were needed."""

    plan: Plan
    paced: list[Paced] | None


def with_found_options(plan: Plan, catalog: Catalog, *, today: date) -> Plan:
    """Return the plan of `find_options`."""
    return find_options(plan, catalog, today=today).plan


def find_options(plan: Plan, catalog: Catalog, *, today: date) -> ListedPlan:
    """Return the plan with a list of options. `options: auto` gives the best dozen of all offers and own machines.

    All are timed coarsely, the best of each kind fully and ranked by the rule of `compare`. The others are counted.
    """
    if plan.find is None:
        return ListedPlan(plan, None)
    _check_names(plan.find, catalog)
    options, left_out = shortlist(plan, catalog, _accelerators(plan.find, catalog), today=today)
    if not options:
        raise InputError(_nothing_left(left_out), fix=SAID_TO_BE_HAD if plan.find.available else "Loosen the filters.")
    listed = plan.model_copy(update={"find": None, "options": tuple(options)})
    paced = paced_candidates(listed, catalog)
    estimated = estimate_options(listed, catalog, today=today, paced=paced)
    chosen = chosen_dozen(rank_alone(listed, catalog, today=today, estimated=estimated), options) or options[:DOZEN]
    left_out[DEARER] += len(options) - len(chosen)
    shown = listed.model_copy(update={"options": tuple(chosen), "found": found_note(len(chosen), left_out)})
    return ListedPlan(shown, paced_again(shown, catalog, paced))


def with_cheaper_options(plan: Plan, catalog: Catalog, *, today: date, below_usd: float) -> Plan:
    """Return the plan with its options and the offers that may cost less than `below_usd`."""
    if plan.find is None:
        return plan
    options, _ = shortlist(plan, catalog, _accelerators(plan.find, catalog), today=today, below_usd=below_usd)
    return plan.model_copy(update={"find": None, "options": (*plan.options, *options)})


def _accelerators(filters: FindFilters, catalog: Catalog) -> frozenset[str] | None:
    if filters.accelerator is None:
        return None
    return frozenset[str]().union(*(accelerators_meant(name, catalog) for name in filters.accelerator))


def _nothing_left(left_out: Counter[str]) -> str:
    if not left_out.total():
        return "options: the catalog and the prices have no such machine."
    return f"options: nothing is left. {found_note(0, left_out)}."


def _check_names(filters: FindFilters, catalog: Catalog) -> None:
    """Refuse a region or provider that no price names, because a wrong name would find nothing without a reason."""
    rows = (*catalog.prices, *catalog.own_prices)
    check_places(filters.region or (), {row.region for row in rows}, where="options.region")
    known = {row.provider for row in rows}
    ids_by_name = {
        provider.name.casefold(): provider.id for provider in catalog.providers.values() if provider.id in known
    }
    for name in filters.provider or ():
        if name in known:
            continue
        meant = ids_by_name.get(name.casefold())
        fix = f"Did you mean {meant}?" if meant else f"Known: {', '.join(sorted(known))}"
        similar = () if meant else get_close_matches(name, known, cutoff=0.6)
        raise NotFoundError("provider", name, similar, where="options.provider", fix=fix)


def estimate(plan: Plan, catalog: Catalog, *, today: date) -> EstimateDocument:
    """Estimate one training on each option."""
    listed, paced = find_options(plan, catalog, today=today)
    document = estimate_options(listed, catalog, today=today, paced=paced).answer
    return with_id(document, listed, catalog, today=today)


def campaign(plan: Plan, catalog: Catalog, *, today: date, objective: str | None = None) -> CampaignDocument:
    """Plan the campaign: which trainings run where and when, and the campaign on each option alone."""
    from planner.decide.placement.plan_campaign import planned_campaign  # no other answer needs numpy
    from planner.decide.recommend.mix import preferred

    listed, paced = find_options(plan, catalog, today=today)
    alone = each_alone(
        listed, catalog, today=today, estimated=estimate_options(listed, catalog, today=today, paced=paced)
    )
    wanted = Objective(objective) if objective is not None else None
    document = planned_campaign(
        campaign_document(listed, alone), alone, catalog, today=today, objective=wanted,
        preferred=preferred(alone, today=today),
    )  # fmt: skip
    if document.objective == Objective.COST.value and _is_row(document, alone):
        sooner = sooner_notes(document.placements[0].option, alone, catalog, today=today)
        document = document.model_copy(update={"notes": (*sooner, *document.notes)})
    kind = f"{document.kind} {objective or ''}"
    identity = plan_answer_id(kind, listed, catalog, today=today)
    options = with_exclusions(document.options, Phrases(alone.limits, listed.currency))
    return document.model_copy(update={"answer_id": identity, "options": options})


def _is_row(document: CampaignDocument, alone: Alone) -> bool:
    """Return whether the plan runs on one option, on as many nodes as the option's row."""
    nodes = {row.id: (row.nodes or 0) * min(row.at_once, alone.limits.runs) for row in alone.options}
    return document.feasible is True and [(each.option, each.nodes) for each in document.placements] == [
        (each.option, nodes[each.option]) for each in document.placements[:1]
    ]


def compare(plan: Plan, catalog: Catalog, *, today: date, estimated: Estimated | None = None) -> ComparisonDocument:
    """Rank the options under the plan's limits and recommend one.

    `estimated` takes known estimates of a plan with listed options (see `estimates_of`).
    """
    listed, paced = find_options(plan, catalog, today=today)
    if estimated is None:
        estimated = estimate_options(listed, catalog, today=today, paced=paced)
    document = answer_with_year(listed, catalog, today=today, estimated=estimated)
    return with_id(document, listed, catalog, today=today)


def estimates_of(plan: Plan, catalog: Catalog, *, today: date, paced: Sequence[Paced] | None = None) -> Estimated:
    """Return the estimates of a plan with listed options, to answer it under several limits.

    They hold for all plans that `without_limits` makes equal. `paced` comes from `find_options`.
    """
    return estimate_options(without_limits(plan), catalog, today=today, paced=paced)


def new_plan(catalog: Catalog, *, measured: str | None) -> str:
    """Return a commented plan file. `measured` names a run whose machine replaces the example machine."""
    text = (templates_dir() / "plan.yaml").read_text(encoding="utf-8")
    if measured is None:
        return text
    assert OWN_MACHINE in text, "the template names a machine of one's own"
    run = find_run(measured, catalog)
    machine = run.environment.get("machine") or run.hardware.accelerator
    return text.replace(
        OWN_MACHINE,
        f"  # {machine}: the machine of your own run. What it draws is assumed: put your figure.\n"
        f"  - {{run: {run.id}, power_kw: {ASSUMED_OWN_KW}}}\n",
        1,
    )


class Counted(NamedTuple):
    """Moment from which work is counted."""

    today: date
    """Day in the plan's zone."""
    start: date | None
    """First day that counts instead of today; None if the plan states one, or if today's noon is still to come."""

    has_deadline: bool = False
    """True if the plan has a deadline, so that the assumption matters."""

    @property
    def assumed(self) -> tuple[str, ...]:
        """Return the assumption about the start, as `ask` words assumptions; nothing if no deadline depends on it."""
        if self.start is None or not self.has_deadline:
            return ()
        return (f"work is counted from {self.start}, as noon of {self.today} has passed (campaign.start)",)


class DatedPlan(NamedTuple):
    """A plan as it is answered at a moment. What is kept of an answer has this plan and this day."""

    plan: Plan
    today: date
    assumed: tuple[str, ...]


def counted_from(limits: CampaignLimits, *, now: datetime) -> Counted:
    """Return the time from which the work of a plan is counted if it is asked now.

    The plan's `start`; without one noon of today in the plan's zone, and after that noon the next day, so that no hour
    counts that has passed. A deadline that passed earlier stays missed. Raises InputError for a deadline that is today
    when its noon has passed, as nothing of today counts then.
    """
    local = now.astimezone(zone_of(limits))
    today, tomorrow = local.date(), local.date() + timedelta(days=1)
    noon_passed = timedelta(hours=local.hour, minutes=local.minute, seconds=local.second) > NOON
    if limits.start is not None or not noon_passed or (limits.deadline is not None and limits.deadline < today):
        return Counted(today, None)
    if limits.deadline == today:
        raise InputError(
            f"campaign.deadline: {today} ends today, and work is counted from {tomorrow}, as noon has passed.",
            fix=f"Give a later deadline, or `start: {today}` to count all 24 hours of today.",
        )
    return Counted(today, tomorrow, has_deadline=limits.deadline is not None)


def dated(plan: Plan, *, now: datetime) -> DatedPlan:
    """Return a plan as it is answered now (`counted_from`)."""
    counted = counted_from(plan.campaign, now=now)
    return DatedPlan(beginning(plan, counted.start), counted.today, counted.assumed)


def beginning(plan: Plan, start: date | None) -> Plan:
    """Return the plan with a first day; None leaves its own."""
    if start is None:
        return plan
    return plan.model_copy(update={"campaign": plan.campaign.model_copy(update={"start": start})})


def assumed_lines(assumed: Sequence[str]) -> list[str]:
    """Return one line per assumption."""
    return [f"Assumed: {assumption}" for assumption in assumed]
