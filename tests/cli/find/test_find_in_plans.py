"""Plans with `options: auto`, in every command that reads them."""

from __future__ import annotations

import pytest

LORA = ("llama3-8b", "--method", "lora", "--tokens", "35e6")


@pytest.mark.slow
@pytest.mark.parametrize("command", ["estimate", "campaign", "compare", "explain"])
def test_a_plan_may_leave_its_options_to_the_planner(planner, plan_path, command) -> None:
    path = plan_path({"accelerator": "L40S", "terms": "firm"})
    answer = planner(command, path, "--json")
    assert answer.code == 0
    rented = {option["accelerator"] for option in answer.document["options"] if option.get("offer")}
    assert rented <= {"L40S"}
    assert answer.document["options"]


@pytest.mark.slow
def test_the_plan_s_limits_hold_and_auto_alone_is_enough(planner, plan_path) -> None:
    path = plan_path("auto", limits={"spot": "never", "providers": {"allow": ["aws", "lambda"]}})
    document = planner("compare", path, "--json").document
    offers = [option for option in document["options"] if option["offer"]]
    assert {offer["offer"].split("/")[0] for offer in offers} == {"aws", "lambda"}
    assert all(offer["firm"] for offer in offers)


@pytest.mark.slow
def test_a_lock_holds_the_options_that_were_found(planner, plan_path) -> None:
    path = plan_path({"provider": "lambda"})
    now = planner("compare", path, "--json").document
    assert planner("estimate", path, "--freeze", "--json").code == 0
    frozen = planner("compare", path, "--locked", "--json")
    assert frozen.code == 0, frozen.err
    assert [option["id"] for option in frozen.document["options"]] == [option["id"] for option in now["options"]]
    assert planner("diff", path.with_name("plan.lock.json"), path.with_name("plan.lock.json")).code == 0


@pytest.mark.slow
def test_the_answer_can_be_gone_on_from(planner, tmp_path) -> None:
    path = tmp_path / "found.yaml"
    found = planner("find", *LORA, "--firm", "--write", path, "--json").document
    assert planner("compare", path, "--json").document["recommended"] == found["recommended"]
    again = planner("find", *LORA, "--firm", "--write", path)
    assert again.code == 2
    assert "exists already" in again.err
