"""Changes between two answers, and the share of each group of inputs in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from planner.decide.recommend.answer_plan import rank_alone
from planner.decide.recommend.frozen_inputs import FIELDS, exchanged
from planner.errors import InputError
from planner.model.answer.difference import Cause, CauseShare, InputChange, Move, OptionMoves
from planner.model.answer.documents import ComparisonDocument
from planner.model.answer.option_estimate import CampaignOption, OptionEstimate
from planner.model.catalog import Catalog
from planner.model.plan.plan import Plan
from planner.model.quantity import Quantity

QUANTITIES = (
    "campaign_usd",
    "pay_now_usd",
    "campaign_hours",
    "training_hours",
    "usd_total",
    "usd_per_hour",
    "usd_per_million_tokens",
)
UNCHANGED = 1e-9
"""Relative change below which a number has not moved."""
MOST_INPUTS = 200
Values = Mapping[tuple[str, str], Quantity]
"""Quantities by option and name."""


@dataclass(frozen=True)
class FrozenAnswer:
    """One side of a difference between locks."""

    plan: Plan
    catalog: Catalog
    frozen_on: date
    answer: ComparisonDocument
    """Answer that the planner of that day gave."""


def values_of(options: tuple[OptionEstimate, ...]) -> dict[tuple[str, str], Quantity]:
    """Return the numbers that are compared, by option and name."""
    values = {}
    for option in options:
        for name in QUANTITIES:
            quantity = getattr(option, name, None) if name in type(option).model_fields else None
            if quantity is not None:
                values[option.id, name] = quantity
    return values


def moves(old: Values, new: Values, shares: Mapping[tuple[str, str], tuple[CauseShare, ...]]) -> list[OptionMoves]:
    """Return what moved, option by option, of the options on both sides."""
    options = [option for option in dict.fromkeys(key[0] for key in new) if any(key[0] == option for key in old)]
    of_options = []
    for option in options:
        keys = [(option, name) for name in QUANTITIES if (option, name) in old or (option, name) in new]
        moved = [_move(key[1], old.get(key), new.get(key), shares.get(key, ())) for key in keys]
        moved = [move for move in moved if move.change is None or move.change != 0]
        if moved:
            of_options.append(OptionMoves(option=option, moves=tuple(moved)))
    return of_options


def attribute(
    old: FrozenAnswer, new: FrozenAnswer
) -> tuple[dict[tuple[str, str], tuple[CauseShare, ...]], tuple[str, ...]]:
    """Return how much each cause moved each number, and notes on what could not be told apart.

    Starting from the old inputs, one group after the other is replaced by the new one (prices, hardware, measurements,
    then the plan and the defaults), and the answer computed anew each time: the number moves by a group's share.
    The model's share is what today's formulas answer otherwise than those of the day, on either side; of an answer
    from before 0.2.0 that is what counts by today's rules (`Cause.RULE`). Shares add up to the change. With another
    order the shares of groups that act on each other would differ; the order is fixed.
    """
    stored_old, stored_new = values_of(old.answer.options), values_of(new.answer.options)
    now = {key: quantity.value for key, quantity in stored_old.items() if key in stored_new}
    shares: dict[tuple[str, str], dict[Cause, float]] = {key: dict.fromkeys(Cause, 0.0) for key in now}

    def moved_to(values: Values, cause: Cause) -> None:
        for key in now.keys() & values.keys():
            shares[key][cause] += values[key].value - now[key]
            now[key] = values[key].value

    notes = []
    moved_to(values_of(rank_alone(old.plan, old.catalog, today=old.frozen_on).options), _since(old.answer))
    for count, cause in enumerate(FIELDS, start=1):
        catalog = exchanged(old.catalog, new.catalog, list(FIELDS)[:count])
        try:
            moved_to(values_of(rank_alone(old.plan, catalog, today=old.frozen_on).options), cause)
        except InputError as error:
            notes.append(f"{cause.value}: not told apart from what follows: {error}")
    moved_to(values_of(rank_alone(new.plan, new.catalog, today=new.frozen_on).options), Cause.ASSUMPTION)
    moved_to(stored_new, Cause.MODEL)
    return {key: _material(share) for key, share in shares.items()}, tuple(notes)


def changed_inputs(old: FrozenAnswer, new: FrozenAnswer) -> tuple[InputChange, ...]:
    """List the inputs that differ, by their place in the lock."""
    changes: list[InputChange] = []
    groups = {field: cause for cause, fields in FIELDS.items() for field in fields}
    changes += _recommended_by_rule(old)
    changes += _prices_in_use(old.answer, new.answer)
    before, after = old.catalog.model_dump(mode="json"), new.catalog.model_dump(mode="json")
    for field in Catalog.model_fields:
        cause = groups.get(field, Cause.ASSUMPTION)
        if field in ("prices", "own_prices"):  # those in use are told above
            continue
        changes += _leaves(cause, field, before[field], after[field])
    changes += _leaves(Cause.ASSUMPTION, "plan", old.plan.model_dump(mode="json"), new.plan.model_dump(mode="json"))
    return tuple(changes[:MOST_INPUTS])


def _since(answer: ComparisonDocument) -> Cause:
    """Return what moves between the stored answer and today's to the same inputs; before 0.2.0 other rules counted."""
    return Cause.RULE if answer.confidence is None else Cause.MODEL


def _recommended_by_rule(side: FrozenAnswer) -> Iterator[InputChange]:
    """Yield the recommendation where the same inputs lead to another one by today's rules."""
    now = rank_alone(side.plan, side.catalog, today=side.frozen_on).recommended
    if side.answer.confidence is None and now != side.answer.recommended:
        yield InputChange(cause=Cause.RULE, what="recommended", old=side.answer.recommended, new=now)


def _move(name: str, old: Quantity | None, new: Quantity | None, shares: tuple[CauseShare, ...]) -> Move:
    known = new or old
    assert known is not None, "one of both has it"
    change = None if old is None or new is None else new.value - old.value
    if change is not None and old is not None and abs(change) <= UNCHANGED * abs(old.value):
        change = 0.0
    return Move(
        quantity=name,
        unit=known.unit.value,
        old=old.value if old else None,
        new=new.value if new else None,
        change=change,
        causes=shares if change else (),
    )


def _material(share: Mapping[Cause, float]) -> tuple[CauseShare, ...]:
    """Return the causes that moved the number, leaving out what is rounding of floats."""
    largest = max(abs(change) for change in share.values())
    return tuple(
        CauseShare(cause=cause, change=change)
        for cause, change in share.items()
        if change != 0 and abs(change) > UNCHANGED * largest
    )


def _prices_in_use(old: ComparisonDocument, new: ComparisonDocument) -> Iterator[InputChange]:
    before = {option.id: option for option in old.options}
    for option in new.options:
        was = before.get(option.id)
        if was is not None and _price(was) != _price(option):
            yield InputChange(cause=Cause.PRICE, what=option.id, old=_price(was), new=_price(option))


def _price(option: CampaignOption) -> str | None:
    price = option.price
    return None if price is None else f"{price.value:g} {price.unit.value} of {price.as_of} ({price.source})"


def _leaves(cause: Cause, where: str, old: Any, new: Any) -> Iterator[InputChange]:
    if old == new:
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys([*old, *new]):
            yield from _leaves(cause, f"{where}.{key}", old.get(key), new.get(key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for place, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from _leaves(cause, f"{where}.{place}", before, after)
    else:
        yield InputChange(cause=cause, what=where, old=_brief(old), new=_brief(new))


def _brief(value: Any) -> str | None:
    if value is None:
        return None
    text = "present" if isinstance(value, dict) else str(value)
    return text if len(text) <= 120 else f"{text[:117]}..."
