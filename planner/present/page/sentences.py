"""Translates sentences that the planner wrote in English.

Each sentence is matched against known forms, and its values are inserted into the form's translation. Values that
are phrases are translated the same way. A sentence without a matching form stays English.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from planner.model.answer.documents import ComparisonDocument
from planner.model.answer.own_or_rent import Horizons
from planner.present.page.phrase_forms import PHRASES
from planner.present.page.sentence_forms import ANYTHING, SENTENCES, VALUES
from planner.present.page.words import Words

PLACEHOLDER = re.compile(r"\{(\w+)\}")


def translated(sentence: str, words: Words) -> str:
    """Translate a sentence. Return it unchanged if it has no known form."""
    return sentence if words.language == "en" else _by_form(sentence, words, SENTENCES) or sentence


def horizons_text(both: Horizons, words: Words) -> str:
    """Translate the sentences about this campaign and about a year of such work."""
    return " ".join(translated(said, words) for said in (both.campaign, both.year, both.remark) if said is not None)


def notes_text(document: ComparisonDocument, words: Words) -> list[str]:
    """Return the notes on all options, translated if they have a known form."""
    both = document.horizons
    if both is None:
        return [note_text(note, words) for note in document.notes]
    horizons_note = both.text.removesuffix(".")
    return [horizons_text(both, words) if note == horizons_note else note_text(note, words) for note in document.notes]


def note_text(note: str, words: Words) -> str:
    """Translate a note, which may be a sentence of the headline without its full stop."""
    said = translated(note, words)
    return said if said != note else translated(f"{note}.", words).removesuffix(".")


def phrase(text: str, words: Words) -> str:
    """Translate a phrase. Return it unchanged if it has no known form."""
    return text if words.language == "en" else _by_form(text, words, PHRASES) or text


def _by_form(text: str, words: Words, forms: Sequence[str]) -> str | None:
    for form in forms:
        found = _pattern(form).fullmatch(text)
        if found is not None:
            values = {name: _by_form(value, words, PHRASES) or value for name, value in found.groupdict().items()}
            return words(form).format(**values)
    return None


@cache
def _pattern(form: str) -> re.Pattern[str]:
    """Return the pattern of a form."""
    parts = PLACEHOLDER.split(form)
    texts = [
        re.escape(part) if place % 2 == 0 else f"(?P<{part}>{VALUES.get(part, ANYTHING)})"
        for place, part in enumerate(parts)
    ]
    return re.compile("".join(texts))
