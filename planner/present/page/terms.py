"""Writes the terms of a machine in the reader's language."""

from __future__ import annotations

from planner.model.answer.option_estimate import OptionEstimate
from planner.model.prices.offer import PriceKind
from planner.present.facts import terms_and_region
from planner.present.page.words import Words

TERMS = ("to be bought", "leased", "there already", "rented", *(kind.value.replace("_", " ") for kind in PriceKind))


def terms_of(option: OptionEstimate, words: Words) -> str:
    """Write the terms, with the region of a rented machine."""
    terms, region = terms_and_region(option)
    return ", ".join(filter(None, (words(terms), region)))
