"""Print the formulas of an option's figures, from its total down to the numbers in files."""

from __future__ import annotations

import math
from datetime import date, timedelta

from planner.decide.campaign.budget import budget_of
from planner.decide.campaign.chances import with_chances
from planner.duration.calendar import Calendar
from planner.model.answer.option_estimate import CampaignOption
from planner.model.plan.plan import Plan
from planner.model.quantity import FormulaUsed, Unit
from planner.quantity.conversion import interval
from planner.quantity.formula import applied, named, stated
from planner.quantity.formula_text import printed
from planner.quantity.time_units import HOURS_PER_DAY

MONEY_AND_HOURS = (
    "campaign_usd", "to_pay_usd", "cash_usd", "pay_now_usd", "left_usd", "campaign_hours", "wall_hours", "usd_total",
    "energy_kwh", "carbon_kg",
)  # fmt: skip
SPEED = "samples_per_s"
CHANCES = ("usd_confident", "chance_deadline", "chance_budget", "chance_both")


def campaign_formulas(
    option: CampaignOption, plan: Plan, *, today: date, **more: float | None
) -> tuple[FormulaUsed, ...]:
    """Return the formulas of an option whose quantities were computed with recording; `more` are further numbers."""
    again = with_chances(
        option, plan.campaign, budget=budget_of(plan.campaign, plan.currency), today=today, currency=plan.currency
    )
    quantities = {name: getattr(option, name) for name in MONEY_AND_HOURS}
    numbers = {name: getattr(again, name) for name in CHANCES}
    numbers |= {name: quantity.value for name, quantity in quantities.items() if quantity is not None} | more
    numbers["last_day"] = _last_day(option, plan, today=today)
    for name in (*CHANCES, "usd_total"):
        if (number := numbers.get(name)) is not None:
            numbers[name] = named(name, number, "")
    units = {name: quantity.unit.value for name, quantity in quantities.items() if quantity is not None}
    formulas = printed({name: number for name, number in numbers.items() if number is not None}, units)
    return tuple(_linked(formula, formulas) for formula in formulas)


def _last_day(option: CampaignOption, plan: Plan, *, today: date) -> float | None:
    """Return the number of the campaign's last day, counted from 1; None if its end is computed otherwise."""
    hours, calendar = option.campaign_hours, Calendar.of(plan.campaign, today=today)
    if hours is None or option.ready_on is None or option.finish is None:
        return None
    start = max(option.ready_on, calendar.first)
    passed = stated(
        "passed_hours",
        option.wait_hours - calendar.hours_to(start),
        "h",
        "of the first day; 12 where it is today and the plan states none",
    )
    whole = interval(hours, Unit.HOURS, name="campaign_hours").value + passed
    day = named("last_day", applied("ceil", math.ceil, whole / HOURS_PER_DAY), "", f"1 is {start}, the first day")
    return day if start + timedelta(days=int(day) - 1) == option.finish else None


def _linked(formula: FormulaUsed, formulas: tuple[FormulaUsed, ...]) -> FormulaUsed:
    """Return a formula whose speed refers to the step's formula, because money is computed before the step is."""
    speed = next((formula for formula in formulas if formula.name == SPEED), None)
    if speed is None:
        return formula
    inputs = tuple(
        each.model_copy(update={"formula": SPEED})
        if each.name == SPEED and each.formula is None and math.isclose(each.value, speed.value, rel_tol=1e-9)
        else each
        for each in formula.inputs
    )
    return formula.model_copy(update={"inputs": inputs})
