"""Select the few options that may be chosen if an input changes, however long the plan's list is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from planner.decide.advice.case import Case
from planner.decide.campaign.chances import hours_to, ranking_usd
from planner.decide.limits import lasting_refusals
from planner.decide.recommend.pareto import hours_of
from planner.decide.recommend.rank import ranked
from planner.model.answer.option_estimate import CampaignOption

FIRST = 20
"""Number of first options in the answer's order."""
QUICKEST = 5
"""Number of quickest options; without a deadline, a much faster one may come first."""


@dataclass(frozen=True)
class NearOptions:
    """A case of these options alone."""

    case: Case
    options: tuple[CampaignOption, ...]
    note: str | None
    """Note of the answer if some options were left out."""

    @classmethod
    def of(cls, case: Case, options: Sequence[CampaignOption]) -> NearOptions:
        """Return the options of a case that a changed input may choose.

        They are the first by rank, the quickest, and those that no other beats in both cost and time: another deadline
        chooses among these. Services are kept too, because they take no time to examine.
        """
        order = ranked(options, case.limits, deadline_hours=hours_to(case.limits, today=case.today))
        machines = {pace.candidate.id for pace in case.paced}
        able = [option for option in order if option.not_allowed is None and not lasting_refusals(option)]
        kept = {option.id for option in (*order[:FIRST], *sorted(able, key=hours_of)[:QUICKEST], *_front(able))}
        kept |= {option.id for option in order if option.id not in machines}
        if len(kept) == len(order):
            return cls(case, tuple(options), None)
        note = (
            "measurements and changes were examined only for the first options, the quickest, "
            f"and those that no other option beats in cost and time: {len(kept)} of {len(order)}"
        )
        paced = tuple(pace for pace in case.paced if pace.candidate.id in kept)
        near_case = replace(case, paced=paced, estimates=None)
        return cls(near_case, tuple(option for option in options if option.id in kept), note)


def _front(options: Sequence[CampaignOption]) -> list[CampaignOption]:
    """Return the options that no other beats in both cost and time; of equal options the first."""
    front: list[CampaignOption] = []
    for option in sorted(options, key=lambda option: (hours_of(option), ranking_usd(option))):
        if not front or ranking_usd(option) < ranking_usd(front[-1]):
            front.append(option)
    return front
