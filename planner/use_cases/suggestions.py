"""Suggests other setups: a cheaper one that surely fits, more machines, or a single card."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

from planner.decide.campaign.chances import ranking_usd
from planner.decide.options.display_name import named_beside
from planner.decide.options.estimate_plan import estimate_options
from planner.decide.options.part_notes import SURELY_FITS
from planner.decide.recommend.answer_plan import rank_alone
from planner.decide.recommend.pareto import hours_of
from planner.decide.recommend.rank import TOO_SLOW, is_feasible, is_firm
from planner.decide.recommend.wording import duration_text, usd_text
from planner.errors import InputError
from planner.model.answer.documents import ComparisonDocument
from planner.model.answer.option_estimate import RankedOption
from planner.model.answer.reason import ReasonCode
from planner.model.catalog import Catalog
from planner.model.network.trainer_memory import Offload, Optimizer
from planner.model.network.workload import Checkpointing, Strategy
from planner.model.plan.plan import Plan
from planner.model.plan.plan_option import PlanOption
from planner.model.prices.offer import PriceKind
from planner.model.quantity import Basis
from planner.scenario.job import resolve_job
from planner.use_cases.plans import with_cheaper_options

WORTH_SAYING = 0.95
"""Largest cost of a suggestion, as a share of the answer's cost."""
SETUPS: tuple[tuple[str, dict[str, object]], ...] = (
    ("an optimizer at 8 bit", {"optimizer": Optimizer.ADAMW_8BIT}),
    ("a paged optimizer", {"optimizer": Optimizer.PAGED_ADAMW}),
    ("the optimizer in the host's memory", {"offload": Offload.OPTIMIZER}),
)
"""Setups that need less memory, with their changed settings. None changes the trained network."""
SMALL_BATCH = 2
"""Samples per device up to which sharded states mean that memory is tight."""
MORE = (2, 4, 8, 16)
"""Multiples of machines to try if they are too small."""
TOO_SMALL = frozenset({ReasonCode.MEMORY_TOO_SMALL, ReasonCode.NO_SPLIT_FITS})


class Suggestion(NamedTuple):
    """A note, with a headline for the case that nothing fits as asked."""

    note: str
    headline: str | None = None


def with_suggestions(document: ComparisonDocument, plan: Plan, catalog: Catalog, *, today: date) -> ComparisonDocument:
    """Add a note for each suggestion to the answer, before its other notes.

    `plan` is the question, with its filters instead of the options to be found.
    """
    found = tuple(_suggested(document, plan, catalog, today=today))
    if not found:
        return document
    notes = {"notes": (*(suggestion.note for suggestion in found), *document.notes)}
    fitting = next((suggestion.headline for suggestion in found if suggestion.headline is not None), None)
    if fitting is None or document.recommended is not None:
        return document.model_copy(update=notes)
    sentences = (document.headline[0], fitting)
    return document.model_copy(update=notes | {"headline": sentences, "sentence": " ".join(sentences)})


def _suggested(document: ComparisonDocument, plan: Plan, catalog: Catalog, *, today: date) -> Iterator[Suggestion]:
    first = next((option for option in document.options if option.id == document.recommended), None)
    sure = _cheapest_sure(document, reference=first)
    if first is not None and sure is not None and sure is not first and not _is_sure(first):
        yield Suggestion(f"Surely fits: {_summary(sure)}")
    too_small = _is_too_small(document)
    if too_small or (first is not None and _is_short_of_memory(first)):
        yield from map(Suggestion, _other_setups(document, sure or first, plan, catalog, today=today))
    if too_small:
        yield from _more_machines(document, plan, catalog, today=today)
    elif first is not None:
        yield from map(Suggestion, _one_card(document, plan, first, catalog, today=today))


def _is_short_of_memory(option: RankedOption) -> bool:
    """Return True if a setup that needs less memory could cost less.

    So it is if the option may not fit, is sharded or divided, or recomputes.


    Each suggestion searches all offers again, so none is made unless memory is the limit.
    """
    tight = (option.micro_batch or 1) <= SMALL_BATCH and option.strategy not in (None, Strategy.DDP)
    sharded = tight and (option.accelerators or 1) > 1
    return not _is_sure(option) or sharded or option.split is not None or option.checkpointing is Checkpointing.FULL


def _other_setups(
    shown: ComparisonDocument, usual: RankedOption | None, plan: Plan, catalog: Catalog, *, today: date
) -> Iterator[str]:
    """Yield each setup that surely fits, and costs less than the usual one if that fits."""
    if plan.training.adapters is not None or resolve_job(plan, catalog).setup.sample != "tokens":
        return
    for words, changes in SETUPS:
        if any(name in plan.training.stated for name in changes):
            continue
        changed = plan.model_copy(update={"training": plan.training.model_copy(update=changes)})
        best = _cheapest_sure(_answer(changed, catalog, today=today, shown=shown, reference=usual), reference=usual)
        if best is None or not _is_worth_saying(best, usual):
            continue
        flag = " ".join(f"--{name} {value}" for name, value in changes.items())
        instead = "" if usual is None else f" instead of {usd_text(_usd(usual))}"
        yield f"With {words} ({flag}): {_summary(best)}{instead}"


def _more_machines(shown: ComparisonDocument, plan: Plan, catalog: Catalog, *, today: date) -> Iterator[Suggestion]:
    """Yield the smallest multiple of the machines on which the training fits."""
    for times in MORE:
        best = _first_fitting(_answer(_times(plan, times), catalog, today=today, shown=shown))
        if best is not None:
            how = f"--gpus {best.accelerators}" if plan.find is not None else f"nodes: {best.nodes} in a plan"
            nodes = best.nodes or 1
            fitting = f"{nodes} nodes fit" if nodes > 1 else f"{best.accelerators} accelerators fit"
            yield Suggestion(f"To ask for {best.display_name}: {how}", f"{fitting}: {_summary(best)}.")
            return


def _one_card(
    shown: ComparisonDocument, plan: Plan, first: RankedOption, catalog: Catalog, *, today: date
) -> Iterator[str]:
    """Yield the best single card, if more accelerators were requested and one is enough for less money."""
    if plan.find is None or plan.find.gpus is None or 1 in plan.find.gpus:
        return
    alone = plan.model_copy(update={"find": plan.find.model_copy(update={"gpus": (1,)})})
    best = _cheapest_sure(_answer(alone, catalog, today=today, shown=shown, reference=first), reference=first)
    if best is not None and _is_worth_saying(best, first):
        yield f"One card is enough: {_summary(best)} instead of {usd_text(_usd(first))} (--gpus 1)"


def _times(plan: Plan, times: int) -> Plan:
    """Return the plan with a multiple of the requested accelerators, or of the nodes of rented options."""
    if plan.find is not None:
        gpus = None if plan.find.gpus is None else tuple(times * number for number in plan.find.gpus)
        return plan.model_copy(update={"find": plan.find.model_copy(update={"gpus": gpus})})
    options = tuple(_option_times(option, times) for option in plan.options if option.offer is not None)
    return plan.model_copy(update={"options": options})


def _option_times(option: PlanOption, times: int) -> PlanOption:
    nodes = option.nodes or 1
    more = times * nodes if isinstance(nodes, int) else tuple(times * number for number in nodes)
    return option.model_copy(update={"nodes": more})


def _answer(
    plan: Plan, catalog: Catalog, *, today: date, shown: ComparisonDocument, reference: RankedOption | None = None
) -> ComparisonDocument | None:
    """Return the ranked options, with names that differ from the shown ones; None if there is no option.

    `reference` limits the searched offers to those that may cost enough less than this option to be worth mentioning.
    """
    usd = None if reference is None else reference.campaign_usd
    below_usd = math.inf if usd is None else WORTH_SAYING * usd.value
    try:
        listed = with_cheaper_options(plan, catalog, today=today, below_usd=below_usd)
        if not listed.options:
            return None
        found = rank_alone(listed, catalog, today=today, estimated=estimate_options(listed, catalog, today=today))
    except InputError:
        return None
    named = (named_beside(option, shown.options, catalog.providers, catalog.nodes) for option in found.options)
    return found.model_copy(update={"options": tuple(named)})


def _is_too_small(document: ComparisonDocument) -> bool:
    """Return True if the memory of every option is too small."""
    return bool(document.options) and all(TOO_SMALL.intersection(option.why_not_codes) for option in document.options)


def _cheapest_sure(document: ComparisonDocument | None, *, reference: RankedOption | None) -> RankedOption | None:
    """Return the cheapest option that surely fits and takes at most five times as long as `reference`."""
    most = math.inf if reference is None or not is_feasible(reference) else TOO_SLOW * hours_of(reference)
    sure = (option for option in _in_order(document) if _is_sure(option) and hours_of(option) <= most)
    return min(sure, key=ranking_usd, default=None)


def _first_fitting(document: ComparisonDocument | None) -> RankedOption | None:
    return next(_in_order(document), None)


def _in_order(document: ComparisonDocument | None) -> Iterator[RankedOption]:
    if document is not None:
        yield from (
            option
            for option in document.options
            if option.rank is not None and is_feasible(option) and option.payable_usd
        )


def _is_sure(option: RankedOption) -> bool:
    if option.fit_chance is None:
        return option.throughput is not None and option.throughput.basis is Basis.MEASURED
    return option.fit_chance >= SURELY_FITS


def _is_worth_saying(suggestion: RankedOption, usual: RankedOption | None) -> bool:
    """Return True if an option costs enough less than the usual one, also at the answer's confidence."""
    return usual is None or (
        _usd(suggestion) <= WORTH_SAYING * _usd(usual) and ranking_usd(suggestion) <= ranking_usd(usual)
    )


def _usd(option: RankedOption) -> float:
    assert option.payable_usd is not None, "options in order have a price"
    return option.payable_usd.value


def _summary(option: RankedOption) -> str:
    spot = "" if is_firm(option) or option.price_kind is PriceKind.SPOT else ", may be taken away"
    return f"{option.display_name}, {duration_text(hours_of(option))}, {usd_text(_usd(option))}{spot}"
