"""Synthetic input, tokens or images with labels: made before the clock starts and kept on the device.

Every sample depends only on the seed and its number in the global batch, never on how the batch is split. So any number
of processes sees the same data for the same global batch. There is no padding: every token is real. Pixels are bytes,
as a decoder of JPEG files leaves them. The model turns them into numbers on the device.
"""

from __future__ import annotations

from typing import List, Protocol, Tuple

import torch
from torch import Tensor

from ..contract.architecture import COLOURS
from ..contract.spec import Spec
from ..models.base import NO_TARGET

POOL_STEPS = 16  # steps after which the data repeats; about 1 MiB a device at micro-batch 2 and 2,048 tokens
SEED_STRIDE = 1_000_003

Batch = Tuple[Tensor, Tensor]


class Samples(Protocol):
    """Input of one rank."""

    def micro_batches(self, step: int) -> List[Batch]:
        """Return the (inputs, targets) of one optimizer step, `grad_accumulation` pairs, on the device."""

    def padding_tokens(self) -> List[int]:
        """Return this rank's positions without a target in each step of a pattern that repeats."""


class SyntheticTokens:
    """Share of one rank in a pool of optimizer steps."""

    def __init__(self, spec: Spec, *, rank: int, world_size: int, device: torch.device) -> None:
        self._steps = [
            [
                _micro_batch(spec, step, micro_step, rank, world_size, device)
                for micro_step in range(spec.grad_accumulation)
            ]
            for step in range(POOL_STEPS)
        ]
        self._padding = [sum(_without_target(targets) for _, targets in step) for step in self._steps]

    def micro_batches(self, step: int) -> List[Batch]:
        """Return the (inputs, targets) of one optimizer step, `grad_accumulation` pairs, already on the device."""
        return self._steps[step % POOL_STEPS]

    def padding_tokens(self) -> List[int]:
        """Return this rank's positions without a target in each of POOL_STEPS steps, from a count."""
        return self._padding


def _micro_batch(spec: Spec, step: int, micro_step: int, rank: int, world_size: int, device: torch.device) -> Batch:
    first = step * spec.global_batch(world_size) + (micro_step * world_size + rank) * spec.micro_batch
    rows = torch.stack([sequence(spec, first + row) for row in range(spec.micro_batch)])
    return rows[:, :-1].contiguous().to(device), rows[:, 1:].contiguous().to(device)


def sequence(spec: Spec, number: int) -> Tensor:
    """Return seq_len + 1 tokens: token = floor(vocab^u) - 1, u uniform on [0, 1).

    This is log-uniform, close to Zipf's law of words: P(k) = log((k + 2) / (k + 1)) / log(vocab). The loss then has
    something to learn (uniform tokens would stay at log(vocab)), and embedding rows repeat as they do in text.
    """
    generator = torch.Generator().manual_seed(spec.seed * SEED_STRIDE + number)
    uniform = torch.rand(spec.tokens_per_sample + 1, generator=generator, dtype=torch.float64)
    architecture = spec.architecture
    assert architecture.sample == "tokens"
    tokens = float(architecture.vocab) ** uniform
    return tokens.long().clamp_(1, architecture.vocab) - 1


def _without_target(targets: Tensor) -> int:
    return int((targets == NO_TARGET).sum())


IMAGE_POOL_STEPS = 4  # steps after which the data repeats; 150 MiB a device at micro-batch 256 and 224 pixels


class SyntheticImages:
    """Share of one rank in a pool of optimizer steps."""

    def __init__(self, spec: Spec, *, rank: int, world_size: int, device: torch.device) -> None:
        self._steps = [
            [
                _image_micro_batch(spec, step, micro_step, rank, world_size, device)
                for micro_step in range(spec.grad_accumulation)
            ]
            for step in range(IMAGE_POOL_STEPS)
        ]

    def micro_batches(self, step: int) -> List[Batch]:
        """Return the (images, labels) of one optimizer step, `grad_accumulation` pairs, already on the device."""
        return self._steps[step % IMAGE_POOL_STEPS]

    def padding_tokens(self) -> List[int]:
        """Return this rank's images without a label in each of IMAGE_POOL_STEPS steps: none."""
        return [0] * IMAGE_POOL_STEPS


def _image_micro_batch(
    spec: Spec, step: int, micro_step: int, rank: int, world_size: int, device: torch.device
) -> Batch:
    first = step * spec.global_batch(world_size) + (micro_step * world_size + rank) * spec.micro_batch
    pairs = [image(spec, first + number) for number in range(spec.micro_batch)]
    layout = torch.channels_last if spec.channels_last else torch.contiguous_format
    images = torch.stack([pixels for pixels, _ in pairs]).contiguous(memory_format=layout)
    return images.to(device), torch.tensor([label for _, label in pairs], device=device)


def image(spec: Spec, number: int) -> tuple[Tensor, int]:
    """Return an image of noise whose brightness grows with its label, so that there is something to learn."""
    architecture = spec.architecture
    assert architecture.sample == "image"
    generator = torch.Generator().manual_seed(spec.seed * SEED_STRIDE + number)
    label = int(torch.randint(architecture.classes, (), generator=generator))
    shape = (COLOURS, architecture.image_size, architecture.image_size)
    noise = torch.randint(128, shape, generator=generator, dtype=torch.uint8)
    return noise + 128 * label // architecture.classes, label
