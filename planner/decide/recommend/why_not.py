"""Explain why each of the other options is not recommended."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from planner.decide.limits import refusals
from planner.decide.options.display_name import name_of
from planner.decide.recommend.pareto import dominates, hours_and_usd, hours_of, is_known, likely_usd
from planner.decide.recommend.phrases import Phrases
from planner.decide.recommend.rank import is_comparable, is_feasible, is_firm, keeps_limits
from planner.decide.recommend.wording import duration_text, kept_and_asked
from planner.model.answer.option_estimate import CampaignOption
from planner.model.answer.reason import Reason, ReasonCode, codes_of, text_of

NOT_KNOWN = Reason(code=ReasonCode.TIME_OR_COST_NOT_KNOWN, text="time or cost is not known")
NOT_CHECKED = Reason(code=ReasonCode.FIT_NOT_CHECKED, text="whether the model fits was not checked")


def reasons_against(
    option: CampaignOption,
    recommended: CampaignOption | None,
    options: Sequence[CampaignOption],
    phrases: Phrases,
) -> tuple[Reason, ...]:
    """Return why this option is not recommended; nothing for the recommended one itself."""
    if recommended is not None and option.id == recommended.id:
        return ()
    excluded = reasons_excluded(option, phrases)
    if excluded:
        return excluded
    better = next((other for other in options if _beats(other, option)), None)
    if better is not None:
        return (_dominated(option, better, phrases),)
    assert recommended is not None, "a feasible option exists, so one is recommended"
    unchecked = (NOT_CHECKED,) if option.fits is None else ()
    return (*unchecked, _not_preferred(option, recommended, phrases))


def reasons_excluded(option: CampaignOption, phrases: Phrases) -> tuple[Reason, ...]:
    """Return why an option may not be recommended, whatever the others are; nothing if it may."""
    if option.not_allowed_reasons:
        first, *others = option.not_allowed_reasons
        return (first.model_copy(update={"text": f"not allowed: {first.text}"}), *others)
    if not is_comparable(option, phrases.limits):
        return option.blocking_reasons or (NOT_KNOWN,)
    if not keeps_limits(option):
        return _missed(option, phrases)
    return refusals(option)


def with_exclusions(options: Sequence[CampaignOption], phrases: Phrases) -> tuple[CampaignOption, ...]:
    """Return the options, those that may not be recommended with the reasons that `compare` gives."""

    def said(option: CampaignOption) -> CampaignOption:
        reasons = reasons_excluded(option, phrases)
        against = {"why_not": text_of(reasons), "why_not_codes": codes_of(reasons), "reasons": reasons}
        return option.model_copy(update=against) if reasons else option

    return tuple(map(said, options))


def _beats(other: CampaignOption, option: CampaignOption) -> bool:
    """Return whether the other is better in time and money; a stale spot price never beats a firm one."""
    if not (is_known(other) and is_known(option) and is_feasible(other)):
        return False
    return dominates(other, option) and not (is_firm(option) and other.price_stale and not is_firm(other))


def _missed(option: CampaignOption, phrases: Phrases) -> tuple[Reason, ...]:
    """Return the limits that the option misses, by its likely value or its chance; the lowest chance first."""
    limits, reasons = phrases.limits, []
    if not option.meets_deadline:
        assert option.finish is not None, "a known time misses the deadline"
        assert limits.deadline is not None
        late = (option.finish - limits.deadline).days
        chance = option.chance_deadline or 0.0
        text = f"ends on {option.finish}, after the deadline {limits.deadline}"
        if late <= 0:
            kept, asked = kept_and_asked(chance, limits.confidence)
            text = f"keeps the deadline {kept}; {asked}"
        figures: dict[str, float] = {"late_days": max(0, late), "chance": chance}
        reasons.append(Reason(code=ReasonCode.MISSES_DEADLINE, text=text, figures=figures))
    if not option.within_budget:
        owed = option.payable_usd
        assert owed is not None, "a known cost misses the budget"
        budget, chance = limits.budget_usd or 0.0, option.chance_budget or 0.0
        text = f"costs {phrases.full(owed.value)}, {phrases.full(owed.value - budget)} over the budget"
        if owed.value <= budget:
            kept, asked = kept_and_asked(chance, limits.confidence)
            text = f"stays in the budget {kept}; {asked}"
        figures = {"to_pay_usd": owed.value, "budget_usd": budget, "chance": chance}
        reasons.append(Reason(code=ReasonCode.OVER_BUDGET, text=text, figures=figures))
    if not reasons:
        chance = option.chance_both or 0.0
        kept, asked = kept_and_asked(chance, limits.confidence)
        text = f"keeps deadline and budget together {kept}; {asked}"
        return (Reason(code=ReasonCode.LIMITS_TOGETHER, text=text, figures={"chance": chance}),)
    return tuple(sorted(reasons, key=lambda reason: reason.figures["chance"]))


def _dominated(option: CampaignOption, better: CampaignOption, phrases: Phrases) -> Reason:
    (hours, usd), (better_hours, better_usd) = hours_and_usd(option), hours_and_usd(better)
    time = _timed(option, better)
    money = _compared(usd, better_usd, phrases.full, "more expensive")
    figures = {"campaign_hours": hours, "campaign_usd": usd, "better_hours": better_hours, "better_usd": better_usd}
    text = f"{name_of(better)} is better in both: this one is {time}, {money}"
    if hours == better_hours:
        text = f"{name_of(better)} is as fast, and cheaper ({phrases.full(better_usd)} against {phrases.full(usd)})"
    elif usd == better_usd:
        faster = f"{duration_text(better_hours)} against {duration_text(hours)}"
        text = f"{name_of(better)} is faster ({faster}) at the same cost"
    return Reason(code=ReasonCode.DOMINATED, text=text, figures=figures)


def _not_preferred(option: CampaignOption, recommended: CampaignOption, phrases: Phrases) -> Reason:
    """Return how the option compares with the recommended one; one of both may have no known time."""
    usd, best_usd = likely_usd(option), likely_usd(recommended)
    money = _compared(usd, best_usd, phrases.full, "more expensive")
    figures = {"campaign_usd": usd, "recommended_usd": best_usd}
    best = name_of(recommended)
    if option.campaign_hours is None or recommended.campaign_hours is None:
        whose = "its" if option.campaign_hours is None else "whose"
        text = f"{money} {'as' if usd == best_usd else 'than'} {best}, {whose} time is not known"
    else:
        hours, best_hours = hours_of(option), hours_of(recommended)
        time = _timed(option, recommended)
        text = f"{time}, {money} than {best}"
        if hours == best_hours:
            text = f"as fast as {best}, {money}"
        elif usd == best_usd:
            text = f"{time} than {best}, {money}"
        figures |= {"campaign_hours": hours, "recommended_hours": best_hours}
    return Reason(code=ReasonCode.NOT_PREFERRED, text=text, figures=figures)


def _timed(option: CampaignOption, other: CampaignOption) -> str:
    """Compare the hours from the campaign's start until both are done, and say so if one has to be waited for."""
    waits = ", with the wait" if option.wait_hours or other.wait_hours else ""
    return _compared(hours_of(option), hours_of(other), duration_text, "slower", waits)


def _compared(value: float, other: float, write: Callable[[float], str], worse: str, said: str = "") -> str:
    better = {"slower": "faster", "more expensive": "cheaper"}[worse]
    if value == other:
        return {"slower": "as fast", "more expensive": "at the same cost"}[worse]
    return f"{worse if value > other else better} ({write(value)} against {write(other)}{said})"
