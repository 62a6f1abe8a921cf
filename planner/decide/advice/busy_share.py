"""Find the share of busy hours above which an owned machine costs less over years than renting by the hour."""

from __future__ import annotations

from planner.decide.advice.case import Case
from planner.decide.owning.own_or_rent import year_of_plan
from planner.decide.recommend.wording import shares_apart
from planner.model.answer.recommendation import TurningPoint


def busy_points(case: Case) -> list[TurningPoint]:
    """Return the busy share above which the plan's first owned machine costs less than renting by the hour.

    Nothing if the plan has no owned or no rented machine, the cost of owning is unknown, or it costs less from the
    first training on.
    """
    year = year_of_plan(case.plan, case.catalog, site=None, today=case.today, estimates=case.estimated)
    if year is None:
        return []
    options = {option.id: option for option in year.options}
    rent, own = options.get(year.pay_as_you_go or ""), options[year.owning]
    if rent is None or rent.break_even is None or rent.break_even.trainings_per_year == 1:
        return []
    now, at = year.busy_fraction.value, rent.break_even.busy_fraction
    if now <= 0 or not 0 < at <= 1:
        return []
    above = at > now
    share, work = shares_apart(at, now)
    where = f"above the {work} busy of this work" if share == work else f"above {share} busy (this work: {work})"
    sentence = f"Over years, owning {own.display_name} costs less than renting {rent.display_name} {where}."
    return [
        TurningPoint(
            input="busy share", option=own.id, unit="of the hours", today=now, at=at,
            side="above" if above else "below", then=own.id if above else rent.id, sentence=sentence,
        )
    ]  # fmt: skip
