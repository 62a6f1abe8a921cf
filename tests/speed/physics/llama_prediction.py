"""Predictions of Llama 3 8B on one H100, and a run of it."""

from __future__ import annotations

from typing import Any

from planner.model.catalog import Catalog
from planner.model.evidence.run import RunRecord
from planner.scenario.candidate import Candidate
from planner.scenario.job import Job
from planner.speed.throughput.predict import predict
from planner.speed.throughput.prediction import Prediction
from tests.speed.throughput.asking import asked

LLAMA = {"ref": "llama3-8b", "seq_len": 2048}
ONE_H100 = {"offer": "lambda/gpu_1x_h100_sxm5", "usd_per_hour": 1.0}
QUERY_VALUE = {"rank": 8, "targets": ["query", "value"]}
AT_16_BIT = QUERY_VALUE | {"frozen": "16bit"}
OF_LLAMA = 32 * 8 * ((4096 + 4096) + (4096 + 1024))
"""32 layers x rank 8 x (query 4,096 to 4,096, value 4,096 to 8 heads of 128)."""


def question(
    catalog: Catalog, training: dict[str, Any], *, option: dict[str, Any] = ONE_H100, **changes: Any
) -> tuple[Job, Candidate]:
    how = {"micro_batch": 4, "checkpointing": "full"} | training
    return asked(catalog, option, **{"workload": LLAMA, "training": how} | changes)


def predicted(catalog: Catalog, training: dict[str, Any], **option: Any) -> Prediction:
    job, candidate = question(catalog, training, **option)
    found = predict(job, candidate, catalog)
    assert isinstance(found, Prediction), found.reason
    return found


def run_of(catalog: Catalog, **changes: Any) -> RunRecord:
    """Return a measurement of Llama 3 8B on one H100."""
    model = catalog.runs["seed-000-dgx-station-v100"]
    return RunRecord.model_validate(
        model.model_dump()
        | {
            "id": "mine",
            "workload": "llama3-8b",
            "architecture": catalog.presets["llama3-8b"].architecture.model_dump(),
            "seq_len": 2048,
            "hardware": model.hardware.model_dump()
            | {
                "accelerator": "H100-SXM", "accelerators_per_node": 1, "nodes": 1,
                "node": "lambda/gpu_1x_h100_sxm5",
            },
            "strategy": "ddp", "precision": None, "checkpointing": "full", "micro_batch": 4, "verdict": (),
            "step_seconds": None,
        }
        | changes
    )  # fmt: skip
