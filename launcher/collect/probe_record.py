"""Builds the ProbeRecord from a node's `result.json` of a probe."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from planner.errors import InputError, NodeError
from planner.launcher.collect.node_result import (
    accelerator_id,
    day_of,
    first_problem,
    hardware_of,
    machine_name,
    parse_accepted,
)
from planner.model.evidence.node_shapes import NodeResult
from planner.model.evidence.probe import ProbeRecord, SustainedFacts

FELL_BY = 0.15
"""Fall in the rate of matrix products over 20 s that makes a probe doubtful. A well-cooled card loses less."""


def is_probe(result: Mapping[str, Any]) -> bool:
    """Return whether a result is that of a probe."""
    return isinstance(result.get("spec"), Mapping) and result["spec"].get("probe") is not None


def probe_record_of(result: Mapping[str, Any], *, aliases: Mapping[str, str], where: str = "result") -> ProbeRecord:
    """Return the record of a probe. Raises NodeError if nothing was measured, InputError if it is inconsistent."""
    parsed = parse_accepted(result, where=where)
    if parsed.probe is None or not parsed.probe["kernels"]:
        raise NodeError(f"{where}: the probe measured nothing.", fix="See the log of the run.")
    accelerator = accelerator_id(parsed, aliases)
    facts = parsed.probe
    try:
        sustained = None if facts["sustained"] is None else SustainedFacts.model_validate(facts["sustained"])
        return ProbeRecord(
            schema_version=1,
            id=_id(parsed, accelerator),
            hardware=hardware_of(parsed, accelerator),
            measured_on=day_of(parsed),
            kernels=tuple(facts["kernels"]),
            sustained=sustained,
            left_out=tuple(facts["left_out"]),
            seconds=facts["seconds"],
            environment=parsed.environment | {"machine": machine_name(parsed)},
            verdict=tuple(_verdict(parsed, sustained)),
        )
    except (ValidationError, KeyError, TypeError) as error:
        problem = first_problem(error) if isinstance(error, ValidationError) else str(error)
        raise InputError(
            f"{where}: its figures make no probe: {problem}.", fix="Measure again; see the log of the run."
        ) from error


def _verdict(result: NodeResult, sustained: SustainedFacts | None) -> list[str]:
    found = []
    if sustained is not None and sustained.last_tflop_per_s < (1 - FELL_BY) * sustained.first_tflop_per_s:
        fell = 1 - sustained.last_tflop_per_s / sustained.first_tflop_per_s
        found.append(f"the rate of products fell by {fell:.0%} within {sustained.seconds:.0f} s")
    if result.busy_before_share is not None and result.busy_before_share > 0.05:
        found.append(f"others used the device before the probe, {result.busy_before_share:.0%} of the time")
    return found


def _id(result: NodeResult, accelerator: str) -> str:
    stamp = re.sub(r"\D", "", result.finished_at)[:14]
    return f"probe-{accelerator.casefold()}-x{result.world_size}-{stamp}"
