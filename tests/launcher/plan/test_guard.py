"""The bill by hand, what is refused, and what is recognised as not ordered."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.errors import RefusedError
from planner.launcher.plan.backend import Launched
from planner.launcher.plan.bill import AncillaryCost, LaunchBill, TimeCaps, bill_of, billed_usd
from planner.launcher.plan.guard import LaunchLimits, ancillary_costs_of, check_launches, check_price_again, mismatches
from planner.launcher.plan.target import Target
from tests.launcher.launches import NOON, rate

P5E = Target(
    provider="aws",
    name="p5e.48xlarge",
    accelerator="H200-SXM",
    devices_per_node=8,
    purchase="spot",
    region="us-east-2",
)
K8S = Target(provider="k8s", name="c", accelerator="H100-SXM", devices_per_node=8)
POOL = Target(provider="ssh", name="p", accelerator="H100-SXM", devices_per_node=8)
SLURM = Target(provider="slurm", name="s", accelerator="H100-SXM", devices_per_node=8)
HOST = Target(provider="host", name="h")
LOCAL = Target(provider="local", name="local")
HOUR = TimeCaps(max_minutes=30.0, provisioning_minutes=20.0, idle_minutes=10.0)


def bill(target=P5E, *, usd=10.0, highest=None, listed=None, nodes=1, caps=HOUR, ancillary=0.0):
    price = None if usd is None else rate(usd, highest=highest)
    return bill_of(
        nodes=nodes,
        invoiced=target.is_cloud,
        price_kind="spot" if target.is_cloud else "own",
        rate=None if price is None else price.model_copy(update={"list_usd_per_node_hour": listed}),
        no_price_reason="it is not known",
        caps=caps,
        ancillary=(AncillaryCost(what="a disk", usd_per_hour=ancillary, basis="quoted", source="a list"),)
        if ancillary
        else (),
    )


@pytest.mark.parametrize(
    ("given_bill", "expected_usd"),
    [
        pytest.param(bill(), 10.0, id="one node for an hour"),
        pytest.param(bill(nodes=2), 20.0, id="two nodes"),
        pytest.param(bill(highest=39.8), 39.8, id="spot counts what it may rise to"),
        pytest.param(bill(nodes=2, ancillary=0.1), 20.1, id="ancillary costs of all nodes, for an hour"),
        pytest.param(
            bill(caps=TimeCaps(max_minutes=90.0, provisioning_minutes=20.0, idle_minutes=10.0)), 20.0, id="2 h"
        ),
        pytest.param(bill(usd=None), None, id="no price is not 0"),
    ],
)
def test_the_worst_case_by_hand(given_bill, expected_usd):
    assert given_bill.worst_case_usd == (None if expected_usd is None else pytest.approx(expected_usd))


def test_a_bill_of_an_older_ledger_is_read():
    now = bill(ancillary=0.1)
    document = now.model_dump()
    assert document["beside_usd"] == pytest.approx(0.1)
    assert LaunchBill.model_validate(document) == now
    assert LaunchBill.model_validate_json(now.model_dump_json()) == now
    old = {key: value for key, value in document.items() if not key.startswith("beside")} | {"storage_usd": 0.1}
    assert (LaunchBill.model_validate(old).ancillary_usd, LaunchBill.model_validate(old).worst_case_usd) == (0.1, 10.1)


@given(seconds=st.floats(0, 3600), nodes=st.integers(1, 16), usd=st.floats(0.01, 200))
def test_a_bill_within_the_caps_never_exceeds_the_worst_case(seconds, nodes, usd):
    single = bill(usd=usd, highest=usd * 1.5, nodes=nodes, ancillary=0.3)
    assert billed_usd(single, seconds=seconds) <= single.worst_case_usd * (1 + 1e-9)


def test_half_an_hour_of_two_nodes_at_10_usd_is_10_usd():
    assert billed_usd(bill(nodes=2), seconds=1800) == pytest.approx(10.0)


@pytest.mark.parametrize(
    ("planned", "limits", "problem"),
    [
        pytest.param([(P5E, bill())], LaunchLimits(max_usd=9.99), "the worst case is 10.00 USD", id="over the cap"),
        pytest.param(
            [(P5E, bill()), (P5E, bill())], LaunchLimits(max_usd=19.0), "20.00 USD", id="one cap for all targets"
        ),
        pytest.param([(P5E, bill(usd=None))], LaunchLimits(), "no price is known", id="no price"),
        *(
            pytest.param([(kind, bill(kind, usd=None))], LaunchLimits(), "no price is known", id=f"{kind.id}, no price")
            for kind in (K8S, POOL, SLURM)
        ),
        *(
            pytest.param([(HOST, bill(HOST, usd=None))], limits, "no price is known", id="a host, capped")
            for limits in (LaunchLimits(max_usd=5), LaunchLimits(budget_usd=5))
        ),
        pytest.param(
            [(P5E, bill(usd=None))], LaunchLimits(accept_price=True), "no price is known", id="a cloud, accepted"
        ),
        *(
            pytest.param([(kind, bill(kind))], LaunchLimits(budget_usd=9), "has 9.00 USD left", id=f"{kind.id}, budget")
            for kind in (K8S, POOL, SLURM, HOST, LOCAL)
        ),
        pytest.param(
            [(P5E, bill(listed=30.01))], LaunchLimits(), "under a third of the catalog's 30.01", id="far below the list"
        ),
        pytest.param(
            [(P5E, bill())], LaunchLimits(budget_usd=100, budget_used_usd=95), "has 5.00 USD left", id="over the budget"
        ),
        pytest.param([(P5E, bill())], LaunchLimits(deadline_at=NOON), "has passed", id="deadline passed"),
        pytest.param(
            [(P5E, bill())],
            LaunchLimits(deadline_at=NOON + timedelta(minutes=59)),
            "comes too soon",
            id="deadline too soon",
        ),
    ],
)
def test_a_forbidden_launch_is_refused_with_code_3(planned, limits, problem):
    with pytest.raises(RefusedError, match=problem) as refused:
        check_launches(planned, limits, now=NOON)
    assert refused.value.exit_code == 3
    assert refused.value.fix


@pytest.mark.parametrize(
    ("target", "before", "after", "said"),
    [
        pytest.param(P5E, 10.0, 10.01, "was 10.00 USD, and is 10.01 USD now", id="dearer"),
        pytest.param(P5E, 10.0, None, "was 10.00 USD, and is not known now", id="a cloud without a price"),
        pytest.param(K8S, None, 1.0, "was not known, and is 1.00 USD now", id="a price where there was none"),
    ],
)
def test_a_price_that_rose_after_the_bill_is_refused(target, before, after, said):
    with pytest.raises(RefusedError, match=said) as refused:
        check_price_again(target, bill(target, usd=before), bill(target, usd=after))
    assert refused.value.exit_code == 3


@pytest.mark.parametrize(
    ("target", "before", "after"), [(P5E, 10.0, 10.0), (P5E, 10.0, 9.0), (HOST, 10.0, None), (LOCAL, None, None)]
)
def test_a_price_that_did_not_rise_is_no_reason(target, before, after):
    check_price_again(target, bill(target, usd=before), bill(target, usd=after))


@pytest.mark.parametrize(
    ("planned", "limits"),
    [
        pytest.param([(P5E, bill())], LaunchLimits(max_usd=10), id="just under the cap"),
        pytest.param(
            [(LOCAL, bill(LOCAL, usd=None)), (P5E, bill())], LaunchLimits(max_usd=10), id="own machine adds nothing"
        ),
        *(
            pytest.param(
                [(kind, bill(kind, usd=None))],
                LaunchLimits(max_usd=5, budget_usd=5, accept_price=True),
                id=f"{kind.id}, accepted",
            )
            for kind in (K8S, POOL, SLURM, HOST)
        ),
        pytest.param([(HOST, bill(HOST, usd=None))], LaunchLimits(), id="a host without a cap"),
        pytest.param([(K8S, bill(K8S, usd=0.0))], LaunchLimits(max_usd=0), id="a cluster at a price of 0"),
        pytest.param([(P5E, bill(listed=30.0))], LaunchLimits(), id="a third of the list"),
        pytest.param([(P5E, bill(listed=90.0))], LaunchLimits(accept_price=True), id="far below, accepted"),
        pytest.param([(P5E, bill())], LaunchLimits(budget_usd=100, budget_used_usd=90), id="the last of the budget"),
        pytest.param([(P5E, bill())], LaunchLimits(deadline_at=NOON + timedelta(hours=1)), id="just in time"),
    ],
)
def test_a_launch_that_keeps_every_limit_is_allowed(planned, limits):
    check_launches(planned, limits, now=NOON)


ORDERED = Launched(
    instance_type="p5e.48xlarge", accelerator="H200", accelerators_per_node=8, nodes=1, region="us-east-2", spot=True
)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({}, (), id="as ordered"),
        pytest.param(
            {"instance_type": "p5en.48xlarge"},
            ("instance type: asked for p5e.48xlarge, got p5en.48xlarge",),
            id="the same H200:8 in a p5en",
        ),
        pytest.param({"accelerator": "H100"}, ("accelerator: asked for H200, got H100",), id="accelerator"),
        pytest.param({"accelerators_per_node": 4}, ("accelerators per node: asked for 8, got 4",), id="half a node"),
        pytest.param({"nodes": 2}, ("nodes: asked for 1, got 2",), id="twice the bill"),
        pytest.param({"spot": False}, ("spot: asked for True, got False",), id="on demand instead of spot"),
        pytest.param({"region": "us-west-2"}, ("region: asked for us-east-2, got us-west-2",), id="another region"),
        pytest.param({"spot": None, "region": None}, (), id="unstated fields are not compared"),
        pytest.param({"reservation": "none"}, (), id="no reservation where none was ordered"),
    ],
)
def test_another_machine_than_ordered_is_recognised(changes, expected):
    assert mismatches(P5E, ORDERED.model_copy(update=changes)) == expected


def test_a_machine_beside_its_reservation_is_not_what_was_ordered():
    """SkyPilot starts on demand what finds no place in the Capacity Block."""
    block = P5E.model_copy(update={"purchase": "capacity_block", "reservation": "cr-1"})
    came = ORDERED.model_copy(update={"spot": False, "reservation": "none"})
    assert mismatches(block, came) == ("reservation: asked for cr-1, got none",)
    assert mismatches(block, came.model_copy(update={"reservation": "cr-1"})) == ()


def test_beside_the_machines_on_aws_by_hand():
    """(256 x 0.08 + 500 x 0.005 + 93 x 0.04) x 2 / 730 h = 0.07315 USD/h a disk; an address is 0.005."""
    disks, addresses = ancillary_costs_of(P5E.model_copy(update={"nodes": 3}))
    assert disks.usd_per_hour == pytest.approx(3 * 53.4 / 730)
    assert addresses.usd_per_hour == pytest.approx(0.015)
    managed = ancillary_costs_of(P5E.model_copy(update={"managed": True}))
    assert [line.what for line in managed][2:] == ["SkyPilot's controller of managed jobs"]
    assert ancillary_costs_of(K8S) == ancillary_costs_of(LOCAL) == ()
