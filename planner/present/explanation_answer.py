"""Writes the comparison's answer about an option at the top of `planner explain`: verdict, dates, money, doubts.

Also writes the short explanation: this answer, hours, and formulas of the money, without sources.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.decide.recommend.phrases import Phrases, nothing_to_pay
from planner.decide.recommend.wording import confidence_text
from planner.model.answer.bill import Bill
from planner.model.answer.explanation import ExplainDocument, OptionExplanation
from planner.model.answer.option_estimate import RankedOption
from planner.model.currency import LocalAmount
from planner.model.plan.campaign_limits import CampaignLimits
from planner.model.quantity import FormulaUsed, Quantity, Unit
from planner.present.bills import amount_text
from planner.present.facts import name_text, quantity_of, trainings_text
from planner.present.formula_lines import HOW_TO_READ, formula_lines
from planner.present.screen import again, wrapped_lines
from planner.present.table import number_text, quantity_text
from planner.speed.throughput.prediction_notes import part_names
from planner.text.number_text import percent_text

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
        latest = option.done_by_confident or option.done_by
        days = f"{latest}" if latest == option.done_by else f"likely {option.done_by}; {latest}"
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
        less = "" if option.taken_off_usd is None else ", less what is taken off,"
        yield "at most", f"{usd}, {sure}: by this{less} it is ranked"
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


LINES = 80
"""Largest number of lines, two screens."""
OF_THE_STEP = ("samples_per_s", "step_seconds")
"""Formulas at which the short explanation stops, because the ones below belong to the training step."""
MOST_PARTS = 6


def short_lines(document: ExplainDocument, *, width: int | None) -> list[str]:
    """Return the lines of the recommended option, or of the only requested one. `--all` has everything."""
    option = next((option for option in document.options if option.id == document.recommended), document.options[0])
    last = ["Every option, formula, source, constant and run: --all", *again(document.answer_id)]
    if len(document.options) > 1:
        last.insert(0, f"{len(document.options) - 1} more options: --option N or ID")
    lines = wrapped_lines([document.plan, *mix_lines(document), "", *_option(option, document)], width)
    ending = wrapped_lines(last, width)
    left = LINES - len(ending)
    if len(lines) > left:
        lines = [*lines[: left - 1], "  ..."]
    return [*lines, *ending]


def _option(option: OptionExplanation, document: ExplainDocument) -> Iterator[str]:
    yield f"== {option.id}: {option.name if option.answer is None else name_text(option.answer)}"
    if option.answer is not None:
        yield from answer_lines(option.answer, document)
        yield from (f"Note: {run.text}" for run in option.answer.runs_not_counted)
    if option.throughput is None:
        yield f"No speed is known: {option.why_not or '; '.join(option.notes)}"
    else:
        yield f"throughput {quantity_text(option.throughput)}"
        if option.why_not is not None:
            yield f"Not known: {option.why_not}"
    if option.step_seconds is not None and option.throughput_from == "estimator":
        names = part_names("image" if option.step_unit == "images" else "tokens")
        parts = [f"{names.get(part.name, part.name)} {part.share * 100:.0f} %" for part in option.parts[:MOST_PARTS]]
        step = f"a step of {option.step_size:,.0f} {option.step_unit} takes {option.step_seconds:.4g} s"
        yield f"{step}: {', '.join(parts)}"
    formulas = list(_money_formulas(option.formulas))
    if formulas:
        yield f"How the figures are computed ({HOW_TO_READ}):"
        yield from formula_lines(formulas, full=False)


def _money_formulas(formulas: tuple[FormulaUsed, ...]) -> Iterator[FormulaUsed]:
    """Yield the formulas that are not only used by those of the step."""
    by_name = {formula.name: formula for formula in formulas}
    used = {part.formula for formula in formulas for part in formula.inputs}
    waiting = [name for name in by_name if name not in used and name not in OF_THE_STEP]
    wanted: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in wanted:
            wanted.add(name)
            waiting += [used.formula for used in by_name[name].inputs if used.formula not in (None, *OF_THE_STEP)]
    yield from (formula for formula in formulas if formula.name in wanted)
