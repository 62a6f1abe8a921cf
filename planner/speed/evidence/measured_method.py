"""Published trainings on preferences: the method that a row names, its pairs and its passes without gradients."""

from __future__ import annotations

import re
from collections.abc import Mapping

from planner.model.evidence.measurement import Measurement
from planner.model.network.training_method import NEXT_TOKEN, MethodSettings, TrainingMethod
from planner.network.method_work import forward_only_passes, has_scalar_head
from planner.scenario.training_setup import padded_length

PREFERENCES = re.compile(r"\b(dpo|orpo|kto|simpo|reward)\b")
"""Methods whose samples are pairs or judged answers, as a row's `method` names them: "DPO QLoRA"."""
PAIRS_PER_S = "samples/s"
"""The unit of such rows: pairs, or answers of KTO."""


def objective_of(row: Measurement, *, adapters: bool) -> MethodSettings:
    """Return what a row optimizes, with the usual reference."""
    named = PREFERENCES.search(row.method.casefold())
    if named is None:
        return NEXT_TOKEN
    return MethodSettings(method=TrainingMethod(named[1])).with_reference(adapters=adapters)


def pairs_of(row: Measurement, objective: MethodSettings, config: Mapping[str, float]) -> dict[str, float]:
    """Return what pairs change in a configuration: sequences of a micro-batch, their padding, and passes besides."""
    sequences = config["micro_batch"] * objective.sequences
    most = max(row.seq_len or config["seq_len"], config["seq_len"])
    return {
        "micro_batch": sequences,
        "seq_len": padded_length(config["seq_len"], most, sequences),
        "forward_only": forward_only_passes(objective),
        "head_share": 0.0 if has_scalar_head(objective) else config["head_share"],
    }


def tokens_of_pairs(row: Measurement, objective: MethodSettings, config: Mapping[str, float]) -> float | None:
    """Return tokens/s per accelerator, padding included; None where a row counts something else than its samples."""
    if row.throughput_total is None or row.unit != PAIRS_PER_S:
        return None
    return row.throughput_total * objective.sequences * config["seq_len"] / row.num_gpus
