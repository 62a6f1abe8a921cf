"""Meaning of SkyPilot's states for a launch."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from planner.launcher.backends.sky.phase import JOB, MANAGED_JOB, managed_status_of, status_of
from planner.launcher.plan.backend import LaunchPhase

UP = {"name": "pl-x", "status": "UP", "launched": None}
LAUNCHED = {
    "instance_type": "p5en.48xlarge",
    "accelerator": "H200",
    "accelerators_per_node": 8,
    "nodes": 2,
    "region": "us-east-2",
    "spot": True,
    "usd_per_node_hour": 9.39,
}


def seen(
    *, request: str | None = "SUCCEEDED", cluster: str | None = "UP", job: str | None = None, error: str = ""
) -> Any:
    return {
        "launch": request and {"status": request, "error": {"type": error, "message": f"{error} was\nraised"}},
        "cluster": cluster and UP | {"status": cluster},
        "job": job and {"id": 1, "status": job},
    }


@pytest.mark.parametrize(
    ("what", "phase"),
    [
        pytest.param(seen(request="PENDING", cluster=None), LaunchPhase.PENDING, id="the request waits"),
        pytest.param(seen(request="RUNNING", cluster="INIT"), LaunchPhase.PENDING, id="machines boot"),
        pytest.param(seen(request="RUNNING", cluster="UP"), LaunchPhase.PENDING, id="machines are prepared"),
        pytest.param(seen(), LaunchPhase.SETTING_UP, id="up, and no job yet"),
        pytest.param(seen(job="PENDING"), LaunchPhase.SETTING_UP, id="the job waits"),
        pytest.param(seen(job="SETTING_UP"), LaunchPhase.SETTING_UP, id="the job sets up"),
        pytest.param(seen(job="RUNNING"), LaunchPhase.RUNNING, id="the job runs"),
        pytest.param(
            seen(request="RUNNING", job="RUNNING"), LaunchPhase.RUNNING, id="the job runs before the request ends"
        ),
        pytest.param(seen(job="SUCCEEDED"), LaunchPhase.SUCCEEDED, id="the job is done"),
        pytest.param(seen(job="FAILED"), LaunchPhase.FAILED, id="the job failed"),
        pytest.param(seen(job="FAILED_DRIVER"), LaunchPhase.FAILED, id="the job's driver died"),
        pytest.param(seen(job="FAILED_SETUP"), LaunchPhase.SETUP_FAILED, id="set-up failed"),
        pytest.param(
            seen(request="FAILED", cluster=None, error="ResourcesUnavailableError"),
            LaunchPhase.REFUSED,
            id="no capacity",
        ),
        pytest.param(
            seen(request="FAILED", cluster=None, error="NoCloudAccessError"), LaunchPhase.REFUSED, id="no access"
        ),
        pytest.param(
            seen(request="FAILED", cluster="INIT", error="CommandError"), LaunchPhase.SETUP_FAILED, id="no runtime"
        ),
        pytest.param(seen(cluster=None), LaunchPhase.LOST, id="it was up and is gone"),
        pytest.param(seen(request=None, cluster=None), LaunchPhase.LOST, id="unknown everywhere"),
        pytest.param(seen(cluster="STOPPED"), LaunchPhase.LOST, id="stopped by somebody"),
        pytest.param(seen(cluster="AUTOSTOPPING"), LaunchPhase.LOST, id="it takes itself down"),
        pytest.param(seen(cluster="INIT"), LaunchPhase.UNKNOWN, id="half of it is there"),
        pytest.param(seen(job="A_WORD_OF_LATER"), LaunchPhase.UNKNOWN, id="a word that we do not know"),
    ],
)
def test_the_phase_of_a_launch(what, phase):
    assert status_of(what).phase is phase


def test_the_reason_of_a_failed_launch_fits_on_one_line():
    detail = status_of(seen(request="FAILED", cluster=None, error="ResourcesUnavailableError")).detail
    assert "found no such machine: ResourcesUnavailableError was raised. Try another region" in detail


def test_a_launch_that_aws_forbids_is_refused_and_says_which_rights_are_needed():
    what = seen(request="FAILED", cluster=None, error="SystemExit")
    what["launch"]["error"]["message"] = "Failed to fetch the profile\nError code: AccessDenied"
    status = status_of(what)
    assert status.phase is LaunchPhase.REFUSED
    assert status.detail.endswith("AWS forbids it. Ask for the rights in launcher/iam/aws-policy.json.")


def test_the_launched_machine_is_reported():
    what = seen(job="RUNNING")
    what["cluster"]["launched"] = LAUNCHED
    launched = status_of(what).launched
    assert launched is not None
    assert (launched.instance_type, launched.nodes, launched.spot) == ("p5en.48xlarge", 2, True)


@pytest.mark.parametrize(
    ("word", "phase"),
    [
        ("PENDING", LaunchPhase.PENDING),
        ("STARTING", LaunchPhase.PENDING),
        ("RUNNING", LaunchPhase.RUNNING),
        ("RECOVERING", LaunchPhase.PENDING),
        ("SUCCEEDED", LaunchPhase.SUCCEEDED),
        ("FAILED", LaunchPhase.FAILED),
        ("FAILED_SETUP", LaunchPhase.SETUP_FAILED),
        ("FAILED_NO_RESOURCE", LaunchPhase.REFUSED),
        ("FAILED_PRECHECKS", LaunchPhase.REFUSED),
        ("FAILED_CONTROLLER", LaunchPhase.LOST),
        ("CANCELLED", LaunchPhase.LOST),
        ("A_WORD_OF_LATER", LaunchPhase.UNKNOWN),
    ],
)
def test_the_phase_of_a_managed_job(word, phase):
    job = {"id": 1, "status": word, "recoveries": 2, "reason": "spot was taken", "cluster": None}
    status = managed_status_of({"job": job, "launch": None})
    assert status.phase is phase
    assert "recovered 2 time(s): spot was taken" in status.detail


FAILED_REQUEST = {"id": "r", "at": 1.0, "status": "FAILED", "error": {"type": "NoCloudAccessError", "message": "off"}}


@pytest.mark.parametrize(
    ("request_", "phase", "said"),
    [
        pytest.param(
            {"id": "r", "at": 1.0, "status": "RUNNING"}, LaunchPhase.PENDING, "starting the controller", id="asked"
        ),
        pytest.param(FAILED_REQUEST, LaunchPhase.REFUSED, "may not use this provider", id="refused"),
        pytest.param(
            {"id": "r", "at": 1.0, "status": "SUCCEEDED"}, LaunchPhase.LOST, "does not know it", id="forgotten"
        ),
        pytest.param(None, LaunchPhase.LOST, "does not know it", id="never asked for"),
    ],
)
def test_before_there_is_a_managed_job_its_request_tells(request_, phase, said):
    """PENDING for ever would hide a refusal until the watchdog's time is over."""
    status = managed_status_of({"job": None, "launch": request_})
    assert status.phase is phase
    assert said in status.detail


@pytest.mark.slow
def test_every_word_of_skypilots_jobs_is_known():
    """A missing one would be UNKNOWN for ever. Asked in a process of its own, for sky warns when it is imported."""
    program = (
        "import json; from sky.jobs.state import ManagedJobStatus; from sky.skylet.job_lib import JobStatus\n"
        "print(json.dumps([[word.value for word in words] for words in (JobStatus, ManagedJobStatus)]))"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    jobs, managed = json.loads(said.stdout.splitlines()[-1])
    assert set(jobs) == set(JOB)
    assert set(managed) == set(MANAGED_JOB)
