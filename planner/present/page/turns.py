"""What would turn an answer, as a page shows it."""

from __future__ import annotations

from planner.model.answer.recommendation import RecommendationDocument
from planner.present.page.templating import render
from planner.present.page.words import Words

SHOWN = 6


def turns_html(document: RecommendationDocument, words: Words) -> str:
    """Render the runs that are worth making, and the values at which another option wins."""
    turns = [{"sentence": one.sentence, "command": ""} for one in document.turning_points[:SHOWN]]
    measurements = [{"sentence": one.sentence, "command": one.command or ""} for one in document.measurements]
    return render("answer.html", "turns", words, measurements, turns)
