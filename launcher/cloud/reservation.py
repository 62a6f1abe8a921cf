"""EC2 Capacity reservations and Capacity Blocks: checks that one can take a launch, and that its machines are in it.

SkyPilot (0.14) starts machines that do not fit the reservation on demand, at another price than agreed. So such a
launch is not submitted, and machines outside the reservation do not match the order.
"""

from __future__ import annotations

from collections.abc import Sequence

from planner.errors import NodeError
from planner.launcher.cloud.aws import ec2, explained
from planner.launcher.cloud.machine import ListedMachine
from planner.launcher.plan.target import Target
from planner.time_limits import within

TYPES = {"capacity_block": "capacity-block", "reservation": "default"}
"""EC2's words for the kind of purchase. Source: EC2 API reference, CapacityReservation."""
OUTSIDE = "none"


def check_reservation(target: Target) -> str:
    """Return in words what is free in the target's reservation. Raises NodeError if it cannot take all nodes now.

    SkyPilot takes only active, targeted reservations (sky/provision/aws/instance.py), others not even by id.
    """
    name = target.reservation
    with explained():
        answer = within(
            lambda: ec2(str(target.region)).describe_capacity_reservations(
                Filters=[{"Name": "capacity-reservation-id", "Values": [name]}]
            ),
            who="EC2",
        )
        reservation = next(iter(answer["CapacityReservations"]), None)
    if reservation is None:
        raise NodeError(f"{name}: AWS knows no such reservation in {target.region}.", fix="See the id and --region.")
    free = int(reservation.get("AvailableInstanceCount", 0))
    wanted = [
        ("is of", target.name, reservation.get("InstanceType")),
        ("is", "active", reservation.get("State")),
        ("takes instances that are", "targeted", reservation.get("InstanceMatchCriteria")),
        ("is a reservation of type", TYPES[target.purchase], reservation.get("ReservationType", "default")),
    ]
    for statement, right, actual in wanted:
        if actual != right:
            raise NodeError(
                f"{name}: {statement} {actual}, and must be {right}: SkyPilot would start the machine "
                "on demand, outside of it.",
                fix="Wait until it is active, or give another id.",
            )
    if free < target.nodes:
        raise NodeError(
            f"{name}: has {free} free instance(s) for {target.nodes}: SkyPilot would start the rest on demand.",
            fix="End what runs in it, or ask for fewer --nodes.",
        )
    return f"{name}: active, {free} free instance(s) of {target.name}"


def reservation_of(machines: Sequence[ListedMachine], target: Target) -> str | None:
    """Return the reservation that all living machines are in, otherwise the first other one;

    None before there are any.
    """
    places = {machine.reservation or OUTSIDE for machine in machines if machine.alive}
    others = sorted(places - {target.reservation})
    return next(iter(others), target.reservation if places else None)
