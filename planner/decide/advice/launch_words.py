"""The command that makes a measurement: written so that `planner launch` and `planner bench` read it as it stands."""

from __future__ import annotations

from dataclasses import dataclass

from planner.decide.advice.case import Case
from planner.decide.options.estimate_plan import Paced
from planner.model.answer.option_estimate import CampaignOption
from planner.model.network.adapters import AdapterKind
from planner.model.network.trainer_memory import Loss
from planner.model.network.workload import WHOLE, Checkpointing, Strategy
from planner.model.owning.hold import Hold
from planner.model.prices.offer import PriceKind
from planner.scenario.price_choice import ANY_REGION
from planner.scenario.training_setup import agrees_where_stated, setup_of_benchmark
from planner.speed.throughput.matching_runs import asked_setup

LAUNCHED = ("aws", "lambda")
"""Clouds on which `planner launch` starts machines by itself."""
KINDS = (PriceKind.ON_DEMAND, PriceKind.SPOT)
RUN_MINUTES = 20
LOSS_CHUNKS = 8
"""Pieces of a loss that a plan asks for in chunks; speed and memory hardly depend on their number from here on."""


@dataclass(frozen=True)
class AskedPlan:
    """A plan as its answer's commands name it."""

    file: str
    answer_id: str | None = None
    """The answer that asks for a measurement."""


def launch_words(case: Case, one: Paced, option: CampaignOption, *, plan: AskedPlan) -> tuple[str, ...] | None:
    """Return the words of the command that measures an option's machine.

    None where the benchmark trains no such network, does not divide it so, or has no such trainer: its run would be no
    measurement of the plan. None also where the launcher starts no such machine.
    """
    adapters = case.plan.training.adapters
    network = case.job.setup.network
    if network is None or not network.has_benchmark or one.candidate.split != WHOLE:
        return None
    if adapters is not None and (adapters.kind is not AdapterKind.LORA or adapters.frozen is not None):
        return None
    asked = asked_setup(case.job, one.candidate)
    benchmark = setup_of_benchmark(asked)
    if not agrees_where_stated(asked, benchmark):
        return None
    training = ["--micro-batch", "auto"]
    training += ["--compile"] if benchmark.compiled else []
    training += ["--loss-chunks", str(LOSS_CHUNKS)] if benchmark.settings.loss is Loss.CHUNKED else []
    if option.checkpointing is not None and option.checkpointing is not Checkpointing.NONE:
        training += ["--checkpointing", option.checkpointing.value]
    if one.candidate.accelerators > 1 and one.candidate.strategy is not Strategy.DDP:
        training += ["--strategy", one.candidate.strategy.value]
    if adapters is not None:
        targets = ",".join(adapters.targets)
        training += ["--method", "lora", "--lora-rank", str(adapters.rank), "--lora-targets", targets]
    if option.hold is Hold.HAVE:
        if one.candidate.nodes > 1:
            return None
        return ("planner", "bench", plan.file, "--gpus", str(one.candidate.accelerators), *training, *_asked_by(plan))
    target = _target_words(option)
    if target is None:
        return None
    nodes = ("--nodes", str(one.candidate.nodes)) if one.candidate.nodes > 1 else ()
    limit = ("--max-minutes", str(RUN_MINUTES))
    return ("planner", "launch", plan.file, *target, *nodes, *_gpus(one), *training, *limit, *_asked_by(plan))


def probe_words(one: Paced, option: CampaignOption, *, plan: AskedPlan) -> tuple[str, ...] | None:
    """Return the words of the command that probes one node of an option; None where the launcher starts no such one."""
    if option.hold is Hold.HAVE:
        return ("planner", "probe", "--gpus", str(one.candidate.accelerators_per_node), *_asked_by(plan))
    target = _target_words(option)
    return None if target is None else ("planner", "launch", "--probe", *target, *_gpus(one), *_asked_by(plan))


def _asked_by(plan: AskedPlan) -> tuple[str, ...]:
    return () if plan.answer_id is None else ("--answer", plan.answer_id)


def _target_words(option: CampaignOption) -> tuple[str, ...] | None:
    """Return where a measurement runs, and at which kind of price; None where the launcher starts no such machine."""
    if option.offer is None or option.offer.split("/")[0] not in LAUNCHED or option.price_kind not in KINDS:
        return None
    words = ["--on", option.offer]
    words += ["--region", option.region] if option.region and option.region != ANY_REGION else []
    words += ["--spot"] if option.price_kind is PriceKind.SPOT else []
    return tuple(words)


def _gpus(one: Paced) -> tuple[str, ...]:
    """Return how many devices of a node take part, where not all do."""
    count = one.candidate.accelerators_per_node
    return () if count == one.candidate.node.accelerators else ("--gpus", str(count))
