"""Answer to a question about memory: the parts, the chance to fit, the largest micro-batch, and remedies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace

from planner.errors import InputError
from planner.model.answer.memory_answer import MemoryDocument, MemoryRemedy, MemoryWay
from planner.model.hardware.machines import Accelerator
from planner.model.network.trainer_memory import TrainerMemory
from planner.model.network.workload import Checkpointing
from planner.model.quantity import Basis, FormulaUsed, Quantity, Unit
from planner.network.activations import checkpointings_of
from planner.network.flops import parameters
from planner.network.lora_memory import trained_parameters
from planner.network.method_work import has_second_model
from planner.quantity.conversion import to_quantity
from planner.quantity.formula import named, stated
from planner.quantity.formula_text import printed
from planner.quantity.interval import Interval
from planner.quantity.recorded_number import recording
from planner.scenario.training_setup import TrainingSetup
from planner.speed.memory.device_fit import fits_device, largest_micro_batch
from planner.speed.memory.device_memory import GIB, DeviceMemory, Phase
from planner.speed.memory.memory_question import MemoryQuestion, parts_of
from planner.speed.memory.memory_sources import (
    PHASE_TEXTS,
    activations_source,
    buffers_source,
    logits_source,
    states_source,
)
from planner.speed.memory.planned_settings import (
    FITS_FROM,
    SETTING_CHANCES,
    WEIGHT_SOURCE,
    PossibleNeed,
    alternatives,
    chance_within,
    size_for,
)
from planner.speed.memory.remedies import remedies

SAFE = 0.95
"""Chance to fit that a kind of checkpointing needs so that no heavier kind is considered."""
PART_FRACTION = 0.15
"""Half-width of the range of a single part. The range of the total follows from `PossibleNeed`."""
FULL_FIX = "Leave --method lora out."


def answer(question: MemoryQuestion) -> MemoryDocument:
    """Estimate one device's memory with the stated kind of checkpointing, and with every other kind for comparison.

    Raises InputError for adapters in an image network, and for checkpointing that the network does not support.
    """
    if question.setup.adapters is not None and question.network.sample == "image":
        raise InputError(
            f"{question.setup.workload}: adapters stand beside the linear maps of a decoder.", fix=FULL_FIX
        )
    allowed = checkpointings_of(question.network)
    if question.setup.checkpointing is not None and question.setup.checkpointing not in allowed:
        raise InputError(
            f"{question.setup.workload}: checkpointing {question.setup.checkpointing.value} is not for a "
            f"{question.network.kind}.",
            fix=f"Choose one of: {', '.join(allowed)}.",
        )
    ways = tuple(_way(question, checkpointing) for checkpointing in allowed)
    chosen = question.setup.checkpointing or _lightest(question, ways)
    way = next(way for way in ways if way.checkpointing is chosen)
    need = _need(question, chosen, question.micro_batch)
    hbm_gib = question.accelerator.training_gib
    unstated = tuple(name for name in SETTING_CHANCES if name not in question.stated)
    return MemoryDocument(
        workload=question.setup.workload,
        parameters=parameters(question.network),
        trained_parameters=trained_parameters(question.network, question.setup.adapters),
        accelerator=question.accelerator.id,
        accelerators=question.devices,
        strategy=question.strategy,
        split=str(question.setup.split),
        precision=question.precision,
        seq_len=question.setup.seq_len,
        micro_batch=question.micro_batch,
        checkpointing=chosen,
        loss=question.trainer.loss,
        states_gib=_modelled(need.states_gib, question, states_source(question, need.phase)),
        activations_gib=_modelled(need.activations_gib, question, activations_source(question, chosen, need.phase)),
        logits_gib=_modelled(need.logits_gib, question, logits_source(question, need.phase)),
        buffers_gib=_modelled(need.buffers_gib, question, buffers_source(question)),
        total_gib=way.total_gib,
        hbm_gib=None if hbm_gib is None else _device_size(hbm_gib, question.accelerator),
        fits=way.fits,
        largest_micro_batch=way.largest_micro_batch,
        ways=ways,
        chance=way.chance,
        fullest_at=need.phase.value,
        trainer=question.trainer,
        unstated=unstated,
        remedies=() if way.chance is None else _remedies(question, chosen),
        formulas=_formulas(question, chosen),
        notes=_notes(question, way, ways),
    )


def _remedies(question: MemoryQuestion, chosen: Checkpointing) -> tuple[MemoryRemedy, ...]:
    """Return the changes that would make the training fit, with the options of `planner memory`."""
    hbm_gib = question.accelerator.training_gib
    assert hbm_gib is not None, "the caller checks it"

    def chance(changed: MemoryQuestion) -> float:
        return chance_within(_likely(changed, changed.setup.checkpointing or chosen), hbm_gib)

    found = remedies(
        replace(question, setup=replace(question.setup, checkpointing=chosen)),
        chance,
        checkpointings=question.setup.checkpointing is not Checkpointing.NONE,
    )
    return tuple(MemoryRemedy(**asdict(remedy)) for remedy in found)


def _formulas(question: MemoryQuestion, chosen: Checkpointing) -> tuple[FormulaUsed, ...]:
    """Return the formulas of the total, and of the chance over all possible settings of the trainer."""
    with recording():
        numbers = {"total_gib": named("total_gib", _need(question, chosen, question.micro_batch).total_gib, "GiB")}
        if question.accelerator.training_gib is not None:
            by_need: dict[float, PossibleNeed] = {}
            for weight, trainer in alternatives(question.trainer, question.stated):
                need = _need(replace(question, trainer=trainer), chosen, question.micro_batch).total_gib
                if need in by_need:
                    by_need[need] = by_need[need]._replace(weight=by_need[need].weight + weight)
                else:
                    name = f"total_gib_with_{_unstated(trainer, question)}"
                    by_need[need] = PossibleNeed(weight, named(name, need, "GiB"))
            size = stated("device_gib", question.accelerator.training_gib, "GiB", question.accelerator.source)
            likely = [
                need._replace(weight=stated("weight", need.weight, "", WEIGHT_SOURCE)) if len(by_need) > 1 else need
                for need in by_need.values()
            ]
            numbers["chance"] = named("chance_to_fit", chance_within(likely, size), "")
        return printed(numbers)


def _unstated(trainer: TrainerMemory, question: MemoryQuestion) -> str:
    """Return a name made of the values of the unstated settings: `eager_loss_fused_kernels`."""
    values = {name: getattr(trainer, name) for name in SETTING_CHANCES if name not in question.stated}
    words = {True: "one", False: "no"}
    return "_".join(f"{words.get(value, value)}_{name}" for name, value in values.items()) or "what_is_stated"


def _likely(question: MemoryQuestion, checkpointing: Checkpointing) -> list[PossibleNeed]:
    """Return the needed memory with every possible setting of the trainer."""
    return [
        PossibleNeed(weight, _need(replace(question, trainer=trainer), checkpointing, question.micro_batch).total_gib)
        for weight, trainer in alternatives(question.trainer, question.stated)
    ]


def _with_batch(question: MemoryQuestion, micro_batch: int) -> MemoryQuestion:
    return replace(question, setup=replace(question.setup, micro_batch=micro_batch))


def _need(question: MemoryQuestion, checkpointing: Checkpointing, micro_batch: int) -> DeviceMemory:
    accumulates = question.setup.split.pipeline > 1  # a pipeline runs at least one micro-batch per stage
    return parts_of(question, checkpointing, micro_batch).fullest(accumulates=accumulates)


def _way(question: MemoryQuestion, checkpointing: Checkpointing) -> MemoryWay:
    need = _need(question, checkpointing, question.micro_batch)
    likely, hbm_gib = _likely(question, checkpointing), question.accelerator.training_gib
    fits = largest = chance = None
    if hbm_gib is not None:
        chance = chance_within(likely, hbm_gib)
        fits = fits_device(chance)
        largest = largest_micro_batch(
            lambda batch: chance_within(_likely(_with_batch(question, batch), checkpointing), hbm_gib) >= FITS_FROM
        )
    low, high = size_for(likely, 0.05), size_for(likely, 0.95)
    total = to_quantity(
        Interval(need.total_gib, min(low, need.total_gib), max(high, need.total_gib)),
        Unit.GIB,
        Basis.MODELLED,
        f"states + activations + logits + buffers at the fullest moment: {PHASE_TEXTS[need.phase]}",
        question.accelerator.as_of,
    )
    return MemoryWay(
        checkpointing=checkpointing, total_gib=total, fits=fits, largest_micro_batch=largest, chance=chance
    )


def _lightest(question: MemoryQuestion, ways: tuple[MemoryWay, ...]) -> Checkpointing:
    """Return the lightest checkpointing that fits with 95 %; if none does, the likeliest to fit."""
    if question.accelerator.training_gib is None:
        return Checkpointing.NONE
    chances = {way.checkpointing: way.chance or 0.0 for way in ways}
    safe = [checkpointing for checkpointing, chance in chances.items() if chance >= SAFE]
    return safe[0] if safe else max(chances, key=lambda checkpointing: chances[checkpointing])


def _modelled(gib: float, question: MemoryQuestion, source: str) -> Quantity:
    within = Interval(gib, gib * (1 - PART_FRACTION), gib * (1 + PART_FRACTION))
    return to_quantity(within, Unit.GIB, Basis.MODELLED, source, question.accelerator.as_of)


def _device_size(hbm_gib: float, accelerator: Accelerator) -> Quantity:
    return to_quantity(Interval.exact(hbm_gib), Unit.GIB, Basis.QUOTED, accelerator.source, accelerator.as_of)


def _method_notes(setup: TrainingSetup) -> Iterator[str]:
    """Yield notes on the memory that a preference method adds."""
    if setup.objective.method is None:
        return
    if setup.objective.sequences > 1:
        yield f"{setup.objective.method.value}: a sample is a pair of {setup.seq_len or 0:,} tokens each"
    if has_second_model(setup.objective):
        yield "states hold a second model, the frozen reference; --reference precomputed, or adapters, need none"


def _engine_notes(question: MemoryQuestion, way: MemoryWay) -> Iterator[str]:
    """Yield a note on the memory of a generation engine in the fullest phase."""
    parts = parts_of(question, way.checkpointing, question.micro_batch)
    generates = parts.fullest().phase is Phase.GENERATION
    engine_bytes = parts.engine_generating if generates else parts.engine_training
    if engine_bytes:
        when = "generates" if generates else "waits"
        yield f"buffers hold {engine_bytes / GIB:.1f} GiB of the engine that {when} on the same device"


def _notes(question: MemoryQuestion, way: MemoryWay, ways: tuple[MemoryWay, ...]) -> tuple[str, ...]:
    notes = [*_method_notes(question.setup), *_engine_notes(question, way)]
    if question.accelerator.training_gib is None:
        notes.append(f"how much memory {question.accelerator.id} has is not known")
    if question.setup.checkpointing is None and way.checkpointing is not Checkpointing.NONE:
        notes.append(
            f"without checkpointing it would need {ways[0].total_gib.value:.1f} GiB, so {way.checkpointing.value} is "
            "taken; name one with --checkpointing"
        )
    elif way.fits == "no":
        lighter = [other for other in ways if other.fits == "yes"]
        if lighter:
            notes.append(
                f"with {lighter[0].checkpointing.value} checkpointing it would need "
                f"{lighter[0].total_gib.value:.1f} GiB"
            )
    return tuple(notes)
