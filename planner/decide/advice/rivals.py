"""The options that may come to be chosen where an input moves: few, however long the plan's list is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from planner.decide.advice.case import Case
from planner.decide.campaign.campaign import hours_to
from planner.decide.recommend.rank import hours_of, ranked
from planner.model.answer.documents import CampaignOption

FIRST = 20
"""Of the answer's order."""
QUICKEST = 5
"""An option that is much faster than the cheapest comes first without a deadline."""


@dataclass(frozen=True)
class Rivals:
    """A case of these options alone."""

    case: Case
    options: tuple[CampaignOption, ...]
    note: str | None
    """What the answer says where some were left out."""

    @classmethod
    def of(cls, case: Case, options: Sequence[CampaignOption]) -> Rivals:
        """Return the first options of a case by rank, the quickest, and all that are no machines: they cost no time."""
        order = ranked(options, case.limits, deadline_hours=hours_to(case.limits, today=case.today))
        machines = {one.candidate.id for one in case.paced}
        near = {option.id for option in (*order[:FIRST], *sorted(order, key=hours_of)[:QUICKEST])}
        near |= {option.id for option in order if option.id not in machines}
        if len(near) == len(order):
            return cls(case, tuple(options), None)
        paced = tuple(one for one in case.paced if one.candidate.id in near)
        note = (
            f"what to measure, and what would change the answer, is looked for among the first {len(near)} "
            f"of {len(order)} options"
        )
        return cls(replace(case, paced=paced, known=None), tuple(one for one in options if one.id in near), note)
