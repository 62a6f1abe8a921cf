"""HTML fragments that the page and the standalone report share; all text is escaped here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from planner.model.answer.documents import Assumption, ComparisonDocument, RankedOption
from planner.model.quantity import Basis, Quantity
from planner.present.bill_table import bill_rows
from planner.present.bill_text import coverage_text
from planner.present.facts import (
    OF_RENTED,
    date_text,
    headline,
    headline_range,
    interval_text,
    known,
    machine_text,
    not_known,
    price_date_text,
    terms_text,
    value_text,
    verdict_text,
)
from planner.present.table import Row
from planner.present.time_table import time_facts, time_rows

FORMULA = "formula and source"
BASIS_COLOUR = {
    Basis.MEASURED: "#009E73",
    Basis.QUOTED: "#0072B2",
    Basis.MODELLED: "#E69F00",
    Basis.ASSUMED: "#D55E00",
}
"""Okabe-Ito colours: told apart with any kind of colour vision."""

BASIS_SHAPE = {
    Basis.MEASURED: "circle",
    Basis.QUOTED: "square",
    Basis.MODELLED: "triangle-up",
    Basis.ASSUMED: "diamond",
}
"""The second channel: the same shape on the chart and before the word."""

_GLYPH = {"circle": "&#9679;", "square": "&#9632;", "triangle-up": "&#9650;", "diamond": "&#9670;"}

STYLE = """
.tp { font-size: 0.92rem; line-height: 1.45; overflow-wrap: anywhere; }
.tp h1 { font-size: 1.15rem; font-weight: 600; margin: 0 0 0.4rem 0; padding: 0; opacity: 0.75; }
.tp .sentence { font-size: 1.5rem; line-height: 1.35; font-weight: 600; margin: 0; }
.tp .rest { display: block; font-size: 1.05rem; margin-top: 0.4rem; font-weight: 400; }
.tp .problem { border-left: 0.3rem solid #D55E00; padding: 0.5rem 0.9rem; background: rgba(213, 94, 0, 0.12); }
.tp .small { font-size: 0.84rem; opacity: 0.78; }
.tp .cards { display: flex; flex-wrap: wrap; gap: 0.9rem; }
.tp .card { flex: 1 1 13rem; border: 1px solid rgba(128, 128, 128, 0.35); border-radius: 0.5rem; padding: 0.8rem 1rem; }
.tp .figure { font-size: 1.7rem; font-weight: 600; line-height: 1.25; }
.tp .scroll { overflow-x: auto; }
.tp table { border-collapse: collapse; width: 100%; margin: 0; }
.tp th { text-align: left; font-weight: 600; vertical-align: bottom; opacity: 0.8; overflow-wrap: normal; }
.tp th, .tp td { border: 0; border-bottom: 1px solid rgba(128, 128, 128, 0.3); padding: 0.4rem 0.8rem 0.4rem 0; }
.tp td { vertical-align: top; }
.tp td.number { white-space: nowrap; }
.tp tr.recommended td { background: rgba(0, 158, 115, 0.12); }
.tp .problem ul { margin: 0.2rem 0 0 0; }
.tp td.name { min-width: 8.5rem; overflow-wrap: normal; }
.tp td.wide { min-width: 10.5rem; }
.tp .basis { white-space: nowrap; }
"""


def basis_html(basis: Basis) -> str:
    """Write the basis as a word behind its coloured shape."""
    glyph = _GLYPH[BASIS_SHAPE[basis]]
    return f'<span class="basis"><span style="color:{BASIS_COLOUR[basis]}">{glyph}</span> {basis.value}</span>'


def sentence_html(comparison: ComparisonDocument) -> str:
    """Write the question and the answer: what to take in large letters, on what it rests in small ones."""
    answer, _, doubts = comparison.sentence.partition("; ")
    rest = f'. <span class="rest">{escape(doubts[0].upper() + doubts[1:])}</span>' if doubts else ""
    return f'<h1>{escape(comparison.plan)}</h1><p class="sentence">{escape(answer)}{rest}</p>'


def cards_html(cards: Sequence[tuple[str, Quantity | None]]) -> str:
    """Write key figures, each with range, basis, date and formula."""
    return f'<div class="cards">{"".join(_card(name, quantity) for name, quantity in cards)}</div>'


def options_html(comparison: ComparisonDocument) -> str:
    """Write one row per option, best first, with ranges, bases and the reason against it."""
    head = ("#", "Option", "Campaign time", "Campaign cost", "Pareto", "Price of", "Why, or why not")
    rows = [_option_row(option, recommended=comparison.recommended) for option in comparison.options]
    return _table(head, rows)


def quantities_html(option: RankedOption) -> str:
    """Write every quantity of one option with range, basis, date, formula and source."""
    rows = [
        f'<tr><td class="name">{escape(name)}</td>{_quantity_cells(quantity)}</tr>' for name, quantity in known(option)
    ]
    missing = not_known(option)
    unknown = f'<p class="small">Not known: {escape("; ".join(missing))}.</p>' if missing else ""
    owned = option.site is not None and all(getattr(option, field) is None for field in OF_RENTED)
    rent = '<p class="small">Owned: there is no rent to show.</p>' if owned else ""
    return _table(("What", "Value", "90 % range", "Basis", "As of", "Formula and source"), rows) + unknown + rent


def doubts_html(option: RankedOption) -> str:
    """Write what is wrong with the runs that an option rests on; nothing where nothing is."""
    doubts = "".join(f"<li>{escape(doubt)}</li>" for doubt in option.doubts)
    return f'<div class="problem"><b>The evidence is doubtful</b><ul>{doubts}</ul></div>' if doubts else ""


def bill_html(option: RankedOption) -> str:
    """Write a rented option's bill, line by line, with what is not on it; nothing for an owned one."""
    if option.bill is None or option.offer is None:
        return ""
    count = option.bill.trainings
    caption = f"Bill of {count:,} trainings" if count > 1 else "Bill of 1 training"
    coverage = f'<p class="small">Coverage: {escape(coverage_text(option.bill))}.</p>'
    return f"<h4>{caption}</h4>{_rows_html(bill_rows(option.bill))}{coverage}"


def time_html(option: RankedOption) -> str:
    """Write where the hours of one training go; nothing where its speed is not known."""
    if option.time is None:
        return ""
    facts = "".join(f"<li>{escape(fact)}</li>" for fact in time_facts(option.time))
    return f"<h4>Where the hours of one training go</h4>{_rows_html(time_rows(option.time))}<ul>{facts}</ul>"


def notes_html(option: RankedOption) -> str:
    """Write the notes of an option as a list; nothing where there are none."""
    notes = "".join(f"<li>{escape(note)}</li>" for note in option.notes if note not in option.doubts)
    return f"<ul>{notes}</ul>" if notes else ""


def assumptions_html(assumptions: Sequence[Assumption]) -> str:
    """Write what the answer took as given, with sources."""
    rows = [f"<tr><td>{escape(item.name)}</td>{_quantity_cells(item.quantity)}</tr>" for item in assumptions]
    return _table(("Assumption", "Value", "90 % range", "Basis", "As of", "Source"), rows)


def _card(name: str, quantity: Quantity | None) -> str:
    detail = ""
    if quantity is not None:
        dated = f" &middot; as of {quantity.as_of}" if quantity.as_of else " &middot; undated"
        detail = (
            f"<div>90 %: {escape(headline_range(quantity))}</div><div>{basis_html(quantity.basis)}{dated}</div>"
            f'<div class="small">{escape(quantity.source)}</div>'
        )
    return (
        f'<div class="card"><div class="small">{escape(name)}</div>'
        f'<div class="figure">{escape(headline(quantity))}</div>{detail}</div>'
    )


def _option_row(option: RankedOption, *, recommended: str | None) -> str:
    chosen = ' class="recommended"' if option.id == recommended else ""
    what = (
        f"<b>{_breakable(option.id)}</b><br>"
        f'<span class="small">{escape(machine_text(option))}<br>{escape(terms_text(option))}</span>'
    )
    verdict = verdict_text(option, recommended=recommended)
    doubtful = '<br><b class="small">The evidence is doubtful: see its numbers.</b>' if option.doubts else ""
    cells = (
        f'<td class="number">{option.rank or "-"}</td><td class="wide">{what}</td>'
        f"{_stacked(option.campaign_hours)}{_stacked(option.campaign_usd)}"
        f'<td>{"yes" if option.pareto else ""}</td><td class="number">{price_date_text(option)}</td>'
        f'<td class="wide">{escape(verdict)}{doubtful}</td>'
    )
    return f"<tr{chosen}>{cells}</tr>"


def _breakable(text: str) -> str:
    """Let a long id wrap where a reader would break it."""
    return re.sub(r"([/:])", r"\1<wbr>", escape(text))


def _stacked(quantity: Quantity | None) -> str:
    if quantity is None:
        return "<td>not known</td>"
    return (
        f'<td class="number"><b>{escape(headline(quantity))}</b><br>'
        f'<span class="small">{escape(headline_range(quantity))}</span><br>{basis_html(quantity.basis)}</td>'
    )


def _quantity_cells(quantity: Quantity) -> str:
    return (
        f'<td class="number"><b>{escape(value_text(quantity))}</b></td>'
        f'<td class="number">{escape(interval_text(quantity))}</td><td>{basis_html(quantity.basis)}</td>'
        f'<td class="number">{date_text(quantity)}</td><td>{escape(quantity.source)}</td>'
    )


def _rows_html(rows: Sequence[Row]) -> str:
    """Write rows that share the first one's columns; only formulas and the first column wrap."""
    head = list(rows[0])
    kinds = ['<td class="name">', *("<td>" if name == FORMULA else '<td class="number">' for name in head[1:])]
    found = []
    for row in rows:
        cells = "".join(f"{kind}{escape(row.get(name, ''))}</td>" for kind, name in zip(kinds, head, strict=True))
        found.append(f"<tr>{cells}</tr>")
    return _table(head, found)


def _table(head: Sequence[str], rows: Sequence[str]) -> str:
    cells = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    return f'<div class="scroll"><table><thead><tr>{cells}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
