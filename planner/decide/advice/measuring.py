"""Which run of twenty minutes would tell most for its money: the value of measuring each of a plan's machines."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

from planner.cost.cloud.bill_rates import startup_hours
from planner.decide.advice.case import Case
from planner.decide.advice.sample_value import Rule, SampleValue, picked, sample_values
from planner.decide.options.error_causes import of_speed
from planner.decide.options.estimate_plan import Paced
from planner.decide.outcomes.learnt import PlannedMeasurement
from planner.model.answer.option_estimate import CampaignOption
from planner.model.owning.hold import Hold
from planner.model.quantity import Basis
from planner.quantity.chance import TAIL, doubted, log_deviation
from planner.speed.estimator.estimator_query import EstimatorQuery
from planner.speed.throughput.expected_probe import left_after_probe
from planner.speed.throughput.predict import predict
from planner.speed.throughput.prediction import Prediction
from planner.speed.throughput.speed import SINGLE_RUN_FRACTION

RUN_HOURS = 1 / 3
PROBE_HOURS = 2 / 60
NOISE = math.log1p(SINGLE_RUN_FRACTION) / TAIL
"""Of one run without repeats, in logarithms."""


class ProbeValue(NamedTuple):
    """What a probe of two minutes on one node costs, and what it is worth."""

    usd: float
    worth_usd: float


@dataclass(frozen=True)
class Valued:
    """What measuring one option is worth."""

    option: CampaignOption
    paced: Paced
    usd: float
    """Of the run."""
    worth_usd: float
    chance_to_change: float
    instead: frozenset[str] | None
    """The options that are then used most often in place of the chosen ones."""
    probe: ProbeValue | None = None
    """None: a probe says nothing of it."""


def worth_measuring(rule: Rule, case: Case) -> tuple[float, list[Valued]]:
    """Return the expected regret of the decision as it stands, and what measuring each option is worth, best first.

    A probe counts as a measurement with such noise that it leaves as much doubt as the probe does. None is valued where
    a run of the option, which tells more, is worth less than the probe costs.
    """
    runs = [
        (option, paced, usd)
        for option, paced in rule.measurable()
        if option.throughput is not None and not is_measured(option)
        and (usd := run_usd(case, paced, option)) is not None
    ]  # fmt: skip
    regret, values = sample_values(rule, [picked(rule, _measurement(option, NOISE)) for option, *_ in runs])
    valued = [_valued(*run, value) for run, value in zip(runs, values, strict=True)]
    probes = {
        number: (usd, picked(rule, _measurement(one.option, noise), speed=False))
        for number, one in enumerate(valued)
        if (usd := run_usd(case, one.paced, one.option, hours=PROBE_HOURS, nodes=1)) is not None
        and one.worth_usd > usd and (noise := _noise_of_probe(case, one)) is not None
    }  # fmt: skip
    _, of_probes = sample_values(rule, [slices for _, slices in probes.values()])
    for (number, (usd, _)), value in zip(probes.items(), of_probes, strict=True):
        valued[number] = replace(valued[number], probe=ProbeValue(usd, max(0.0, value.worth)))
    return regret, sorted(valued, key=lambda one: (one.usd - one.worth_usd, one.option.id))


def _measurement(option: CampaignOption, noise: float) -> PlannedMeasurement:
    return PlannedMeasurement(option.id, of_speed(option.error_causes), _deviation(option), noise)


def _deviation(option: CampaignOption) -> float:
    assert option.throughput is not None, "it is measured"
    return log_deviation(doubted(option.throughput))


def _noise_of_probe(case: Case, one: Valued) -> float | None:
    """Return the noise of a probe of an option; None where it tells nothing.

    noise^2 = sd^2 x left^2 / (1 - left^2), left: standard deviation of the estimate after the probe against before
    """
    query = _asked_of(case, one.paced)
    if query is None or query.sample == "image" or case.catalog.calibration is None:
        return None
    left = left_after_probe(query, one.paced.candidate, case.catalog.calibration)
    return None if left >= 1 else _deviation(one.option) * left / math.sqrt(1 - left**2)


def _asked_of(case: Case, one: Paced) -> EstimatorQuery | None:
    """Return what the estimator was asked for a machine; None where its speed is no estimate."""
    speed = one.speed
    if speed is None or speed.samples_per_s is None or speed.basis is not Basis.MODELLED or case.job.mfu is not None:
        return None
    if one.candidate.option.step is not None:
        return None
    predicted = predict(case.job, one.candidate, case.catalog, speed.fit)
    return predicted.asked if isinstance(predicted, Prediction) else None


def run_usd(
    case: Case, one: Paced, option: CampaignOption, *, hours: float = RUN_HOURS, nodes: int | None = None
) -> float | None:
    """Return what a run costs, of twenty minutes on all nodes or as stated; None of a machine to be bought, or used.

    rented: nodes x USD an hour x max(least hours billed, set-up + hours + idle tail)
    owned:  its marginal cost of an hour x hours
    """
    if option.hold is Hold.HAVE:
        wall, usd = option.wall_hours, option.usd_marginal
        return None if wall is None or usd is None or wall.value <= 0 else usd.value / wall.value * hours
    if option.hold is not Hold.RENT or option.usd_per_hour is None or option.site is not None:
        return None
    price = one.candidate.price
    tail = case.plan.assumptions.idle_tail_hours
    idle = case.catalog.bill_defaults.idle_tail_hours.value if tail is None else tail
    hours_billed = startup_hours(case.plan, case.job, case.catalog).value + hours + idle
    return (
        option.usd_per_hour.value
        * (nodes or option.nodes or 1)
        * max(price.minimum_hours if price else 0.0, hours_billed)
    )


def _valued(option: CampaignOption, paced: Paced, usd: float, value: SampleValue) -> Valued:
    return Valued(option, paced, usd, max(0.0, value.worth), value.chance_to_change, value.instead)


def is_measured(option: CampaignOption) -> bool:
    """Return whether the option's speed was measured there, and nothing contradicts it."""
    return option.throughput is not None and option.throughput.basis is Basis.MEASURED and not option.doubts
