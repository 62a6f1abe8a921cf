"""List the inputs of an answer that can change: value, range, and the options at another value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from planner.cost.power.electricity import electricity, includes_power
from planner.decide.advice.case import Case
from planner.decide.recommend.pareto import hours_of
from planner.decide.recommend.switching import reach_of
from planner.duration.runtime_inputs import is_preempted
from planner.model.answer.option_estimate import CampaignOption
from planner.model.figure import Figure
from planner.model.owning.acquisition import Hold
from planner.model.quantity import Quantity
from planner.quantity.interval import Interval, doubted

Options = tuple[CampaignOption, ...]
RATE_WITHIN = 1.1
"""Factor by which an exchange rate without a range is moved; most rates move that much within a year."""
RUNS_WITHIN = 2.0
"""Factor by which the number of trainings is moved, because plans seldom match the runs."""
SHOWN = 6
"""Number of options by rank whose own inputs are moved."""


@dataclass(frozen=True)
class MovedInput:
    """One input; `options_at` returns all options at another value of it."""

    name: str
    option: CampaignOption | None
    """Option whose input it is; None for the plan's."""
    unit: str
    range: Interval
    options_at: Callable[[float], Options]
    """Options at another value with the same relative error."""
    options_if: Callable[[float], Options] | None = None
    """Options if it were measured at this value; None means as `options_at`."""
    whole: bool = False
    """True if it is a whole number."""
    reach: tuple[float, float] | None = None
    """Lowest and highest value that it can take while the plan runs, if known; others are not tried."""


def moved_inputs(case: Case, options: Options, order: Sequence[CampaignOption]) -> list[MovedInput]:
    """Return the inputs that matter: speed and price of the first options, and those of the plan that any option has.

    Speed and price of the same machine at another price are inputs of their own.
    """
    first = {option.id for option in order[:SHOWN]}
    by_id = {option.id: option for option in options}
    inputs = []
    for number, (candidate, _) in enumerate(case.paced):
        option = by_id.get(candidate.id)
        if option is None or option.id not in first:
            continue
        if option.throughput is not None:
            inputs.append(_speed(case, options, number, option, option.throughput))
        if option.usd_per_hour is not None and option.usd_per_hour.value > 0 and option.hold is Hold.RENT:
            inputs.append(_price(case, options, number, option, option.usd_per_hour))
    return [*inputs, *_electricity(case, by_id), *_rate(case, order), *_preemption(case, first), _runs(case)]


def _speed(case: Case, options: Options, number: int, option: CampaignOption, speed: Quantity) -> MovedInput:
    return MovedInput(
        "speed", option, speed.unit.value, doubted(speed),
        lambda value: case.replaced(options, number, case.at_speed(number, value, known=False)),
        lambda value: case.replaced(options, number, case.at_speed(number, value, known=True)),
    )  # fmt: skip


def _price(case: Case, options: Options, number: int, option: CampaignOption, price: Quantity) -> MovedInput:
    return MovedInput(
        "price", option, price.unit.value, doubted(price),
        lambda value: case.replaced(options, number, case.at_price(number, value / price.value)),
    )  # fmt: skip


def _electricity(case: Case, by_id: dict[str, CampaignOption]) -> list[MovedInput]:
    """Return the price of a kWh if an owned machine pays one; the first machine's price is then used for all."""
    site = next(
        (pace.candidate.site for pace in case.paced if pace.candidate.id in by_id and pace.candidate.site is not None),
        None,
    )
    if site is None or includes_power(site):
        return []
    price = electricity(site, case.plan, case.catalog)
    given = case.plan.assumptions

    def at(value: float) -> Options:
        update = {"electricity_usd_per_kwh": value, "electricity_local_per_kwh": None, "tariff": None}
        return case.with_plan(assumptions=given.model_copy(update=update)).campaign().options

    return [MovedInput("electricity", None, price.unit.value, doubted(price), at)]


def _rate(case: Case, order: Sequence[CampaignOption]) -> list[MovedInput]:
    currency = case.plan.currency
    if currency is None:
        return []
    stated = Interval(currency.per_usd, currency.lowest, currency.highest)
    band = stated if stated.low < stated.high else Interval.within_factor(currency.per_usd, RATE_WITHIN)

    def at(value: float) -> Options:
        moved = currency.model_copy(update={"per_usd": value, "low": None, "high": None})
        return case.with_plan(currency=moved).campaign().options

    reach = reach_of(currency, hours=hours_of(order[0])) if order else None
    return [MovedInput("exchange rate", None, f"{currency.code} a USD", band, at, reach=reach)]


def _preemption(case: Case, first: set[str]) -> list[MovedInput]:
    """Return how often a spot node is preempted if a spot option is among the first."""
    defaults, given = case.catalog.goodput_defaults, case.plan.goodput
    counted = any(is_preempted(pace.candidate) and pace.candidate.id in first for pace in case.paced)
    if not counted or defaults is None or case.plan.assumptions.goodput_fraction is not None:
        return []
    hours = defaults.node_hours_per_preemption
    if given.node_hours_per_preemption is not None:
        hours = given.node_hours_per_preemption.quantity(hours.unit, where="goodput.node_hours_per_preemption")

    def at(value: float) -> Options:
        moved = given.model_copy(update={"node_hours_per_preemption": Figure(value=1 / value)})
        return case.with_plan(goodput=moved).campaign().options

    return [MovedInput("preemption", None, "an hour and node", doubted(hours).inverse(), at)]


def _runs(case: Case) -> MovedInput:
    limits = case.plan.campaign
    band = Interval(limits.runs, max(1.0, limits.runs // RUNS_WITHIN), limits.runs * RUNS_WITHIN)

    def at(value: float) -> Options:
        return case.with_limits(runs=round(value)).campaign().options

    return MovedInput("trainings", None, "trainings", band, at, whole=True)
