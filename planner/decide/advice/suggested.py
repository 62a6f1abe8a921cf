"""The measurements that an answer proposes, with their commands."""

from __future__ import annotations

import shlex

from planner.decide.advice.case import Case
from planner.decide.advice.launch_words import AskedPlan, launch_words, probe_words
from planner.decide.advice.measuring import Valued
from planner.decide.recommend.wording import name_of
from planner.model.answer.recommendation import SuggestedMeasurement


def worth_making(one: Valued) -> bool:
    """Return whether a measurement, or a probe in its place, is worth more than it costs."""
    return one.worth_usd > one.usd or _probes(one)


def suggested(
    case: Case, one: Valued, asked: AskedPlan, *, decides: str, settles: bool = False
) -> SuggestedMeasurement:
    """Return a measurement in words; `decides`: what its result decides.

    `settles`: whether the nearest option keeps the limits, which a probe is not sure enough for.
    """
    probes = _probes(one) and not settles
    words = (
        probe_words(one.paced, one.option, plan=asked)
        if probes
        else launch_words(case, one.paced, one.option, plan=asked)
    )
    price = one.probe.usd if probes and one.probe is not None else one.usd
    usd = f"about {price:,.0f} USD" if price >= 1 else "under 1 USD"
    told = "Probe {} for two minutes" if probes else "Measure {} with one 20-minute run"
    because = f": it {decides}" if decides else ""
    return SuggestedMeasurement(
        option=one.option.id,
        display_name=name_of(one.option),
        usd=one.usd,
        worth_usd=one.worth_usd,
        chance_to_change=one.chance_to_change,
        instead=next(iter(one.instead)) if one.instead is not None and len(one.instead) == 1 else None,
        command=None if words is None else shlex.join(words),
        sentence=f"{told.format(name_of(one.option))}, {usd}{because}.",
        probe_usd=None if one.probe is None else one.probe.usd,
        probe_worth_usd=None if one.probe is None else one.probe.worth_usd,
    )


def _probes(one: Valued) -> bool:
    """Return whether a probe is worth more than it costs, and leaves more over than the run does."""
    return one.probe is not None and one.probe.worth_usd - one.probe.usd > max(0.0, one.worth_usd - one.usd)
