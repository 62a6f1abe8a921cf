"""Claims that their own inputs contradict: products, sums, tables."""

from __future__ import annotations

import math
from collections.abc import Sequence

from planner.audit.claims.units import Dimensioned, ends_in, nearest, unit_of
from planner.audit.findings import digits, impossible, note, unknown
from planner.model.answer.audit import Finding
from planner.model.evidence.amount import Amount
from planner.model.evidence.claims import ArithmeticClaim, BatchRow, FigureRow, SumClaim, TableClaim

AGREES = 0.03
"""Relative difference that still agrees, because printed figures are rounded to two or three digits."""
SLIPS = (10.0, 60.0, 100.0, 1000.0, 3600.0, 24.0, 8.0, 1e6)


def recomputed_findings(claim: ArithmeticClaim | SumClaim | TableClaim) -> list[Finding]:
    """Redo a figure, a sum or every row of a table."""
    match claim:
        case ArithmeticClaim():
            return arithmetic_findings(claim)
        case SumClaim():
            return _added(claim.amount, claim.terms, "the sum")
        case TableClaim():
            return table_findings(claim)


def arithmetic_findings(claim: ArithmeticClaim) -> list[Finding]:
    """Redo product / over in the inputs' units; without units, in the printed unit."""
    if not claim.product and not claim.over:
        says = "The figure comes without its inputs: there is nothing to redo."
        return [unknown("work_not_known", says, fix="Add product and over.")]
    return _redo(claim.amount, claim.product, claim.over, "the figure")


def table_findings(claim: TableClaim) -> list[Finding]:
    """Redo every row: epoch = samples / batch x seconds (a larger batch makes fewer batches), or its own inputs."""
    findings: list[Finding] = []
    for row in claim.rows:
        if isinstance(row, FigureRow):
            what = row.label or "a row"
            if row.terms:
                findings += _added(row.amount, row.terms, what)
            findings += _redo(row.amount, row.product, row.over, what) if row.product else []
        elif claim.samples is None:
            fix = "Add the samples of an epoch."
            findings.append(unknown("work_not_known", f"Batch {row.batch:g}: of how many samples?", fix=fix))
        else:
            findings += _epoch(row, claim.samples)
    return findings


def _epoch(row: BatchRow, samples: float) -> list[Finding]:
    stated = ends_in(row.epoch, "s", "epoch")
    if isinstance(stated, Finding):
        return [stated]
    seconds = samples / row.batch * row.seconds_per_batch
    return _redone(row.epoch, seconds / _factor(row.epoch), f"batch {row.batch:g}")


def _redo(amount: Amount, product: Sequence[Amount], over: Sequence[Amount], what: str) -> list[Finding]:
    divisor = math.prod(divisor.value for divisor in over)
    computed = math.prod(factor.value for factor in product) / divisor if divisor else math.inf
    if not math.isfinite(computed):
        return [
            unknown(
                "arithmetic", "Its inputs give no number: they divide by zero, or are too large.", fix="Correct `over`."
            )
        ]
    said = unit_of(amount.unit)
    findings = [] if said is not None and amount.unit else [_unit_not_read(amount)]
    if said is not None and any(amount_.unit for amount_ in (*product, *over)):
        joined = Dimensioned()
        for factor, power in (*((factor, 1) for factor in product), *((factor, -1) for factor in over)):
            unit = unit_of(factor.unit)
            if unit is None:
                says = f"An input's unit '{factor.unit}' means nothing here."
                return [unknown("unit_not_known", says, fix="Write s, h, W, kWh, GB, USD or a count.")]
            joined = joined.times(unit, power)
        if joined.powers != said.powers:
            says = f"The inputs do not multiply to '{amount.unit}'."
            return [unknown("unit_not_known", says, fix="Check the inputs' units.")]
        computed *= joined.factor / said.factor
    elif said is not None and amount.unit.strip() == "%" and abs(computed) <= 1.5 * amount.ends[1] / 100:
        computed *= 100
    wrong = _redone(amount, computed, what)
    return wrong or findings


def _added(amount: Amount, terms: Sequence[Amount], what: str) -> list[Finding]:
    if not all(term.unit for term in terms):
        computed = sum(term.value for term in terms)
        return _redone(amount, computed, what) or ([] if unit_of(amount.unit) else [_unit_not_read(amount)])
    said, total = unit_of(amount.unit), 0.0
    for term in terms:
        unit = unit_of(term.unit)
        if said is None or unit is None or unit.powers != said.powers:
            says = f"Of {what} '{term.unit}' cannot be added to '{amount.unit}'."
            return [unknown("unit_not_known", says, fix="Write all in one currency or unit.")]
        total += term.value * unit.factor / said.factor
    return _redone(amount, total, what)


def _unit_not_read(amount: Amount) -> Finding:
    code = "unit_not_known" if amount.unit else "unit_missing"
    shown = f"'{amount.unit}' means nothing here" if amount.unit else "has no unit"
    return note(code, f"{amount.value:g} {shown}: its arithmetic alone was checked.", fix="Write a unit.")


def _factor(amount: Amount) -> float:
    unit = unit_of(amount.unit)
    return unit.factor if unit else 1.0


def _redone(stated: Amount, computed: float, what: str) -> list[Finding]:
    value = nearest(stated.ends, computed)
    if math.isclose(value, computed, rel_tol=AGREES):
        return []
    unit = f" {stated.unit}" if stated.unit else ""
    says = f"{what[:1].upper()}{what[1:]} is printed as {digits(value)}{unit}; its own inputs give {digits(computed)}."
    if value and computed / value > 0:
        slip = max(computed / value, value / computed)
        factor = next((known for known in SLIPS if math.isclose(slip, known, rel_tol=AGREES)), None)
        says += f" A factor of {factor:,g} slipped." if factor else ""
    facts = (("stated", value, stated.unit, "the claim"), ("computed", computed, stated.unit, "the claim's own inputs"))
    return [impossible("arithmetic", says, *facts, fix="Correct the figure or its inputs.")]


def checked_product(stated: Amount, computed: float, what: str) -> list[Finding]:
    """Compare a printed figure with a product of others, in its unit."""
    return _redone(stated, computed, what)
