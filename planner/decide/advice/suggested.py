"""Write the measurements that an answer proposes, with their commands."""

from __future__ import annotations

import shlex

from planner.decide.advice.case import Case
from planner.decide.advice.launch_words import AskedPlan, launch_words, probe_words
from planner.decide.advice.measuring import ValuedRun
from planner.decide.options.display_name import name_of
from planner.model.answer.recommendation import SuggestedMeasurement
from planner.model.currency import Currency


def worth_making(run: ValuedRun) -> bool:
    """Return whether a measurement, or a probe in its place, is worth more than it costs."""
    return run.worth_usd > run.usd or _probe_is_better(run)


def suggested(
    case: Case, run: ValuedRun, asked: AskedPlan, *, decides: str, settles: bool = False
) -> SuggestedMeasurement:
    """Return the proposal of a measurement; `decides` says what its result decides.

    `settles` asks for the run, because only a run is sure enough to show that the nearest option keeps the limits.
    """
    by_probe = _probe_is_better(run) and not settles
    words = (
        probe_words(run.paced, run.option, plan=asked)
        if by_probe
        else launch_words(case, run.paced, run.option, plan=asked)
    )
    price = run.probe.usd if by_probe and run.probe is not None else run.usd
    usd = about_text(price, case.plan.currency)
    action = "Probe {} for two minutes" if by_probe else "Measure {} with one 20-minute run"
    because = f": it {decides}" if decides else ""
    return SuggestedMeasurement(
        option=run.option.id,
        display_name=name_of(run.option),
        usd=run.usd,
        worth_usd=run.worth_usd,
        chance_to_change=run.chance_to_change,
        instead=next(iter(run.instead)) if run.instead is not None and len(run.instead) == 1 else None,
        command=None if words is None else shlex.join(words),
        sentence=f"{action.format(name_of(run.option))}, {usd}{because}.",
        probe_usd=None if run.probe is None else run.probe.usd,
        probe_worth_usd=None if run.probe is None else run.probe.worth_usd,
    )


def about_text(usd: float, currency: Currency | None) -> str:
    """Write an amount to the whole unit of the plan's currency."""
    amount, code = (usd, "USD") if currency is None else (usd * currency.per_usd, currency.code)
    return f"about {amount:,.0f} {code}" if amount >= 1 else f"under 1 {code}"


def _probe_is_better(run: ValuedRun) -> bool:
    """Return whether a probe is worth more than it costs, and gains more than the run."""
    return run.probe is not None and run.probe.worth_usd - run.probe.usd > max(0.0, run.worth_usd - run.usd)
