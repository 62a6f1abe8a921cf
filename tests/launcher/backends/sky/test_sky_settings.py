"""A person's own settings of SkyPilot are joined with those of a launch, or refused if they contradict."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from planner.launcher.backends.sky.phase import SETTING_ERROR, setting_refusal
from planner.launcher.backends.sky.worker.settings import SettingError, joined

OURS = 'aws.post_provision_runcmd=["shutdown -h +65"]'
CONTROLLER = 'jobs.controller.resources.autostop={"idle_minutes": 10, "down": true, "wait_for": "jobs"}'


def values(asked, own):
    """Return what is set, by its dotted key."""
    return {key: json.loads(text) for key, _, text in (setting.partition("=") for setting in joined(asked, own))}


def test_settings_of_a_launch_stand_alone_where_a_person_has_none():
    asked = [OURS, "aws.remote_identity=SERVICE_ACCOUNT", CONTROLLER]
    assert joined(asked, {}) == asked


def test_commands_at_boot_are_both_run_ours_first():
    """A person's command that ends the script must not prevent the machine's scheduled shutdown."""
    own = {"aws": {"post_provision_runcmd": ["apt-get install -y htop", ["echo", "gr\u00fc\u00df"]]}}
    assert values([OURS], own)["aws.post_provision_runcmd"] == [
        "shutdown -h +65",
        "apt-get install -y htop",
        ["echo", "gr\u00fc\u00df"],
    ]


def test_an_identity_of_the_person_stays():
    own = {"aws": {"remote_identity": "my-role"}}
    assert joined([OURS, "aws.remote_identity=SERVICE_ACCOUNT", "gcp.remote_identity=NO_UPLOAD"], own) == [
        OURS,
        "gcp.remote_identity=NO_UPLOAD",
    ]


@pytest.mark.parametrize(
    ("controller", "expected"),
    [
        pytest.param({"autostop": 5}, {"idle_minutes": 5, "wait_for": "jobs"}, id="sooner, stopped"),
        pytest.param({"autostop": True}, {"idle_minutes": 0, "wait_for": "jobs"}, id="at once"),
        pytest.param({"autostop": "10m"}, {"idle_minutes": 10, "wait_for": "jobs"}, id="with a unit"),
        pytest.param(
            {"resources": {"autostop": {"idle_minutes": 10, "down": False, "wait_for": "jobs_and_ssh"}}},
            {"idle_minutes": 10, "down": False, "wait_for": "jobs"},
            id="an open shell",
        ),
        pytest.param(
            {"autostop": False, "resources": {"autostop": {"idle_minutes": 1, "down": True}}},
            {"idle_minutes": 1, "down": True, "wait_for": "jobs"},
            id="that of its resources counts",
        ),
        pytest.param(
            {"consolidation_mode": True, "autostop": False, "resources": {"instance_type": "p4d.24xlarge"}},
            {"idle_minutes": 10, "down": True, "wait_for": "jobs"},
            id="no machine of its own",
        ),
        pytest.param(
            {"resources": {"infra": "aws/us-east-1", "cpus": "4+", "memory": "16", "disk_size": 100}},
            {"idle_minutes": 10, "down": True, "wait_for": "jobs"},
            id="as large as the bill counts",
        ),
    ],
)
def test_the_controller_of_managed_jobs_goes_away_in_the_time_of_the_bill(controller, expected):
    own = {"jobs": {"controller": controller}}
    assert values([CONTROLLER], own) == {"jobs.controller.resources.autostop": expected}


@pytest.mark.parametrize(
    ("own", "said"),
    [
        pytest.param({"jobs": {"controller": {"autostop": False}}}, "for ever", id="never"),
        pytest.param(
            {"jobs": {"controller": {"resources": {"autostop": False}}}}, "for ever", id="never, in resources"
        ),
        pytest.param({"jobs": {"controller": {"autostop": 11}}}, "after 11 idle minutes", id="later"),
        pytest.param({"jobs": {"controller": {"autostop": "1h"}}}, "after 1h idle minutes", id="an hour"),
        pytest.param({"jobs": {"controller": {"autostop": {"idle_minutes": "x"}}}}, "after x idle", id="not read"),
        pytest.param(
            {"jobs": {"controller": {"resources": {"instance_type": "p4d.24xlarge"}}}}, "instance_type", id="dear type"
        ),
        pytest.param({"jobs": {"controller": {"resources": {"cpus": "64+"}}}}, "cpus: 64", id="64 CPUs"),
        pytest.param({"jobs": {"controller": {"resources": {"accelerators": "H100:8"}}}}, "accelerators", id="GPUs"),
        pytest.param({"admin_policy": "company.Policy"}, "admin_policy", id="a policy that may change all"),
        pytest.param(
            {"kubernetes": {"pod_config": {"metadata": {"labels": {"planner-run": "x"}}}}},
            "planner-run",
            id="our label",
        ),
        *(
            pytest.param({"aws": {"post_provision_runcmd": [command]}}, "would undo", id=str(command))
            for command in ("shutdown -c", ["sudo", "shutdown", "-h", "+600"], "reboot", "x && systemctl isolate a")
        ),
    ],
)
def test_a_setting_that_would_drop_a_cap_is_refused(own, said):
    with pytest.raises(SettingError, match=said):
        joined([OURS, CONTROLLER], own)


ASKS = """
import json, sys
from sky import skypilot_config
from planner.launcher.backends.sky.worker import settings
try:
    settings.check_settings(json.loads(sys.argv[1]))
    print("nothing is wrong")
    with settings._configured(json.loads(sys.argv[1])):
        print(json.dumps(skypilot_config.get_nested(("aws", "post_provision_runcmd"), None)))
    print(json.dumps(skypilot_config.get_nested(("aws", "post_provision_runcmd"), None)))
except Exception as error:
    print(type(error).__name__, error)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("own", "expected"),
    [
        pytest.param("{}", ["nothing is wrong", '["shutdown -h +65"]', "null"], id="none"),
        pytest.param(
            "aws: {post_provision_runcmd: [htop]}",
            ["nothing is wrong", '["shutdown -h +65", "htop"]', '["htop"]'],
            id="joined, for this launch only",
        ),
        pytest.param("aws: {post_provision_runcmd: [shutdown -c]}", ["would undo"], id="a command"),
        pytest.param("jobs: {controller: {autostop: false}}", ["SettingError", "for ever"], id="a controller"),
    ],
)
def test_skypilot_s_own_reading_of_a_person_s_file_is_joined_or_refused(tmp_path, own, expected):
    (tmp_path / "config.yaml").write_text(own + "\n", encoding="utf-8")
    environment = os.environ | {"HOME": str(tmp_path), "SKYPILOT_GLOBAL_CONFIG": str(tmp_path / "config.yaml")}
    command = [sys.executable, "-c", ASKS, json.dumps([OURS, CONTROLLER])]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, cwd=tmp_path)
    for text in expected:
        assert text in done.stdout


def test_the_refusal_says_where_to_change_it_and_starts_nothing():
    error = setting_refusal("admin_policy (p) may change or drop what limits a launch")
    assert SettingError.__name__ == SETTING_ERROR
    assert error.exit_code == 3
    assert str(error) == (
        "SkyPilot's settings: admin_policy (p) may change or drop what limits a launch. Change it in "
        "~/.sky/config.yaml or the project's .sky.yaml, or launch with other settings: SKYPILOT_GLOBAL_CONFIG=FILE."
    )
