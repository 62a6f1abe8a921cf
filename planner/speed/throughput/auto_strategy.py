"""Choices that a plan leaves open, made by speed: micro-batch, checkpointing, and the split of the network."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from planner.model.answer.reason import Reason, ReasonCode
from planner.model.catalog import Catalog
from planner.model.network.workload import WHOLE
from planner.model.plan.plan import MOST_OPTIONS
from planner.scenario.candidate import Candidate
from planner.scenario.job import Job
from planner.scenario.parallel_config import ParallelConfig
from planner.speed.memory.device_fit import CHUNKED_NOTE, DeviceFit, fit
from planner.speed.memory.planned_settings import PossibleNeed, chance_within
from planner.speed.throughput.extrapolation import nearest_run
from planner.speed.throughput.share_of_peak import is_too_small
from planner.speed.throughput.strategy_search import search
from planner.speed.throughput.strategy_space import StrategyQuestion
from planner.text.number_text import percent_text

WORTH_DIVIDING = 1.05
"""Smallest rate of a divided layout over that of the fastest undivided one.

Smaller differences are within the error, and every trainer runs an undivided layout, including the planner's benchmark.
"""
SEARCHES_KEPT = 2 * MOST_OPTIONS
"""Cached searches: the divided and the undivided one of every option of a plan. A plan repeats each search for every
strategy, every price of a machine, and every change of its limits."""
_search_once = lru_cache(maxsize=SEARCHES_KEPT)(search)
NO_SPLIT_FITS = Reason(code=ReasonCode.NO_SPLIT_FITS, text="no way to divide it fits either")


class Layouts(NamedTuple):
    """Fastest layout that divides a network, and fastest layout that does not, for steps of one size."""

    divided: Candidate
    whole: Candidate | None
    """Undivided layout; None if none fits."""

    @property
    def is_worth_dividing(self) -> bool:
        """True if the divided layout is clearly faster."""
        return self.whole is None or _rate(self.divided) > WORTH_DIVIDING * _rate(self.whole)


def layouts(job: Job, candidate: Candidate, catalog: Catalog) -> Layouts | None:
    """Return the fastest layouts as `planner strategies` finds them; None if no divided layout fits.

    Without a stated batch, a step has a common number of micro-batches, because one per pipeline stage would leave the
    pipeline mostly empty. If accumulated gradients do not fit then, it has as few micro-batches as possible.
    """
    if candidate.accelerators == 1:
        return None
    for shortest in (False, True):
        configs = _searched(job, candidate, catalog, undivided=False, shortest=shortest)
        divided = next((config for config in configs if config.split != WHOLE), None)
        if divided is not None:
            whole = next((config for config in configs if config.split == WHOLE), None)
            return Layouts(_with_config(candidate, divided), None if whole is None else _with_config(candidate, whole))
    return None


def _with_config(candidate: Candidate, config: ParallelConfig) -> Candidate:
    return replace(candidate, strategy=config.strategy, parallel_config=config, any_strategy=False)


def _rate(candidate: Candidate) -> float:
    return candidate.parallel_config.samples_per_s if candidate.parallel_config else 0.0


def undivided_fit(job: Job, candidate: Candidate, catalog: Catalog) -> DeviceFit:
    """Return the fastest micro-batch and checkpointing of an undivided network, for the candidate's strategy.

    If nothing fits, or the estimator does not answer, the choice is made by memory alone (`fit`). More memory never
    makes the result slower, because everything that fits a smaller device is also tried on a larger one. If the plan
    does not state the micro-batch, the chance to fit is that of micro-batch 1, which one can fall back to.
    """
    anchor = nearest_run(job, candidate, catalog)
    by_memory = fit(job, candidate, anchor, catalog)
    if not by_memory.fits:
        return by_memory
    configs = _searched(job, candidate, catalog, undivided=True, shortest=True)
    best = next((config for config in configs if config.strategy is candidate.strategy), None)
    chosen = by_memory
    if best is not None:
        setup = replace(job.setup, micro_batch=best.micro_batch, checkpointing=best.checkpointing)
        chosen = fit(replace(job, setup=setup), candidate, anchor, catalog)
    if job.setup.micro_batch is not None or chosen.chance is None:
        return chosen
    smallest = replace(job.setup, micro_batch=1, checkpointing=chosen.checkpointing)
    largest_chance = fit(replace(job, setup=smallest), candidate, anchor, catalog).chance or 0.0
    if largest_chance <= chosen.chance:
        return chosen
    notes = [chosen.note] if chosen.note else []
    of_chosen, of_smallest = map(percent_text, (chosen.chance, largest_chance))
    if of_chosen != of_smallest:
        notes.append(
            f"its speed is that of micro-batch {chosen.micro_batch}, which fits with a chance of {of_chosen}; its "
            f"chance to fit is that of micro-batch 1 with the same checkpointing ({of_smallest})"
        )
    return replace(chosen, chance=largest_chance, note="; ".join(notes) or None)


def fit_of_config(config: ParallelConfig, hbm_gib: float | None) -> DeviceFit:
    """Return micro-batch, accumulation and checkpointing of a layout, and its chance to fit the memory."""
    loss = f"; {CHUNKED_NOTE}" if config.chunked_loss else ""
    note = (
        f"divided ({config.split}): about {config.hbm_gib:.1f} GiB on each accelerator, {config.accumulation} "
        f"micro-batches a step{loss}; planner bench runs no divided network"
        if config.split != WHOLE
        else None
    )
    chance = None if hbm_gib is None else chance_within([PossibleNeed(1.0, config.hbm_gib)], hbm_gib)
    return DeviceFit(
        True,
        config.micro_batch,
        config.accumulation,
        config.checkpointing,
        chance=chance,
        chunked_loss=config.chunked_loss,
        note=note,
    )


def _searched(
    job: Job, candidate: Candidate, catalog: Catalog, *, undivided: bool, shortest: bool
) -> tuple[ParallelConfig, ...]:
    """Return the configurations that the search finds within the plan; none if the estimator has no answer."""
    network, accelerator, option = job.setup.network, candidate.accelerator, candidate.option
    if network is None or network.sample != "tokens" or job.setup.seq_len is None or is_too_small(network):
        return ()
    if catalog.calibration is None or accelerator.hbm_gib is None or accelerator.no_training_reason is not None:
        return ()
    if job.mfu is not None or option.step is not None or option.power_cap_w is not None:
        return ()
    question = StrategyQuestion(
        job.setup, candidate.cluster.for_speed_only, shortest_step=shortest, undivided=undivided
    )
    return _search_once(question, catalog.calibration)
