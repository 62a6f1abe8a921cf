"""The formulas of what a comparison says of an option, from its total down to the numbers that files state."""

from __future__ import annotations

import math
from datetime import date

from planner.decide.campaign.budget import budget_of
from planner.decide.campaign.chances import with_chances
from planner.model.answer.formula_used import FormulaUsed
from planner.model.answer.option_estimate import CampaignOption
from planner.model.plan.plan import Plan
from planner.quantity.formula_text import printed

MONEY_AND_HOURS = (
    "campaign_usd", "to_pay_usd", "cash_usd", "pay_now_usd", "left_usd", "campaign_hours", "wall_hours", "usd_total",
    "energy_kwh", "carbon_kg",
)  # fmt: skip
SPEED = "samples_per_s"
CHANCES = ("usd_confident", "chance_deadline", "chance_budget", "chance_both")


def campaign_formulas(
    option: CampaignOption, plan: Plan, *, today: date, **more: float | None
) -> tuple[FormulaUsed, ...]:
    """Return the formulas of an option whose quantities were computed while formulas were recorded; `more`: others."""
    again = with_chances(
        option, plan.campaign, budget=budget_of(plan.campaign, plan.currency), today=today, currency=plan.currency
    )
    quantities = {name: getattr(option, name) for name in MONEY_AND_HOURS}
    numbers = {name: getattr(again, name) for name in CHANCES}
    numbers |= {name: quantity.value for name, quantity in quantities.items() if quantity is not None} | more
    formulas = printed({name: number for name, number in numbers.items() if number is not None})
    return tuple(_linked(one, formulas) for one in formulas)


def _linked(formula: FormulaUsed, formulas: tuple[FormulaUsed, ...]) -> FormulaUsed:
    """Return a formula whose speed is that of the step's formula, where it is: money is computed before the step is."""
    speed = next((one for one in formulas if one.name == SPEED), None)
    if speed is None:
        return formula
    inputs = tuple(
        each.model_copy(update={"formula": SPEED})
        if each.name == SPEED and each.formula is None and math.isclose(each.value, speed.value, rel_tol=1e-9)
        else each
        for each in formula.inputs
    )
    return formula.model_copy(update={"inputs": inputs})
