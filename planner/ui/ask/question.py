"""Converts the form to a question of `planner ask`, answers it, and names the entries of the form's lists."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

from planner.adapters.documents import parse_model
from planner.adapters.mapping_text import parse_mapping
from planner.cost.cloud.net_price import with_book
from planner.decide.options.card_name import card_names
from planner.decide.options.display_name import provider_name
from planner.decide.options.estimate_plan import Estimated, without_limits
from planner.errors import InputError
from planner.model.answer.documents import CampaignDocument, ComparisonDocument
from planner.model.answer.recommendation import RecommendationDocument
from planner.model.catalog import Catalog
from planner.model.currency import Currency
from planner.model.evidence.run import RunRecord
from planner.model.network.adapters import Adapters, FrozenFormat
from planner.model.network.training_method import NEXT_TOKEN, CompletionTokens, MethodSettings
from planner.model.network.workload import ArchitectureFile
from planner.model.plan.campaign_limits import CampaignLimits
from planner.model.plan.find_filters import FindFilters
from planner.model.plan.plan import Plan, Training
from planner.model.prices.offer import PriceKind
from planner.model.prices.price_book import PriceBook
from planner.scenario.unpublished_power import owning_not_modelled
from planner.ui.ask.form import KRW_AS_OF, KRW_PER_USD, KRW_SOURCE, Form, MachineRow, Start, WeightsChoice
from planner.ui.scenario import plan_of_form, with_limits
from planner.use_cases.asking.ask import plan_of_question
from planner.use_cases.asking.question import MachineToBuy, TrainingQuestion
from planner.use_cases.network_files import ARCHITECTURE_FIX, network_of
from planner.use_cases.plans import Counted, DatedPlan, beginning, campaign, compare, counted_from, estimates_of
from planner.use_cases.recommend import recommend

FORM_FIX = "Change the value in the form."
CREDITS_LAST_DAYS = 365
ANSWERS_KEPT = 128
ADVICE_KEPT = 32
ESTIMATES_KEPT = 32


@dataclass(frozen=True)
class Answered:
    """A plan with its answer and assumptions."""

    plan: Plan
    """Plan as it is written to a file."""
    dated: DatedPlan
    """Plan as it was answered, with all assumptions."""
    document: ComparisonDocument


@dataclass(frozen=True)
class StampedCatalog:
    """A catalog with a stamp that identifies it, so that its answers can be cached."""

    stamp: tuple[object, ...]
    catalog: Catalog

    def __hash__(self) -> int:
        return hash(self.stamp)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StampedCatalog) and self.stamp == other.stamp


def answer_form(form: Form, known: StampedCatalog, *, now: datetime) -> Answered:
    """Answer the form's question, or its plan under the form's limits."""
    limits = plan_of_form(form).campaign if form.start is Start.PLAN else CampaignLimits()
    return answer_counted(form, known, counted_from(limits.model_copy(update={"deadline": form.deadline}), now=now))


@lru_cache(maxsize=ANSWERS_KEPT)
def answer_counted(form: Form, known: StampedCatalog, counted: Counted) -> Answered:
    """Answer the form with work counted from a known day."""
    today = counted.today
    ours = at_our_terms(form, known, today=today)
    catalog = ours.catalog
    if form.start is Start.PLAN:
        plan = with_limits(
            plan_of_form(form), runs=form.runs, deadline=form.deadline, budget_usd=form.budget,
            electricity_usd_per_kwh=form.kwh, confidence=form.confidence,
        )  # fmt: skip
        dated = DatedPlan(beginning(plan, counted.start), today, counted.assumed)
        estimated = None if plan.find else _estimates(without_limits(dated.plan), ours, today=today)
        return Answered(plan, dated, compare(dated.plan, catalog, today=today, estimated=estimated))
    stated = plan_of_question(question_of(form, today=today), catalog, today=today)
    dated = DatedPlan(beginning(stated.plan, counted.start), today, (*stated.assumed, *counted.assumed))
    estimated = _estimates(without_limits(dated.plan), ours, today=today)
    return Answered(stated.plan, dated, compare(dated.plan, catalog, today=today, estimated=estimated))


@lru_cache(maxsize=ADVICE_KEPT)
def turning_points(form: Form, dated: DatedPlan, known: StampedCatalog, *, plan_words: str) -> RecommendationDocument:
    """Return the changes that would reverse the answer to a plan. `plan_words` names the plan in further commands."""
    plan, today, _ = dated
    return recommend(plan, at_our_terms(form, known, today=today).catalog, today=today, plan_words=plan_words)


@lru_cache(maxsize=ADVICE_KEPT)
def campaign_of(form: Form, dated: DatedPlan, known: StampedCatalog, objective: str) -> CampaignDocument:
    """Plan the campaign of a plan at the form's prices."""
    plan, today, _ = dated
    return campaign(plan, at_our_terms(form, known, today=today).catalog, today=today, objective=objective)


@lru_cache(maxsize=ESTIMATES_KEPT)
def _estimates(plan: Plan, known: StampedCatalog, *, today: date) -> Estimated:
    """Return the estimates of a plan's options, which do not depend on its limits."""
    return estimates_of(plan, known.catalog, today=today)


def question_of(form: Form, *, today: date) -> TrainingQuestion:
    """Return the form's question."""
    tokens = form.tokens if form.amount == "tokens" else None
    data = f"{form.samples}x{form.mean}" if form.amount == "data" else str(form.samples)
    return TrainingQuestion(
        workload=form.model,
        network=_network(form),
        data=None if tokens else data,
        tokens=tokens,
        epochs=None if tokens else form.epochs,
        seq_len=form.seq_len,
        training=Training(precision=form.precision),
        objective=_objective(form),
        adapters=lambda network: _adapters(form, network),
        own=tuple(_text(machine) for machine in form.machines if not machine.buy),
        buy=tuple(MachineToBuy(_text(machine), machine.usd) for machine in form.machines if machine.buy),
        on=form.offers,
        find=form.find,
        filters=FindFilters(region=form.regions or None, terms=form.terms),
        budget=form.budget,
        by=None if form.deadline is None else form.deadline.isoformat(),
        runs=form.runs if form.runs > 1 else None,
        log=log_of(form),
        confidence=form.confidence,
        currency=currency_of(form, today=today),
        kwh=form.kwh,
    )


def _objective(form: Form) -> MethodSettings:
    """Return the training objective, with the length of answers if stated."""
    if form.learns is None:
        return NEXT_TOKEN
    lengths = None if form.completion is None else CompletionTokens(mean=float(form.completion))
    return MethodSettings(method=form.learns, completion_tokens=lengths)


def currency_of(form: Form, *, today: date) -> Currency | None:
    """Return the form's currency at its rate; None for the dollar."""
    if form.currency == "USD":
        return None
    if form.per_usd is None and form.currency == "KRW":
        return Currency(code="KRW", per_usd=KRW_PER_USD, as_of=KRW_AS_OF, source=KRW_SOURCE)
    if form.per_usd is None:
        raise InputError(f"{form.currency}: its rate is missing.", fix="Write how many of it a US dollar is.")
    data = {"code": form.currency, "per_usd": form.per_usd, "as_of": today, "source": "the form"}
    return parse_model(Currency, data, where="currency", fix=FORM_FIX)


def log_of(form: Form) -> RunRecord | None:
    """Return the run of the pasted log."""
    if form.log is None:
        return None
    where = "the log"
    return parse_model(RunRecord, parse_mapping(form.log, where=where, fix=FORM_FIX), where=where, fix=FORM_FIX)


def _network(form: Form) -> ArchitectureFile | None:
    if form.config is None:
        return None
    data = parse_mapping(form.config, where=form.model, fix=ARCHITECTURE_FIX, foreign=True)
    read = network_of(data, Path(form.model), text=form.config)
    return ArchitectureFile(name=read.name or form.model, architecture=read.architecture, seq_len=read.seq_len)


def _adapters(form: Form, network: ArchitectureFile) -> Adapters | None:
    if form.method is WeightsChoice.FULL:
        return None
    frozen = {"frozen": FrozenFormat.NF4} if form.method is WeightsChoice.QLORA else {}
    return (network.adapters or Adapters()).model_copy(update=frozen)


def _text(machine: MachineRow) -> str:
    return f"{machine.count}x{machine.name}" if machine.count > 1 else machine.name


def book_of(form: Form, *, today: date) -> PriceBook | None:
    """Return the visit's price book with the form's discount and credits; None if there are none."""
    where = "the price book"
    book: dict[str, Any] = {"schema_version": 1, "as_of": today}
    if form.book:
        book = parse_mapping(form.book, where=where, fix=FORM_FIX)
    source, last = "the form", today + timedelta(days=CREDITS_LAST_DAYS)
    discounts, credits = list(book.get("discounts") or ()), list(book.get("credits") or ())
    if form.provider and form.discount:
        share = form.discount / 100
        discounts.append({"name": "form", "provider": form.provider, "discount_fraction": share, "source": source})
    if form.provider and form.credits:
        name = "form-credits"
        credits.append(
            {"name": name, "provider": form.provider, "usd": form.credits, "expires": last, "source": source}
        )
    if not discounts and not credits:
        return None
    return parse_model(PriceBook, book | {"discounts": discounts, "credits": credits}, where=where, fix=FORM_FIX)


def at_our_terms(form: Form, known: StampedCatalog, *, today: date) -> StampedCatalog:
    """Return the catalog at the form's prices, with its price book, discount and credits."""
    book = book_of(form, today=today)
    if book is None:
        return known
    return StampedCatalog((*known.stamp, book.model_dump_json()), with_book(known.catalog, book, on=today))


@lru_cache(maxsize=4)
def networks(known: StampedCatalog) -> dict[str, str]:
    """Return every named network, and every measured run with an unknown network."""
    named = {name: name for name in known.catalog.presets}
    runs = known.catalog.runs.values()
    return named | {run.id: f"{run.workload} ({run.id})" for run in runs if run.architecture is None}


@lru_cache(maxsize=4)
def machines(known: StampedCatalog) -> dict[str, str]:
    """Return the cards that a plan may own, and the machines of the catalog."""
    sites = known.catalog.sites.values()
    of_cards = {
        name: text for name, text in cards(known).items() if not owning_not_modelled(known.catalog.accelerators[name])
    }
    return of_cards | {site.id: site.name.removesuffix(", to be bought") for site in sites}


@lru_cache(maxsize=4)
def offers(known: StampedCatalog) -> dict[str, str]:
    """Return every offered machine, with its kind of price unless it is on demand."""
    catalog = known.catalog
    kinds = sorted({(row.node, row.price_kind) for row in (*catalog.own_prices, *catalog.prices)})
    names = {}
    for item, kind in kinds:
        node = catalog.nodes.get(item)
        if node is None or kind is PriceKind.HOSTED_TRAINING:
            continue
        provider = provider_name(item.partition("/")[0], catalog.providers, machine=item)
        machine = f"{node.accelerators}x {card_names({node.accelerator}).get(node.accelerator, node.accelerator)}"
        terms = "" if kind is PriceKind.ON_DEMAND else f", {kind.value.replace('_', ' ')}"
        names[f"{item}:{kind.value}"] = f"{provider}, {machine}{terms} ({item.partition('/')[2]})"
    return names


@lru_cache(maxsize=4)
def cards(known: StampedCatalog) -> dict[str, str]:
    """Return the names of cards by id."""
    names = card_names(set(known.catalog.accelerators))
    return {name: names[name] for name in known.catalog.accelerators}


@lru_cache(maxsize=4)
def regions(known: StampedCatalog) -> list[str]:
    """Return the regions that prices name."""
    rows = (*known.catalog.own_prices, *known.catalog.prices)
    return sorted({row.region for row in rows} - {"any"})


@lru_cache(maxsize=4)
def providers(known: StampedCatalog) -> dict[str, str]:
    """Return the names of providers by id."""
    rows = (*known.catalog.own_prices, *known.catalog.prices)
    return {name: provider_name(name, known.catalog.providers) for name in sorted({row.provider for row in rows})}
