"""What every family of networks tells the planner: its counts, and the parts of a step as data."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from planner.model.network.architecture import Architecture
from planner.model.network.workload import Checkpointing
from planner.model.plan.plan import FlopsConvention
from planner.network.image_blocks import Operator
from planner.network.layer_kind import LayerKind


class SavedBlocks(NamedTuple):
    """Numbers that one image leaves behind for the backward pass, in a network of convolutions."""

    stem: int
    """Of the image and the first convolution; kept whatever is recomputed."""
    places: int
    """Of the pooling, 8 bytes each."""
    blocks: tuple[tuple[int, int], ...]
    """Of each block: its input, and all that it saves."""

    def bytes_of_image(self, *, number_bytes: int, checkpointing: Checkpointing, traced: float | None = None) -> float:
        """Bytes of one image: every convolution's output before its norm, every ReLU's output, the pooling's places.

        Checkpointed, a block keeps its input alone and is rebuilt for its backward pass; the largest one stands for
        that. Batch norm runs in the products' type; its statistics are nothing beside the images. `traced` takes the
        place of the formula without checkpointing.
        """
        whole = number_bytes * (self.stem + sum(kept for _, kept in self.blocks)) + 8 * self.places
        if checkpointing is Checkpointing.NONE:
            return float(whole) if traced is None else traced
        inputs = sum(size for size, _ in self.blocks[1:])  # the first one's is the pooling's output, of the stem
        largest = max(kept for _, kept in self.blocks)
        return float(number_bytes * (self.stem + inputs + largest) + 8 * self.places)


class StepPasses(NamedTuple):
    """What a training step computes of each token, besides a forward and a backward pass over all weights."""

    adapters: bool = False
    """Whether the weights are frozen, and need no gradients."""
    forward_only: float = 0.0
    """Further passes without gradients, such as DPO's through its reference."""
    scalar_head: bool = False
    """Whether the head gives one number, as a reward model's does."""


class NetworkFamily(Protocol):
    """One network, as its family counts it. Everything else in the planner asks this, and no family by name."""

    @property
    def layers(self) -> tuple[LayerKind, ...]:
        """Layers of a transformer, those that are alike together, the largest last; none of a convolutional network."""

    @property
    def saved_blocks(self) -> SavedBlocks | None:
        """What a network without such layers leaves behind for its backward pass; None where `layers` says it."""

    def operators(self) -> tuple[Operator, ...]:
        """The operators of one sample's forward pass, where the physics takes them one by one: of images; else none."""

    def parameters(self) -> int:
        """Count every trained parameter, all experts included."""

    def active_parameters(self) -> int:
        """Count the parameters that one token meets: of the routed experts only those that it is sent to."""

    def routed_parameters(self) -> int:
        """Count the parameters of the experts among which tokens are routed: what expert parallelism divides."""

    def matmul_parameters(self) -> int:
        """Count the weights in matrix products that one token meets."""

    def flops_per_sample(self, *, seq_len: float | None, convention: FlopsConvention, passes: StepPasses) -> float:
        """Training FLOPs of one sample, forward and backward, without recomputation."""

    def tokens(self, seq_len: int | None) -> int:
        """Tokens of one sample: its length, or the patches of an image."""

    def layer_maps(self) -> int:
        """Count the weights of the layers' linear maps, which may be kept at 8 or 4 bits; of images none."""

    def cast_weights(self) -> int:
        """Count the weights of which autocast makes copies at 16 bit."""

    def gathered(self) -> Architecture:
        """Return what sharded weights have gathered at once, as a network: two layers with embedding and head."""

    def with_experts_of(self, devices: int) -> Architecture:
        """Return it with the routed experts that one of so many devices holds; without experts as it is."""
