"""Compares two answers, and finds frozen plans whose recommendation changes at today's prices."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from planner.adapters.documents import RECORD_LIMIT_BYTES, parse_model, read_text
from planner.adapters.mapping_text import parse_mapping
from planner.adapters.user_text import name_without_secrets
from planner.decide.recommend.answer_plan import answer_plan
from planner.decide.recommend.difference import attribute, changed_inputs, moves, values_of
from planner.decide.recommend.frozen_inputs import exchanged, reachable
from planner.errors import InputError, PlannerError
from planner.model.answer.difference import Cause, DiffDocument, WatchDocument, WatchedPlan
from planner.model.answer.documents import CampaignDocument, ComparisonDocument, EstimateDocument
from planner.model.catalog import Catalog
from planner.model.lock import Lock
from planner.use_cases.locks import ENDING, LOCK_FIX, frozen_answer, read_lock

ANSWERS: dict[str, type[EstimateDocument] | type[CampaignDocument] | type[ComparisonDocument]] = {
    "estimate": EstimateDocument,
    "campaign": CampaignDocument,
    "comparison": ComparisonDocument,
}
Answer = EstimateDocument | CampaignDocument | ComparisonDocument
DIFF_FIX = "Give two locks (planner estimate plan.yaml --freeze), or two answers that --json printed."


def diff(old: Path, new: Path) -> DiffDocument:
    """Compare two locks or two answers. Only locks contain the inputs that explain a change."""
    before, after = _read(old), _read(new)
    notes: tuple[str, ...] = ()
    if isinstance(before, Lock) and isinstance(after, Lock):
        sides = frozen_answer(before, old), frozen_answer(after, new)
        shares, notes = attribute(*sides)
        inputs = changed_inputs(*sides)
    else:
        shares, inputs = {}, ()
        notes = ("why it moved is not known: only two locks hold the inputs",)
    was, is_now = _answer_of(before), _answer_of(after)
    ids_then, ids_now = ([option.id for option in answer.options] for answer in (was, is_now))
    return DiffDocument(
        old=str(old),
        new=str(new),
        plan=is_now.plan,
        recommended_old=was.recommended if isinstance(was, ComparisonDocument) else None,
        recommended_new=is_now.recommended if isinstance(is_now, ComparisonDocument) else None,
        options=tuple(moves(values_of(was.options), values_of(is_now.options), shares)),
        added=tuple(option for option in ids_now if option not in ids_then),
        removed=tuple(option for option in ids_then if option not in ids_now),
        inputs=inputs,
        notes=notes,
    )


def watch(folder: Path, catalog: Catalog, *, booked: Catalog | None = None) -> WatchDocument:
    """Answer every lock under a folder at the catalog's prices, with all other inputs as frozen.

    `booked` is the catalog at the prices of the user's price book. It answers locks that were frozen at net prices.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: is not a folder.", fix=f"Name the folder that holds the locks. {LOCK_FIX}")
    paths = sorted(folder.rglob(f"*{ENDING}"))
    if not paths:
        raise InputError(f"{folder}: holds no lock (*{ENDING}).", fix=LOCK_FIX)
    plans, problems = [], []
    for path in paths:
        try:
            plans.append(_watched(path, catalog, booked))
        except PlannerError as error:
            problems.append(str(error))
    newest = max((row.as_of for row in (*catalog.prices, *catalog.own_prices)), default=date.min)
    return WatchDocument(prices_of=newest, plans=tuple(plans), problems=tuple(problems))


def _watched(path: Path, catalog: Catalog, booked: Catalog | None) -> WatchedPlan:
    lock = read_lock(path)
    side = frozen_answer(lock, path)
    at_net = any(option.list_price is not None for option in lock.comparison.options)
    if at_net and booked is None:
        raise InputError(
            f"{path}: was frozen at the net prices of a price book.",
            fix="Watch it with: planner watch --with-price-book",
        )
    today = reachable(side.plan, booked if at_net and booked else catalog, used_runs=())
    now = answer_plan(side.plan, exchanged(side.catalog, today, [Cause.PRICE]), today=side.frozen_on)
    then = lock.comparison
    of_then = {option.id: option.campaign_usd for option in now.options}.get(then.recommended or "")
    taken = next((option for option in then.options if option.id == then.recommended), None)
    return WatchedPlan(
        lock=name_without_secrets(str(path)),
        plan=then.plan,
        frozen_on=lock.frozen_on,
        flips=now.recommended != then.recommended,
        recommended_then=then.recommended,
        recommended_now=now.recommended,
        usd_then=taken.campaign_usd.value if taken and taken.campaign_usd else None,
        usd_now=of_then.value if of_then else None,
        sentence=now.sentence,
    )


def _read(path: Path) -> Lock | Answer:
    data = parse_mapping(read_text(path, limit_bytes=RECORD_LIMIT_BYTES, fix=DIFF_FIX), where=str(path), fix=DIFF_FIX)
    kind = data.get("kind")
    if kind == "lock":
        return read_lock(path)
    if not isinstance(kind, str) or kind not in ANSWERS:
        raise InputError(f"{path}: kind: is {kind!r}; known: lock, {', '.join(ANSWERS)}.", fix=DIFF_FIX)
    return parse_model(ANSWERS[kind], data, where=str(path), fix=DIFF_FIX)


def _answer_of(side: Lock | Answer) -> Answer:
    return side.comparison if isinstance(side, Lock) else side
