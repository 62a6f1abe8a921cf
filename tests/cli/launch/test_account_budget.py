"""`account_usd`: what the planner's machines in an account may cost together, other workspaces included."""

from __future__ import annotations

from datetime import timedelta

import pytest

from launcher.cloud.machine import Machine
from launcher.cloud.provider_machines import Answer
from launcher.plan.target import Target
from planner.errors import NodeError, RefusedError
from planner.use_cases.launching import account_budget
from planner.use_cases.launching.account_budget import check_account
from tests.bundled import bundled_catalog
from tests.launcher.launches import NOON, launch_of, rate

P4D = Target(provider="aws", name="p4d.24xlarge", devices_per_node=8, region="us-east-1")
ASKED = launch_of(P4D, run_id="mine", price=rate(10.0), max_minutes=15.0)
"""15 + 35 + 10 minutes at 10 USD an hour: 10 USD at worst."""


def machine(run_id: str, **changes: object) -> Machine:
    fields: dict[str, object] = {
        "id": f"i-{run_id}", "name": f"pl-{run_id}", "where": "us-east-1", "state": "running", "alive": True,
        "run_id": run_id, "instance_type": "p4d.24xlarge", "started_at": NOON - timedelta(hours=1),
        "expires_at": NOON + timedelta(hours=1),
    }  # fmt: skip
    return Machine.model_validate(fields | changes)


@pytest.fixture
def lists(monkeypatch):
    """Let the account list these machines."""

    def answer(*machines: Machine, problem: str | None = None) -> None:
        answers = [Answer(where="EC2", machines=machines, problem=problem)]
        monkeypatch.setattr(account_budget, "machines_of_anybody", lambda _targets: answers)

    return answer


def check(usd: float) -> None:
    check_account([ASKED], [], usd, catalog=bundled_catalog(), now=NOON)


def test_machines_of_other_workspaces_count_from_their_start_to_their_end(lists):
    """Two hours of a p4d at the list's 21.957642 USD are 43.92, and 10 are asked for."""
    lists(machine("theirs"))
    check(53.92)
    with pytest.raises(RefusedError, match=r"account_usd 53\.90: .* machines in the account 43\.92 USD \(pl-theirs\)"):
        check(53.90)


def test_a_machine_that_does_not_say_its_end_counts_a_day(lists):
    """24 x 21.957642 = 526.98 USD."""
    lists(machine("theirs", expires_at=None))
    check(537.0)
    with pytest.raises(RefusedError):
        check(536.9)


def test_machines_that_are_gone_count_nothing(lists):
    lists(machine("theirs", alive=False, state="terminated"))
    check(10.0)
    with pytest.raises(RefusedError):
        check(9.99)


def test_a_machine_of_unknown_price_is_refused_and_not_free(lists):
    lists(machine("theirs", instance_type="x9.nowhere"))
    with pytest.raises(RefusedError, match=r"aws/x9\.nowhere of unknown price"):
        check(1000.0)


def test_an_account_that_cannot_be_asked_starts_nothing(lists):
    lists(problem="EC2: AWS forbids it")
    with pytest.raises(NodeError, match="account_usd cannot be checked: EC2: AWS forbids it"):
        check(1000.0)
