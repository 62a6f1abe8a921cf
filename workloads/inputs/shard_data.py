"""Batches from token shards: every rank reads its own samples, one step ahead, in its own thread.

Samples are dealt out as for synthetic data: any split of a global batch over processes and micro-batches reads the same
samples. The time that the loop waits is the real input's cost: reading, checking, copying to the device.
"""

from __future__ import annotations

import queue
import threading
from typing import List, Union

import torch
from torch import Tensor

from ..contract.failure import ERROR, RunError
from ..contract.spec import Spec, SpecError
from ..inputs.shards import check_largest, open_shards
from ..inputs.tokens import Batch

STEPS_AHEAD = 2
MASK = {"uint16": 0xFFFF, "uint32": 0xFFFFFFFF}
SIGNED = {"uint16": torch.int16, "uint32": torch.int32}
"""Signed types in which unsigned numbers are read and masked, because torch 2.4 has hardly any unsigned operators."""

Step = List[Batch]


class ShardTokens:
    """Share of one rank in the shards, in order, from the first step on."""

    def __init__(self, spec: Spec, *, rank: int, world_size: int, device: torch.device) -> None:
        self._spec, self._rank, self._world_size, self._device = spec, rank, world_size, device
        try:
            self._shards = open_shards(spec)
        except SpecError as error:
            raise RunError(ERROR, str(error)) from error
        global_batch = spec.global_batch(world_size)
        if self._shards.samples < global_batch:
            raise RunError(
                ERROR,
                f"the shards hold {self._shards.samples} samples of {spec.tokens_per_sample} tokens, and one step "
                f"takes {global_batch}. Give more data, or a smaller batch.",
            )
        self._ready: queue.Queue[Union[Step, BaseException]] = queue.Queue(maxsize=STEPS_AHEAD)
        threading.Thread(target=self._read_ahead, daemon=True).start()

    def micro_batches(self, step: int) -> Step:
        """Return the (inputs, targets) of the next optimizer step on the device. Steps come in order: 0, 1, 2, ..."""
        del step
        batch = self._ready.get()
        if isinstance(batch, BaseException):
            raise RunError(ERROR, str(batch)) from batch
        return [
            (inputs.to(self._device, non_blocking=True), targets.to(self._device, non_blocking=True))
            for inputs, targets in batch
        ]

    def padding_tokens(self) -> List[int]:
        """Return zero: shards are packed, so every position has a target."""
        return [0]

    def _read_ahead(self) -> None:
        step = 0
        try:
            while True:
                micro_steps = range(self._spec.grad_accumulation)
                self._ready.put([self._micro_batch(step, micro_step) for micro_step in micro_steps])
                step += 1
        except Exception as error:  # noqa: BLE001  (passed to the loop, which ends the run with it)
            self._ready.put(error)

    def _micro_batch(self, step: int, micro_step: int) -> Batch:
        spec = self._spec
        place_in_step = (micro_step * self._world_size + self._rank) * spec.micro_batch
        first = step * spec.global_batch(self._world_size) + place_in_step
        rows = torch.stack([self._sample(first + row) for row in range(spec.micro_batch)])
        inputs, targets = rows[:, :-1].contiguous(), rows[:, 1:].contiguous()
        return (inputs.pin_memory(), targets.pin_memory()) if self._device.type == "cuda" else (inputs, targets)

    def _sample(self, number: int) -> Tensor:
        shard, first = self._shards.place(number)
        dtype = SIGNED[shard.dtype]
        raw = torch.frombuffer(
            shard.memory,
            dtype=dtype,
            offset=shard.offset + first * dtype.itemsize,
            count=self._spec.tokens_per_sample + 1,
        )
        tokens = raw.long() & MASK[shard.dtype]
        check_largest(int(tokens.max()), shard, first, self._spec)
        return tokens
