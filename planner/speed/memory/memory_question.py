"""One question about memory, answered: which part takes how much, does it fit, and with which micro-batch."""

from __future__ import annotations

from dataclasses import dataclass

from planner.errors import InputError
from planner.model.answer.documents import MemoryDocument, MemoryWay
from planner.model.hardware.machines import Accelerator
from planner.model.network.adapters import Adapters
from planner.model.network.architecture import Architecture, ImageModel, Resnet, Vit
from planner.model.network.workload import Checkpointing, Loss, Precision, Strategy
from planner.model.quantity import Basis, Quantity, Unit
from planner.network.activations import LayerBytes, activation_bytes_per_sample, checkpointings_of, layer_bytes
from planner.network.flops import parameters
from planner.network.lora_memory import frozen_bytes_per_parameter, trained_parameters
from planner.quantity.conversion import to_quantity
from planner.quantity.interval import Interval
from planner.speed.memory.device_fit import fits_device, largest_micro_batch
from planner.speed.memory.memory import (
    RANGE_FRACTION,
    REPLICATED_BYTES,
    STATE_BYTES,
    Memory,
    device_memory,
    head_outputs,
    logit_bytes,
    state_bytes_per_parameter,
)
from planner.speed.physics.number_format import uses_autocast

FULL_FIX = "Leave --method lora out."


@dataclass(frozen=True)
class MemoryQuestion:
    """What is trained, and on how many of which device."""

    workload: str
    architecture: Architecture
    seq_len: int | None
    micro_batch: int
    accelerator: Accelerator
    devices: int
    strategy: Strategy
    precision: Precision
    checkpointing: Checkpointing | None
    """None: the lightest whose best estimate is not over the device's size."""
    loss: Loss
    traced_layer_bytes: float | None = None
    """What autograd saves in one layer for each token, where it was traced; else the formula counts it."""
    adapters: Adapters | None = None
    """None: all weights are trained."""


def answer(question: MemoryQuestion) -> MemoryDocument:
    """Estimate one device's memory, with every kind of checkpointing beside the one that was asked for."""
    if question.adapters is not None and isinstance(question.architecture, ImageModel):
        raise InputError(f"{question.workload}: adapters stand beside the linear maps of a decoder.", fix=FULL_FIX)
    allowed = checkpointings_of(question.architecture)
    if question.checkpointing is not None and question.checkpointing not in allowed:
        raise InputError(
            f"{question.workload}: checkpointing {question.checkpointing.value} is not for a "
            f"{question.architecture.kind}.",
            fix=f"Choose one of: {', '.join(allowed)}.",
        )
    ways = tuple(_way(question, checkpointing) for checkpointing in allowed)
    chosen = question.checkpointing or _lightest(question, ways)
    way = next(way for way in ways if way.checkpointing is chosen)
    need = _need(question, chosen, question.micro_batch)
    hbm_gib = question.accelerator.hbm_gib
    return MemoryDocument(
        workload=question.workload,
        parameters=parameters(question.architecture),
        trained_parameters=trained_parameters(question.architecture, question.adapters),
        accelerator=question.accelerator.id,
        accelerators=question.devices,
        strategy=question.strategy,
        precision=question.precision,
        seq_len=question.seq_len,
        micro_batch=question.micro_batch,
        checkpointing=chosen,
        loss=question.loss,
        states_gib=_modelled(need.states_gib, question, _states_source(question)),
        activations_gib=_modelled(need.activations_gib, question, _activations_source(question, chosen)),
        logits_gib=_modelled(need.logits_gib, question, _logits_source(question)),
        buffers_gib=_modelled(need.buffers_gib, question, f"{question.strategy.value}'s buffers and the context"),
        total_gib=way.total_gib,
        hbm_gib=None if hbm_gib is None else _size(hbm_gib, question.accelerator),
        fits=way.fits,
        largest_micro_batch=way.largest_micro_batch,
        ways=ways,
        notes=_notes(question, way, ways),
    )


def _need(question: MemoryQuestion, checkpointing: Checkpointing, micro_batch: int) -> Memory:
    return device_memory(
        question.architecture,
        seq_len=question.seq_len,
        micro_batch=micro_batch,
        strategy=question.strategy,
        precision=question.precision,
        devices=question.devices,
        checkpointing=checkpointing,
        loss=question.loss,
        traced_layer_bytes=question.traced_layer_bytes,
        adapters=question.adapters,
    )


def _way(question: MemoryQuestion, checkpointing: Checkpointing) -> MemoryWay:
    need = _need(question, checkpointing, question.micro_batch)
    hbm_gib = question.accelerator.hbm_gib
    fits = largest = None
    if hbm_gib is not None:
        fits = fits_device(need, hbm_gib=hbm_gib)
        largest = largest_micro_batch(lambda batch: _need(question, checkpointing, batch), hbm_gib=hbm_gib)
    total = _modelled(need.total_gib, question, "states + activations + logits + buffers")
    return MemoryWay(checkpointing=checkpointing, total_gib=total, fits=fits, largest_micro_batch=largest)


def _lightest(question: MemoryQuestion, ways: tuple[MemoryWay, ...]) -> Checkpointing:
    hbm_gib = question.accelerator.hbm_gib
    if hbm_gib is None:
        return Checkpointing.NONE
    fitting = [way.checkpointing for way in ways if way.total_gib.value <= hbm_gib]
    return fitting[0] if fitting else Checkpointing.FULL


def _modelled(gib: float, question: MemoryQuestion, source: str) -> Quantity:
    within = Interval(gib, gib * (1 - RANGE_FRACTION), gib * (1 + RANGE_FRACTION))
    return to_quantity(within, Unit.GIB, Basis.MODELLED, source, question.accelerator.as_of)


def _size(hbm_gib: float, accelerator: Accelerator) -> Quantity:
    return to_quantity(
        Interval(hbm_gib, hbm_gib, hbm_gib), Unit.GIB, Basis.QUOTED, accelerator.source, accelerator.as_of
    )


def _states_source(question: MemoryQuestion) -> str:
    if question.adapters is not None:
        assert not isinstance(question.architecture, ImageModel), "refused above"
        frozen = frozen_bytes_per_parameter(
            question.architecture, question.adapters, strategy=question.strategy, devices=question.devices
        )
        trained = trained_parameters(question.architecture, question.adapters)
        return (
            f"{frozen:.4g} bytes x {parameters(question.architecture):,} frozen parameters + {_shared_out(question)} "
            f"x {trained:,} of the adapters, under {question.strategy.value} on {question.devices}"
        )
    return (
        f"{_shared_out(question)} x {parameters(question.architecture):,} parameters: weights, gradients and Adam "
        f"under {question.strategy.value} (ZeRO paper)"
    )


def _shared_out(question: MemoryQuestion) -> str:
    """Write the bytes of a trained parameter as they come about: `16 bytes / 8 accelerators = 2 bytes`."""
    per_parameter = f"{state_bytes_per_parameter(question.strategy, devices=question.devices):.4g} bytes"
    everywhere = REPLICATED_BYTES[question.strategy]
    shared = STATE_BYTES - everywhere
    if question.devices == 1 or not shared:
        return per_parameter
    terms = f"({everywhere} + {shared} / {question.devices} accelerators) bytes"
    return f"{terms if everywhere else f'{shared} bytes / {question.devices} accelerators'} = {per_parameter}"


def _activations_source(question: MemoryQuestion, checkpointing: Checkpointing) -> str:
    """Return tokens x bytes of all layers (of a resnet: images x bytes), so that the product can be repeated."""
    architecture, batch = question.architecture, question.micro_batch
    counted = "counted" if question.traced_layer_bytes is None else "traced"
    end = f"(checkpointing {checkpointing.value}; saved tensors {counted})"
    if isinstance(architecture, Resnet):
        of_an_image = activation_bytes_per_sample(
            architecture,
            seq_len=None,
            precision=question.precision,
            checkpointing=checkpointing,
            traced_layer_bytes=question.traced_layer_bytes,
        )
        return f"{batch:,} images x {of_an_image:,.10g} bytes of {sum(architecture.blocks)} blocks {end}"
    kinds = layer_bytes(
        architecture,
        precision=question.precision,
        checkpointing=checkpointing,
        autocast=uses_autocast(question.strategy, precision=question.precision, adapters=question.adapters),
        traced_layer_bytes=question.traced_layer_bytes,
        adapters=question.adapters,
    )
    tokens = f"{batch * (question.seq_len or 1):,} tokens"
    if isinstance(architecture, Vit):
        tokens = f"{batch:,} images x {architecture.tokens} patches and class token"
    return f"{tokens} x ({' + '.join(map(_layers_text, kinds))}) {end}"


def _layers_text(kind: LayerBytes) -> str:
    """Write `31 layers x 63,616 bytes kept`."""
    kept = "" if kind.is_whole else " kept"
    return f"{kind.layers} layer{'s' if kind.layers > 1 else ''} x {kind.bytes_per_token:,.10g} bytes{kept}"


def _logits_source(question: MemoryQuestion) -> str:
    per_logit = logit_bytes(question.loss, precision=question.precision)
    scores = (question.seq_len or 1) * question.micro_batch
    what = "images" if question.seq_len is None else "tokens"
    outputs = head_outputs(question.architecture)
    return f"{scores:,} {what} x {outputs:,} entries x {per_logit} bytes ({question.loss.value} loss)"


def _notes(question: MemoryQuestion, way: MemoryWay, ways: tuple[MemoryWay, ...]) -> tuple[str, ...]:
    notes = []
    if question.accelerator.hbm_gib is None:
        notes.append(f"how much memory {question.accelerator.id} has is not known")
    if question.checkpointing is None and way.checkpointing is not Checkpointing.NONE:
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
