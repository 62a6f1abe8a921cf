"""Prompts per second of a training on its own completions: generation, and training passes from the estimator."""

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
from planner.speed.memory.device_memory import ENGINE_GIB, Phase, engine_bytes
from planner.speed.physics.accelerator_facts import generation_of
from planner.speed.physics.planned_text_config import RECOMPUTED
from planner.speed.throughput.predict_by_physics import LEAST_FACTOR, predict_by_physics, with_least_range
from planner.speed.throughput.prediction import NoPrediction, Prediction, not_answered
from planner.speed.throughput.prediction_notes import changes_text, memory_text, phases_text
from planner.speed.throughput.rollout_setup import RolloutQuestion, rollout_question

if TYPE_CHECKING:
    from planner.model.evidence.calibration import Calibration

MEASURED_GENERATIONS = ("ampere", "hopper")
"""Generations of accelerators with published steps that use an engine and no critic."""
SINGLE_POLICY_TRAINERS = (framework_family("HF Trainer"),)
"""Trainers that take one step per batch of completions, so the old policy equals the new one (TRL's default)."""
SHORTER_LENGTHS = 0.5
"""Factor on the lengths of completions in the alternative with shorter ones."""
FEW_SEQUENCES = 16
"""Simultaneous sequences per copy below which training states are offloaded during generation. Assumed."""
HOST_GB_PER_S = 20.0
"""GB/s between a device and host memory, in one direction. Assumed, as for offloaded optimizers."""
LINK_SHARE = 0.7
"""Share of a link's rate that moving weights reaches. Assumed, as for all-reduces."""


@dataclass(frozen=True)
class GenerationPlan:
    """Fastest way to generate for which there is room."""

    time: GenerationTime
    copy: EngineCopy
    offloaded: bool
    """True if the training states are in host memory during generation."""


def predict_rollouts(
    job: Job, candidate: Candidate, catalog: Catalog, calibration: Calibration, fitting: DeviceFit
) -> Prediction | NoPrediction:
    """Predict prompts/s = prompts of a step / seconds of a step (`RolloutStep`).

    The range combines that of the training passes with a factor of 2 on all other phases, and is at least a factor of 2
    in both directions.
    """
    question = rollout_question(job, candidate)
    if isinstance(question, Reason):
        return not_answered(question)
    passes = replace(job, setup=question.training_setup)
    trained = predict_by_physics(passes, question.trainers, catalog, calibration, fitting)
    if isinstance(trained, NoPrediction):
        return trained
    generated = fastest_generation(question, question.rollouts)
    if generated is None:
        return not_answered(_no_room(question))
    rates, checkpointing = trained.samples_per_s, fitting.checkpointing or job.setup.checkpointing
    middle, slow, fast = (
        _step(question, generated, question.rollouts.sequences / rate, checkpointing, factor)
        for rate, factor in ((rates.value, 1.0), (rates.low, LEAST_FACTOR), (rates.high, 1 / LEAST_FACTOR))
    )
    prompts_per_s = question.rollouts.prompts / middle.seconds
    rate = with_least_range(
        Interval(prompts_per_s, question.rollouts.prompts / slow.seconds, question.rollouts.prompts / fast.seconds)
    )
    estimate = _estimate(question, generated, middle, checkpointing, fitting)
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


def fastest_generation(question: RolloutQuestion, rollouts: Rollouts) -> GenerationPlan | None:
    """Return the fastest division of the devices into copies; None if no copy has room for a sequence.

    If there is room for only a few sequences, training states are offloaded to the host during generation, as in verl,
    NeMo RL and OpenRLHF.
    """
    constants = CONSTANTS[question.generation.engine]
    if question.generation.at_once is not None:
        constants = replace(constants, most_sequences=question.generation.at_once)
    for offloaded in (False, True):
        found = []
        for tensor in question.copy_sizes:
            copy = question.copy(tensor)
            free = question.free_bytes(copy, offloaded=offloaded)
            copies = question.engine_devices // tensor
            time = generation_time(rollouts, copy, constants, copies=copies, free_bytes=free)
            if time is not None and (offloaded or time.at_once >= min(FEW_SEQUENCES, -(-rollouts.sequences // copies))):
                found.append(GenerationPlan(time, copy, offloaded and question.resident_bytes > 0))
        if found:
            return min(found, key=lambda plan: plan.time.seconds)
    return None


def _no_room(question: RolloutQuestion) -> Reason:
    copy = question.copy(max(question.copy_sizes))
    text = (
        f"generation has no room: of {question.device.memory / GIB:.1f} GiB on each device its weights take "
        f"{copy.weights / GIB:.1f} over {copy.tensor}, which leaves no cache for one completion"
    )
    figures = {"weights_gib": copy.weights / GIB}
    return Reason(code=ReasonCode.MEMORY_TOO_SMALL, text=text, figures=figures)


def _step(
    question: RolloutQuestion,
    generated: GenerationPlan,
    training_seconds: float,
    checkpointing: Checkpointing | None,
    factor: float = 1.0,
    *,
    ahead: bool | None = None,
) -> RolloutStep:
    """Return the step; `factor` multiplies the seconds of all phases except the training passes."""
    objective, generation = question.objective, question.generation
    share = forward_share(
        recomputed=RECOMPUTED[checkpointing or Checkpointing.NONE], adapters=question.job.setup.adapters is not None
    )
    framework = question.job.setup.framework
    passes = TrainedPasses(
        training_seconds,
        share,
        reference=objective.reference in (Reference.MODEL, Reference.ADAPTERS_OFF),
        old_policy=framework is None or planned_family(framework) not in SINGLE_POLICY_TRAINERS,
        reward_model=objective.reward is RewardSource.MODEL,
        critic=objective.method is TrainingMethod.PPO,
    ).phases()
    time = generated.time
    weights = 0.0
    if generation.engine is not Engine.TRAINER:
        rate = _weight_rate(question) * LINK_SHARE
        engine = question.engine_memory
        weights = weight_seconds(
            weight_bytes=generated.copy.weights, rate=rate, switches=engine is not None and engine.sleeps
        )
        if engine is not None and engine.sleep_level == 1:
            weights += 2 * generated.copy.weights / (HOST_GB_PER_S * 1e9)
    if generated.offloaded:
        weights += 2 * question.resident_bytes / (HOST_GB_PER_S * 1e9)
    others = {RolloutPhase.GENERATION: time.prompts + time.decoding, RolloutPhase.WEIGHTS: weights}
    return RolloutStep(
        busy=passes | {phase: seconds * factor for phase, seconds in others.items()},
        tail=time.waiting * factor,
        training_devices=question.trainers.accelerators,
        generating_devices=question.generating_devices,
        ahead=generation.asynchronous if ahead is None else ahead,
    )


def _weight_rate(question: RolloutQuestion) -> float:
    """Return the bytes/s at which a device receives weights: those of its link, limited by the node's network."""
    node = question.trainers.node
    if question.trainers.nodes > 1 and node.network_gbit_per_s is not None:
        return min(question.device.link, node.network_gbit_per_s / 8 * 1e9)
    return question.device.link


def is_measured_kind(question: RolloutQuestion) -> bool:
    """Return whether steps of this kind were published: with an engine, without a critic, on Ampere or Hopper."""
    return (
        question.generation.engine is not Engine.TRAINER
        and question.objective.method is not TrainingMethod.PPO
        and generation_of(question.trainers.accelerator) in MEASURED_GENERATIONS
    )


def _estimate(
    question: RolloutQuestion,
    generated: GenerationPlan,
    step: RolloutStep,
    checkpointing: Checkpointing | None,
    fitting: DeviceFit,
) -> RolloutEstimate:
    """Return the step as answers show it."""
    return RolloutEstimate(
        step_seconds=step.seconds,
        prompts=question.rollouts.prompts,
        completions=question.rollouts.sequences,
        shares={phase.value: share for phase, share in step.shares.items()},
        seconds={phase.value: seconds for phase, seconds in step.busy.items() if seconds},
        training_devices=step.training_devices,
        generating_devices=step.generating_devices,
        engine=question.generation.engine.value,
        tensor=generated.copy.tensor,
        at_once=generated.time.at_once,
        memory=_memory(question, generated, fitting),
        instead=_changes(question, step, checkpointing),
        measured_kind=is_measured_kind(question),
    )


def _memory(question: RolloutQuestion, generated: GenerationPlan, fitting: DeviceFit) -> tuple[RolloutMemory, ...]:
    """Return the GiB on each device of the generation and of the training phase."""
    resident = question.resident_bytes / GIB
    generating = {"weights": generated.copy.weights / GIB, "cache": generated.time.cache_bytes / GIB}
    generating["engine"] = ENGINE_GIB
    if resident and not generated.offloaded:
        generating["training states"] = resident
    found = [RolloutMemory(phase="generation", parts=generating)]
    if fitting.memory is not None:
        need = fitting.memory
        device_gib = question.trainers.accelerator.training_gib
        engine = engine_bytes(question.objective, question.job.setup.framework, device_gib=device_gib)
        sleepless = question.engine_memory is not None and not question.engine_memory.sleeps
        awake = need.phase is Phase.GENERATION or sleepless
        engine_gib = (engine.generating if awake else engine.training) / GIB
        training = {
            "states": need.states_gib, "activations": need.activations_gib, "logits": need.logits_gib,
            "buffers": need.buffers_gib - engine_gib, "engine" if awake else "sleeping engine": engine_gib,
        }  # fmt: skip
        found.append(RolloutMemory(phase="training", parts=training))
    return tuple(found)


def _changes(
    question: RolloutQuestion, step: RolloutStep, checkpointing: Checkpointing | None
) -> tuple[RolloutChange, ...]:
    """Return two alternatives: completions half as long, and generation one step ahead of training.

    Generation ahead needs a second group of devices. If the plan has none, an equal group is added.
    """
    training = step.busy[RolloutPhase.TRAINING]
    found = []
    shorter = replace(question.rollouts, lengths=question.rollouts.lengths.scaled(SHORTER_LENGTHS))
    if (generated := fastest_generation(question, shorter)) is not None:
        half = _step(question, generated, training * shorter.tokens / question.rollouts.tokens, checkpointing)
        found.append(_change("completions half as long", half, step))
    if question.generation.asynchronous:
        return tuple(found)
    trainers = question.trainers.accelerators
    second = question if question.generating_devices else replace(question, generating_devices=trainers)
    added = "" if question.generating_devices else f" on {trainers} more devices"
    if (generated := fastest_generation(second, question.rollouts)) is not None:
        ahead = _step(second, generated, training, checkpointing, ahead=True)
        found.append(_change(f"generation one step ahead{added}", ahead, step))
    return tuple(found)


def _change(what: str, changed: RolloutStep, step: RolloutStep) -> RolloutChange:
    return RolloutChange(what=what, step_seconds=changed.seconds, prompts_ratio=step.seconds / changed.seconds)
