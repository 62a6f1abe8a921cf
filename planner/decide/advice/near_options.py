"""The options that may come to be chosen where an input moves: few, however long the plan's list is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from planner.decide.advice.case import Case
from planner.decide.campaign.chances import hours_to
from planner.decide.limits import lasting_refusals
from planner.decide.recommend.rank import hours_of, ranked, ranking_usd
from planner.model.answer.option_estimate import CampaignOption

FIRST = 20
"""Of the answer's order."""
QUICKEST = 5
"""An option that is much faster than the cheapest comes first without a deadline."""


@dataclass(frozen=True)
class NearOptions:
    """A case of these options alone."""

    case: Case
    options: tuple[CampaignOption, ...]
    note: str | None
    """What the answer says where some were left out."""

    @classmethod
    def of(cls, case: Case, options: Sequence[CampaignOption]) -> NearOptions:
        """Return the first options of a case by rank, the quickest, and those that a later or earlier deadline chooses.

        The last are those that no other is both cheaper and faster than. What is no machine is kept: it costs no time.
        """
        order = ranked(options, case.limits, deadline_hours=hours_to(case.limits, today=case.today))
        machines = {one.candidate.id for one in case.paced}
        able = [option for option in order if option.not_allowed is None and not lasting_refusals(option)]
        near = {option.id for option in (*order[:FIRST], *sorted(able, key=hours_of)[:QUICKEST], *_front(able))}
        near |= {option.id for option in order if option.id not in machines}
        if len(near) == len(order):
            return cls(case, tuple(options), None)
        note = (
            "what to measure, and what would change the answer, is looked for among the first options, the quickest, "
            f"and those than which none is cheaper and faster: {len(near)} of {len(order)}"
        )
        paced = tuple(one for one in case.paced if one.candidate.id in near)
        near_case = replace(case, paced=paced, estimates=None)
        return cls(near_case, tuple(one for one in options if one.id in near), note)


def _front(options: Sequence[CampaignOption]) -> list[CampaignOption]:
    """Return the options that none is both cheaper and faster than; of equal ones the first."""
    front: list[CampaignOption] = []
    for option in sorted(options, key=lambda one: (hours_of(one), ranking_usd(one))):
        if not front or ranking_usd(option) < ranking_usd(front[-1]):
            front.append(option)
    return front
