"""Write a chosen plan in the form that an answer has."""

from __future__ import annotations

from collections import Counter

from planner.cost.cloud.price_age import renewal
from planner.decide.placement.chosen import Chosen
from planner.model.answer.documents import FeasiblePlan, PlacedRuns


def feasible_plan(chosen: Chosen) -> FeasiblePlan:
    """Return a plan as the answers state it."""
    plan = chosen.plan
    placements = []
    for placement in plan.placements:
        groups: Counter[str] = Counter()
        for lane in placement.lanes:
            for runs in lane.runs:
                groups[runs.group] += runs.runs
        placements.append(
            PlacedRuns(
                option=placement.option, name=placement.name, runs=placement.runs, nodes=placement.nodes,
                start=placement.start.isoformat(), end=placement.end.isoformat(), usd=placement.usd.value,
                groups=dict(groups), earliest_start_hours=placement.earliest_start,
            )
        )  # fmt: skip
    return FeasiblePlan(
        campaign_usd=plan.usd, campaign_hours=plan.hours, chance_deadline=chosen.chance_deadline,
        chance_budget=chosen.chance_budget, chance_both=chosen.chance_both,
        chance_windows=chosen.chance_windows, usd_confident=chosen.usd_confident,
        local_confident=chosen.local_confident, credits_usd=plan.credits_usd,
        done_by_confident=chosen.done_by_confident, simulated=chosen.summary(),
        optimality_gap_pct=None if plan.gap is None else 100 * plan.gap,
        placements=tuple(placements),
    )  # fmt: skip


def plan_notes(chosen: Chosen, *, evidence: bool = True) -> tuple[str, ...]:
    """Return notes on what the plan rests on: doubtful measurements and old prices (`evidence`), and unknown waits."""
    notes: list[str] = []
    for placement in chosen.plan.placements if evidence else ():
        if placement.doubtful:
            notes.append(f"{placement.name}: its measurement is doubtful")
        if placement.price_stale:
            notes.append(f"{placement.name}: its price is out of date, {renewal(placement.price_refreshed)}")
    if chosen.beyond_row is not None:
        notes.append(chosen.beyond_row)
    queued = [placement.name for placement in chosen.plan.placements if placement.queued is not None]
    if queued and evidence:
        notes.append(
            f"the dates of {' and '.join(queued)} count its mean wait; its likely end is the middle of all waits"
        )
    unknown = [placement.name for placement in chosen.plan.placements if placement.earliest_start is None]
    if unknown:
        names = " and ".join([", ".join(unknown[:-1]), unknown[-1]] if len(unknown) > 1 else unknown)
        notes.append(f"when {names} can be had is not known, and no wait is counted")
    return tuple(notes)
