"""Speed of each rank's device by itself: the same matrix products on every rank, without waiting for others.

In a training step collectives make all ranks as slow as the slowest, so step times cannot identify it.
"""

from __future__ import annotations

import statistics
import time

import torch

from ..measure.step_clock import synchronise

CUDA_SIZE, CUDA_PRODUCTS = 2048, 100  # about 2 ms on an H200, 25 MB
CPU_SIZE, CPU_PRODUCTS = 256, 4
ROUNDS = 9


def own_work_seconds(device: torch.device) -> float:
    """Return the median seconds of a round of matrix products. The device is still warm from training.

    Uses bf16 on CUDA if it is native, otherwise fp32, and random numbers, because zeros draw less power and run faster.
    """
    on_cuda = device.type == "cuda"
    size, products = (CUDA_SIZE, CUDA_PRODUCTS) if on_cuda else (CPU_SIZE, CPU_PRODUCTS)
    dtype = torch.bfloat16 if on_cuda and torch.cuda.is_bf16_supported() else torch.float32
    generator = torch.Generator(device=device).manual_seed(0)
    left, right = (torch.randn(size, size, generator=generator, device=device).to(dtype) for _ in range(2))
    product = torch.empty_like(left)
    rounds = []
    for _ in range(ROUNDS):
        synchronise(device)
        start_s = time.perf_counter()
        for _ in range(products):
            torch.mm(left, right, out=product)
        synchronise(device)
        rounds.append(time.perf_counter() - start_s)
    return statistics.median(rounds)
