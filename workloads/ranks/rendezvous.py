"""Meeting of the ranks of all nodes before anything else. It names the missing ranks.

torch's own wait does not name them. Its limit is also that of every later collective, which a first step with
compilation would exceed. So meeting has its own limit: the spec's `peer_timeout_s`.
"""

from __future__ import annotations

import datetime
import os
from typing import Any, List

import torch.distributed as dist

from ..contract.failure import PEER_MISSING, RunError


def meet(*, rank: int, world_size: int, timeout_s: float) -> Any:
    """Return the store of a process group once every rank is there. Raises RunError with the missing ranks."""
    host, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    limit = datetime.timedelta(seconds=timeout_s)
    serves = rank == 0 and os.environ.get("TORCHELASTIC_USE_AGENT_STORE") != "True"  # else torchrun serves it
    try:
        store = dist.TCPStore(  # type: ignore[attr-defined]
            host, port, is_master=serves, timeout=limit, wait_for_workers=False, multi_tenant=True
        )
    except RuntimeError as error:  # DistNetworkError is one
        raise RunError(PEER_MISSING, f"rank 0's node did not answer within {timeout_s:g} s: {error}") from error
    attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
    keys = {peer: f"workloads/{attempt}/here/{peer}" for peer in range(world_size)}
    store.set(keys[rank], "1")
    try:
        store.wait(list(keys.values()), limit)
    except RuntimeError as error:  # DistStoreError is one
        missing = [peer for peer, key in keys.items() if not store.check([key])]
        raise RunError(PEER_MISSING, missing_text(missing, timeout_s)) from error
    return dist.PrefixStore(f"process_group/{attempt}", store)  # type: ignore[attr-defined]


def missing_text(ranks: List[int], timeout_s: float) -> str:
    """Return in one line which ranks are missing."""
    shown = ", ".join(str(rank) for rank in ranks[:8]) + (" and others" if len(ranks) > 8 else "")
    return f"rank {shown} did not come within {timeout_s:g} s (peer_timeout_s)."
