"""Probe: the building blocks of a training step on this machine, each measured by itself, in a minute or two.

`measure/calibration.py` finds the best rates; the probe finds the rates of shapes that trainings have.
"""

from __future__ import annotations

import json
import time
import zlib
from typing import Any, Dict, Optional, Union

import torch

from ..measure.agreement import RankAgreement
from ..measure.telemetry import NoTelemetry, Telemetry
from ..strategies.precision import PrecisionContexts
from .device_kernels import measure_kernels, supported
from .layer_step import measure_layers
from .plan import ON_CPU, ON_CUDA, ProbePlan
from .rows import Rows
from .sustained import sustained
from .transfers import collectives, host_copies, read_folder


def probe(
    agreement: RankAgreement,
    watch: Union[Telemetry, NoTelemetry],
    *,
    rank: int,
    world_size: int,
    device: torch.device,
    folder: Optional[str],
    plan: Optional[ProbePlan] = None,
) -> Dict[str, Any]:
    """Return the document of the probe. All ranks call it together.

    Kernels are those of the slowest rank; all ranks measure at the same time, as they do in training. `folder` holds
    data that the first rank reads.
    """
    plan = plan or (ON_CUDA if device.type == "cuda" else ON_CPU)
    start_s = time.perf_counter()
    rows = Rows(max_seconds=plan.max_seconds)
    main = next(name for name in plan.precisions if supported(name, device))
    measure_layers(plan, rows, device, main, compiled=False)
    measure_kernels(plan, rows, device)
    measure_layers(plan, rows, device, main, compiled=True)
    host_copies(plan, rows, device)
    _slowest(rows, agreement)
    collectives(plan, rows, agreement, rank=rank, world_size=world_size, device=device)
    if rank == 0:
        read_folder(folder, rows)
    sustained_facts = sustained(
        plan.sustained_s, device, PrecisionContexts(main, device).low_type or torch.float32, watch
    )
    agreement.wait_for_all()
    return {
        "kernels": rows.kernels,
        "left_out": rows.left_out,
        "sustained": sustained_facts,
        "seconds": time.perf_counter() - start_s,
    }


def _slowest(rows: Rows, agreement: RankAgreement) -> None:
    """Take the slowest rank's seconds if all ranks have the same rows. Otherwise each rank keeps its own."""
    names = json.dumps([[row[key] for key in ("kind", "precision", "kernel", "shape")] for row in rows.kernels])
    digests = agreement.gather_from_ranks(float(zlib.crc32(names.encode())))
    if min(digests) == max(digests):
        slowest = agreement.max_over_ranks([row["seconds"] for row in rows.kernels])
        for row, seconds in zip(rows.kernels, slowest):
            row["seconds"] = seconds
