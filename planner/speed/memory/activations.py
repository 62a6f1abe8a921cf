"""Bytes that one device saves for its backward pass, and additional bytes of the layer that is being computed."""

from __future__ import annotations

from typing import NamedTuple

from planner.model.network.adapters import Adapters
from planner.model.network.trainer_memory import Kernels, TrainerMemory
from planner.model.network.workload import Checkpointing
from planner.network.activations import (
    LayerBytes,
    bytes_per_number,
    kept_layers,
    layer_bytes,
)
from planner.network.families.known_families import family_of
from planner.scenario.training_setup import TrainingSetup
from planner.speed.memory.constants import MemoryConstants, complete_setup

SCORE_BYTES = {2: 8.0, 4: 13.0}
"""Bytes saved per attention score that is written to memory, by bytes per number.

They are the score itself, its softmax, and dropout's mask and result.
"""
SCORES_IN_BACKWARD = 2.0
"""Memory for scores during a layer's backward pass / memory for its saved scores: the scores and their gradients."""


class SavedBytes(NamedTuple):
    """Activation bytes of one sample, or of a whole micro-batch."""

    kept: float
    """Bytes that stay from the forward pass until the backward pass needs them."""
    working: float
    """Additional bytes of the layer whose backward pass runs, if it is recomputed."""
    last: float
    """Bytes of the layer whose backward pass runs last. By then all gradients exist."""

    def times(self, factor: float) -> SavedBytes:
        """Return the bytes multiplied by a factor, for example a number of samples."""
        return SavedBytes(*(factor * part for part in self))


def saved_per_sample(
    setup: TrainingSetup,
    *,
    autocast: bool,
    sharded: bool,
    trainer: TrainerMemory,
    constants: MemoryConstants,
    traced_layer_bytes: float | None = None,
) -> SavedBytes:
    """Return the activation bytes of one sample: a sequence of `seq_len` tokens, or an image.

    kept = sum over layers of saved bytes (planner/network/activations.py).
    working = bytes that a whole layer saves in full training x working share (constants.py).
    With adapters, `working` is the same, because a recomputed layer creates the same tensors. If weights are sharded
    too, part of the previous layer is still allocated and is added.
    """
    complete, adapters = complete_setup(setup), setup.adapters
    architecture, precision, checkpointing = complete.network, complete.precision, complete.checkpointing
    family = family_of(architecture)
    if (blocks := family.saved_blocks) is not None:
        saved = blocks.bytes_of_image(
            number_bytes=bytes_per_number(precision), checkpointing=checkpointing, traced=traced_layer_bytes
        )
        return SavedBytes(saved, 0.0, saved / len(blocks.blocks))
    tokens = family.tokens(setup.seq_len)

    def layers(
        recomputed: Checkpointing, trained: Adapters | None, trainer: TrainerMemory = trainer
    ) -> tuple[LayerBytes, ...]:
        return layer_bytes(
            architecture,
            precision=precision,
            checkpointing=recomputed,
            autocast=autocast,
            traced_layer_bytes=traced_layer_bytes,
            adapters=trained,
            trainer=trainer,
        )

    scores = _eager_score_bytes(setup, trainer)
    by_layers = kept_by_layers(
        setup, autocast=autocast, trainer=trainer, constants=constants, traced_layer_bytes=traced_layer_bytes
    )
    kept = sum(kind.layers * kind.bytes_per_token for kind in by_layers)
    if checkpointing is Checkpointing.NONE:
        last = layers(checkpointing, adapters)[0].bytes_per_token
        return SavedBytes(kept, 0.0, constants.working(trainer.kernels) * (last + scores)).times(tokens)
    # The working shares are fitted to layers with eager kernels (constants.py).
    eager_trainer = trainer.model_copy(update={"kernels": Kernels.EAGER})
    layer = max(kind.bytes_per_token for kind in layers(Checkpointing.NONE, None, eager_trainer))
    if trainer.one_map_at_a_time and adapters is not None:
        # Unsloth's adapters overwrite saved tensors with gradients in the backward pass (unsloth/kernels/fast_lora.py).
        # Torchtune's frozen products do not save their input (torchao's linear_nf4).
        layer = max(kind.bytes_per_token for kind in layers(Checkpointing.NONE, adapters))
    working = constants.working(trainer.kernels) * (layer + SCORES_IN_BACKWARD * scores)
    keeps_previous_layer = sharded and not trainer.one_map_at_a_time and not architecture.is_mixture
    if adapters is not None and keeps_previous_layer:
        working += constants.sharded_adapters * layer
    return SavedBytes(kept, working, working).times(tokens)


def kept_by_layers(
    setup: TrainingSetup,
    *,
    autocast: bool,
    trainer: TrainerMemory,
    constants: MemoryConstants,
    traced_layer_bytes: float | None = None,
) -> list[LayerBytes]:
    """Return the bytes per token that a transformer's layers keep for the backward pass, by kind of layer."""
    complete = complete_setup(setup)
    by_layers = layer_bytes(
        complete.network,
        precision=complete.precision,
        checkpointing=complete.checkpointing,
        autocast=autocast,
        traced_layer_bytes=traced_layer_bytes,
        adapters=setup.adapters,
        trainer=trainer,
    )
    if complete.checkpointing is not Checkpointing.NONE:
        return [] if trainer.offloads_inputs else kept_layers(by_layers)
    fused = constants.saved_fused if trainer.kernels is Kernels.FUSED else 1.0
    scores = _eager_score_bytes(setup, trainer)
    return [kind._replace(bytes_per_token=fused * kind.bytes_per_token + scores) for kind in by_layers]


def _eager_score_bytes(setup: TrainingSetup, trainer: TrainerMemory) -> float:
    """Return the bytes of attention scores per token and layer; 0 if a fused kernel never writes them."""
    if not trainer.eager_attention:
        return 0.0
    complete = complete_setup(setup)
    family = family_of(complete.network)
    return family.layers[-1].heads * family.tokens(setup.seq_len) * SCORE_BYTES[bytes_per_number(complete.precision)]
