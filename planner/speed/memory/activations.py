"""What one device keeps for its backward pass, and what working on a single layer needs besides."""

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
from planner.speed.memory.constants import MemoryConstants
from planner.speed.memory.held_setup import held_setup

SCORE_BYTES = {2: 8.0, 4: 13.0}
"""Of a score of attention that is written out: itself, its softmax, dropout's mask and result."""


SCORES_AT_WORK = 2.0
"""Of what is saved of scores, what a layer has of them while its backward pass runs: these, and gradients alike."""


class Saved(NamedTuple):
    """Bytes of one sample, or of all of a micro-batch."""

    kept: float
    """From the forward pass until the backward pass comes to it."""
    working: float
    """Of the layer whose backward pass runs, where it is computed again."""
    last: float
    """Of the last layer that the backward pass comes to, whose gradients complete the set."""

    def times(self, factor: float) -> Saved:
        """Return these of so many samples."""
        return Saved(*(factor * part for part in self))


def saved_per_sample(
    setup: TrainingSetup,
    *,
    autocast: bool,
    sharded: bool,
    trainer: TrainerMemory,
    constants: MemoryConstants,
    traced_layer_bytes: float | None = None,
) -> Saved:
    """Return the bytes of one sample: a sequence of `seq_len` tokens, or an image.

    kept = sum of layers x bytes (planner/network/activations.py); working = what a whole layer saves in full training
    x the share that works (constants.py): a layer with adapters that is computed again forms the same tensors. Beside
    sharded weights these hold a layer more.
    """
    held, adapters = held_setup(setup), setup.adapters
    architecture, precision, checkpointing = held.network, held.precision, held.checkpointing
    family = family_of(architecture)
    if (blocks := family.saved_blocks) is not None:
        whole = blocks.bytes_of_image(
            number_bytes=bytes_per_number(precision), checkpointing=checkpointing, traced=traced_layer_bytes
        )
        return Saved(whole, 0.0, whole / len(blocks.blocks))
    tokens = family.tokens(setup.seq_len)

    def layers(way: Checkpointing, beside: Adapters | None, trainer: TrainerMemory = trainer) -> tuple[LayerBytes, ...]:
        return layer_bytes(
            architecture,
            precision=precision,
            checkpointing=way,
            autocast=autocast,
            traced_layer_bytes=traced_layer_bytes,
            adapters=beside,
            trainer=trainer,
        )

    scores = _eager_score_bytes(setup, trainer)
    by_layers = kept_by_layers(
        setup, autocast=autocast, trainer=trainer, constants=constants, traced_layer_bytes=traced_layer_bytes
    )
    kept = sum(kind.layers * kind.bytes_per_token for kind in by_layers)
    if checkpointing is Checkpointing.NONE:
        last = layers(checkpointing, adapters)[0].bytes_per_token
        return Saved(kept, 0.0, constants.working(trainer.kernels) * (last + scores)).times(tokens)
    # The working shares are fitted to layers that are written out (constants.py).
    written_out = trainer.model_copy(update={"kernels": Kernels.EAGER})
    whole = max(kind.bytes_per_token for kind in layers(Checkpointing.NONE, None, written_out))
    if trainer.one_map_at_a_time and adapters is not None:
        # Unsloth's backward passes of adapters write gradients over what was saved (unsloth/kernels/fast_lora.py);
        # torchtune's frozen products need no input (torchao's linear_nf4).
        whole = max(kind.bytes_per_token for kind in layers(Checkpointing.NONE, adapters))
    working = constants.working(trainer.kernels) * (whole + SCORES_AT_WORK * scores)
    held_besides = sharded and not trainer.one_map_at_a_time and not architecture.is_mixture
    if adapters is not None and held_besides:
        working += constants.sharded_adapters * whole
    return Saved(kept, working, working).times(tokens)


def kept_by_layers(
    setup: TrainingSetup,
    *,
    autocast: bool,
    trainer: TrainerMemory,
    constants: MemoryConstants,
    traced_layer_bytes: float | None = None,
) -> list[LayerBytes]:
    """Return what a transformer's layers keep of a token until the backward pass comes to them, equal ones together."""
    held = held_setup(setup)
    found = layer_bytes(
        held.network,
        precision=held.precision,
        checkpointing=held.checkpointing,
        autocast=autocast,
        traced_layer_bytes=traced_layer_bytes,
        adapters=setup.adapters,
        trainer=trainer,
    )
    if held.checkpointing is not Checkpointing.NONE:
        return [] if trainer.offloads_inputs else kept_layers(found)
    fused = constants.saved_fused if trainer.kernels is Kernels.FUSED else 1.0
    scores = _eager_score_bytes(setup, trainer)
    return [kind._replace(bytes_per_token=fused * kind.bytes_per_token + scores) for kind in found]


def _eager_score_bytes(setup: TrainingSetup, trainer: TrainerMemory) -> float:
    """Return the bytes of a token and layer of scores that are written out; 0 where a kernel keeps none."""
    if not trainer.eager_attention:
        return 0.0
    held = held_setup(setup)
    family = family_of(held.network)
    return family.layers[-1].heads * family.tokens(setup.seq_len) * SCORE_BYTES[bytes_per_number(held.precision)]
