"""Texts that state how each part of a device's memory is computed, so that a reader can repeat every product."""

from __future__ import annotations

from dataclasses import replace

from planner.model.network.training_method import TrainingMethod
from planner.model.network.workload import WHOLE, Checkpointing
from planner.network.activations import LayerBytes, bytes_per_number
from planner.network.families.known_families import family_of
from planner.network.flops import parameters
from planner.network.lora_memory import frozen_bytes_per_parameter, trained_parameters
from planner.network.method_work import frozen_copies, has_scalar_head, parameters_under
from planner.speed.memory.activations import kept_by_layers
from planner.speed.memory.buffers import has_wide_stream
from planner.speed.memory.constants import FITTED
from planner.speed.memory.device_memory import CONTEXT_GIB, GIB, Phase
from planner.speed.memory.memory import (
    LAST_NORM_BYTES,
    head_gradient_bytes,
    head_outputs,
    keeps_gradients,
    loss_bytes,
)
from planner.speed.memory.memory_question import MemoryQuestion, parts_of
from planner.speed.memory.states import SHARDED, reference_bytes_per_parameter, state_bytes_per_parameter

PHASE_TEXTS = {
    Phase.LOSS: "the loss, with all activations",
    Phase.BACKWARD: "the backward pass of a layer that is computed again",
    Phase.GRADIENTS: "the end of the backward pass, with all gradients",
    Phase.STEP: "the optimizer's step",
    Phase.GENERATION: "generation, with all that its engine reserves",
}


def states_source(question: MemoryQuestion, phase: Phase) -> str:
    """Return the text of the states' bytes: bytes x parameters of each kind of state that exists in the phase."""
    optimizer = question.trainer.optimizer
    paged = ": its moments wait in the host's memory where the device is short" if optimizer.is_paged else ""
    how = f"under {question.strategy.value} on {question.devices} ({optimizer.value}{paged})"
    if question.setup.adapters is not None:
        wide = has_wide_stream(
            question.strategy, precision=question.precision, adapters=question.setup.adapters, trainer=question.trainer
        )
        frozen = frozen_bytes_per_parameter(
            question.network,
            question.setup.adapters,
            strategy=question.strategy,
            devices=question.replicas,
            wide_rest=wide,
            double_quantized=question.trainer.double_quantized,
        )
        trained = trained_parameters(question.network, question.setup.adapters)
        states = (
            f"{frozen:.4g} bytes x {parameters(question.network):,} frozen parameters + "
            f"{_bytes_per_parameter(question, phase)} x {trained:,} of the adapters"
        )
    else:
        trained = parameters_under(question.network, question.setup.objective)
        states = f"{_bytes_per_parameter(question, phase)} x {trained:,} parameters"
        if question.setup.objective.method is TrainingMethod.PPO:  # the optimizer steps one network at a time
            critic_phase = Phase.GRADIENTS if phase is Phase.STEP else phase
            states += f" + {_bytes_per_parameter(question, critic_phase)} x {trained:,} of the critic"
    if copies := frozen_copies(question.setup.objective):
        bytes_per_parameter = reference_bytes_per_parameter(
            question.network,
            strategy=question.strategy,
            devices=question.replicas,
            precision=question.precision,
            adapters=question.setup.adapters,
        )
        model = "the reference model" if copies == 1 else "each frozen model"
        states += f" + {copies} x {bytes_per_parameter:.4g} bytes x {parameters(question.network):,} of {model}"
    split = question.setup.split
    if split.tensor * split.pipeline > 1:
        states = f"({states}) x {_stage(question)} / tensor {split.tensor}"
    return f"{states}, {how}"


def _stage(question: MemoryQuestion) -> str:
    """Return the share of the largest pipeline stage: `9/32 of the layers`."""
    layers = sum(kind.layers for kind in family_of(question.network).layers)
    return f"{question.setup.split.largest_stage(layers)}/{layers} of the layers"


def _bytes_per_parameter(question: MemoryQuestion, phase: Phase) -> str:
    """Return the bytes of a trained parameter as a sum: `(weights 4 / 8 + moments 8 / 8) = 1.5 bytes`."""
    whole = state_bytes_per_parameter(
        question.strategy,
        devices=1,
        precision=question.precision,
        trainer=question.trainer,
    )
    sharded, replicas, split = SHARDED[question.strategy], question.replicas, question.setup.split
    kept = split.pipeline > 1 or (
        split.tensor == 1 and keeps_gradients(question.strategy, devices=replicas, trainer=question.trainer)
    )
    names = {*STATES_BY_PHASE[phase], *(("gradients",) if kept else ())}
    counted_parts = {name: size for name, size in whole._asdict().items() if size and name in names}
    terms = [
        f"{name} {size:g}{f' / {replicas}' if name in sharded and replicas > 1 else ''}"
        for name, size in counted_parts.items()
    ]
    total = sum(size / (replicas if name in sharded else 1) for name, size in counted_parts.items())
    return f"({' + '.join(terms)}) = {total:.4g} bytes" if terms else "0 bytes"


STATES_BY_PHASE = {
    Phase.LOSS: ("weights", "moments"),
    Phase.BACKWARD: ("weights", "moments"),
    Phase.GRADIENTS: ("weights", "gradients", "moments"),
    Phase.STEP: ("weights", "gradients", "moments", "step"),
    Phase.GENERATION: ("weights", "moments"),
}
"""States that exist in each phase. Gradients exist in all phases if they are kept or if a pipeline accumulates."""


def buffers_source(question: MemoryQuestion) -> str:
    """Return the text of the buffers: the strategy's own, allocator slack, the context, and an engine."""
    slack = FITTED.slack_of(question.strategy) - 1
    engine = parts_of(question, question.setup.checkpointing or Checkpointing.NONE, 1).engine_training
    engine_text = f", {engine / GIB:.1f} GiB of the engine that generates" if engine else ""
    return (
        f"{question.strategy.value}'s buffers, {slack:.0%} of all parts for the allocator, and {CONTEXT_GIB:g} GiB for "
        f"the context{engine_text}"
    )


def activations_source(question: MemoryQuestion, checkpointing: Checkpointing, phase: Phase) -> str:
    """Return the text of the activations: tokens x bytes of all layers, or images x bytes for a ResNet."""
    architecture, batch = question.network, question.micro_batch
    counted = "counted" if question.traced_layer_bytes is None else "traced"
    end = f"(checkpointing {checkpointing.value}; saved tensors {counted})"
    if phase in (Phase.STEP, Phase.GENERATION):
        return f"none is left at the fullest moment: {PHASE_TEXTS[phase]}"
    undivided = replace(question, devices=question.replicas, setup=replace(question.setup, split=WHOLE))
    saved, split = parts_of(undivided, checkpointing, 1).saved, question.setup.split
    family = family_of(architecture)
    if family.saved_blocks is not None:
        blocks = len(family.saved_blocks.blocks)
        last = f" / {blocks}" if phase is Phase.GRADIENTS else ""
        return f"{batch:,} images x {saved.kept:,.10g} bytes of all blocks{last} {end}"
    length = family.tokens(question.setup.seq_len) * question.setup.objective.sequences
    tokens = f"{batch * length:,} tokens"
    if architecture.sample == "image":
        tokens = f"{batch:,} images x {length} patches and class token"
    if split.tensor * split.context > 1:
        end = f"/ (tensor {split.tensor} x context {split.context}) {end}"
    one_layer = f"1 layer x {(saved.last if phase is Phase.GRADIENTS else saved.working) / length:,.10g} bytes"
    if phase is Phase.GRADIENTS:
        return f"{tokens} x {one_layer} {end}"
    by_layers = kept_by_layers(
        replace(question.setup, checkpointing=checkpointing),
        autocast=has_wide_stream(
            question.strategy, precision=question.precision, adapters=question.setup.adapters, trainer=question.trainer
        ),
        trainer=question.trainer, constants=FITTED, traced_layer_bytes=question.traced_layer_bytes,
    )  # fmt: skip
    kept = " + ".join(map(_layers_text, by_layers)) or "0 bytes kept"
    if split.pipeline > 1:
        kept = f"({kept}) x {_stage(question)} x {split.pipeline} micro-batches in flight"
    return f"{tokens} x ({kept}{f' + {one_layer}' if phase is Phase.BACKWARD else ''}) {end}"


def _layers_text(kind: LayerBytes) -> str:
    """Return the bytes of equal layers: `31 layers x 63,616 bytes kept`."""
    kept = "" if kind.is_whole else " kept"
    return f"{kind.layers} layer{'s' if kind.layers > 1 else ''} x {kind.bytes_per_token:,.10g} bytes{kept}"


def logits_source(question: MemoryQuestion, phase: Phase) -> str:
    """Return the text of the logits: tokens x bytes per token, or the head's gradients if a chunked loss needs more."""
    if phase is not Phase.LOSS:
        return f"none are left at the fullest moment: {PHASE_TEXTS[phase]}"
    network, split = question.network, question.setup.split
    head = head_gradient_bytes(
        network, strategy=question.strategy, precision=question.precision, trainer=question.trainer,
        adapters=question.setup.adapters,
    )  # fmt: skip
    scores = (question.setup.seq_len or 1) * question.micro_batch * question.setup.objective.sequences
    per_token = loss_bytes(network, question.trainer, precision=question.precision, objective=question.setup.objective)
    if network.sample == "tokens" and head > scores * per_token / (split.tensor * split.context):
        per_weight = head / network.vocab / network.hidden
        return f"{network.vocab:,} entries x {network.hidden:,} x {per_weight:g} bytes, the head's gradients of a piece"
    per_logit = FITTED.logits(question.trainer, number_bytes=bytes_per_number(question.precision))
    outputs = 1 if has_scalar_head(question.setup.objective) else head_outputs(network)
    per_score = f"{outputs:,} entries x {per_logit:g} bytes"
    samples = "images"
    if network.sample == "tokens":
        samples, per_score = (
            "tokens",
            f"({per_score} + {network.hidden:,} of the last norm x {LAST_NORM_BYTES:g} bytes)",
        )
    divided = f" / (tensor {split.tensor} x context {split.context})" if split.tensor * split.context > 1 else ""
    return f"{scores:,} {samples} x {per_score}{divided}, {question.trainer.loss.value} loss"
