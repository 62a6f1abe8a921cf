"""Over years: from which share of busy hours on an owned machine costs less than renting."""

from __future__ import annotations

from planner.decide.advice.case import Case
from planner.decide.owning.own_or_rent import own_or_rent
from planner.decide.recommend.wording import share_text
from planner.errors import InputError
from planner.model.answer.recommendation import TurningPoint


def busy_points(case: Case) -> list[TurningPoint]:
    """Return from which busy share on the plan's first owned machine costs less than the cheapest firm rent.

    Nothing where the plan owns and rents nothing, or what owning costs is not known.
    """
    if not any(option.offer is None for option in case.plan.options):
        return []
    try:
        year = own_or_rent(case.plan, case.catalog, site=None, today=case.today, estimates=case.estimated).by_plan
    except InputError:
        return []
    if year is None:
        return []
    options = {option.id: option for option in year.options}
    rent, own = options.get(year.cheapest_firm or ""), options[year.owning]
    if rent is None or rent.break_even is None:
        return []
    now, at = year.busy_fraction.value, rent.break_even.busy_fraction
    if now <= 0 or not 0 < at <= 1:
        return []
    above = at > now
    sentence = (
        f"Over years, owning {own.display_name} wins over {rent.display_name} above {share_text(at)} busy "
        f"(this work: {share_text(now)})."
    )
    return [
        TurningPoint(
            input="busy share", option=own.id, unit="of the hours", today=now, at=at,
            side="above" if above else "below", then=own.id if above else rent.id, sentence=sentence,
        )
    ]  # fmt: skip
