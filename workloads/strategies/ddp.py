"""Plain data parallelism: a full copy of model and optimizer on every device, gradients averaged."""

from __future__ import annotations

import contextlib
from typing import ContextManager, Sequence

import torch
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel

from ..contract.spec import Spec
from ..inputs.tokens import Batch
from ..models.base import Model
from ..strategies.base import StateTensors, TrainingStrategy, adamw, gradients_of, optimizer_tensors
from ..strategies.precision import PrecisionContexts


class DistributedDataParallelStrategy(TrainingStrategy):
    """Uses torch.nn.parallel.DistributedDataParallel with its own bucket sizes, also for one process."""

    def __init__(self, model: Model, spec: Spec, precision: PrecisionContexts, device: torch.device) -> None:
        model.to_empty(device=device)
        model.init_weights(spec.seed)
        self._precision = precision
        # Weights at 16 bit need no copies at 16 bit, and leave the residual stream there.
        narrow = spec.lora is not None and spec.lora.frozen is not None
        self._casts = contextlib.nullcontext if narrow else precision.autocast
        self._model = DistributedDataParallel(
            model,
            device_ids=[device.index] if device.type == "cuda" else None,
            gradient_as_bucket_view=True,
        )
        self.adamw = adamw(self._model, spec, device)

    def backward(self, micro_batches: Sequence[Batch]) -> Tensor:
        """Average gradients once, in the last micro-batch's backward pass."""
        last = len(micro_batches) - 1
        losses = []
        for number, (inputs, targets) in enumerate(micro_batches):
            with self._gradients_stay_local(number != last):
                with self._casts():
                    loss = self._model(inputs, targets)
                self._precision.scaler.scale(loss / len(micro_batches)).backward()
            losses.append(loss.detach())
        return torch.stack(losses).mean()

    def apply_gradients(self) -> None:
        """Step in fp32. With fp16 the scaler skips a step whose gradients overflowed."""
        self._precision.scaler.step(self.adamw)
        self._precision.scaler.update()
        self.adamw.zero_grad(set_to_none=True)

    def state_tensors(self) -> StateTensors:
        """Return all tensors: every rank holds everything."""
        parameters = list(self._model.parameters())
        return StateTensors(parameters, gradients_of(parameters), optimizer_tensors(self.adamw))

    def _gradients_stay_local(self, local: bool) -> ContextManager[object]:
        return self._model.no_sync() if local else contextlib.nullcontext()
