"""Writes the comparison's answer about an option at the top of `planner explain`: verdict, dates, money, doubts."""

from __future__ import annotations

from collections.abc import Iterator

from planner.decide.recommend.phrases import Phrases, nothing_to_pay
from planner.decide.recommend.wording import confidence_text, percent_text
from planner.model.answer.bill import Bill
from planner.model.answer.explanation import ExplainDocument
from planner.model.answer.option_estimate import RankedOption
from planner.model.currency import LocalAmount
from planner.model.plan.plan import CampaignLimits
from planner.model.quantity import Quantity, Unit
from planner.present.bills import amount_text
from planner.present.facts import quantity_of, trainings_text
from planner.present.table import number_text, quantity_text

LARGEST_LINES = 4
"""Lines of a bill that are shown. The others are added up."""
MONEY = {
    "campaign_usd": "cost",
    "pay_now_usd": "pay now",
    "cash_usd": "cash out",
    "to_pay_usd": "to pay",
    "left_usd": "left",
}
WHEN = {"cash_usd": " by the end", "to_pay_usd": " after credits", "left_usd": " by the end, if it is sold"}


def mix_lines(document: ExplainDocument) -> Iterator[str]:
    """Write the parts of a recommended mix, whose costs add up to that of the mix; nothing without one."""
    if not document.mix:
        return
    yield "The answer is a mix; each option below is explained as if it did all trainings alone:"
    for placed in document.mix:
        yield f"  {placed.name}: {trainings_text(placed.runs)}, {number_text(placed.usd, Unit.USD)} USD"
    yield f"  together: {number_text(sum(placed.usd for placed in document.mix), Unit.USD)} USD"


def answer_lines(option: RankedOption, document: ExplainDocument) -> Iterator[str]:
    """Write the verdict, one line per fact, and each doubt about the evidence."""
    part = next((placed for placed in document.mix if placed.option == option.id), None)
    if part is not None:
        yield f"Part of the recommended mix: {trainings_text(part.runs)}."
    elif option.id == document.recommended:
        yield "Best option alone, but a mix is recommended." if document.mix else "Recommended."
    else:
        yield f"Not recommended{f': {option.why_not}' if option.why_not else ''}."
    for name, text in _facts(option, document):
        yield f"  {name:<8}  {text}"
    if document.currency is not None:
        yield f"  rate      1 USD = {document.currency.per_usd:,.6g} {document.currency.code}"
    if option.quote_request is not None:
        yield "The request:"
        yield f"  {option.quote_request}"
    if option.doubts:
        yield "What was found wrong with its evidence:"
        yield from (f"  - {doubt}" for doubt in option.doubts)


def _facts(option: RankedOption, document: ExplainDocument) -> Iterator[tuple[str, str]]:
    sure = "" if document.confidence is None else confidence_text(document.confidence)
    if option.done_by is not None:
        late = option.done_by_confident or option.done_by
        days = f"{late}" if late == option.done_by else f"likely {option.done_by}; {late}"
        yield "done by", days + (f", {sure}" if sure and option.done_by_confident is not None else "")
    if option.campaign_hours is not None and option.hours_confident is not None and document.confidence is not None:
        most = f"{percent_text(document.confidence)} of the simulated campaigns end within"
        hours = number_text(option.hours_confident, Unit.HOURS)
        yield "hours", f"{quantity_text(option.campaign_hours)}; {most} {hours} h, waiting included"
    chances = {"in time": option.chance_deadline, "within the budget": option.chance_budget}
    known = [f"{percent_text(chance)} {what}" for what, chance in chances.items() if chance is not None]
    if len(known) == len(chances) and option.chance_both is not None:
        known.append(f"{percent_text(option.chance_both)} both")
    if known:
        yield "chance", f"{', '.join(known)} (of the simulated campaigns)"
    for field, name in MONEY.items():
        quantity = quantity_of(option, field)
        if quantity is not None and (field != "to_pay_usd" or quantity != option.cash_usd):
            bought = field == "campaign_usd" and option.pay_now_usd is not None
            yield "running" if bought else name, f"{_money_text(quantity, document)}{WHEN.get(field, '')}"
    if option.usd_confident is not None and sure:
        nothing = nothing_to_pay(option, bill=option.campaign_usd)
        usd = nothing or Phrases(CampaignLimits(), document.currency).most(option)
        yield "at most", f"{usd}, {sure}: by this it is ranked"
    if option.bill is not None:
        yield "bill", _bill_text(option.bill)


def _money_text(usd: Quantity, document: ExplainDocument) -> str:
    if document.currency is None:
        return quantity_text(usd)
    value, low, high = (amount * document.currency.per_usd for amount in (usd.value, usd.low, usd.high))
    local = LocalAmount(code=document.currency.code, value=value, low=low, high=high)
    return f"{quantity_text(usd)} = {amount_text(local)}"


def _bill_text(bill: Bill) -> str:
    """Write the total with its largest lines: `2,540 USD: compute 2,300, support 150, 3 more 90.00`."""
    lines = sorted((line for line in bill.lines if line.usd.value), key=lambda line: -abs(line.usd.value))
    said = [f"{line.what} {number_text(line.usd.value, Unit.USD)}" for line in lines[:LARGEST_LINES]]
    others = lines[LARGEST_LINES:]
    if others:
        said.append(f"{len(others)} more {number_text(sum(line.usd.value for line in others), Unit.USD)}")
    unpriced = ", ".join(dict.fromkeys(missing.what for missing in bill.coverage.no_price))
    guessed = ", ".join(dict.fromkeys(rate.what for rate in bill.coverage.assumed))
    total = f"{number_text(bill.usd_total.value, Unit.USD)} USD"
    total += f": {', '.join(said)}" if said else ""
    total += f"; at an assumed rate: {guessed}" if guessed else ""
    return total + (f"; not in it: {unpriced}" if unpriced else "")
