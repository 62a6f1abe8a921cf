"""Proof that no machine is left: only the account of the machines gives it, for every place where they may be."""

from __future__ import annotations

import os
from pathlib import Path

import boto3
import pytest

from planner.errors import NodeError
from planner.launcher.cloud import aws as ec2
from planner.launcher.cloud import lambda_labs
from planner.launcher.cloud.account import TRUST, account_of, lambda_account
from planner.launcher.cloud.provider_machines import machines_of_anybody
from planner.launcher.plan.backend import Launch
from tests.fakes.aws_server import OTHER_ACCOUNT
from tests.launcher.backends.sky.standin_sky import FAILED, LAMBDA, NOTHING, P5E, cluster, start, state
from tests.launcher.launches import launch_of

ANYWHERE = P5E.model_copy(update={"region": None})
SPOT = P5E.model_copy(update={"purchase": "spot"})
MINE, THEIRS = "123456789012", "222222222222"
DOWN = {"look": NOTHING, "down": True}


def of_aws(account: str) -> str:
    """Return how an account is recorded: moto is not at AWS."""
    return f"AWS account {account} at {os.environ['AWS_ENDPOINT_URL'].removeprefix('http://')}"


def recorded(target, run_id: str, account: str | None = MINE) -> Launch:
    known = of_aws(MINE) if account == MINE else account
    return launch_of(target, run_id=run_id).model_copy(update={"account": known})


def on_lambda(server, name: str, key: str | None = None) -> None:
    """Start an instance in the account of a key; without a key every account lists it."""
    body = {"name": f"pl-{name}-fcd1e5cf-head", "region_name": "us-east-1", "instance_type_name": "gpu_8x_h100_sxm5"}
    if key is None:
        server.post("/api/v1/instance-operations/launch", **body)
    else:
        lambda_labs._ask("/instance-operations/launch", key=key, body=body)


def key_file(key: str) -> Path:
    path = Path.home() / ".lambda_cloud" / "lambda_keys"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"api_key = {key}\n", encoding="utf-8")
    return path


def become(monkeypatch, account: str) -> None:
    """Sign what follows with keys of another account."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", f"{OTHER_ACCOUNT}{account}")


# --- the account


def test_the_account_of_a_launch_is_that_of_the_keys(skypilot, monkeypatch):
    sky = skypilot()
    assert sky.account(launch_of(P5E, run_id="one")) == of_aws(MINE)
    become(monkeypatch, "222222222222")
    assert sky.account(launch_of(P5E, run_id="one")) == of_aws(THEIRS)


@pytest.mark.slow
def test_other_keys_prove_nothing_and_end_nothing(skypilot, monkeypatch):
    """Another account has no such machine, even if it runs in the right one."""
    instance = start("theirs", "us-east-2")
    launch = recorded(P5E, "theirs")
    become(monkeypatch, "222222222222")
    sky = skypilot(**DOWN)
    with pytest.raises(NodeError, match=rf"keys of {of_aws(MINE)} needed: those here are of {of_aws(THEIRS)}"):
        sky.down(launch)
    evidence = sky.verify_down(launch)
    assert (evidence.down, evidence.unknown) == (
        False,
        f"unknown, keys of {of_aws(MINE)} needed: those here are of {of_aws(THEIRS)}. {TRUST}",
    )
    assert evidence.checks[0] == evidence.unknown
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    assert state(instance, "us-east-2") == "running"
    sky.down(launch)
    assert sky.verify_down(launch).down


def test_no_keys_prove_nothing(skypilot, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    evidence = skypilot(**DOWN).verify_down(recorded(P5E, "no-keys"))
    assert not evidence.down
    assert (evidence.unknown or "").startswith(
        f"unknown, keys of {of_aws(MINE)} needed: STS: there are no AWS credentials"
    )


def test_a_launch_of_an_older_ledger_is_reported_without_an_account(skypilot):
    old = {key: value for key, value in recorded(P5E, "old").model_dump(mode="json").items() if key != "account"}
    evidence = skypilot(**DOWN).verify_down(Launch.model_validate(old))
    assert evidence.down
    assert any("the account was not recorded" in check for check in evidence.checks)


def test_lambdas_fingerprint_tells_keys_apart_and_not_the_key():
    names = {lambda_account(key) for key in ("a-key", "b-key", "canary-lambda-key")}
    assert len(names) == 3
    assert not any(word in name for name in names for word in ("a-key", "b-key", "canary"))


def test_lambda_is_asked_with_the_key_that_launched(skypilot, servers, monkeypatch):
    """The file was changed since; the variable still holds the key, and its account still has the machine."""
    on_lambda(servers[1], "kept", key="old-key")
    launch = recorded(LAMBDA, "kept", lambda_account("old-key"))
    key_file("new-key")
    monkeypatch.setenv("LAMBDA_API_KEY", "other-key")
    sky = skypilot(**DOWN)
    evidence = sky.verify_down(launch)
    assert not evidence.down
    assert f"keys of {lambda_account('old-key')} needed" in (evidence.unknown or "")
    monkeypatch.setenv("LAMBDA_API_KEY", "old-key")
    assert "1 active" in sky.verify_down(launch).checks[0]
    sky.down(launch)
    assert sky.verify_down(launch).down


def test_two_keys_of_lambda_are_refused_before_launching(skypilot, monkeypatch):
    key_file("one-key")
    monkeypatch.setenv("LAMBDA_API_KEY", "another-key")
    with pytest.raises(NodeError, match="hold two keys: SkyPilot would launch with that of the file"):
        skypilot().account(launch_of(LAMBDA, run_id="two"))
    monkeypatch.setenv("LAMBDA_API_KEY", "one-key")
    assert skypilot().account(launch_of(LAMBDA, run_id="two")) == lambda_account("one-key")


def test_a_key_that_skypilot_does_not_read_launches_nothing(skypilot):
    with pytest.raises(NodeError, match="no API key for Lambda where SkyPilot looks"):
        account_of(LAMBDA)


# --- SkyPilot's list


def test_the_cloud_proves_nothing_while_skypilot_lists_the_cluster(skypilot):
    """SkyPilot's server may use another account than we do: one of the two asks the wrong one."""
    launch = recorded(P5E, "listed")
    listed = {**NOTHING, "cluster": cluster("pl-listed", "UP")}
    evidence = skypilot(look=listed, down=FAILED).verify_down(launch)
    assert not evidence.down
    assert "SkyPilot lists pl-listed as UP, and the provider has no such machine" in (evidence.unknown or "")
    assert skypilot(look=NOTHING).verify_down(launch).down, "its list agrees now"


# --- every region


def test_a_machine_beside_a_forbidden_region_is_still_found(skypilot, aws):
    """An organisation forbids us-west-2: the other regions prove the end of a launch with a named region."""
    aws.ask("refuse", code="UnauthorizedOperation", status=403, after=0, region="us-west-2")
    sky = skypilot(**DOWN)
    evidence = sky.verify_down(recorded(P5E, "named"))
    assert evidence.down
    assert "in 2 regions (forbidden to look: us-west-2)" in evidence.checks[0]
    with pytest.raises(NodeError, match="us-west-2: EC2: AWS forbids it"):
        sky.verify_down(recorded(ANYWHERE, "unnamed"))


@pytest.mark.parametrize("region", ["us-east-2", "us-west-2"], ids=["its own region", "another region"])
def test_a_region_that_does_not_answer_is_no_proof(skypilot, aws, region):
    aws.ask("refuse", code="InternalError", status=400, after=0, region=region, only="DescribeInstances")
    with pytest.raises(NodeError, match=f"{region}: EC2: AWS had a fault of its own"):
        skypilot(**DOWN).verify_down(recorded(P5E, "mute"))


def test_a_found_machine_is_ended_although_another_region_does_not_answer(skypilot, aws):
    instance = start("found", "us-east-2")
    aws.ask("refuse", code="InternalError", status=400, after=0, region="us-west-2", only="DescribeInstances")
    with pytest.raises(NodeError, match="us-west-2"):
        skypilot(**DOWN).down(recorded(P5E, "found"))
    aws.ask("reset")
    assert state(instance, "us-east-2") == "terminated"


# --- leftovers


def test_one_instance_that_may_not_be_ended_keeps_no_other_running(aws):
    """EC2 refuses the whole request for one instance of it: the others are ended one by one."""
    keep, end = start("partly", "us-east-2"), start("partly", "us-east-2")
    client = boto3.session.Session().client("ec2", region_name="us-east-2")
    client.modify_instance_attribute(InstanceId=keep, DisableApiTermination={"Value": True})
    with pytest.raises(NodeError, match=f"{keep} in us-east-2 was not ended"):
        ec2.terminate(ec2.instances(run_id="partly", region="us-east-2"))
    assert (state(keep, "us-east-2"), state(end, "us-east-2")) == ("running", "terminated")


def test_one_instance_that_lambda_keeps_keeps_no_other_running(aws, servers):
    for name in ("kept", "ended"):
        on_lambda(servers[1], f"half-{name}")
    servers[1].ask("keep", names=["pl-half-kept-fcd1e5cf-head"])
    with pytest.raises(NodeError, match="Lambda did not terminate"):
        lambda_labs.terminate(lambda_labs.instances(cluster=None, key="a-key"), key="a-key")
    left = {instance.run_id for instance in lambda_labs.instances(cluster=None, key="a-key")}
    assert {"half-kept", "half-ended"} & left == {"half-kept"}


def test_every_page_of_lambdas_list_is_read(aws, servers):
    for number in range(5):
        on_lambda(servers[1], f"paged-{number}")
    servers[1].ask("paged", size=2)
    found = {instance.run_id for instance in lambda_labs.instances(cluster=None, key="a-key")}
    assert found == {f"paged-{number}" for number in range(5)}


def test_a_request_for_a_spot_machine_that_is_open_is_left_and_is_cancelled(skypilot):
    """It may start a machine when no one looks any more."""
    client = boto3.session.Session().client("ec2", region_name="us-east-2")
    tags = [{"ResourceType": "spot-instances-request", "Tags": [{"Key": "planner-run", "Value": "bid"}]}]
    made = client.request_spot_instances(
        SpotPrice="1.0",
        Type="persistent",
        LaunchSpecification={"ImageId": "ami-1e749f67", "InstanceType": "p5e.48xlarge"},
        TagSpecifications=tags,
    )
    request = made["SpotInstanceRequests"][0]["SpotInstanceRequestId"]
    sky, launch = skypilot(**DOWN), recorded(SPOT, "bid")
    before = sky.verify_down(launch)
    assert not before.down
    assert "spot request" in before.checks[0]
    sky.down(launch)
    assert sky.verify_down(launch).down
    told = client.describe_spot_instance_requests(SpotInstanceRequestIds=[request])["SpotInstanceRequests"]
    assert [request["State"] for request in told if request["State"] != "cancelled"] == []


def test_a_stopped_instance_is_left(skypilot):
    """Its disk is billed."""
    instance = start("stopped", "us-east-2")
    boto3.session.Session().client("ec2", region_name="us-east-2").stop_instances(InstanceIds=[instance])
    assert not skypilot(**DOWN).verify_down(recorded(P5E, "stopped")).down


# --- everywhere


def test_without_any_credentials_everywhere_is_an_alarm(skypilot, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "LAMBDA_API_KEY"):
        monkeypatch.delenv(name)
    found = {leftover.where: leftover for leftover in skypilot(clusters=[]).find_leftovers([])}
    assert found["EC2: no credentials"].alarm
    assert found["Lambda: no credentials"].alarm


@pytest.mark.slow
def test_an_unused_provider_without_credentials_is_named_without_an_alarm(skypilot, monkeypatch):
    monkeypatch.delenv("LAMBDA_API_KEY")
    found = {leftover.where: leftover for leftover in skypilot(clusters=[]).find_leftovers([])}
    assert (found["Lambda"].alarm, found["Lambda"].detail) == (False, "not asked: no credentials")
    assert "EC2" not in found, "it was asked: keys stand in the environment"


def test_credentials_of_a_profile_are_found(skypilot, monkeypatch, tmp_path):
    """No ~/.aws and no variables of keys, but a file that boto3 knows of."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    file = tmp_path / "elsewhere"
    file.write_text("[bench]\naws_access_key_id = testing\naws_secret_access_key = testing\n", encoding="utf-8")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(file))
    monkeypatch.setenv("AWS_PROFILE", "bench")
    start("by-profile", "us-west-2")
    assert "by-profile" in {leftover.run_id for leftover in skypilot(clusters=[]).find_leftovers([])}


def test_credentials_that_fail_are_an_alarm(skypilot, monkeypatch):
    monkeypatch.setenv("AWS_PROFILE", "no-such-profile")
    alarms = [leftover.where for leftover in skypilot(clusters=[]).find_leftovers([]) if leftover.alarm]
    why = "AWS: the AWS profile does not exist."
    assert alarms == [f"EC2: {why}", f"EC2 in every region, volumes: {why}"]


def test_one_region_that_does_not_answer_hides_no_machine(skypilot, aws):
    start("visible", "us-east-1")
    aws.ask("refuse", code="InternalError", status=400, after=0, region="us-west-2", only="DescribeInstances")
    answers = machines_of_anybody([P5E])
    assert "visible" in {machine.run_id for answer in answers for machine in answer.machines}
    assert [answer.problem for answer in answers if answer.problem] == ["us-west-2: EC2: AWS had a fault of its own."]
