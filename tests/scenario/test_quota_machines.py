"""A quota states what it counts, and becomes machines of the option's kind."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from planner.errors import InputError
from planner.model.plan.plan import Plan
from planner.model.plan.plan_option import PlanOption
from planner.model.plan.quota import MOST_MACHINES, Quota
from planner.scenario.candidate import expand
from planner.use_cases import plans
from tests.bundled import bundled_catalog

P5, P3_SMALL, CRUSOE = "aws/p5.48xlarge", "aws/p3.2xlarge", "crusoe/8x-h100-sxm"
"""Machines of 192 and of 8 vCPUs (AWS, EC2 instance types), and of vCPUs that the catalog does not know."""
QUOTA: TypeAdapter[Any] = TypeAdapter(Quota)


def quota_of(offer: str, quota: object) -> int | None:
    (candidate,) = expand(plan_with({"offer": offer, "quota": quota}), bundled_catalog())
    return candidate.quota


def plan_with(option: dict[str, Any]) -> Plan:
    return Plan.model_validate({
        "schema_version": 1, "name": "test", "workload": {"ref": "gpt-305m", "seq_len": 512},
        "work": {"epochs": 1, "samples_per_epoch": 36000}, "campaign": {"runs": 4}, "options": [option],
    })  # fmt: skip


@pytest.mark.parametrize(
    ("offer", "quota", "machines"),
    [
        pytest.param(P5, 0, 0, id="nothing"),
        pytest.param(P5, 4, 4, id="a bare number means machines"),
        pytest.param(P5, "4 machines", 4, id="machines"),
        pytest.param(P5, "1 machine", 1, id="one machine"),
        pytest.param(P5, "192 vCPUs", 1, id="192 vCPUs are one machine of 192"),
        pytest.param(P5, "191 vCPUs", 0, id="191 are none"),
        pytest.param(P3_SMALL, "100000000 vCPUs", MOST_MACHINES, id="no more than there are"),
        pytest.param(P5, "768vcpu", 4, id="768 are four"),
        pytest.param(P5, "192 machines", 192, id="192 machines, if they are meant"),
        pytest.param(P3_SMALL, "192 vCPUs", 24, id="192 vCPUs are 24 machines of 8"),
        pytest.param(CRUSOE, "192 machines", 192, id="machines where the vCPUs are not known"),
        pytest.param(CRUSOE, 63, 63, id="few machines where the vCPUs are not known"),
    ],
)
def test_machines_of_a_quota(offer: str, quota: object, machines: int) -> None:
    assert quota_of(offer, quota) == machines


@pytest.mark.parametrize(
    ("offer", "quota", "said"),
    [
        pytest.param(P5, 192, ["options.0.quota: 192 may be machines or vCPUs", "`quota: 192 vCPUs`"], id="192"),
        pytest.param(P3_SMALL, 8, ["8 may be machines or vCPUs", "`quota: 8 machines`"], id="8 of a small machine"),
        pytest.param(CRUSOE, 64, ["64 may be machines or vCPUs", "are not known"], id="64 of an unknown machine"),
        pytest.param(CRUSOE, "96 vCPUs", ["does not know the vCPUs of crusoe/", "`quota: 4 machines`"], id="unknown"),
    ],
)  # fmt: skip
def test_what_is_not_clear_is_refused_with_both_readings(offer: str, quota: object, said: list[str]) -> None:
    with pytest.raises(InputError) as refused:
        quota_of(offer, quota)
    assert refused.value.exit_code == 2
    for words in said:
        assert words in str(refused.value)


def test_a_share_of_one_s_own_machines_is_never_vcpus() -> None:
    option = {"site": "dgx-station-v100", "quota": 1}
    (candidate,) = expand(plan_with(option), bundled_catalog())
    assert candidate.quota == 1


@pytest.mark.parametrize("quota", ["many", "4 GPUs", "-1 machines", -1, 1.5, True, "4.5 vCPUs", MOST_MACHINES + 1, [4]])
def test_what_is_no_quota_is_refused_with_how_to_write_it(quota: object) -> None:
    with pytest.raises(ValidationError):
        PlanOption.model_validate({"offer": P5, "quota": quota})
    if isinstance(quota, str | float):
        with pytest.raises(ValidationError, match="`quota: 4 machines` or `quota: 192 vCPUs`"):
            QUOTA.validate_python(quota)


@pytest.mark.parametrize("quota", [4, "4 machines", "192 vCPUs"])
def test_a_stored_plan_states_the_quota_as_its_file_did(quota: object) -> None:
    """A lock keeps the plan: read again, it means the same."""
    option = PlanOption.model_validate({"offer": P5, "quota": quota})
    stored = option.model_dump(mode="json")
    assert stored["quota"] == quota
    assert PlanOption.model_validate(stored) == option


def test_vcpus_and_machines_give_the_same_plan() -> None:
    """Two machines of 192 vCPUs; the answer counts machines either way."""
    step = {"batch": 10, "seconds": 2.0, "low_seconds": 2.0, "high_seconds": 2.0, "basis": "measured"}
    answers = [
        plans.campaign(
            plan_with({"offer": P5, "usd_per_hour": 20.0, "quota": quota, "step": step}),
            bundled_catalog(), today=date(2026, 11, 24),
        )
        for quota in ("2 machines", "384 vCPUs", "400 vCPUs")
    ]  # fmt: skip
    same = [answer.model_copy(update={"answer_id": None}) for answer in answers]  # of plans that state it otherwise
    assert same[0] == same[1] == same[2]
    assert [option.quota for option in answers[0].options] == [2]
    assert [placement.nodes for placement in answers[0].placements] == [2]
