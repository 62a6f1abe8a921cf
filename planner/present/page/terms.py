"""Under which terms a machine is held, in the reader's language."""

from __future__ import annotations

from planner.model.answer.documents import OptionEstimate
from planner.model.prices.offer import PriceKind
from planner.present.facts import terms_text
from planner.present.page.words import Words

TERMS = ("to be bought", "leased", "there already", "rented", *(kind.value.replace("_", " ") for kind in PriceKind))


def terms_of(option: OptionEstimate, words: Words) -> str:
    """Write the terms, and of what is rented the region."""
    terms, comma, region = terms_text(option).partition(", ")
    return f"{words(terms)}{comma}{region}"
