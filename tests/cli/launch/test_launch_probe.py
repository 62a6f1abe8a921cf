"""`planner launch --probe`: the bill first, and a task that measures kernels instead of a network."""

import json

import pytest

from tests.cli.conftest import CliAnswer

P4D = "aws/p4d.24xlarge"
PROBE_MINUTES, PROVISIONING_MINUTES, IDLE_MINUTES = 8, 35, 10


def launches(answer: CliAnswer) -> dict[str, object]:
    assert answer.code == 0, answer.err
    (launch,) = answer.document["launches"]
    return dict(launch)


def test_a_dry_run_shows_the_bill_of_eight_minutes_and_a_probe_in_the_task(planner):
    """24 USD/h x (8 + 35 + 10) min / 60 = 21.20 USD, and what disk and address cost beside."""
    answer = planner("launch", "--probe", "--on", P4D, "--usd-per-hour", "24", "--data", "/data", "--dry-run", "--json")
    launch = launches(answer)

    minutes = PROBE_MINUTES + PROVISIONING_MINUTES + IDLE_MINUTES
    assert answer.document["worst_case_usd"] == pytest.approx(24 * minutes / 60, rel=0.01)
    assert launch["workload"] == "probe"
    envs = launch["task"]["envs"]
    assert envs["PLANNER_MAX_MINUTES"] == str(PROBE_MINUTES)
    assert json.loads(envs["PLANNER_SPEC"])["probe"] == {"folder": "/data"}
    assert "PLANNER_PROBES" not in envs, "no micro-batch is searched"


@pytest.mark.parametrize(
    ("words", "said"),
    [(["gpt-305m", "--probe"], "exclude each other"), ([], "neither WORKLOAD nor --probe")],
    ids=["both", "neither"],
)
def test_a_launch_says_one_thing_to_measure(planner, words, said):
    answer = planner("launch", *words, "--on", P4D, "--dry-run")

    assert answer.code == 2
    assert said in answer.err


def test_a_launch_on_this_machine_becomes_a_probe_in_the_workspace(planner):
    answer = planner("launch", "--probe", "--on", "local", "--gpus", "1", "--usd-per-hour", "0", "--dry-run", "--json")

    assert json.loads(launches(answer)["task"]["envs"]["PLANNER_SPEC"])["window"]["max_s"] <= 10
