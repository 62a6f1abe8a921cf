"""Protocol of a family of networks: its counts, and the parts of a step as data."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from planner.model.network.architecture import Architecture
from planner.model.network.workload import Checkpointing
from planner.model.plan.plan import FlopsConvention
from planner.network.image_blocks import Operator
from planner.network.layer_kind import LayerKind


class SavedBlocks(NamedTuple):
    """Numbers that one image saves for the backward pass, in a network of convolutions."""

    stem: int
    """Numbers of the image and the first convolution, kept with any checkpointing."""
    places: int
    """Places of the pooling, 8 bytes each."""
    blocks: tuple[tuple[int, int], ...]
    """Input and all saved numbers of each block."""

    def bytes_of_image(self, *, number_bytes: int, checkpointing: Checkpointing, traced: float | None = None) -> float:
        """Return the bytes of one image: every convolution's output before its norm, every ReLU's output, the pooling's
        places.

        With checkpointing, a block keeps only its input and is rebuilt for its backward pass; the largest one stands
        for that. Batch norm runs in the products' type; its statistics are negligible. `traced` replaces the formula
        without checkpointing.
        """
        whole = number_bytes * (self.stem + sum(kept for _, kept in self.blocks)) + 8 * self.places
        if checkpointing is Checkpointing.NONE:
            return float(whole) if traced is None else traced
        inputs = sum(size for size, _ in self.blocks[1:])  # the first one's is the pooling's output, of the stem
        largest = max(kept for _, kept in self.blocks)
        return float(number_bytes * (self.stem + inputs + largest) + 8 * self.places)


class StepPasses(NamedTuple):
    """Passes of a training step over each token, besides a forward and a backward pass over all weights."""

    adapters: bool = False
    """True if the weights are frozen, and need no gradients."""
    forward_only: float = 0.0
    """Further passes without gradients, such as DPO's through its reference."""
    scalar_head: bool = False
    """True if the head gives one number, as a reward model's does."""


class NetworkFamily(Protocol):
    """One network with its family's counts. The rest of the planner uses this protocol and never names a family."""

    @property
    def layers(self) -> tuple[LayerKind, ...]:
        """Layers of a transformer, with equal ones merged, the largest last; empty for a convolutional network."""

    @property
    def saved_blocks(self) -> SavedBlocks | None:
        """Saved numbers of a network without such layers; None if `layers` describes it."""

    def operators(self) -> tuple[Operator, ...]:
        """Return the operators of one sample's forward pass, which the physics uses for images; empty for text."""

    def parameters(self) -> int:
        """Count every trained parameter, all experts included."""

    def active_parameters(self) -> int:
        """Count the parameters that one token uses: of the routed experts only those that it is sent to."""

    def routed_parameters(self) -> int:
        """Count the parameters of the experts among which tokens are routed. Expert parallelism divides them."""

    def matmul_parameters(self) -> int:
        """Count the weights in matrix products that one token uses."""

    def flops_per_sample(self, *, seq_len: float | None, convention: FlopsConvention, passes: StepPasses) -> float:
        """Return the training FLOPs of one sample, forward and backward, without recomputation."""

    def tokens(self, seq_len: int | None) -> int:
        """Return the tokens of one sample: its length, or the patches of an image."""

    def layer_maps(self) -> int:
        """Count the weights of the layers' linear maps, which may be kept at 8 or 4 bits; 0 for images."""

    def cast_weights(self) -> int:
        """Count the weights that autocast copies at 16 bit."""

    def gathered(self) -> Architecture:
        """Return the weights that sharding gathers at once, as a network: two layers with embedding and head."""

    def with_experts_of(self, devices: int) -> Architecture:
        """Return the network with the routed experts of one device out of `devices`; unchanged without experts."""
