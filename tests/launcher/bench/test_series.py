"""A series of runs on one machine: the same machine at every count, so that the planner can read between the counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from planner.launcher.collect.record import record_of
from planner.speed.throughput.scaling_table import scaling_table

MakeResult = Callable[..., dict[str, Any]]


def test_one_and_eight_of_a_machines_devices_are_the_same_machine(result: MakeResult) -> None:
    environment = {"accelerator_name": "NVIDIA H200", "cpu_model": "a CPU", "cpu_cores": 192, "accelerators_visible": 8}
    sizes = {"tokens": 600 * 4 * 512, "global_batch": 4, "rank_step_seconds": [0.1], "rank_work_seconds": [0.002]}
    single = result(environment=environment, devices_per_node=1, world_size=1, samples=2400, **sizes)
    eight = result(environment=environment, samples=18_000)
    records = [record_of([each], aliases={}) for each in (single, eight)]
    assert len({record.hardware.node for record in records}) == 1
    assert str(records[0].hardware.node).startswith("local/8x-nvidia-h200-a-cpu-")
    assert [record.environment["machine"] for record in records] == ["1x NVIDIA H200, a CPU", "8x NVIDIA H200, a CPU"]
    table = scaling_table(records)  # 40 samples/s on one, 300 on eight
    assert [round(row.efficiency, 4) for row in table.rows] == [1.0, 0.9375]
