"""Fastest strategy and layout of a candidate for which the plan names none."""

from __future__ import annotations

from dataclasses import replace

from planner.model.answer.reason import ReasonCode, codes_of
from planner.model.catalog import Catalog
from planner.model.network.workload import Strategy
from planner.model.quantity import Basis
from planner.scenario.candidate import Candidate
from planner.scenario.job import Job
from planner.scenario.trainer_abilities import trainers_of
from planner.speed.throughput.auto_strategy import NO_SPLIT_FITS, WORTH_DIVIDING, layouts
from planner.speed.throughput.extrapolation import nearest_run
from planner.speed.throughput.matching_runs import measured_runs
from planner.speed.throughput.speed import Speed, speed


def fastest(job: Job, candidate: Candidate, catalog: Catalog) -> tuple[Candidate, Speed]:
    """Return the candidate with the plan's strategy, or with the fastest that fits if the plan names none.

    Measured strategies are preferred. Of estimated ones, the simplest within 5 % of the fastest is taken.

    The network is divided if nothing else fits, or if that is clearly faster, for the plan's trainer or for trainers
    that support it. With adapters, which trainers seldom divide, the network is divided only if nothing else fits.
    """
    if not candidate.any_strategy or candidate.option.step is not None:
        return candidate, speed(job, candidate, catalog)
    tried = [
        replace(candidate, strategy=strategy, any_strategy=False)
        for strategy in strategies_to_try(job, candidate, catalog)
    ]
    answers = [(choice, speed(job, choice, catalog)) for choice in tried]
    chosen, best = max(answers, key=lambda pair: (_value(pair[1]), -_needed_gib(pair[1])))
    fits = best.samples_per_s is not None
    network_unknown = ReasonCode.NODE_NETWORK_NOT_KNOWN in codes_of(best.problems)
    may_divide = best.basis is Basis.MODELLED and (not fits or job.setup.adapters is None) and not network_unknown
    if may_divide and (found := layouts(job, candidate, catalog)) is not None:
        divided_speed = speed(job, found.divided, catalog)
        answers.append((found.divided, divided_speed))
        clearly_faster = found.is_worth_dividing and _value(divided_speed) > _value(best)
        if best.fit.fits is False or clearly_faster:
            whole, whole_speed = chosen, best
            chosen, best = found.divided, divided_speed
            if job.setup.framework is None:
                if found.whole is not None:
                    whole, whole_speed = found.whole, speed(job, found.whole, catalog)
                best = _with_trainers(divided_speed, chosen, whole, whole_speed)
    # strategies are listed from the simplest on: the first within 5 % of the best is taken
    if best.basis is Basis.MODELLED and best.samples_per_s is not None and chosen.parallel_config is None:
        chosen, best = next(pair for pair in answers if WORTH_DIVIDING * _value(pair[1]) >= _value(best))
    if len(answers) == 1:
        return chosen, best
    if best.samples_per_s is None:
        too_large = job.setup.sample == "tokens" and ReasonCode.MEMORY_TOO_SMALL in codes_of(best.problems)
        return chosen, replace(best, problems=(*best.problems, NO_SPLIT_FITS)) if too_large else best
    shown = ", ".join(f"{_config_text(choice)} {_rate_text(answer)}" for choice, answer in answers)
    return chosen, replace(best, notes=(*best.notes, f"strategy found by search, samples/s: {shown}"))


def _with_trainers(answer: Speed, divided: Candidate, whole: Candidate, whole_speed: Speed) -> Speed:
    """Return the speed of a divided network with the trainers that run it, and with the undivided speed."""
    trainers = trainers_of(divided.strategy, divided.split)
    note = f"layout: {_config_text(divided)}, as {' or '.join(trainers)} runs it"
    if whole_speed.samples_per_s is None:
        return replace(answer, trainers=trainers, notes=(note, *answer.notes))
    note += f"; left whole, {_config_text(whole)} of any trainer: {_rate_text(whole_speed)} samples/s"
    return replace(answer, trainers=trainers, whole=(whole, whole_speed), notes=(note, *answer.notes))


def strategies_to_try(job: Job, candidate: Candidate, catalog: Catalog) -> list[Strategy]:
    """Return the strategies to compare, the simplest first.

    They are those of matching runs, if there are any. Without a network they cannot be compared, so the strategy of the
    run that is scaled is returned. One accelerator has nothing to shard, so `ddp` is enough there.
    """
    answering = {choice: measured_runs(job, replace(candidate, strategy=choice), catalog) for choice in Strategy}
    measured = [choice for choice, runs in answering.items() if any(run.strategy is choice for run in runs)]
    if measured:
        return measured[:1] if candidate.accelerators == 1 else measured
    if job.setup.network is None:
        usual = (job.named_run.strategy if job.named_run else None) or Strategy.DDP
        anchor = nearest_run(job, replace(candidate, strategy=usual), catalog)
        return [(anchor.strategy if anchor else None) or usual]
    if candidate.accelerators == 1 or answering[Strategy.DDP]:
        return [Strategy.DDP]
    return list(Strategy)


def _config_text(candidate: Candidate) -> str:
    return " with ".join(filter(None, (candidate.strategy.value, str(candidate.split))))


def _rate_text(answer: Speed) -> str:
    return f"{answer.samples_per_s.value:.4g}" if answer.samples_per_s else "none"


def _value(answer: Speed) -> float:
    return answer.samples_per_s.value if answer.samples_per_s else 0.0


def _needed_gib(answer: Speed) -> float:
    """Return the GiB that an answer needs on each accelerator; 0 if not known, so that it comes first."""
    return answer.fit.memory.total_gib if answer.fit.memory else 0.0
