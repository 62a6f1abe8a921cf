"""What a plan leaves open, chosen by speed: micro-batch and checkpointing, and whether to divide the network."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from planner.model.answer.reason import Reason, ReasonCode
from planner.model.catalog import Catalog
from planner.model.network.architecture import TextModel
from planner.model.network.workload import WHOLE
from planner.model.plan.plan import MOST_OPTIONS
from planner.network.flops import parameters
from planner.scenario.candidate import Candidate
from planner.scenario.job import Job
from planner.scenario.parallel_config import ParallelConfig
from planner.speed.memory.chance import Likely, chance_within
from planner.speed.memory.device_fit import CHUNKED_NOTE, DeviceFit, fit
from planner.speed.throughput.extrapolation import nearest_run
from planner.speed.throughput.share_of_peak import is_too_small
from planner.speed.throughput.strategy_search import StrategyQuestion, search

WORTH_DIVIDING = 1.05
"""How much faster than the fastest undivided one it must be: nearer ones are not told apart, and any trainer can run an
undivided one, the planner's own benchmark among them."""
LARGE, MANY = 20e9, 512
"""Parameters and accelerators from which on whoever publishes a training divides the network: LLaMA 33B and 65B,
Llama 2 and 3, DeepSeek 67B, Falcon-180B, GLM-130B."""

SEARCHES_KEPT = 2 * MOST_OPTIONS
"""Those of a whole plan, undivided and divided: it asks the same for every strategy, for every price of a machine, and
again when its limits change."""
_search_once = lru_cache(maxsize=SEARCHES_KEPT)(search)

NO_SPLIT_FITS = Reason(code=ReasonCode.NO_SPLIT_FITS, text="no way to divide it fits either")


def divided(job: Job, candidate: Candidate, catalog: Catalog) -> Candidate | None:
    """Return the candidate with the fastest configuration that divides its network; None where there is none."""
    if candidate.accelerators == 1:
        return None
    configs = _searched(job, candidate, catalog, undivided=False)
    best = next((config for config in configs if config.split != WHOLE), None)
    if best is None:
        return None
    return replace(candidate, strategy=best.strategy, parallel_config=best, any_strategy=False)


def divided_by_all(job: Job, candidate: Candidate) -> bool:
    """Return whether a network is so large, and on so many accelerators, that whoever trains it divides it."""
    large = isinstance(job.setup.network, TextModel) and parameters(job.setup.network) >= LARGE
    return large and candidate.accelerators >= MANY


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
    configs = _searched(job, candidate, catalog, undivided=True)
    best = next((config for config in configs if config.strategy is candidate.strategy), None)
    taken = plain
    if best is not None:
        setup = replace(job.setup, micro_batch=best.micro_batch, checkpointing=best.checkpointing)
        taken = fit(replace(job, setup=setup), candidate, anchor, catalog)
    if job.setup.micro_batch is not None or taken.chance is None:
        return taken
    smallest = replace(job.setup, micro_batch=1, checkpointing=taken.checkpointing)
    surest = fit(replace(job, setup=smallest), candidate, anchor, catalog).chance
    return replace(taken, chance=max(taken.chance, surest or 0.0))


def divided_fit(config: ParallelConfig, hbm_gib: float | None) -> DeviceFit:
    """Return micro-batch, accumulation and checkpointing of a divided network, and its chance to fit so much memory."""
    loss = f"; {CHUNKED_NOTE}" if config.chunked_loss else ""
    note = (
        f"divided ({config.split}): about {config.hbm_gib:.1f} GiB on each accelerator, {config.accumulation} "
        f"micro-batches a step{loss}; planner bench runs no divided network"
    )
    chance = None if hbm_gib is None else chance_within([Likely(1.0, config.hbm_gib)], hbm_gib)
    return DeviceFit(
        True,
        config.micro_batch,
        config.accumulation,
        config.checkpointing,
        chance=chance,
        chunked_loss=config.chunked_loss,
        note=note,
    )


def _searched(job: Job, candidate: Candidate, catalog: Catalog, *, undivided: bool) -> tuple[ParallelConfig, ...]:
    """Return what the search finds, within what the plan fixes; nothing where the estimator does not answer."""
    network, accelerator = job.setup.network, candidate.accelerator
    if not isinstance(network, TextModel) or job.setup.seq_len is None or is_too_small(network) or job.mfu is not None:
        return ()
    if catalog.calibration is None or accelerator.hbm_gib is None or accelerator.no_training_reason is not None:
        return ()
    if candidate.option.step is not None or candidate.option.power_cap_w is not None:
        return ()
    question = StrategyQuestion(job.setup, candidate.cluster, shortest_step=True, undivided=undivided)
    return _search_once(question, catalog.calibration)
