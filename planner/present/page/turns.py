"""Renders the changes that would reverse an answer."""

from __future__ import annotations

from dataclasses import dataclass

from planner.model.answer.recommendation import RecommendationDocument
from planner.present.page.sentences import translated
from planner.present.page.templating import render
from planner.present.page.words import Words

SHOWN = 6


@dataclass(frozen=True)
class AnswerTurn:
    """A change or a measurement that would reverse the answer, with the command for it."""

    sentence: str
    command: str | None


def turns_of(document: RecommendationDocument, words: Words) -> list[AnswerTurn]:
    """Return the worthwhile measurements, and the nearest values at which another option wins."""
    measured = [
        AnswerTurn(translated(measurement.sentence, words), measurement.command)
        for measurement in document.measurements
    ]
    return measured + [AnswerTurn(translated(point.sentence, words), None) for point in document.turning_points[:SHOWN]]


def turns_html(document: RecommendationDocument, words: Words) -> str:
    """Render the changes that would reverse an answer."""
    return render("answer.html", "turns", words, turns_of(document, words))
