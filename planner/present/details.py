"""Writes the basis of an answer below its table: reasons, bills, notes and assumptions, each once."""

from __future__ import annotations

from collections.abc import Iterator

from planner.model.answer.documents import CampaignDocument, ComparisonDocument, EstimateDocument
from planner.model.answer.option_estimate import OptionEstimate
from planner.present.bills import bill_text
from planner.present.facts import name_text
from planner.present.screen import wrapped
from planner.present.table import price_text, quantity_text

INDENT = "    "


def details_lines(document: EstimateDocument | CampaignDocument | ComparisonDocument, *, width: int) -> list[str]:
    """Return each option with its id, price, bill and reasons, then the notes with their rows, then the assumptions."""
    notes: dict[str, list[str]] = {}
    texts = ["", "Options"]
    for number, option in enumerate(document.options, start=1):
        texts.append(f"{number}  {name_text(option)} [{option.id}]: {'; '.join(_facts(option))}")
        for note in dict.fromkeys((*option.doubts, *option.notes, *_sources(option))):
            if note in document.notes:  # already shown below the table
                continue
            notes.setdefault(note, []).append(str(number))
    texts += ["", "Notes, each with the rows it is of"] if notes else []
    texts += [f"{', '.join(numbers)}  {note}" for note, numbers in notes.items()]
    texts += ["", "Assumptions"] if document.assumptions else []
    texts += [
        f"{assumption.name}: {quantity_text(assumption.quantity)}; {assumption.quantity.source}"
        for assumption in document.assumptions
    ]
    return [line for text in texts for line in wrapped(text, width=width, indent=INDENT) or [""]]


def _sources(option: OptionEstimate) -> Iterator[str]:
    """Yield the sources of the price and of the network between nodes. The notes cover a network of the plan."""
    if option.offer is not None and option.price is not None:
        dated = "" if option.price.as_of is None else f" ({option.price.as_of})"
        yield f"price from {option.price.source}{dated}"
    network = option.network
    if network is not None and network.as_of is not None and network.low_gbit_per_s is None:
        kind = "" if network.kind is None else f" of {network.kind.value}"
        yield f"{network.gbit_per_s:,g} Gbit/s{kind} between nodes: {network.source} ({network.as_of})"


def _facts(option: OptionEstimate) -> Iterator[str]:
    if option.throughput is not None:
        yield quantity_text(option.throughput)
    if option.price is not None:
        yield f"price {price_text(option)}"
    if option.not_allowed is not None:
        yield f"not allowed: {option.not_allowed}"
    if option.why_not is not None:
        yield option.why_not
    if option.bill is not None and option.offer is not None:
        yield bill_text(option.bill)
