"""Turns options into rows of a table: number, time, money and marks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date

from planner.decide.recommend.rank import is_feasible
from planner.model.answer.documents import CampaignDocument, ComparisonDocument, EstimateDocument
from planner.model.answer.option_estimate import CampaignOption, OptionEstimate, RankedOption
from planner.model.quantity import Quantity
from planner.present.facts import chance_to_keep_limits

RECOMMENDED = "<-"
"""Mark of the recommended option, or of the nearest one if none is recommended."""
OptionsDocument = EstimateDocument | CampaignDocument | ComparisonDocument
"""Answers that are tables of options."""


@dataclass(frozen=True)
class Entry:
    """One option as a table shows it."""

    number: int | None
    """Row number, which `planner explain` accepts; None for rows in the plan's order."""
    option: OptionEstimate
    hours: Quantity | None
    usd: Quantity | None
    done_by: date | None = None
    chance: float | None = None
    no: bool = False
    mark: str = ""
    trainings: int = 1
    """Trainings that the row's time and money count."""
    recommended: bool = False


def entries_of(document: OptionsDocument) -> list[Entry]:
    """Return the rows of an answer: best first for a comparison, else in the plan's order."""
    if isinstance(document, EstimateDocument):
        return [
            Entry(None, option, option.wall_hours, option.usd_marginal, no=_lacks(option))
            for option in document.options
        ]
    if isinstance(document, CampaignDocument):
        return [_campaign_entry(None, option, document.runs) for option in document.options]
    marked = {document.recommended or document.nearest: RECOMMENDED}
    if document.mix is not None:
        marked = {placement.option: f"{RECOMMENDED} {placement.runs:,}" for placement in document.mix.placements}
    return [
        replace(
            _campaign_entry(number, option, document.runs),
            mark=marked.get(option.id, ""),
            recommended=option.id == document.recommended,
        )
        for number, option in enumerate(document.options, start=1)
    ]


def _campaign_entry(number: int | None, option: CampaignOption | RankedOption, trainings: int) -> Entry:
    return Entry(
        number,
        option,
        option.campaign_hours,
        option.campaign_usd if option.pay_now_usd is not None else option.payable_usd,
        done_by=option.done_by or option.finish,
        chance=chance_to_keep_limits(option),
        no=not is_feasible(option),
        trainings=trainings,
    )


def _lacks(option: OptionEstimate) -> bool:
    return option.wall_hours is None or option.usd_marginal is None
