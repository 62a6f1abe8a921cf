"""Prompts per second of a training on its own completions: generation, and the estimator's training passes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from planner.model.answer.reason import Reason, ReasonCode
from planner.model.answer.rollout_estimate import RolloutChange, RolloutEstimate, RolloutMemory
from planner.model.catalog import Catalog
from planner.model.network.training_method import Engine, Reference, RewardSource, TrainingMethod
from planner.model.network.workload import Checkpointing
from planner.quantity.interval import Interval
from planner.scenario.candidate import Candidate
from planner.scenario.frameworks import framework_family, planned_family
from planner.scenario.job import Job
from planner.speed.generation.engine import CONSTANTS, GIB, EngineCopy
from planner.speed.generation.rollout_step import (
    RolloutPhase,
    RolloutStep,
    TrainedPasses,
    forward_share,
    weight_seconds,
)
from planner.speed.generation.rollouts import GenerationTime, Rollouts, generation_time
from planner.speed.memory.device_fit import DeviceFit
from planner.speed.memory.fullest_moment import Phase
from planner.speed.memory.rollout_engine import ENGINE_GIB, engine_bytes
from planner.speed.physics.accelerator_facts import generation_of
from planner.speed.physics.planned_text_config import RECOMPUTED
from planner.speed.throughput.predict_by_physics import LEAST_FACTOR, predict_by_physics, with_least_range
from planner.speed.throughput.prediction import NoPrediction, Prediction, not_answered
from planner.speed.throughput.rollout_setup import RolloutQuestion, rollout_question
from planner.speed.throughput.rollout_text import changes_text, memory_text, phases_text

if TYPE_CHECKING:
    from planner.model.evidence.calibration import Calibration

MEASURED = ("ampere", "hopper")
"""Generations of accelerators on which steps with an engine and without a critic were published."""
ON_ONE_GENERATION = (framework_family("HF Trainer"),)
"""Trainers that take one step on fresh completions, so that no old policy differs from the new one (TRL's default)."""
SHORTER = 0.5
FEW = 16
"""Sequences of a copy at a time, under which the training's states are put out of the way. Assumed."""
HOST_GB_PER_S = 20.0
"""Between a device and the host's memory, one way. Assumed, as in the physics of offloaded optimizers."""
LINK_SHARE = 0.7
"""Of a link's rate that moving weights reaches. Assumed, as of all-reduces."""


@dataclass(frozen=True)
class Generated:
    """The fastest way to generate that has room."""

    time: GenerationTime
    copy: EngineCopy
    offloaded: bool
    """The training's states wait in the host's memory meanwhile."""


def predict_rollouts(
    job: Job, candidate: Candidate, catalog: Catalog, calibration: Calibration, fitting: DeviceFit
) -> Prediction | NoPrediction:
    """Predict prompts/s: prompts of a step / seconds of a step (`RolloutStep`).

    The range is that of the training passes and a factor for all other phases, and reaches at least a factor of 2 where
    no step of the kind was measured.
    """
    asked = rollout_question(job, candidate)
    if isinstance(asked, Reason):
        return not_answered(asked)
    passes = replace(job, setup=asked.trained_setup)
    trained = predict_by_physics(passes, asked.trainers, catalog, calibration, fitting)
    if isinstance(trained, NoPrediction):
        return trained
    generated = fastest_generation(asked, asked.rollouts)
    if generated is None:
        return not_answered(_no_room(asked))
    rates, checkpointing = trained.samples_per_s, fitting.checkpointing or job.setup.checkpointing
    middle, slow, fast = (
        _step(asked, generated, asked.rollouts.sequences / rate, checkpointing, factor)
        for rate, factor in ((rates.value, 1.0), (rates.low, LEAST_FACTOR), (rates.high, 1 / LEAST_FACTOR))
    )
    prompts_per_s = asked.rollouts.prompts / middle.seconds
    rate = with_least_range(
        Interval(prompts_per_s, asked.rollouts.prompts / slow.seconds, asked.rollouts.prompts / fast.seconds)
    )
    estimate = _estimate(asked, generated, middle, checkpointing, fitting)
    measured = "steps of this kind were published" if estimate.measured_kind else "no measurement of this kind"
    changes = (changes_text(estimate),) if estimate.instead else ()
    return Prediction(
        samples_per_s=rate,
        basis=trained.basis,
        write_source=lambda: f"{phases_text(estimate)}; its training passes: {trained.source}",
        as_of=trained.as_of,
        known_from=f"rollouts modelled; {measured}",
        notes=(phases_text(estimate), memory_text(estimate), *changes, *trained.notes),
        rollout=estimate,
    )


def fastest_generation(asked: RolloutQuestion, rollouts: Rollouts) -> Generated | None:
    """Return the division of copies that generates fastest; None where no sequence has room in any.

    Where few sequences have room beside the training's states, these are offloaded to the host meanwhile, as verl,
    NeMo RL and OpenRLHF do.
    """
    constants = CONSTANTS[asked.generation.engine]
    if asked.generation.at_once is not None:
        constants = replace(constants, most_sequences=asked.generation.at_once)
    for offloaded in (False, True):
        found = []
        for tensor in asked.tensors:
            copy = asked.copy(tensor)
            free = asked.free_bytes(copy, offloaded=offloaded)
            copies = asked.engine_devices // tensor
            time = generation_time(rollouts, copy, constants, copies=copies, free_bytes=free)
            if time is not None and (offloaded or time.at_once >= min(FEW, -(-rollouts.sequences // copies))):
                found.append(Generated(time, copy, offloaded and asked.resident_bytes > 0))
        if found:
            return min(found, key=lambda one: one.time.seconds)
    return None


def _no_room(asked: RolloutQuestion) -> Reason:
    copy = asked.copy(max(asked.tensors))
    text = (
        f"generation has no room: of {asked.device.memory / GIB:.1f} GiB on each device its weights take "
        f"{copy.weights / GIB:.1f} over {copy.tensor}, which leaves no cache for one completion"
    )
    figures = {"weights_gib": copy.weights / GIB}
    return Reason(code=ReasonCode.MEMORY_TOO_SMALL, text=text, figures=figures)


def _step(
    asked: RolloutQuestion,
    generated: Generated,
    training_seconds: float,
    checkpointing: Checkpointing | None,
    factor: float = 1.0,
    *,
    ahead: bool | None = None,
) -> RolloutStep:
    """Return the step; `factor` multiplies the seconds of every phase but the training passes themselves."""
    objective, generation = asked.objective, asked.generation
    share = forward_share(
        recomputed=RECOMPUTED[checkpointing or Checkpointing.NONE], adapters=asked.job.setup.adapters is not None
    )
    framework = asked.job.setup.framework
    passes = TrainedPasses(
        training_seconds,
        share,
        reference=objective.reference in (Reference.MODEL, Reference.ADAPTERS_OFF),
        old_policy=framework is None or planned_family(framework) not in ON_ONE_GENERATION,
        reward_model=objective.reward is RewardSource.MODEL,
        critic=objective.method is TrainingMethod.PPO,
    ).phases()
    time = generated.time
    weights = 0.0
    if generation.engine is not Engine.TRAINER:
        rate = _weight_rate(asked) * LINK_SHARE
        engine = asked.engine_memory
        weights = weight_seconds(
            weight_bytes=generated.copy.weights, rate=rate, switches=engine is not None and engine.sleeps
        )
        if engine is not None and engine.sleep_level == 1:
            weights += 2 * generated.copy.weights / (HOST_GB_PER_S * 1e9)
    if generated.offloaded:
        weights += 2 * asked.resident_bytes / (HOST_GB_PER_S * 1e9)
    others = {RolloutPhase.GENERATION: time.prompts + time.decoding, RolloutPhase.WEIGHTS: weights}
    return RolloutStep(
        busy=passes | {phase: seconds * factor for phase, seconds in others.items()},
        tail=time.waiting * factor,
        training_devices=asked.trainers.accelerators,
        generating_devices=asked.generating_devices,
        ahead=generation.asynchronous if ahead is None else ahead,
    )


def _weight_rate(asked: RolloutQuestion) -> float:
    """Return bytes/s at which a device gets weights: its link, over several nodes at most the network of a node."""
    node = asked.trainers.node
    if asked.trainers.nodes > 1 and node.network_gbit_per_s is not None:
        return min(asked.device.link, node.network_gbit_per_s / 8 * 1e9)
    return asked.device.link


def is_measured_kind(asked: RolloutQuestion) -> bool:
    """Return whether steps of this kind were published: by an engine, without a critic, on Ampere or Hopper."""
    by_engine = asked.generation.engine is not Engine.TRAINER and asked.objective.method is not TrainingMethod.PPO
    return by_engine and generation_of(asked.trainers.accelerator) in MEASURED


def _estimate(
    asked: RolloutQuestion,
    generated: Generated,
    step: RolloutStep,
    checkpointing: Checkpointing | None,
    fitting: DeviceFit,
) -> RolloutEstimate:
    """Return what an answer shows of the step."""
    return RolloutEstimate(
        step_seconds=step.seconds,
        prompts=asked.rollouts.prompts,
        completions=asked.rollouts.sequences,
        shares={phase.value: share for phase, share in step.shares.items()},
        seconds={phase.value: seconds for phase, seconds in step.busy.items() if seconds},
        training_devices=step.training_devices,
        generating_devices=step.generating_devices,
        engine=asked.generation.engine.value,
        tensor=generated.copy.tensor,
        at_once=generated.time.at_once,
        memory=_memory(asked, generated, fitting),
        instead=_changes(asked, step, checkpointing),
        measured_kind=is_measured_kind(asked),
    )


def _memory(asked: RolloutQuestion, generated: Generated, fitting: DeviceFit) -> tuple[RolloutMemory, ...]:
    """Return the GiB of each phase: of generation and of training, on their own devices."""
    resident = asked.resident_bytes / GIB
    generating = {"weights": generated.copy.weights / GIB, "cache": generated.time.cache_bytes / GIB}
    generating["engine"] = ENGINE_GIB
    if resident and not generated.offloaded:
        generating["training states"] = resident
    found = [RolloutMemory(phase="generation", parts=generating)]
    if fitting.memory is not None:
        need = fitting.memory
        device_gib = asked.trainers.accelerator.training_gib
        engine = engine_bytes(asked.objective, asked.job.setup.framework, device_gib=device_gib)
        awake = need.phase is Phase.GENERATION or (asked.engine_memory is not None and not asked.engine_memory.sleeps)
        beside = (engine.generating if awake else engine.training) / GIB
        training = {
            "states": need.states_gib, "activations": need.activations_gib, "logits": need.logits_gib,
            "buffers": need.buffers_gib - beside, "engine" if awake else "sleeping engine": beside,
        }  # fmt: skip
        found.append(RolloutMemory(phase="training", parts=training))
    return tuple(found)


def _changes(
    asked: RolloutQuestion, step: RolloutStep, checkpointing: Checkpointing | None
) -> tuple[RolloutChange, ...]:
    """Return the step with completions half as long, and one step ahead: on a second group of as many devices.

    Where a group of its own generates in turn with the other, ahead on the same devices.
    """
    training = step.busy[RolloutPhase.TRAINING]
    found = []
    shorter = replace(asked.rollouts, lengths=asked.rollouts.lengths.scaled(SHORTER))
    if (generated := fastest_generation(asked, shorter)) is not None:
        half = _step(asked, generated, training * shorter.tokens / asked.rollouts.tokens, checkpointing)
        found.append(_change("completions half as long", half, step))
    if asked.generation.asynchronous:
        return tuple(found)
    trainers = asked.trainers.accelerators
    second = asked if asked.generating_devices else replace(asked, generating_devices=trainers)
    added = "" if asked.generating_devices else f" on {trainers} more devices"
    if (generated := fastest_generation(second, asked.rollouts)) is not None:
        ahead = _step(second, generated, training, checkpointing, ahead=True)
        found.append(_change(f"generation one step ahead{added}", ahead, step))
    return tuple(found)


def _change(what: str, changed: RolloutStep, step: RolloutStep) -> RolloutChange:
    return RolloutChange(what=what, step_seconds=changed.seconds, prompts_ratio=step.seconds / changed.seconds)
