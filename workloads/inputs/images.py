"""Input of image models: synthetic images with labels, made before the clock starts and kept on the device.

Every image depends only on the seed and its number in the global batch, never on how the batch is split. Pixels are
bytes, as a decoder of JPEG files leaves them. The model turns them into numbers on the device.
"""

from __future__ import annotations

from typing import List

import torch
from torch import Tensor

from ..contract.architecture import COLOURS
from ..contract.spec import Spec
from ..inputs.tokens import SEED_STRIDE, Batch

POOL_STEPS = 4  # steps after which the data repeats; 150 MiB a device at micro-batch 256 and 224 pixels


class SyntheticImages:
    """Share of one rank in a pool of optimizer steps."""

    def __init__(self, spec: Spec, *, rank: int, world_size: int, device: torch.device) -> None:
        self._steps = [
            [
                _micro_batch(spec, step, micro_step, rank, world_size, device)
                for micro_step in range(spec.grad_accumulation)
            ]
            for step in range(POOL_STEPS)
        ]

    def micro_batches(self, step: int) -> List[Batch]:
        """Return the (images, labels) of one optimizer step, `grad_accumulation` pairs, already on the device."""
        return self._steps[step % POOL_STEPS]

    def padding_tokens(self) -> List[int]:
        """Return this rank's images without a label in each of POOL_STEPS steps: none."""
        return [0] * POOL_STEPS


def _micro_batch(spec: Spec, step: int, micro_step: int, rank: int, world_size: int, device: torch.device) -> Batch:
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
