"""Agreement of ranks: rank 0 decides how many steps come next and all others follow. Figures are joined over ranks.

Decisions go from host to host through the key-value store that torchrun runs anyway. A collective on the device would
have to wait for the queue of steps, and would itself be in the measurement.
"""

from __future__ import annotations

import datetime
import json
import os
from typing import Any, Callable, List, Sequence

import torch
import torch.distributed as dist

from ..measure.window import Decision

INTERRUPTED = -1
STORE_TIMEOUT = datetime.timedelta(minutes=30)  # a first step with compilation may take many minutes


class RankAgreement:
    """Connection of one rank to the others. Every rank must make the same calls in the same order."""

    def __init__(
        self,
        *,
        rank: int,
        world_size: int,
        ranks_per_node: int,
        device: torch.device,
        stop_requested: Callable[[], bool],
    ) -> None:
        self._rank, self._world_size, self._device = rank, world_size, device
        self._first_ranks = range(0, world_size, ranks_per_node)
        self._stop_requested = stop_requested
        self._round = 0
        self._told = False
        host, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
        client = dist.TCPStore(host, port, is_master=False, timeout=STORE_TIMEOUT)  # type: ignore[attr-defined]
        self._store = dist.PrefixStore(f"workloads/{os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}", client)  # type: ignore[attr-defined]

    @property
    def is_first_rank(self) -> bool:
        """True if this process is rank 0."""
        return self._rank == 0

    def steps_ahead(self, decide: Decision) -> int:
        """Return rank 0's decision on every rank; INTERRUPTED once any rank was asked to stop."""
        self._round += 1
        key = f"steps_ahead/{self._round}"
        if self._rank == 0:
            stop = self._stop_requested() or (self._world_size > 1 and self._store.check(["stop"]))
            steps = INTERRUPTED if stop else decide()
            if self._world_size > 1:
                self._store.set(key, str(steps))
            return steps
        if self._stop_requested() and not self._told:
            self._store.set("stop", "1")
            self._told = True
        return int(self._store.get(key))

    def max_over_ranks(self, values: Sequence[float]) -> List[float]:
        """Return the largest of each value."""
        return self._joined(values, dist.ReduceOp.MAX)

    def mean_over_ranks(self, values: Sequence[float]) -> List[float]:
        """Return the mean of each value; not finite if one rank's value is not."""
        return [total / self._world_size for total in self.sum_over_ranks(values)]

    def sum_over_ranks(self, values: Sequence[float]) -> List[float]:
        """Return the sum of each value."""
        return self._joined(values, dist.ReduceOp.SUM)

    def gather_from_ranks(self, value: float) -> List[float]:
        """Return every rank's value, in the order of ranks."""
        return self.sum_over_ranks([value if rank == self._rank else 0.0 for rank in range(self._world_size)])

    def gather_from_nodes(self, document: Any) -> List[Any]:
        """Return on rank 0 the documents of each node's first rank, in the order of nodes; on other ranks nothing."""
        self._round += 1
        key = f"gather_from_nodes/{self._round}"
        if self._rank == 0:
            return [document, *(json.loads(self._store.get(f"{key}/{rank}")) for rank in self._first_ranks[1:])]
        if self._rank in self._first_ranks:
            self._store.set(f"{key}/{self._rank}", json.dumps(document))
        return []

    def wait_for_all(self) -> None:
        """Return when every rank has called this and every device is idle."""
        self.max_over_ranks([0.0])

    def _joined(self, values: Sequence[float], operation: dist.ReduceOp.RedOpType) -> List[float]:
        if not values:
            return []
        tensor = torch.tensor(list(values), dtype=torch.float64, device=self._device)
        dist.all_reduce(tensor, op=operation)
        joined: List[float] = tensor.tolist()  # waits for the device
        return joined
