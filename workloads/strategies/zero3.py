"""ZeRO stage 3: weights, gradients and the optimizer's states are sharded (Rajbhandari et al. 2020)."""

from __future__ import annotations

from typing import Any, Dict

from ..contract.architecture import width
from ..contract.spec import Spec
from ..strategies.base import StateTensors, optimizer_tensors
from ..strategies.zero import ZeroStrategy


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
