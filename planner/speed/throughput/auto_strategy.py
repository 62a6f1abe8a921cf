"""What a plan leaves open, chosen by speed: micro-batch and checkpointing, and whether to divide the network."""

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
from planner.speed.memory.chance import PossibleNeed, chance_within
from planner.speed.memory.device_fit import CHUNKED_NOTE, DeviceFit, fit
from planner.speed.throughput.extrapolation import nearest_run
from planner.speed.throughput.share_of_peak import is_too_small
from planner.speed.throughput.strategy_search import StrategyQuestion, search

WORTH_DIVIDING = 1.05
"""How much faster than the fastest undivided one it must be: nearer ones are not told apart, and any trainer can run an
undivided one, the planner's own benchmark among them."""

SEARCHES_KEPT = 2 * MOST_OPTIONS
"""Those of a whole plan, undivided and divided: it asks the same for every strategy, for every price of a machine, and
again when its limits change."""
_search_once = lru_cache(maxsize=SEARCHES_KEPT)(search)

NO_SPLIT_FITS = Reason(code=ReasonCode.NO_SPLIT_FITS, text="no way to divide it fits either")


class Layouts(NamedTuple):
    """The fastest layout that divides a network, beside the fastest that leaves it whole, over steps of one size."""

    divided: Candidate
    whole: Candidate | None
    """None: no whole one fits."""

    @property
    def is_worth_dividing(self) -> bool:
        """Whether the divided one is clearly faster."""
        return self.whole is None or _rate(self.divided) > WORTH_DIVIDING * _rate(self.whole)


def layouts(job: Job, candidate: Candidate, catalog: Catalog) -> Layouts | None:
    """Return the fastest layouts as `planner strategies` finds them; None where none divides the network.

    A step has as many micro-batches as is usual where the plan states no batch: nobody fills a pipeline with a single
    one for each stage. Where gradients that add up over them do not fit, it has as few as there can be.
    """
    if candidate.accelerators == 1:
        return None
    for shortest in (False, True):
        configs = _searched(job, candidate, catalog, undivided=False, shortest=shortest)
        divided = next((config for config in configs if config.split != WHOLE), None)
        if divided is not None:
            whole = next((config for config in configs if config.split == WHOLE), None)
            return Layouts(_laid_out(candidate, divided), None if whole is None else _laid_out(candidate, whole))
    return None


def _laid_out(candidate: Candidate, config: ParallelConfig) -> Candidate:
    return replace(candidate, strategy=config.strategy, parallel_config=config, any_strategy=False)


def _rate(candidate: Candidate) -> float:
    return candidate.parallel_config.samples_per_s if candidate.parallel_config else 0.0


def undivided_fit(job: Job, candidate: Candidate, catalog: Catalog) -> DeviceFit:
    """Return the fastest micro-batch and checkpointing of a network that stays whole, for the candidate's strategy.

    By memory alone (`fit`) where nothing fits, or the estimator does not answer. More memory never makes it slower:
    whatever fits the smaller device is tried on the larger one too. Where the plan leaves the micro-batch open, the
    chance to fit is that of the smallest: it is what one falls back on.
    """
    anchor = nearest_run(job, candidate, catalog)
    plain = fit(job, candidate, anchor, catalog)
    if not plain.fits:
        return plain
    configs = _searched(job, candidate, catalog, undivided=True, shortest=True)
    best = next((config for config in configs if config.strategy is candidate.strategy), None)
    taken = plain
    if best is not None:
        setup = replace(job.setup, micro_batch=best.micro_batch, checkpointing=best.checkpointing)
        taken = fit(replace(job, setup=setup), candidate, anchor, catalog)
    if job.setup.micro_batch is not None or taken.chance is None:
        return taken
    smallest = replace(job.setup, micro_batch=1, checkpointing=taken.checkpointing)
    surest = fit(replace(job, setup=smallest), candidate, anchor, catalog).chance or 0.0
    if surest <= taken.chance:
        return taken
    notes = [taken.note] if taken.note else []
    of_taken, of_smallest = (f"{min(99, round(100 * chance))} %" for chance in (taken.chance, surest))
    if of_taken != of_smallest:
        notes.append(
            f"its speed is that of micro-batch {taken.micro_batch}, which fits with a chance of {of_taken}; its chance "
            f"to fit is that of micro-batch 1 with the same checkpointing ({of_smallest})"
        )
    return replace(taken, chance=surest, note="; ".join(notes) or None)


def laid_out_fit(config: ParallelConfig, hbm_gib: float | None) -> DeviceFit:
    """Return micro-batch, accumulation and checkpointing of a layout, and its chance to fit so much memory."""
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
    """Return what the search finds, within what the plan fixes; nothing where the estimator does not answer."""
    network, accelerator = job.setup.network, candidate.accelerator
    if (
        network is None
        or network.sample != "tokens"
        or job.setup.seq_len is None
        or is_too_small(network)
        or job.mfu is not None
    ):
        return ()
    if catalog.calibration is None or accelerator.hbm_gib is None or accelerator.no_training_reason is not None:
        return ()
    if candidate.option.step is not None or candidate.option.power_cap_w is not None:
        return ()
    question = StrategyQuestion(job.setup, candidate.cluster.by_its_speed, shortest_step=shortest, undivided=undivided)
    return _search_once(question, catalog.calibration)
