"""Handling of a SkyPilot that is wrong, silent or gone: a stand-in gives its answers, moto and a fake Lambda judge."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import boto3
import pytest

from planner.errors import NodeError
from tests.launcher.backends.sky.standin_sky import FAILED, LAMBDA, MANAGED, NOTHING, P5E, cluster, job, start, state
from tests.launcher.launches import NOON, launch_of, rate

WHOLE = '{"kind": "result"}'


@pytest.mark.slow
def test_a_machine_in_another_region_than_asked_for_is_found_and_ended(skypilot):
    """SkyPilot launched elsewhere, fails to take it down and does not list it: only a look everywhere finds it."""
    launch = launch_of(P5E, run_id="elsewhere")
    instance = start("elsewhere", "us-west-2")
    sky = skypilot(look=NOTHING, down=FAILED)
    assert not sky.verify_down(launch).down
    sky.down(launch)
    assert state(instance, "us-west-2") == "terminated"
    assert sky.verify_down(launch).down


def test_a_machine_in_another_region_is_ended_also_where_skypilot_says_that_it_is_done(skypilot):
    launch = launch_of(P5E, run_id="elsewhere-too")
    instance = start("elsewhere-too", "us-west-2")
    skypilot(look=NOTHING, down=True).down(launch)
    assert state(instance, "us-west-2") == "terminated"


@pytest.mark.slow
def test_skypilots_silence_is_an_alarm_and_hides_no_machine(skypilot):
    start("seen", "us-east-1")
    found = skypilot(clusters=FAILED).find_leftovers([launch_of(P5E, run_id="a")])
    assert [(leftover.where, leftover.detail) for leftover in found if leftover.alarm] == [
        ("SkyPilot: SkyPilot failed (CommandError): it went wrong.", "could not be asked")
    ]
    assert "seen" in {leftover.run_id for leftover in found}


def test_a_machine_on_lambda_is_known_by_the_run_in_its_name(skypilot, servers):
    """Without it the ledger could not tell that the machine should be gone, and reap would never end it."""
    body = {"name": "pl-my-run-1-fcd1e5cf-head", "region_name": "us-east-1", "instance_type_name": "gpu_8x_h100_sxm5"}
    servers[1].post("/api/v1/instance-operations/launch", **body)
    found = skypilot(clusters=[]).find_leftovers([launch_of(LAMBDA, run_id="my-run-1")])
    assert [leftover.run_id for leftover in found if leftover.name == body["name"]] == ["my-run-1"]


@pytest.mark.parametrize(
    ("status", "left"),
    [
        pytest.param(None, "terminated", id="the controller forgot the job, or is gone itself"),
        pytest.param("FAILED_CONTROLLER", "terminated", id="the controller failed"),
        pytest.param("CANCELLED", "terminated", id="the job is over and its machine is not"),
        pytest.param("CANCELLING", "running", id="the controller is at it"),
        pytest.param("RECOVERING", "running", id="the controller would start it again"),
    ],
)
def test_the_machine_of_a_managed_job_is_ended_here_only_when_its_controller_does_nothing(skypilot, status, left):
    run_id = f"managed-{status}".lower().replace("_", "-")
    launch = launch_of(MANAGED, run_id=run_id)
    instance = start(run_id, "us-east-2")
    known = None if status is None else job(launch, status)
    sky = skypilot(down_managed=True, look_managed={"job": known, "launch": None})
    sky.down(launch)
    assert state(instance, "us-east-2") == left
    assert sky.verify_down(launch).down == (left == "terminated")


def test_a_managed_job_that_is_asked_for_is_not_asked_for_twice_and_not_down(skypilot):
    """Between the request and the controller's first word a second client, or a second try, comes by."""
    launch = launch_of(MANAGED, run_id="asked").model_copy(update={"store": "s3://planner-runs/bench"})
    sky = skypilot(look_managed={"job": None, "launch": {"id": "r", "at": 1.0, "status": "RUNNING"}}, down_managed=True)
    sky.submit(launch)
    assert "submit" not in Path(os.environ["STANDIN_ASKED"]).read_text(encoding="utf-8").split()
    sky.down(launch)
    assert not sky.verify_down(launch).down


def test_a_managed_job_whose_controller_cannot_be_asked_is_not_down(skypilot):
    launch = launch_of(MANAGED, run_id="mute")
    sky = skypilot(down_managed=FAILED, look_managed=FAILED)
    for question in (sky.down, sky.verify_down):
        with pytest.raises(NodeError, match="it went wrong"):
            question(launch)


def test_managed_jobs_and_their_controller_are_leftovers(skypilot):
    """The controller is a machine that no launch's bill counts: it is shown wherever managed jobs were launched."""
    late = launch_of(MANAGED, run_id="late").model_copy(update={"deadline_at": NOON - timedelta(hours=2)})
    over = launch_of(MANAGED, run_id="over")
    controller = cluster("sky-jobs-controller-fcd1e5cf", to_down=False)
    sky = skypilot(
        clusters=[controller, cluster("pl-late-1")], managed_jobs=[job(late, "RECOVERING"), job(over, "SUCCEEDED")]
    )
    found = {leftover.name: leftover for leftover in sky.find_leftovers([late, over])}
    assert "pl-over" not in found
    assert (found["pl-late"].run_id, found["pl-late"].alarm) == ("late", True)
    assert (found["pl-late-1"].run_id, found["pl-late-1"].alarm) == ("late", True), "as SkyPilot calls its machines"
    assert found["pl-late"].detail == "RECOVERING; its time is over"
    assert "it does not take itself down" in found["sky-jobs-controller-fcd1e5cf"].detail


def test_a_store_that_refuses_is_the_reason_and_what_it_holds_comes_later(skypilot, aws, tmp_path):
    """The machine is gone and S3 says no: nothing is lost, the next try brings it home."""
    s3 = boto3.session.Session().client("s3")
    s3.create_bucket(Bucket="planner-runs")
    s3.put_object(Bucket="planner-runs", Key="bench/kept/node-0/start-1/result.json", Body=WHOLE.encode())
    launch = launch_of(MANAGED, run_id="kept").model_copy(update={"store": "s3://planner-runs/bench"})
    into = tmp_path / "home"
    into.mkdir()
    sky = skypilot(log="PLANNER-DONE run=kept rank=0 exit=0\n")
    aws.ask("refuse", code="AccessDenied", status=403, after=0)
    with pytest.raises(NodeError, match=r"not everything .* s3://planner-runs/bench: AWS forbids it"):
        sky.collect(launch, into)
    aws.ask("reset")
    collected = sky.collect(launch, into)
    assert collected.complete
    assert [path.read_text(encoding="utf-8") for path in collected.results] == [WHOLE]


CUTS_OFF = """\
#!/bin/sh
for into; do :; done
mkdir -p "$into/start-1"
printf '%s' '{"kind": "resu' > "$into/start-1/result.json"
echo "connection unexpectedly closed" >&2
exit 12
"""


def test_a_result_that_was_cut_off_on_its_way_is_asked_for_again_before_the_machine_goes(
    skypilot, aws, tmp_path, monkeypatch
):
    """rsync --partial leaves the beginning under the file's own name; what is on the node is still whole."""
    (tmp_path / "bin").mkdir()
    rsync = tmp_path / "bin" / "rsync"
    rsync.write_text(CUTS_OFF, encoding="utf-8")
    rsync.chmod(0o755)
    monkeypatch.setenv("PATH", f"{rsync.parent}:{os.environ['PATH']}")
    into = tmp_path / "home"
    into.mkdir()
    sky = skypilot(log="PLANNER-DONE run=cut rank=0 exit=0\n", reach=["pl-cut"])
    with pytest.raises(NodeError, match="not everything could be brought home from pl-cut: node 0: rsync ended"):
        sky.collect(launch_of(P5E, run_id="cut"), into)
    assert (into / "start-1" / "result.json").exists()


def test_the_store_completes_the_results_of_the_node(skypilot, aws, tmp_path, monkeypatch):
    """Two starts; the node gives its second, the store has the first."""
    (tmp_path / "bin").mkdir()
    rsync = tmp_path / "bin" / "rsync"
    whole = CUTS_OFF.replace('{"kind": "resu', WHOLE).replace("start-1", "start-2").replace("exit 12", "exit 0")
    rsync.write_text(whole, encoding="utf-8")
    rsync.chmod(0o755)
    monkeypatch.setenv("PATH", f"{rsync.parent}:{os.environ['PATH']}")
    s3 = boto3.session.Session().client("s3")
    s3.create_bucket(Bucket="planner-two")
    s3.put_object(Bucket="planner-two", Key="two/node-0/start-1/result.json", Body=WHOLE.encode())
    launch = launch_of(P5E, run_id="two", starts=2).model_copy(update={"store": "s3://planner-two"})
    into = tmp_path / "home"
    into.mkdir()
    found = skypilot(log="PLANNER-DONE run=two rank=0 exit=0\n", reach=["pl-two"]).collect(launch, into)
    assert [path.parent.name for path in found.results] == ["start-1", "start-2"]


def test_closing_ends_the_server_of_a_catalog_of_our_own_and_no_other(skypilot, tmp_path):
    """A Capacity Block's SkyPilot is used by nothing else: without this its server would run until the next restart."""
    vms = tmp_path / ".sky" / "catalogs" / "v8" / "aws" / "vms.csv"
    vms.parent.mkdir(parents=True)
    vms.write_text("InstanceType,Price,Region\np5e.48xlarge,,us-east-2\n", encoding="utf-8")
    block = P5E.model_copy(update={"purchase": "capacity_block", "reservation": "cr-1"})
    sky = skypilot(look=NOTHING, rest=True)
    assert sky.verify_down(launch_of(block, run_id="block", price=rate(39.8))).down
    assert sky.verify_down(launch_of(P5E, run_id="plain")).down
    sky.close()
    assert Path(os.environ["STANDIN_ASKED"]).read_text(encoding="utf-8").split() == ["look", "look", "rest"]
