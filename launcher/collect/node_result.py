"""Reads a node's `result.json`, and names its machine."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from datetime import date, datetime
from typing import Any

from pydantic import ValidationError

from planner.errors import InputError, NodeError
from planner.model.evidence.node_shapes import NodeResult
from planner.model.evidence.run import RunHardware

GOOD_EXITS = ("completed", "not_steady")
"""Exit reasons of runs that give a record. If the speed never became steady, the record is marked as doubtful."""


def first_problem(error: Exception) -> str:
    """Return the first problem that an error names, in one line."""
    if not isinstance(error, ValidationError):
        return str(error).rstrip(".")
    detail = error.errors(include_input=False, include_url=False)[0]
    return f"{'.'.join(map(str, detail['loc']))}: {detail['msg']}".removeprefix(": ")


def hardware_of(result: NodeResult, accelerator: str) -> RunHardware:
    """Return the machine of a result."""
    return RunHardware(
        accelerator=accelerator,
        node=_machine_id(result),
        nodes=result.nodes,
        accelerators_per_node=result.devices_per_node,
    )


def day_of(result: NodeResult) -> date:
    """Return the day on which a result was written."""
    return datetime.fromisoformat(result.finished_at).date()


def machine_name(result: NodeResult) -> str:
    """Return the machine in words, without its host name: `8x NVIDIA H100, CPU model`."""
    environment = result.environment
    cores = environment.get("cpu_cores")
    cpu = str(environment.get("cpu_model") or "CPU")
    if result.device_type == "cuda":
        return f"{result.devices_per_node}x {environment.get('accelerator_name')}, {cpu}"
    return f"{cores}-core {cpu}"


def parse_result(result: Mapping[str, Any], *, where: str, accepted_exits: Collection[str] = GOOD_EXITS) -> NodeResult:
    """Read a result.json. Raises InputError if it is invalid, NodeError if its exit reason is not accepted."""
    parsed = parse_accepted(result, where=where, accepted_exits=accepted_exits)
    if parsed.samples < 1 or parsed.window_s <= 0:
        raise NodeError(f"{where}: the benchmark measured nothing.", fix="Run it again with a longer window.")
    return parsed


def parse_accepted(
    result: Mapping[str, Any], *, where: str, accepted_exits: Collection[str] = GOOD_EXITS
) -> NodeResult:
    """Read the result.json of a training or a kernel probe. Unlike `parse_result`, it accepts one without samples."""
    try:
        parsed = NodeResult.model_validate(dict(result))
    except ValidationError as error:
        raise InputError(
            f"{where}: {first_problem(error)}.", fix="Give the result.json that the benchmark wrote, unchanged."
        ) from error
    if parsed.exit_reason not in accepted_exits:
        raise NodeError(
            f"{where}: the benchmark ended with '{parsed.exit_reason}': {parsed.error or 'no reason given'}.",
            fix="Try a smaller --micro-batch." if parsed.exit_reason == "out_of_memory" else "",
        )
    return parsed


def accelerator_id(result: NodeResult, aliases: Mapping[str, str]) -> str:
    """Return the accelerator's catalog name, or the driver's name if no catalog has it."""
    if result.device_type == "cpu":
        return "CPU"
    name = str(result.environment.get("accelerator_name"))
    return aliases.get(name) or _slug(name)


def _machine_id(result: NodeResult) -> str:
    """Return an id of the machine's hardware, the same for any device count, without host name or serial number."""
    keys = ("cpu_model", "cpu_cores", "ram_gib", "accelerator_name", "accelerators_visible")
    described = json.dumps([str(result.environment.get(key)) for key in keys])
    visible = result.environment.get("accelerators_visible") or result.devices_per_node
    whole = machine_name(result.model_copy(update={"devices_per_node": visible}))
    return f"local/{_slug(whole)[:60]}-{hashlib.sha256(described.encode()).hexdigest()[:6]}"


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "unknown"
