"""Write the command of a measurement, as `planner launch` and `planner bench` read it."""

from __future__ import annotations

from dataclasses import dataclass

from planner.decide.advice.case import Case
from planner.decide.options.estimate_plan import Paced
from planner.model.answer.option_estimate import CampaignOption
from planner.model.network.adapters import AdapterKind
from planner.model.network.trainer_memory import Loss
from planner.model.network.workload import WHOLE, Checkpointing, Strategy
from planner.model.owning.acquisition import Hold
from planner.model.prices.offer import PriceKind
from planner.scenario.price_choice import ANY_REGION
from planner.scenario.recorded_setup import setup_of_benchmark
from planner.scenario.training_setup import agrees_where_stated
from planner.speed.throughput.matching_runs import asked_setup

LAUNCHED = ("aws", "lambda")
"""Clouds on which `planner launch` starts machines by itself."""
KINDS = (PriceKind.ON_DEMAND, PriceKind.SPOT)
RUN_MINUTES = 20
LOSS_CHUNKS = 8
"""Chunks of a loss that the plan computes in chunks; more of them hardly change speed and memory."""


@dataclass(frozen=True)
class AskedPlan:
    """A plan as its answer's commands name it."""

    file: str
    answer_id: str | None = None
    """Id of the answer that asks for a measurement."""


def launch_words(case: Case, pace: Paced, option: CampaignOption, *, plan: AskedPlan) -> tuple[str, ...] | None:
    """Return the words of the command that measures an option's machine.

    None if the benchmark cannot train this network, divide it so, or imitate its trainer, because its run would not
    measure the plan. None also if the launcher starts no such machine.
    """
    adapters = case.plan.training.adapters
    network = case.job.setup.network
    if network is None or not network.has_benchmark or pace.candidate.split != WHOLE:
        return None
    if adapters is not None and (adapters.kind is not AdapterKind.LORA or adapters.frozen is not None):
        return None
    asked = asked_setup(case.job, pace.candidate)
    benchmark = setup_of_benchmark(asked)
    if not agrees_where_stated(asked, benchmark):
        return None
    training = ["--micro-batch", "auto"]
    training += ["--compile"] if benchmark.compiled else []
    training += ["--loss-chunks", str(LOSS_CHUNKS)] if benchmark.settings.loss is Loss.CHUNKED else []
    if option.checkpointing is not None and option.checkpointing is not Checkpointing.NONE:
        training += ["--checkpointing", option.checkpointing.value]
    if pace.candidate.accelerators > 1 and pace.candidate.strategy is not Strategy.DDP:
        training += ["--strategy", pace.candidate.strategy.value]
    if adapters is not None:
        targets = ",".join(adapters.targets)
        training += ["--method", "lora", "--lora-rank", str(adapters.rank), "--lora-targets", targets]
    if option.hold is Hold.HAVE:
        if pace.candidate.nodes > 1:
            return None
        return ("planner", "bench", plan.file, "--gpus", str(pace.candidate.accelerators), *training, *_asked_by(plan))
    target = _target_words(option)
    if target is None:
        return None
    nodes = ("--nodes", str(pace.candidate.nodes)) if pace.candidate.nodes > 1 else ()
    limit = ("--max-minutes", str(RUN_MINUTES))
    return ("planner", "launch", plan.file, *target, *nodes, *_gpus(pace), *training, *limit, *_asked_by(plan))


def probe_words(pace: Paced, option: CampaignOption, *, plan: AskedPlan) -> tuple[str, ...] | None:
    """Return the words of the command that probes one node of an option; None if the launcher starts no such node."""
    if option.hold is Hold.HAVE:
        return ("planner", "probe", "--gpus", str(pace.candidate.accelerators_per_node), *_asked_by(plan))
    target = _target_words(option)
    return None if target is None else ("planner", "launch", "--probe", *target, *_gpus(pace), *_asked_by(plan))


def _asked_by(plan: AskedPlan) -> tuple[str, ...]:
    return () if plan.answer_id is None else ("--answer", plan.answer_id)


def _target_words(option: CampaignOption) -> tuple[str, ...] | None:
    """Return where a measurement runs, and at which kind of price; None if the launcher starts no such machine."""
    if option.offer is None or option.offer.split("/")[0] not in LAUNCHED or option.price_kind not in KINDS:
        return None
    words = ["--on", option.offer]
    words += ["--region", option.region] if option.region and option.region != ANY_REGION else []
    words += ["--spot"] if option.price_kind is PriceKind.SPOT else []
    return tuple(words)


def _gpus(pace: Paced) -> tuple[str, ...]:
    """Return the option for the number of devices of a node, if not all are used."""
    count = pace.candidate.accelerators_per_node
    return () if count == pace.candidate.node.accelerators else ("--gpus", str(count))
