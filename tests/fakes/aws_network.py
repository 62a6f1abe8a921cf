"""A fake AWS account that was used before: its network has the way out that SkyPilot looks for."""

from __future__ import annotations

from typing import Any


def open_network(ec2: Any) -> None:
    """Give the default network of moto an internet gateway and a route to it."""
    vpc = ec2.describe_vpcs()["Vpcs"][0]["VpcId"]
    gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    for table in ec2.describe_route_tables()["RouteTables"]:
        ec2.create_route(RouteTableId=table["RouteTableId"], DestinationCidrBlock="0.0.0.0/0", GatewayId=gateway)
