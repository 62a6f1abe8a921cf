"""Name a mix that is not recommended, but ends well before the recommended option and costs about as much."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from planner.decide.recommend.phrases import Phrases, nothing_to_pay
from planner.model.answer.option_estimate import CampaignOption
from planner.text.number_text import percent_text

if TYPE_CHECKING:
    from planner.decide.placement.chosen import Chosen

SOONER = 0.9
"""Share of the recommended option's hours at the confidence within which a mix ends that is named."""
ABOUT_AS_MUCH = 1.02
"""Factor of the recommended option's cost at the confidence up to which such a mix costs about as much."""
NAMED = 3
"""Most options of a mix that are named if more follow."""


class RejectedMix(NamedTuple):
    """A mix that keeps the limits and is a little better than every option alone."""

    mix: Chosen
    why: str
    """Reason why it is not recommended."""


def uneven_note(plan: Chosen | None, phrases: Phrases) -> str | None:
    """Return what a plan on one option does that keeps the limits, which its row does not; None without one."""
    if plan is None:
        return None
    usd = nothing_to_pay(plan, bill=plan.plan.usd) or f"at most {phrases.most(plan)}"
    return (
        f"planner campaign keeps the limits with other numbers of trainings on the sets of "
        f"{plan.plan.placements[0].name}: done by {plan.done_by_confident}, {usd}"
    )


def sooner_mix_note(rejected: RejectedMix | None, recommended: CampaignOption | None, phrases: Phrases) -> str | None:
    """Return what a rejected mix would do, and why it is not recommended.

    None if it ends less than a tenth sooner than the recommended option, or costs over 2 % more.
    """
    if rejected is None or recommended is None or recommended.hours_confident is None:
        return None
    mix, most = rejected.mix, recommended.usd_confident
    late = mix.hours_confident > SOONER * recommended.hours_confident
    if late or most is None or mix.usd_confident > ABOUT_AS_MUCH * most:
        return None
    parts = [f"{placed.name} ({placed.runs:,})" for placed in mix.plan.placements]
    named = ", ".join(parts[:-1][:NAMED])
    last = parts[-1] if len(parts) <= NAMED + 1 else f"{len(parts) - NAMED} more"
    usd = nothing_to_pay(mix, bill=mix.plan.usd) or f"at most {phrases.most(mix)}"
    chance = "" if mix.chance_both is None else f", {percent_text(mix.chance_both)}"
    return (
        f"sooner: mixing {named} and {last}, done by {mix.done_by_confident}, {usd}{chance}, "
        f"as planner campaign plans; but {rejected.why}"
    )
