"""Which run of twenty minutes would tell most for its money: the value of measuring each of a plan's machines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np

from planner.cost.cloud.bill_rates import startup_hours
from planner.cost.cloud.cost_by_hours import credits_at, price_range, usd_at
from planner.decide.advice.case import Case
from planner.decide.advice.error_correlation import asked_of, correlation
from planner.decide.advice.sample_value import Decide, Errors, Learnt, SampleValue, regret_of, sample_value
from planner.decide.campaign.chances import hours_to
from planner.decide.campaign.turns import range_between
from planner.decide.limits import refusals
from planner.decide.options.estimate_plan import Paced
from planner.decide.outcomes.draws import Array, at_scores, generator
from planner.decide.outcomes.hours_in_cost import hourly_share
from planner.decide.recommend.rank import is_comparable
from planner.duration.between_turns import hours_between
from planner.model.answer.option_estimate import CampaignOption
from planner.model.owning.hold import Hold
from planner.model.plan.plan import Prefer
from planner.model.quantity import Basis, Quantity
from planner.quantity.chance import TAIL, doubted, log_deviation
from planner.speed.throughput.expected_probe import left_after_probe
from planner.speed.throughput.speed import SINGLE_RUN_FRACTION

DRAWS = 4000
RUN_HOURS = 1 / 3
PROBE_HOURS = 2 / 60
NONE_MEASURED = -1
"""No option's own speed: a probe measures kernels."""
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
    instead: CampaignOption | None
    probe: ProbeValue | None = None
    """None: a probe says nothing of it."""


@dataclass(frozen=True)
class Prospects:
    """The options that may be chosen, with the parts of which their doubt consists.

    hours = campaign hours x e^(error + rest of its range);  cost = usd x (1 - h + h e^error) x e^(rest), h: the share
    of the cost that grows with the hours
    """

    case: Case
    options: tuple[CampaignOption, ...]
    paced: tuple[Paced, ...]
    error: Array
    """Standard deviations of the options' ln speed."""
    hourly: Array

    @classmethod
    def of(cls, case: Case, options: Sequence[CampaignOption]) -> Self:
        """Return the comparable options of machines."""
        by_id = {one.candidate.id: one for one in case.paced}
        kept = [
            option
            for option in options
            if option.id in by_id and option.throughput is not None and is_comparable(option, case.limits)
            and option.not_allowed is None and not refusals(option)
        ]  # fmt: skip
        return cls(
            case, tuple(kept), tuple(by_id[option.id] for option in kept),
            np.array([log_deviation(doubted(option.throughput)) for option in kept if option.throughput is not None]),
            np.array([hourly_share(option) for option in kept]),
        )  # fmt: skip

    def covariance(self) -> Array:
        """Return that of the errors of ln hours."""
        together = correlation(self.case.job, self.paced, list(self.error), self.case.catalog)
        return np.asarray(together * np.outer(self.error, self.error))

    def after(self, learnt: Learnt) -> list[CampaignOption]:
        """Return the options as they stand after one result, with their chances."""
        left = np.sqrt(np.maximum(np.diag(learnt.covariance), 0.0))
        return [
            option
            if shift == 0 and math.isclose(sd, before)
            else self.case.again(_moved(option, shift, before, sd, share, measured=number == learnt.measured))
            for number, (option, shift, before, sd, share) in enumerate(
                zip(self.options, learnt.shift, self.error, left, self.hourly, strict=True)
            )
        ]

    def regret(self, errors: Errors) -> Array:
        """Return the regret of every option in every replication, in USD; a limit is kept or missed by the draw."""
        limits = self.case.limits
        rng = generator("rest")
        until = hours_to(limits, today=self.case.today)
        budget = math.inf if limits.budget_usd is None else limits.budget_usd
        usd, keeps = np.empty(errors.draws.shape), np.empty(errors.draws.shape, dtype=bool)
        for number, option in enumerate(self.options):
            owed, hours = option.owed_usd, option.campaign_hours
            assert owed is not None, "it is comparable"
            grown, share = np.exp(errors.draws[:, number]), self.hourly[number]
            rest = _rest(log_deviation(doubted(owed)), share * self.error[number])
            out = owed.value * (1 - share + share * grown) * np.exp(rest * rng.standard_normal(len(grown)))
            credit, between = np.zeros(grown.shape), option.between_turns
            each = hours if between is None else between.run_hours
            if option.cost_by_hours is not None and each is not None:
                cost, lengths = option.cost_by_hours, each.value * grown
                out = usd_at(cost, lengths) * at_scores(price_range(cost), rng.standard_normal(grown.shape))
                credit = credits_at(cost.credits, lengths)
            paid = np.maximum(0.0, out - credit)
            usd[:, number] = np.maximum(0.0, paid - (option.taken_off_usd.low if option.taken_off_usd else 0.0))
            late = hours is not None and limits.deadline is not None
            rest = _rest(log_deviation(doubted(each)), self.error[number]) if each is not None else 0.0
            worked = grown * np.exp(rest * rng.standard_normal(len(grown))) * (each.value if late and each else 0.0)
            ends = option.wait_hours + (worked if between is None or not late else hours_between(between, worked))
            keeps[:, number] = (ends <= until) & (paid <= budget)
        return regret_of(usd, keeps)


def worth_measuring(case: Case, options: Sequence[CampaignOption]) -> tuple[float | None, list[Valued]]:
    """Return the expected regret of the decision as it stands, and what measuring each option is worth, best first.

    Nothing where time decides, as regret is counted in USD, and where fewer than two options could be chosen.
    """
    if case.limits.prefer is Prefer.TIME:
        return None, []
    prospects = Prospects.of(case, options)
    first = case.decide(prospects.options)
    if first.option is None or len(prospects.options) < 2:
        return None, []
    ids = [option.id for option in prospects.options]
    chosen = ids.index(first.option.id)
    errors = Errors.drawn(prospects.covariance(), generator("errors"), DRAWS)
    regret = prospects.regret(errors)

    def decide(learnt: Learnt) -> int:
        then = case.decide(prospects.after(learnt)).id
        return chosen if then is None else ids.index(then)

    valued = []
    for number, option in enumerate(prospects.options):
        usd = run_usd(case, prospects.paced[number], option)
        if usd is None or is_measured(option):
            continue
        value = sample_value(errors, regret, chosen, number, decide, noise=NOISE, rng=generator("results", option.id))
        one = _valued(option, prospects.paced[number], usd, value, prospects.options)
        probe = _probe_value(prospects, errors, regret, chosen, number, decide, of_run=value.worth)
        valued.append(replace(one, probe=probe))
    valued.sort(key=lambda one: (one.usd - one.worth_usd, one.option.id))
    return float(regret[:, chosen].mean()), valued


def _probe_value(
    prospects: Prospects, errors: Errors, regret: Array, chosen: int, number: int, decide: Decide, *, of_run: float
) -> ProbeValue | None:
    """Return what a probe is worth: a measurement with such noise that it leaves as much doubt as the probe does.

    None where a run of the option, which tells more, is worth less than the probe costs (`of_run`).

    noise^2 = sd^2 x left^2 / (1 - left^2), left: standard deviation of the estimate after the probe against before
    """
    case, option, paced = prospects.case, prospects.options[number], prospects.paced[number]
    usd = run_usd(case, paced, option, hours=PROBE_HOURS, nodes=1)
    if usd is None or of_run <= usd or case.catalog.calibration is None:
        return None
    query = asked_of(case.job, paced, case.catalog)
    if query is None or query.sample == "image":
        return None
    left = left_after_probe(query, paced.candidate, case.catalog.calibration)
    if left >= 1:
        return None
    noise = float(prospects.error[number]) * left / math.sqrt(1 - left**2)
    value = sample_value(
        errors, regret, chosen, number, lambda learnt: decide(replace(learnt, measured=NONE_MEASURED)),
        noise=noise, rng=generator("probes", option.id),
    )  # fmt: skip
    return ProbeValue(usd, max(0.0, value.worth))


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


def _valued(
    option: CampaignOption, paced: Paced, usd: float, value: SampleValue, options: Sequence[CampaignOption]
) -> Valued:
    instead = options[value.instead] if value.instead is not None else None
    return Valued(option, paced, usd, max(0.0, value.worth), value.chance_to_change, instead)


def is_measured(option: CampaignOption) -> bool:
    """Return whether the option's speed was measured there, and nothing contradicts it."""
    return option.throughput is not None and option.throughput.basis is Basis.MEASURED and not option.doubts


def _moved(
    option: CampaignOption, shift: float, before: float, left: float, share: float, *, measured: bool
) -> CampaignOption:
    """Return the option at other hours, of which less is unknown; its cost follows by its hourly share."""
    grown = math.exp(shift)
    cost = 1 - share + share * grown
    moved: dict[str, object] = {"campaign_hours": _narrowed(option.campaign_hours, grown, before, left)}
    if option.between_turns is not None and option.campaign_hours is not None:
        run_hours = _narrowed(option.between_turns.run_hours, grown, before, left)
        between = option.between_turns.model_copy(update={"run_hours": run_hours})
        ends = range_between(between)._asdict()
        moved |= {"between_turns": between, "campaign_hours": option.campaign_hours.model_copy(update=ends)}
    for name in ("campaign_usd", "cash_usd", "to_pay_usd"):
        usd: Quantity | None = getattr(option, name)
        moved[name] = _narrowed(usd, cost, share * before, share * left)
    if measured and option.throughput is not None:
        moved["throughput"] = option.throughput.model_copy(update={"basis": Basis.MEASURED})
        moved["doubts"] = ()
    return option.model_copy(update=moved)


def _narrowed(quantity: Quantity | None, factor: float, before: float, left: float) -> Quantity | None:
    """Return a quantity times a factor, of whose variance the part `before` has become `left`."""
    if quantity is None or quantity.value <= 0:
        return quantity
    band = doubted(quantity)
    ends = []
    for end in (band.low, band.high):
        sd = abs(math.log(max(end, band.value * 1e-6) / band.value)) / TAIL
        ends.append(TAIL * math.sqrt(max(0.0, sd**2 - before**2) + left**2))
    value = band.value * factor
    return quantity.model_copy(
        update={"value": value, "low": value * math.exp(-ends[0]), "high": value * math.exp(ends[1])}
    )


def _rest(whole: float, part: float) -> float:
    return math.sqrt(max(0.0, whole**2 - part**2))
