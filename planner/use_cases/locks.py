"""Writes frozen plans (locks) beside their plans, reads them, and answers them from the inputs in the lock.

Also compares two answers, and finds frozen plans whose recommendation changes at today's prices.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

from planner.adapters.catalog import with_bundled_blocks
from planner.adapters.documents import PLAN_LIMIT_BYTES, RECORD_LIMIT_BYTES, parse_model, read_text
from planner.adapters.files import write_text
from planner.adapters.mapping_text import parse_mapping
from planner.adapters.user_text import name_without_secrets, without_secrets
from planner.decide.options.estimate_plan import estimate_plan
from planner.decide.owning.horizons import answer_with_year
from planner.decide.recommend.answer_plan import answer_plan
from planner.decide.recommend.difference import FrozenAnswer, attribute, changed_inputs, moves, values_of
from planner.decide.recommend.frozen_inputs import exchanged, reachable
from planner.errors import InputError, PlannerError
from planner.model.answer.difference import Cause, DiffDocument, WatchDocument, WatchedPlan
from planner.model.answer.documents import CampaignDocument, ComparisonDocument, EstimateDocument
from planner.model.catalog import Catalog
from planner.model.lock import Lock
from planner.model.network.architecture import is_same_network
from planner.model.plan.plan import Plan
from planner.use_cases.answer_ids import with_id
from planner.use_cases.network_files import network_file, with_config
from planner.use_cases.plans import PLAN_FIX, dated, parse_plan, with_found_options
from planner.use_cases.version import planner_version

ENDING = ".lock.json"
LOCK_FIX = "Write one with: planner estimate plan.yaml --freeze"
SAME = 1e-9
"""Relative difference below which two numbers are the same."""


@dataclass(frozen=True)
class LockedAnswer:
    """A frozen answer, and its differences from this planner's answer."""

    lock: Lock
    differs: tuple[str, ...]
    """Numbers that this planner computes differently from the same inputs. The frozen ones are shown."""
    by_new_rules: bool = False
    """True if the comparison was recomputed, because locks before 0.2.0 used other ranking rules."""


def lock_path(plan: Path) -> Path:
    """Return the path of a plan's lock: `plan.lock.json` beside `plan.yaml`."""
    return plan.with_name(plan.stem + ENDING)


def freeze(path: Path, catalog: Catalog, *, now: datetime) -> tuple[EstimateDocument, Path]:
    """Answer a plan and write its lock completely or not at all. An existing lock is replaced."""
    text = read_text(path, limit_bytes=PLAN_LIMIT_BYTES, fix=PLAN_FIX)
    plan, today, _ = dated(with_config(parse_plan(text, where=str(path)), folder=path.parent), now=now)
    content = parse_mapping(text, where=str(path))
    hidden = _json_content(without_secrets(content, text=text, where=str(path)))
    if plan.campaign.start is not None:
        hidden |= {"campaign": (hidden.get("campaign") or {}) | {"start": plan.campaign.start.isoformat()}}
    lock = new_lock(hidden, plan, catalog, written=_sha256(_json_content(content)), today=today)
    where = lock_path(path)
    write_text(where, json.dumps(lock.model_dump(mode="json"), indent=1, ensure_ascii=False) + "\n")
    return lock.estimate, where


def new_lock(content: dict[str, Any], plan: Plan, catalog: Catalog, *, written: str, today: date) -> Lock:
    """Return the lock of a plan. Raises PlannerError if its inputs do not reproduce the answer of the whole catalog.

    `written` is the checksum of the plan as written; `content` is the plan with secrets hidden.
    """
    if plan.find is not None:
        plan = with_found_options(plan, catalog, today=today)
        found = plan.model_dump(mode="json", include={"options", "found"}, exclude_defaults=True)
        content = {key: value for key, value in content.items() if key != "find"} | found
    comparison = answer_with_year(plan, catalog, today=today)
    used = {run for option in comparison.options for run in option.runs} | {plan.workload.measured or ""}
    inputs = reachable(plan, catalog, used_runs=used)
    if answer_with_year(plan, inputs, today=today) != comparison:
        raise PlannerError(
            "the inputs in the lock would not give the plan's answer; nothing was written.",
            fix="Please report it with the plan.",
        )
    fields: dict[str, Any] = {
        "schema_version": 1,
        "kind": "lock",
        "planner_version": planner_version(),
        "frozen_on": today,
        "plan_sha256": written,
        "plan": _with_network(content, plan),
        "run_sha256": {key: _sha256(run.model_dump(mode="json")) for key, run in catalog.runs.items()},
        "catalog": inputs,
        "estimate": with_id(estimate_plan(plan, inputs, today=today), plan, inputs, today=today),
        "comparison": with_id(comparison, plan, inputs, today=today),
    }
    unsigned = Lock(**fields, content_sha256="")
    return unsigned.model_copy(update={"content_sha256": _content_sha256(unsigned.model_dump(mode="json"))})


def read_lock(path: Path) -> Lock:
    """Read a lock. Raises InputError if it was changed since it was written."""
    text = read_text(path, limit_bytes=RECORD_LIMIT_BYTES, fix=LOCK_FIX)
    data = parse_mapping(text, where=str(path), fix=LOCK_FIX)
    if data.get("kind") != "lock":
        raise InputError(f"{path}: kind: is {data.get('kind')!r}, not 'lock'.", fix=LOCK_FIX)
    lock = parse_model(Lock, data, where=str(path), fix=LOCK_FIX)
    if lock.content_sha256 != _content_sha256(data):
        raise InputError(
            f"{path}: content_sha256: the file was changed after it was written.",
            fix="Restore it, or freeze the plan anew with: planner estimate plan.yaml --freeze",
        )
    return lock


def locked_answer(path: Path) -> LockedAnswer:
    """Return the frozen answer of a plan from the lock beside it. Raises InputError for a lock of another plan.

    A lock from before 0.2.0 is ranked again, because its rules counted only the electricity of a server to be bought.
    """
    text = read_text(path, limit_bytes=PLAN_LIMIT_BYTES, fix=PLAN_FIX)
    plan = parse_plan(text, where=str(path))
    where = lock_path(path)
    lock = read_lock(where)
    if lock.plan_sha256 != _sha256(_json_content(parse_mapping(text, where=str(path)))):
        raise InputError(
            f"{where}: plan_sha256: {path} was changed after it was frozen on {lock.frozen_on}.",
            fix=f"Freeze it anew with: planner estimate {path} --freeze (keep the old lock for: planner diff)",
        )
    _check_config(plan, lock, path)
    differs = _differs(lock, where)
    if lock.comparison.confidence is not None:
        return LockedAnswer(lock, differs)
    side = frozen_answer(lock, where)
    anew = answer_with_year(side.plan, side.catalog, today=side.frozen_on)
    return LockedAnswer(lock.model_copy(update={"comparison": anew}), differs, by_new_rules=True)


def _with_network(content: dict[str, Any], plan: Plan) -> dict[str, Any]:
    """Return a plan's content with the network of its configuration file, so that the file is not needed again."""
    if plan.workload.config is None:
        return content
    return content | {"workload": plan.workload.model_dump(mode="json", exclude_none=True)}


def _check_config(plan: Plan, lock: Lock, path: Path) -> None:
    """Refuse a lock if its plan's config.json changed since. A missing config.json is accepted."""
    config = plan.workload.config
    if config is None or not network_file(path.parent / config).is_file():
        return
    now = with_config(plan, folder=path.parent).workload
    then = parse_plan(json.dumps(lock.plan), where=f"{lock_path(path)}: plan").workload
    same = now.architecture and then.architecture and is_same_network(now.architecture, then.architecture)
    if not same or now.model_copy(update={"architecture": then.architecture}) != then:
        raise InputError(
            f"{lock_path(path)}: workload.config: {config} was changed after {path} was frozen on {lock.frozen_on}.",
            fix=f"Freeze it anew with: planner estimate {path} --freeze (keep the old lock for: planner diff)",
        )


def frozen_answer(lock: Lock, where: Path) -> FrozenAnswer:
    """Return a lock as one side of a difference."""
    plan = parse_plan(json.dumps(lock.plan), where=f"{where}: plan")
    defaults = with_bundled_blocks(lock.catalog.defaults)
    return FrozenAnswer(plan, lock.catalog.model_copy(update={"defaults": defaults}), lock.frozen_on, lock.comparison)


def _differs(lock: Lock, where: Path) -> tuple[str, ...]:
    """Answer the frozen inputs with today's formulas, and name the numbers that differ."""
    side = frozen_answer(lock, where)
    now: ComparisonDocument = answer_with_year(side.plan, side.catalog, today=side.frozen_on)
    then, today = values_of(lock.comparison.options), values_of(now.options)
    changes = [
        f"{key[0]} {key[1]}: {then[key].value:.6g} then, {today[key].value:.6g} now"
        for key in then.keys() & today.keys()
        if abs(then[key].value - today[key].value) > SAME * abs(then[key].value)
    ]
    if then.keys() != today.keys():
        changes.append("other numbers are known")
    return tuple(sorted(changes))


def _json_content(data: dict[str, Any]) -> dict[str, Any]:
    """Return a plan's content as JSON stores it, with dates as text."""
    plain: dict[str, Any] = json.loads(json.dumps(data, default=str))
    return plain


def _content_sha256(document: dict[str, Any]) -> str:
    return _sha256({key: value for key, value in document.items() if key != "content_sha256"})


def _sha256(data: object) -> str:
    text = json.dumps(data, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


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
