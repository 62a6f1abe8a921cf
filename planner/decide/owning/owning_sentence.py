"""Write "own or rent" in words: a headline for a year of the plan's trainings, and a sentence on the site."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from planner.cost.ownership.owed_anyway import is_owed
from planner.cost.ownership.owned_cost import annual_cost, busy_gpu_hours_per_year
from planner.cost.ownership.resolved_site import ResolvedSite
from planner.decide.owning.verdict import yearly_usd
from planner.decide.recommend.headline import VERBS
from planner.decide.recommend.phrases import WORDS, Phrases
from planner.decide.recommend.rank import TIE_FRACTION
from planner.decide.recommend.wording import share_text, shares_apart, with_reason
from planner.model.answer.option_estimate import OptionEstimate
from planner.model.answer.own_or_rent import RentalOption
from planner.model.answer.planned_year import PlannedYear, YearOption
from planner.model.currency import Currency
from planner.model.owning.acquisition import Acquisition, Hold
from planner.model.plan.campaign_limits import CampaignLimits
from planner.model.prices.offer import PriceKind

Money = Callable[[float], str]
ACQUIRING = {Acquisition.PURCHASE: "Buying", Acquisition.LEASE: "Leasing", Acquisition.ALREADY_OWNED: "Keeping"}
WHOLE = 9.95
"""Number of trainings from which it is written without a fraction."""
DOING = {Hold.HAVE: "keeping ours", Hold.RENT: "leasing ours", Hold.BUY: "buying", Hold.USE: "using ours"}
NOT_FIRM = {PriceKind.SPOT: "spot", PriceKind.MARKETPLACE: "marketplace"}


def headline(year: PlannedYear, *, confidence: float, currency: Currency | None = None) -> tuple[str, ...]:
    """Write up to three sentences: what to do at which cost, the cheapest rent that is not firm, and when owning pays.

    Renting means hourly rent without a term, if the plan has such an offer. `confidence` and `currency` are the plan's.
    """
    money = Phrases(CampaignLimits(), currency).money
    options = {option.id: option for option in year.options}
    own, best = options[year.owning], options.get(year.recommended or "")
    firm, cheapest = options.get(year.pay_as_you_go or ""), options.get(year.cheapest_rent or "")
    if best is None:
        why = own.why_not or "its cost is not known"
        return (f"Nothing fits: {with_reason(own.display_name, why)}.",)
    sentences = [_advice(best, own, firm, year, confidence, money)]
    if cheapest is not None and not cheapest.firm:
        sentences.append(_not_firm(cheapest, best, money))
    sentences.append(_over_budget(own, best, year, money) or _when_it_pays(own, best, firm, year, money))
    return tuple(sentence for sentence in sentences if sentence)


def _advice(
    best: YearOption, own: YearOption, firm: YearOption | None, year: PlannedYear, confidence: float, money: Money
) -> str:
    """Write what to do, its yearly cost and the next best, in the longest form that stays readable.

    The next best beside owning is hourly rent (`firm`), or what `costs less` compares with if that is rented for less.
    A rent that is over the budget has its own sentence.
    """
    start, work = f"{VERBS[best.hold]} {best.display_name}: {money(yearly_usd(best))} a year", _work(year)
    if own.why_not is not None:
        return f"{start}{work}."
    if best.id != own.id:
        likely_less = yearly_usd(own) <= yearly_usd(best) and not own.over_budget
        cheaper = best.chance_owning_cheaper if likely_less else None
        cost = _at_cost(money(yearly_usd(own)), cheaper, confidence)
        end = f"{start}; {_doing(own, best)} {cost}."
        return readable(f"{start}{work}{end.removeprefix(start)}", end, f"{start}; {DOING[own.hold]} {cost}.")
    if firm is None:
        return readable(f"{start}{work}; the plan names nothing firm to rent.", f"{start}{work}.")
    rival, which = next((option for option in year.compared if option.id == own.costs_less_than), firm), "renting"
    if rival.hold is Hold.RENT and yearly_usd(rival) < yearly_usd(firm):
        firm, which = rival, "the next best"
    less = yearly_usd(firm) - yearly_usd(own)
    if less <= 0:
        known = firm.chance_owning_cheaper is not None and not firm.over_budget
        cheaper = 1 - (firm.chance_owning_cheaper or 0.0) if known else None
        end = f"; {firm.display_name} {_at_cost(money(yearly_usd(firm)), cheaper, confidence)}"
        return readable(f"{start}{work}{end}.", f"{start}{end}.")
    end = f", {money(less)} less than"
    if year.trainings is None:
        return readable(f"{start}{work}{end} {which}.", f"{start}{work}.")
    named = f"{end} renting {firm.display_name}"
    return readable(f"{start}{work}{named}.", f"{start}{named}.", f"{start}{end} {which}.")


def _doing(own: YearOption, best: YearOption) -> str:
    """Write what is done with the machine in question; its name, if another existing machine is recommended."""
    name = own.display_name if best.hold is Hold.HAVE and best.id != own.id else "ours"
    return DOING[own.hold].replace("ours", name)


def _at_cost(usd: str, chance: float | None, confidence: float) -> str:
    """Write the cost of an option that is not recommended; if it likely costs less (`chance`), why it is not."""
    return f"costs {usd}" if chance is None else f"at {usd} {costs_less(chance, confidence)}"


def costs_less(chance: float, confidence: float) -> str:
    """Write why a likely cheaper option is not recommended: the chance is under the plan's, or the saving is small."""
    if chance < confidence:
        cases, asked = min(99, max(1, round(100 * chance))), round(100 * confidence)
        return f"costs less in {cases} of 100 cases, and {asked} are asked for"
    return f"costs less, but by under {share_text(TIE_FRACTION)}"


def takes(option: YearOption, money: Money) -> str:
    """Write what an option commits a person to pay. `money` writes an amount of USD in the plan's currency."""
    if option.usd_at_once:
        return f"takes {money(option.usd_at_once)} at once"
    return f"commits {money(option.usd_committed or 0.0)}"


def _over_budget(own: YearOption, best: YearOption, year: PlannedYear, money: Money) -> str:
    """Write which options that likely cost less are over the plan's budget; empty if there are none."""
    if own.why_not is not None:
        return ""
    cheaper = [
        option
        for option in year.compared
        if option.over_budget and option.firm and yearly_usd(option) < yearly_usd(best)
    ]
    rent = next((option for option in cheaper if option.hold is Hold.RENT and option.id != own.id), None)
    ours = f"{DOING[own.hold]} {takes(own, money)}" if own.over_budget else ""
    rents = f"{rent.display_name} {takes(rent, money)}" if rent is not None else ""
    if not ours and not rents:
        return ""
    text = f"{ours} and {rents}, both" if ours and rents else f"{ours or rents},"
    return f"{text[0].upper()}{text[1:]} over the plan's budget."


def readable(*forms: str) -> str:
    """Return the first form with at most `WORDS` words, else the last."""
    return next((form for form in forms if len(form.split()) <= WORDS), forms[-1])


def _not_firm(cheapest: YearOption, best: YearOption, money: Money) -> str:
    assert cheapest.price_kind is not None
    kind = NOT_FIRM[cheapest.price_kind]
    name = cheapest.display_name if kind in cheapest.display_name.lower() else f"{cheapest.display_name} ({kind})"
    usd = money(yearly_usd(cheapest))
    if yearly_usd(cheapest) < yearly_usd(best):
        return f"{name}: {usd} a year, but it may be taken away."
    return f"The cheapest rent, {name}, costs {usd} a year and may be taken away."


def _when_it_pays(own: YearOption, best: YearOption, firm: YearOption | None, year: PlannedYear, money: Money) -> str:
    """Write what is spent at once, and from which amount of work owning costs no more than the named rent."""
    if own.why_not is not None:
        return f"{with_reason(own.display_name, own.why_not)}."
    at_once = f"It takes {money(best.usd_at_once)} at once" if best.usd_at_once else ""
    another = best.id != own.id and best.hold is Hold.BUY
    doing = _doing(own, best)
    forms = [_more_than_it_can(year)] if _more_than_it_can(year) else [] if another else _pays_from(doing, firm, year)
    if not forms:
        return f"{at_once}." if at_once else ""
    if at_once:
        return readable(*(f"{at_once}; {form}." for form in forms))
    return readable(*(f"{form[0].upper()}{form[1:]}." for form in forms))


def _more_than_it_can(year: PlannedYear) -> str:
    done, wanted = year.trainings, year.trainings_wanted
    if done is None or wanted is None or done >= wanted:
        return ""
    return f"the machine does at most {whole_trainings(done)} of the {trainings_text(wanted)} a year"


def _pays_from(doing: str, firm: YearOption | None, year: PlannedYear) -> list[str]:
    """Write from which amount of work owning costs no more than the named rent, with longer forms first."""
    if firm is None:
        return []
    even = firm.break_even
    if even is None:
        return [f"{doing} never costs less than renting {firm.display_name}"]
    than = f"{doing} costs less than renting {firm.display_name}"
    share, now = shares_apart(even.busy_fraction, year.busy_fraction.value)
    busy = f"{share} busy"
    if even.trainings_per_year is None:
        return [f"{than} from {busy} on; taken as {now} busy", f"{than} from {busy} on"]
    if even.trainings_per_year == 1:
        return [f"{than} however few trainings a year there are", f"{than} from the first training on"]
    many = f"{trainings_text(even.trainings_per_year)} a year"
    return [f"{than} from {many}, {busy}; now {now}", f"{than} from {many}, {busy}", f"{than} from {many}"]


def _work(year: PlannedYear) -> str:
    done, wanted = year.trainings, year.trainings_wanted
    if done is None or wanted is None:
        return f" at {share_text(year.site_busy_fraction)} busy"
    return f" for {trainings_text(done)}"


def trainings_text(number: float) -> str:
    """Write a number of trainings: whole from 10 on, else with two digits."""
    written = f"{number:,.0f}" if number >= WHOLE else f"{number:.2g}"
    return f"{written} {'training' if written == '1' else 'trainings'}"


def whole_trainings(number: float) -> str:
    """Write a number of trainings rounded down; with two digits if below 1."""
    return f"{math.floor(number):,}" if number >= 1 else f"{number:.2g}"


def site_sentence(
    resolved: ResolvedSite, owned: OptionEstimate, rentals: Sequence[RentalOption], against: RentalOption | None
) -> str:
    """Write which is cheaper per hour at the site's own busy share, and where owning breaks even with each rent."""
    inputs = resolved.inputs
    own = annual_cost(inputs).total / busy_gpu_hours_per_year(inputs)
    owed = is_owed(resolved, owned.hold)
    doing, counted = ("Keeping", "beyond its lease") if owed else (ACQUIRING[inputs.acquisition], "in full")
    start = (
        f"{doing} {owned.display_name} costs {own:.2f} USD per busy GPU-hour {counted} at "
        f"{_percent(inputs.busy_fraction)} busy"
    )
    if against is None or against.usd_per_owned_gpu_hour is None:
        return f"{start}; there is no rented option to compare it with."
    rent = against.usd_per_owned_gpu_hour.value
    verdict = "cheaper than" if own < rent else "more expensive than"
    break_evens = "; ".join(_break_even(rental) for rental in rentals if rental.usd_per_owned_gpu_hour is not None)
    return f"{start}, {verdict} the same work on {_name(against)} ({rent:.2f} USD). It breaks even {break_evens}."


def _name(rental: RentalOption) -> str:
    return rental.display_name or rental.id


def _break_even(rental: RentalOption) -> str:
    busy = rental.break_even_utilisation
    if busy is None:
        return f"never against {_name(rental)}"
    return f"at {_percent(busy.value)} ({_percent(busy.low)} to {_percent(busy.high)}) busy against {_name(rental)}"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
