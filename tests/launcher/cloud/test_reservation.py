"""Capacity Blocks and reservations: no machine is started outside them, at a price that was not agreed to."""

from __future__ import annotations

import pytest

from planner.errors import NodeError
from planner.launcher.cloud.machine import ListedMachine
from planner.launcher.cloud.reservation import check_reservation, reservation_of
from planner.launcher.plan.target import Target

BLOCK = Target(
    provider="aws", name="p5.48xlarge", nodes=2, purchase="capacity_block", reservation="cr-1", region="us-east-2"
)
HELD = {
    "capacityReservationId": "cr-1",
    "instanceType": "p5.48xlarge",
    "state": "active",
    "availableInstanceCount": "2",
    "instanceMatchCriteria": "targeted",
    "reservationType": "capacity-block",
}


def test_a_block_with_room_for_all_nodes_is_taken(aws):
    aws.ask("reserve", **HELD)
    assert check_reservation(BLOCK) == "cr-1: active, 2 free instance(s) of p5.48xlarge"


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        pytest.param({"state": "payment-pending"}, "is payment-pending, and must be active", id="not begun"),
        pytest.param({"availableInstanceCount": "1"}, "has 1 free instance.s. for 2", id="room for one of two"),
        pytest.param({"instanceType": "p5e.48xlarge"}, "is of p5e.48xlarge, and must be p5.48xlarge", id="other type"),
        pytest.param({"instanceMatchCriteria": "open"}, "must be targeted", id="open to anybody"),
        pytest.param({"reservationType": "default"}, "of type default, and must be capacity-block", id="no block"),
    ],
)
def test_a_launch_that_would_miss_its_reservation_is_not_submitted(aws, changes, problem):
    aws.ask("reserve", **HELD | changes)
    with pytest.raises(NodeError, match=problem):
        check_reservation(BLOCK)


def test_a_block_that_aws_does_not_know(aws):
    with pytest.raises(NodeError, match="knows no such reservation in us-east-2"):
        check_reservation(BLOCK)


def machine(reservation: str | None, *, alive: bool = True) -> ListedMachine:
    return ListedMachine(id="i-1", name="n", where="r", state="s", alive=alive, run_id="r1", reservation=reservation)


@pytest.mark.parametrize(
    ("machines", "expected"),
    [
        pytest.param([], None, id="no machines yet"),
        pytest.param([machine("cr-1"), machine("cr-1")], "cr-1", id="all in it"),
        pytest.param([machine("cr-1"), machine(None)], "none", id="one on demand"),
        pytest.param([machine("cr-1"), machine("cr-2")], "cr-2", id="one in another"),
        pytest.param([machine("cr-1"), machine(None, alive=False)], "cr-1", id="dead ones do not count"),
    ],
)
def test_the_reservation_of_the_machines_of_a_launch(machines, expected):
    assert reservation_of(machines, BLOCK) == expected
