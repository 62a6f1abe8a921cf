"""List the options that are not recommended, with the reason."""

from __future__ import annotations

from planner.decide.campaign.chances import ranking_usd
from planner.decide.options.display_name import name_of
from planner.decide.recommend.rank import is_feasible
from planner.model.answer.documents import ComparisonDocument
from planner.model.answer.recommendation import Alternative

RUNNERS_UP = 3


def alternatives(document: ComparisonDocument) -> tuple[Alternative, ...]:
    """Return every option by rank except the recommended one; beside a mix all options. Three are runners-up."""
    others = [option for option in document.options if option.id != document.recommended or document.mix is not None]
    able = [option.id for option in others if is_feasible(option)][:RUNNERS_UP]
    return tuple(
        Alternative(
            option=option.id, display_name=name_of(option), runner_up=option.id in able, feasible=is_feasible(option),
            done_by=option.done_by,
            usd_confident=option.usd_confident, local_confident=option.local_confident,
            after_sale_usd=ranking_usd(option) - option.waiting_usd if option.taken_off_usd is not None else None,
            done_by_confident=option.done_by_confident,
            why_not=option.why_not, why_not_codes=option.why_not_codes,
        )
        for option in others
    )  # fmt: skip
