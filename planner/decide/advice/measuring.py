"""Compute what a twenty-minute run, or a probe, of each of a plan's machines is worth to the decision."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

from planner.cost.cloud.bill_rates import startup_hours
from planner.decide.advice.case import Case
from planner.decide.advice.sample_value import Rule, picked, sample_values
from planner.decide.options.error_causes import of_speed
from planner.decide.options.estimate_plan import Paced
from planner.decide.outcomes.learnt import PlannedMeasurement
from planner.model.answer.option_estimate import CampaignOption
from planner.model.owning.acquisition import Hold
from planner.model.quantity import Basis
from planner.quantity.interval import TAIL, doubted, log_deviation
from planner.speed.estimator.network_kind import EstimatorQuery
from planner.speed.throughput.expected_probe import left_after_probe
from planner.speed.throughput.predict import predict
from planner.speed.throughput.prediction import Prediction
from planner.speed.throughput.speed import SINGLE_RUN_FRACTION

RUN_HOURS = 1 / 3
PROBE_HOURS = 2 / 60
NOISE = math.log1p(SINGLE_RUN_FRACTION) / TAIL
"""Standard deviation of the logarithm of one measured speed; the run is not repeated."""


class ProbeValue(NamedTuple):
    """Cost and value of a two-minute probe of one node, in USD."""

    usd: float
    worth_usd: float


@dataclass(frozen=True)
class ValuedRun:
    """Cost and value of a twenty-minute run on one option."""

    option: CampaignOption
    paced: Paced
    usd: float
    """Cost of the run."""
    worth_usd: float
    chance_to_change: float
    instead: frozenset[str] | None
    """Options that most often replace the chosen ones after the run."""
    probe: ProbeValue | None = None
    """Value of a probe; None if a probe says nothing about this option."""


def worth_measuring(rule: Rule, case: Case) -> tuple[float, list[ValuedRun]]:
    """Return the expected regret of today's decision, and the value of measuring each option, best first.

    A probe counts as a measurement with more noise: enough to leave the doubt that a probe leaves. It is not valued
    if the run of the same option, which tells more, is worth less than the probe costs.
    """
    runs = [
        (option, paced, usd)
        for option, paced in rule.measurable()
        if option.throughput is not None and not is_measured(option)
        and (usd := run_usd(case, paced, option)) is not None
    ]  # fmt: skip
    regret, values = sample_values(rule, [picked(rule, _measurement(option, NOISE)) for option, *_ in runs])
    valued = [
        ValuedRun(*run, max(0.0, value.worth), value.chance_to_change, value.instead)
        for run, value in zip(runs, values, strict=True)
    ]
    probes = {
        number: (usd, picked(rule, _measurement(run.option, noise), speed=False))
        for number, run in enumerate(valued)
        if (usd := run_usd(case, run.paced, run.option, hours=PROBE_HOURS, nodes=1)) is not None
        and run.worth_usd > usd and (noise := _noise_of_probe(case, run)) is not None
    }  # fmt: skip
    _, of_probes = sample_values(rule, [slices for _, slices in probes.values()])
    for (number, (usd, _)), value in zip(probes.items(), of_probes, strict=True):
        valued[number] = replace(valued[number], probe=ProbeValue(usd, max(0.0, value.worth)))
    return regret, sorted(valued, key=lambda run: (run.usd - run.worth_usd, run.option.id))


def _measurement(option: CampaignOption, noise: float) -> PlannedMeasurement:
    return PlannedMeasurement(option.id, of_speed(option.error_causes), _deviation(option), noise)


def _deviation(option: CampaignOption) -> float:
    assert option.throughput is not None, "it is measured"
    return log_deviation(doubted(option.throughput))


def _noise_of_probe(case: Case, run: ValuedRun) -> float | None:
    """Return the noise of a probe of an option; None if it tells nothing.

    noise^2 = sd^2 x left^2 / (1 - left^2), left: standard deviation of the estimate after the probe / before it
    """
    query = _estimator_query(case, run.paced)
    if query is None or query.sample == "image" or case.catalog.calibration is None:
        return None
    left = left_after_probe(query, run.paced.candidate, case.catalog.calibration)
    return None if left >= 1 else _deviation(run.option) * left / math.sqrt(1 - left**2)


def _estimator_query(case: Case, paced: Paced) -> EstimatorQuery | None:
    """Return the estimator's query for a machine; None if its speed is not estimated."""
    speed = paced.speed
    if speed is None or speed.samples_per_s is None or speed.basis is not Basis.MODELLED or case.job.mfu is not None:
        return None
    if paced.candidate.option.step is not None:
        return None
    predicted = predict(case.job, paced.candidate, case.catalog, speed.fit)
    return predicted.query if isinstance(predicted, Prediction) else None


def run_usd(
    case: Case, paced: Paced, option: CampaignOption, *, hours: float = RUN_HOURS, nodes: int | None = None
) -> float | None:
    """Return the cost of a run of `hours` on `nodes`, or on all nodes, in USD.

    rented: nodes x USD per hour x max(least hours billed, set-up + hours + idle tail)
    owned:  marginal USD per hour x hours

    None if the price is unknown, and for machines that are still to be bought.
    """
    if option.hold is Hold.HAVE:
        wall, usd = option.wall_hours, option.usd_marginal
        return None if wall is None or usd is None or wall.value <= 0 else usd.value / wall.value * hours
    if option.hold is not Hold.RENT or option.usd_per_hour is None or option.site is not None:
        return None
    price = paced.candidate.price
    tail = case.plan.assumptions.idle_tail_hours
    idle = case.catalog.bill_defaults.idle_tail_hours.value if tail is None else tail
    hours_billed = startup_hours(case.plan, case.job, case.catalog).value + hours + idle
    return (
        option.usd_per_hour.value
        * (nodes or option.nodes or 1)
        * max(price.minimum_hours if price else 0.0, hours_billed)
    )


def is_measured(option: CampaignOption) -> bool:
    """Return whether the option's speed was measured on its machine, and nothing contradicts it."""
    return option.throughput is not None and option.throughput.basis is Basis.MEASURED and not option.doubts
