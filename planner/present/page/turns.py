"""What would turn an answer, as a page shows it."""

from __future__ import annotations

from dataclasses import dataclass

from planner.model.answer.recommendation import RecommendationDocument
from planner.present.page.sentences import translated
from planner.present.page.templating import render
from planner.present.page.words import Words

SHOWN = 6


@dataclass(frozen=True)
class Turn:
    """What would have to be otherwise, or be measured, and the command for it."""

    sentence: str
    command: str | None


def turns_of(document: RecommendationDocument, words: Words) -> list[Turn]:
    """Return the runs that are worth making, and the nearest values at which another option wins."""
    measured = [Turn(translated(one.sentence, words), one.command) for one in document.measurements]
    return measured + [Turn(translated(one.sentence, words), None) for one in document.turning_points[:SHOWN]]


def turns_html(document: RecommendationDocument, words: Words) -> str:
    """Render them."""
    return render("answer.html", "turns", words, turns_of(document, words))
