"""Fully sharded data parallelism, torch's second design: a rank holds 1/n of each weight, gradient and state.

Block by block, weights are gathered before use and dropped after it; gradients are averaged into shards.
"""

from __future__ import annotations

from typing import Any, List, Sequence

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.device_mesh import init_device_mesh

from ..contract import failure
from ..contract.failure import RunError
from ..contract.spec import Spec
from ..inputs.tokens import Batch
from ..models.base import Model
from ..strategies.base import StateTensors, TrainingStrategy, adamw, gradients_of, optimizer_tensors
from ..strategies.precision import PrecisionContexts

try:
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
    from torch.distributed.tensor import DTensor, distribute_tensor
except ImportError as error:
    raise RunError(
        failure.ERROR, f"strategy fsdp2 needs torch 2.6 or newer, and this is torch {torch.__version__}."
    ) from error


class FullyShardedStrategy(TrainingStrategy):
    """Uses torch.distributed.fsdp.fully_shard on every block and on the rest.

    bf16 and fp16 follow the policy: weights are gathered in that type, gradients averaged in fp32, masters stay fp32.
    """

    def __init__(self, model: Model, spec: Spec, precision: PrecisionContexts, device: torch.device) -> None:
        if device.type == "cpu" and not hasattr(torch.cpu.Stream, "record_event"):
            raise RunError(
                failure.ERROR, f"strategy fsdp2 needs a newer torch on a CPU, and this is {torch.__version__}."
            )
        mesh = init_device_mesh(device.type, (dist.get_world_size(),))
        compute_type = precision.low_type
        policy = MixedPrecisionPolicy(param_dtype=compute_type, reduce_dtype=compute_type and torch.float32)
        for block in model.blocks:
            fully_shard(block, mesh=mesh, mp_policy=policy)
        fully_shard(model, mesh=mesh, mp_policy=policy)
        model.to_empty(device=device)
        model.init_weights(spec.seed, place=_place_shard)
        self._model = model
        self._scaler = precision.scaler
        self.adamw = adamw(model, spec, device)

    def backward(self, micro_batches: Sequence[Batch]) -> Tensor:
        """Average gradients in every micro-batch. Keeping them local would need room for all of them, unsharded."""
        losses = []
        for inputs, targets in micro_batches:
            loss = self._forward(inputs, targets)
            self._scaler.scale(loss / len(micro_batches)).backward()
            losses.append(loss.detach())
        return torch.stack(losses).mean()

    def _forward(self, inputs: Tensor, targets: Tensor) -> Any:
        """Return the loss, a tensor.

        Older torch discovers here that it cannot shard two types of weights in one block.
        """
        try:
            return self._model(inputs, targets)
        except AssertionError as error:
            if "uniform original parameter dtype" not in str(error):
                raise
            raise RunError(
                failure.ERROR,
                f"fsdp2 with fp32 adapters beside 16-bit weights needs a newer torch than {torch.__version__}, which "
                "shards one type in a block. Take strategy ddp or zero3, or write lora: frozen: null.",
            ) from error

    def apply_gradients(self) -> None:
        """Step on the shards."""
        self._scaler.step(self.adamw)
        self._scaler.update()
        self.adamw.zero_grad(set_to_none=True)

    def state_tensors(self) -> StateTensors:
        """Return this rank's shards."""
        parameters = list(self._model.parameters())
        groups = parameters, gradients_of(parameters), optimizer_tensors(self.adamw)
        return StateTensors(*(_local(tensors) for tensors in groups))


def _place_shard(parameter: Tensor, values: Tensor) -> None:
    assert isinstance(parameter, DTensor)
    parameter.copy_(distribute_tensor(values, parameter.device_mesh, parameter.placements))


def _local(tensors: Sequence[Tensor]) -> List[Tensor]:
    return [tensor.to_local() if isinstance(tensor, DTensor) else tensor for tensor in tensors]
