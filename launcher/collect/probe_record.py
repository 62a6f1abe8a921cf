"""The probes of a record, from those that a node wrote."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from planner.errors import NodeError
from planner.model.evidence.run import Probe
from planner.model.network.workload import Window
from workloads.batch import micro_batch_probe as node_probe

PROBE_WINDOW = Window.model_validate(node_probe.PROBE_WINDOW)


def probe_of(result: Mapping[str, Any]) -> Probe:
    """Read a result.json as a probe; workloads/batch/micro_batch_probe.py decides whether it can be taken."""
    return Probe.model_validate(asdict(node_probe.probe_of(result)))


def failed_probe(spec: Mapping[str, Any], error: NodeError) -> Probe:
    """Return the probe of a run that left nothing, such as one that the system killed for its memory."""
    return Probe.model_validate(asdict(node_probe.failed_probe(spec, error.message)))
