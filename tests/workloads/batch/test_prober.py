"""The probes of one benchmark: what each runs, and what is made of one that fails."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from planner.workloads.batch.micro_batch_probe import PROBE_WINDOW
from planner.workloads.batch.prober import Prober, accumulation_of, allowed_sizes

SPEC: dict[str, Any] = {"workload": "made-up", "micro_batch": 4, "grad_accumulation": 16, "calibrate": True, "seed": 0}


class NothingMeasuredError(Exception):
    """The probe left nothing."""


class ProbedNode:
    """Stands for the processes: samples/s by micro-batch; a size without a rate leaves nothing."""

    def __init__(self, rates: Mapping[int, float]) -> None:
        self.rates = rates
        self.ran: list[dict[str, Any]] = []
        self.said: list[str] = []

    def run(self, spec: dict[str, Any]) -> dict[str, Any]:
        self.ran.append(spec)
        if spec["micro_batch"] not in self.rates:
            raise NothingMeasuredError("it was killed\nand more lines")
        memory = {"peak_reserved_gib": 40.0, "device_gib": 80.0}
        return {
            "exit_reason": "completed",
            "samples": self.rates[spec["micro_batch"]],
            "window_s": 1.0,
            "memory": memory,
        }

    def prober(self, share: int | None) -> Prober:
        return Prober(spec=SPEC, share=share, run=self.run, failed=NothingMeasuredError, say=self.said.append)


@pytest.mark.parametrize(
    ("share", "accumulations"),
    [
        pytest.param(64, {8: 2, 4: 2}, id="two of 8 and of 16: accumulated gradients are seen"),
        pytest.param(8, {8: 1, 4: 2}, id="no more than the run has"),
        pytest.param(None, {8: 1, 4: 1}, id="no global batch, no accumulation"),
    ],
)
def test_a_probe_takes_few_steps_of_at_most_two_micro_batches(share: int | None, accumulations: dict[int, int]) -> None:
    node = ProbedNode({8: 19.7, 4: 18.6})
    chosen, probes = node.prober(share).search(start=8, most=8, allowed=allowed_sizes(share))
    assert chosen == 8
    assert {probe.micro_batch: probe.grad_accumulation for probe in probes} == accumulations
    for spec in node.ran:
        size = spec["micro_batch"]
        changed = {"micro_batch": size, "grad_accumulation": accumulations[size], "window": PROBE_WINDOW}
        assert spec == {**SPEC, **changed, "calibrate": False}
    assert node.said == ["micro-batch 8: 19.7 samples/s", "micro-batch 4: 18.6 samples/s", node.said[-1]]
    assert node.said[-1] == "micro-batch 8 is the smallest within 3% of the best"


def test_a_probe_that_leaves_nothing_was_too_large_only_after_one_that_fits() -> None:
    node = ProbedNode({4: 18.6, 2: 15.8})
    chosen, probes = node.prober(64).search(start=4, most=8, allowed=allowed_sizes(64))
    assert (chosen, [probe.refused for probe in probes]) == (4, [None, "it was killed", None])
    with pytest.raises(NothingMeasuredError):
        ProbedNode({4: 18.6}).prober(64).search(start=8, most=8, allowed=allowed_sizes(64))


@pytest.mark.parametrize(
    ("share", "reserved_gib", "tried"),
    [
        pytest.param(8, 30.0, [4, 8], id="room, and 8 divides the share"),
        pytest.param(4, 30.0, [], id="8 does not divide the share"),
        pytest.param(8, 40.0, [], id="half of the memory was used"),
    ],
)
def test_the_double_is_probed_where_there_is_room(share: int, reserved_gib: float, tried: list[int]) -> None:
    memory = {"peak_reserved_gib": reserved_gib, "device_gib": 80.0}
    result = {"memory": memory, "environment": {}, "devices_per_node": 1}
    probes = ProbedNode({4: 2.0, 8: 3.0}).prober(share).double(result)
    assert [probe.micro_batch for probe in probes] == tried


def test_a_share_of_64_is_16_micro_batches_of_4() -> None:
    assert (accumulation_of(64, 4), accumulation_of(None, 4)) == (16, 1)
