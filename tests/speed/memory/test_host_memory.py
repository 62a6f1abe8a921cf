"""Training states in host memory, by hand: 8 bytes of two moments for each of the 70,553,706,496 parameters."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from planner.model.answer.reason import ReasonCode
from planner.model.catalog import Catalog
from planner.scenario.candidate import Candidate
from planner.scenario.job import Job
from planner.speed.memory.device_fit import DeviceFit, fit
from planner.speed.memory.device_memory import waiting_gib
from tests.speed.throughput.asking import asked

PARAMETERS = 70_553_706_496
MOMENTS_GIB = 8 * PARAMETERS / 2**30
"""525.7 GiB over all nodes, if the states are sharded."""


def offloading(
    catalog: Catalog, *, host_gib: float | None = 1800, nodes: int = 1, **training: Any
) -> tuple[Job, Candidate]:
    job, candidate = asked(
        catalog,
        {"offer": "lambda/gpu_8x_b200_sxm6", "usd_per_hour": 1.0, "nodes": nodes},
        workload={"ref": "llama3-70b"},
        training={"precision": "bf16", "strategy": "fsdp2"} | training,
    )
    node = candidate.node.model_copy(update={"host_memory_gib": host_gib})
    return job, replace(candidate, node=node)


def fitted(catalog: Catalog, **changes: Any) -> DeviceFit:
    job, candidate = offloading(catalog, offload="optimizer", **changes)
    return fit(job, candidate, None, catalog)


@pytest.mark.parametrize(
    ("training", "nodes", "gib"),
    [
        pytest.param({"offload": "optimizer"}, 1, MOMENTS_GIB, id="all moments on one host"),
        pytest.param({"offload": "optimizer"}, 2, MOMENTS_GIB / 2, id="half of them on each of two"),
        pytest.param({"offload": "optimizer", "optimizer": "adamw-8bit"}, 1, MOMENTS_GIB / 4, id="two bytes each"),
        pytest.param({"offload": "all"}, 1, 2 * MOMENTS_GIB, id="with fp32 weights and gradients"),
        pytest.param({"offload": "optimizer", "strategy": "ddp"}, 1, 8 * MOMENTS_GIB, id="every card its own"),
        pytest.param({}, 1, 0.0, id="nothing leaves the device"),
    ],
)
def test_a_host_stores_the_states_that_leave_its_devices(
    catalog: Catalog, training: dict[str, Any], nodes: int, gib: float
) -> None:
    job, candidate = offloading(catalog, nodes=nodes, **training)
    assert waiting_gib(job, candidate, paged=0.0) == pytest.approx(gib)


def test_a_host_stores_the_share_of_a_paged_optimizer_for_which_the_device_lacks_room(catalog: Catalog) -> None:
    job, candidate = offloading(catalog, optimizer="paged-adamw")
    assert waiting_gib(job, candidate, paged=0.25) == pytest.approx(MOMENTS_GIB / 4)
    assert waiting_gib(job, candidate, paged=0.0) == 0.0


def test_a_host_that_is_too_small_is_refused_with_both_sizes(catalog: Catalog) -> None:
    refused = fitted(catalog, host_gib=500)
    assert refused.fits is False
    assert refused.reason is not None
    assert refused.reason.code is ReasonCode.MEMORY_TOO_SMALL
    assert refused.reason.text == "does not fit: 526 GiB would wait in the memory of each host, which has 500"
    assert fitted(catalog, host_gib=526).fits is True


def test_a_host_of_unknown_memory_is_accepted_with_a_note(catalog: Catalog) -> None:
    unknown = fitted(catalog, host_gib=None)
    assert unknown.fits is True
    assert "526 GiB wait in the memory of each host, whose size is not known" in (unknown.note or "")
    assert "host" not in (fitted(catalog).note or "")
