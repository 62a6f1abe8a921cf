"""End of a launch that is known by its id alone: every machine with that id within reach of the keys here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from planner.launcher.cloud import kubernetes, lambda_labs
from tests.launcher.backends.sky.standin_sky import FAILED, MANAGED, job, start, state
from tests.launcher.launches import launch_of

NONE_THERE = {"down_managed": False, "down": False}


def lambda_names() -> set[str]:
    return {machine.name for machine in lambda_labs.instances(cluster=None, key="a-key") if machine.alive}


def on_lambda(name: str) -> None:
    body: dict[str, Any] = {"region_name": "us-east-1", "instance_type_name": "gpu_8x_h100_sxm5"}
    lambda_labs._ask("/instance-operations/launch", key="a-key", body=body | {"name": f"pl-{name}-fcd1e5cf-head"})


@pytest.mark.slow
def test_machines_of_one_id_are_ended_in_every_region_and_others_stay(skypilot):
    mine = [(start("one", region), region) for region in ("us-east-2", "us-west-2")]
    other = start("one-more", "us-east-2")
    on_lambda("one")
    on_lambda("one-more")
    evidence = skypilot(**NONE_THERE).down_by_id("one")
    assert [state(*machine) for machine in mine] == ["terminated", "terminated"]
    assert state(other, "us-east-2") == "running"
    assert lambda_names() == {"pl-one-more-fcd1e5cf-head"}
    assert evidence.down
    assert any("EC2 in" in check and "2 terminated" in check for check in evidence.checks)


@pytest.mark.slow
def test_an_id_that_ec2_reads_as_a_pattern_ends_nothing(skypilot):
    """EC2's filters know * and ?, so a tag with them would list the machines of others."""
    other = start("one", "us-east-2")
    skypilot(**NONE_THERE).down_by_id("*")
    skypilot(**NONE_THERE).down_by_id("on?")
    assert state(other, "us-east-2") == "running"


def test_the_machines_are_ended_where_skypilot_fails_and_that_is_no_proof(skypilot):
    instance = start("two", "us-east-2")
    evidence = skypilot(down_managed=FAILED, down=FAILED).down_by_id("two")
    assert state(instance, "us-east-2") == "terminated"
    assert not evidence.down
    assert "SkyPilot, down: SkyPilot failed (CommandError): it went wrong." in evidence.checks


@pytest.mark.slow
def test_the_machines_of_a_managed_job_are_left_to_a_controller_at_work(skypilot):
    """One that is ended under its hands it would start again."""
    instance = start("three", "us-east-2")
    launch = launch_of(MANAGED, run_id="three")
    going = {"job": job(launch, "CANCELLING"), "launch": None}
    evidence = skypilot(down_managed=True, look_managed=going, down=False).down_by_id("three")
    assert (evidence.down, state(instance, "us-east-2")) == (False, "running")
    over = {"job": job(launch, "CANCELLED"), "launch": None}
    assert skypilot(down_managed=True, look_managed=over, down=False).down_by_id("three").down
    assert state(instance, "us-east-2") == "terminated"


def test_a_provider_that_refuses_is_no_proof_and_keeps_no_other_from_being_asked(skypilot, monkeypatch):
    instance = start("four", "us-east-2")
    monkeypatch.setenv("LAMBDA_ENDPOINT_URL", "http://127.0.0.1:9")
    evidence = skypilot(**NONE_THERE).down_by_id("four")
    assert (evidence.down, state(instance, "us-east-2")) == (False, "terminated")
    assert any(check.startswith("Lambda: none; Lambda does not answer") for check in evidence.checks)


def test_a_region_that_does_not_answer_is_no_proof_and_the_others_are_emptied(skypilot, aws):
    instance = start("seven", "us-east-2")
    aws.ask("refuse", code="InternalError", status=400, after=0, region="us-west-2", only="DescribeInstances")
    evidence = skypilot(**NONE_THERE).down_by_id("seven")
    assert (evidence.down, state(instance, "us-east-2")) == (False, "terminated")
    assert any("us-west-2" in check for check in evidence.checks)


def test_every_context_of_the_configuration_is_asked(skypilot, monkeypatch):
    """A cluster on which no server listens: it could not be asked, so nothing is proven."""
    config = Path.home() / "config"
    config.write_text(
        "apiVersion: v1\nkind: Config\ncurrent-context: a\n"
        "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:9'}}]\nusers: [{name: u, user: {}}]\n"
        "contexts: [{name: a, context: {cluster: c, user: u}}, {name: b, context: {cluster: c, user: u}}]\n",
        encoding="utf-8",
    )
    monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(config))
    assert kubernetes.contexts() == ["a", "b"]
    evidence = skypilot(**NONE_THERE).down_by_id("five")
    assert not evidence.down
    said = [check for check in evidence.checks if check.startswith("Kubernetes context")]
    assert [check.partition(":")[0] for check in said] == ["Kubernetes context a", "Kubernetes context b"]
    assert all("does not answer" in check for check in said)


def test_without_a_configuration_there_is_no_context(monkeypatch, tmp_path):
    monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(tmp_path / "none"))
    assert kubernetes.contexts() == []


@pytest.mark.slow
@pytest.mark.parametrize("broken", ["a file", "a folder without its log"])
def test_without_a_place_for_its_log_skypilot_answers_all_the_same(skypilot, tmp_path, broken):
    """Stand-ins of a full or read-only disk: a folder cannot be made below a file, nor a log where a folder is."""
    if broken == "a file":
        (tmp_path / "sky").write_text("", encoding="utf-8")
    else:
        (tmp_path / "sky" / "sky.log").mkdir(parents=True)
    instance = start("six", "us-east-2")
    assert skypilot(**NONE_THERE).down_by_id("six").down
    assert state(instance, "us-east-2") == "terminated"
