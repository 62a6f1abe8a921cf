"""The three ZeRO strategies (Rajbhandari et al. 2020): DeepSpeed's engine, without what it would have to compile.

Stage 1 shards the optimizer's states, stage 2 also gradients, stage 3 also weights.
"""

from __future__ import annotations

import logging
import os
import warnings
from abc import abstractmethod
from typing import Any, ClassVar, Dict, List, Sequence

import torch
from torch import Tensor

from ..contract import failure
from ..contract.architecture import width
from ..contract.failure import RunError
from ..contract.spec import Spec
from ..inputs.tokens import Batch
from ..models.base import Model
from ..strategies.base import StateTensors, TrainingStrategy, adamw, gradients_of, optimizer_tensors
from ..strategies.precision import PrecisionContexts

BUCKET_ELEMENTS = 50_000_000  # DeepSpeed's own 5e8 takes gigabytes for buffers, and as much from a small model
NEVER = 2**62


class ZeroStrategy(TrainingStrategy):
    """One stage of DeepSpeed ZeRO with torch's own AdamW, because DeepSpeed's would be compiled on the node.

    bf16 and fp16 are as DeepSpeed does them: weights and gradients in that type, fp32 masters sharded with the moments.
    At the start the whole model is once on every device, in the type it computes in.
    """

    stage: ClassVar[int]

    def __init__(self, model: Model, spec: Spec, precision: PrecisionContexts, device: torch.device) -> None:
        deepspeed = _import_deepspeed(device)
        model.to(precision.low_type or torch.float32)
        model.to_empty(device=device)
        model.init_weights(spec.seed)
        self._parameters = list(model.parameters())
        self.adamw = adamw(model, spec, device)
        self._engine, self._optimizer, _, _ = deepspeed.initialize(
            model=model,
            optimizer=self.adamw,
            config=self._config(spec),
            dist_init_required=False,
        )

    @abstractmethod
    def _stage_config(self, spec: Spec, bucket_elements: int) -> Dict[str, Any]:
        """Return the stage's own part of DeepSpeed's configuration."""

    @abstractmethod
    def state_tensors(self) -> StateTensors:
        """Return what this rank holds. DeepSpeed keeps it under other names in every stage."""

    def backward(self, micro_batches: Sequence[Batch]) -> Tensor:
        """Run all micro-batches. DeepSpeed counts them itself, and divides the loss by their number."""
        losses = []
        last = len(micro_batches) - 1
        for number, (inputs, targets) in enumerate(micro_batches):
            loss = self._engine(inputs, targets)
            self._engine.backward(loss)
            if number != last:
                self._engine.step()
            losses.append(loss.detach())
        return torch.stack(losses).mean()

    def apply_gradients(self) -> None:
        """Step on this rank's share. Stages 1 and 2 then gather the weights."""
        self._engine.step()

    def _gradients(self) -> List[Tensor]:
        """Return this rank's averaged share, and the gradients that DeepSpeed still keeps at the weights themselves."""
        averaged = [gradient for group in self._optimizer.averaged_gradients.values() for gradient in group or ()]
        return [*averaged, *gradients_of(self._parameters)]

    def _config(self, spec: Spec) -> Dict[str, Any]:
        bucket_elements = min(BUCKET_ELEMENTS, sum(parameter.numel() for parameter in self._parameters))
        return {
            "train_micro_batch_size_per_gpu": spec.micro_batch,
            "gradient_accumulation_steps": spec.grad_accumulation,
            "gradient_clipping": 0.0,  # newer DeepSpeed clips at 1.0 unless told; the other strategies do not clip
            "bf16": {"enabled": spec.precision == "bf16"},
            "fp16": {"enabled": spec.precision == "fp16", "initial_scale_power": 16},  # torch's GradScaler: 65536
            "zero_optimization": {
                "stage": self.stage,
                "reduce_bucket_size": bucket_elements,
                **self._stage_config(spec, bucket_elements),
            },
            "steps_per_print": NEVER,
        }


class ReplicatedWeightsStrategy(ZeroStrategy):
    """Stages 1 and 2: every rank holds all weights, and its share of the optimizer's states."""

    def _stage_config(self, spec: Spec, bucket_elements: int) -> Dict[str, Any]:
        del spec
        return {"allgather_bucket_size": bucket_elements}

    def state_tensors(self) -> StateTensors:
        """Return all weights, and this rank's share of the fp32 masters and moments."""
        masters = list(self._optimizer.single_partition_of_fp32_groups)
        return StateTensors(self._parameters, self._gradients(), [*masters, *optimizer_tensors(self.adamw)])


class Zero1Strategy(ReplicatedWeightsStrategy):
    """Gradients are whole until the backward pass is over; DeepSpeed then keeps this rank's share."""

    stage = 1


class Zero2Strategy(ReplicatedWeightsStrategy):
    """Every bucket of gradients is averaged during the backward pass, and only this rank's share is kept."""

    stage = 2


class Zero3Strategy(ZeroStrategy):
    """Weights are gathered module by module before use and dropped after it."""

    stage = 3

    def _stage_config(self, spec: Spec, bucket_elements: int) -> Dict[str, Any]:
        return {
            "stage3_prefetch_bucket_size": bucket_elements,
            # Small weights stay whole everywhere: norms and biases. Hugging Face's integration does the same.
            "stage3_param_persistence_threshold": 10 * width(spec.architecture),
        }

    def state_tensors(self) -> StateTensors:
        """Return this rank's shards, and the small weights that stay whole (a dropped weight has no elements)."""
        shards = [parameter.ds_tensor for parameter in self._parameters]  # type: ignore[attr-defined]
        masters = list(self._optimizer.fp32_partitioned_groups_flat)
        return StateTensors([*shards, *self._parameters], self._gradients(), [*masters, *optimizer_tensors(self.adamw)])


def _import_deepspeed(device: torch.device) -> Any:
    """Import DeepSpeed so that it uses our process group, prints nothing, and compiles nothing on a CPU."""
    if device.type == "cpu":
        os.environ["DS_ACCELERATOR"] = "cpu"
    # DeepSpeed calls names of torch.distributed that newer builds of torch are about to drop.
    warnings.filterwarnings("ignore", category=FutureWarning, module="deepspeed")
    warnings.filterwarnings("ignore", category=FutureWarning, message=r".*torch\.distributed.*")
    try:
        import deepspeed
    except ImportError as error:
        raise RunError(
            failure.ERROR,
            f"strategies zero1, zero2 and zero3 need DeepSpeed, and it cannot be imported: {error}. "
            "Run: pip install deepspeed",
        ) from error
    logging.getLogger("DeepSpeed").setLevel(logging.WARNING)  # it logs to stdout, whose last line is the result
    if device.type == "cpu":
        # The one operator that the CPU back end would compile: a shared-memory all-reduce. gloo does without.
        deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False
    deepspeed.init_distributed(dist_backend="gloo" if device.type == "cpu" else "nccl", verbose=False)
    return deepspeed
