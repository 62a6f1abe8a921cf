"""`account_usd`: what the planner's machines in an account may cost together, other workspaces included."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from planner.errors import NodeError, RefusedError
from planner.launcher.cloud.machine import ListedMachine
from planner.launcher.cloud.provider_machines import ProviderAnswer
from planner.launcher.ledger.entry import State
from planner.launcher.plan.backend import LaunchPhase, NodeStatus
from planner.launcher.plan.guard import LaunchLimits
from planner.launcher.plan.target import Reach, Target
from planner.use_cases.launching import account_budget
from planner.use_cases.launching.account_budget import AccountCheck, running_in_accounts, used_usd
from planner.use_cases.launching.launch_plan import Planned
from planner.use_cases.launching.launches import Launches
from tests.bundled import bundled_catalog
from tests.launcher.launches import NOON, launch_of, rate
from tests.launcher.scripted_backend import ScriptedBackend

P4D = Target(provider="aws", name="p4d.24xlarge", devices_per_node=8, region="us-east-1")
ASKED = launch_of(P4D, run_id="mine", price=rate(10.0), max_minutes=15.0)
"""15 + 35 + 10 minutes at 10 USD an hour: 10 USD at worst."""


def machine(run_id: str, **changes: object) -> ListedMachine:
    fields: dict[str, object] = {
        "id": f"i-{run_id}", "name": f"pl-{run_id}", "where": "us-east-1", "state": "running", "alive": True,
        "run_id": run_id, "instance_type": "p4d.24xlarge", "started_at": NOON - timedelta(hours=1),
        "expires_at": NOON + timedelta(hours=1),
    }  # fmt: skip
    return ListedMachine.model_validate(fields | changes)


@pytest.fixture
def lists(monkeypatch):
    """Let the account list these machines."""

    def answer(*machines: ListedMachine, problem: str | None = None) -> None:
        answers = [ProviderAnswer(where="EC2", machines=machines, problem=problem)]
        monkeypatch.setattr(account_budget, "machines_of_anybody", lambda _targets: answers)

    return answer


def check(usd: float) -> None:
    account = AccountCheck([ASKED], running_in_accounts([ASKED]), usd, catalog=bundled_catalog(), now=NOON)
    account.raise_where_too_dear([])


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


@pytest.fixture
def clients(tmp_path, monkeypatch, lists):
    """Two clients of one workspace, whose account lists no machine yet; a launch costs 10 USD at worst."""
    monkeypatch.setenv("PLANNER_HOME", str(tmp_path))
    (tmp_path / "budget.yaml").write_text("schema_version: 1\naccount_usd: 15\n", encoding="utf-8")
    lists()
    made = []
    for _ in range(2):
        asked = ScriptedBackend(statuses=[NodeStatus(phase=LaunchPhase.SUCCEEDED)])
        made.append(Launches(home=str(tmp_path), poll_s=0.01, _backends={Reach.SKYPILOT: asked}))
    return made


def start(client: Launches, run_id: str) -> None:
    launch = ASKED.model_copy(update={"run_id": run_id, "cluster": f"pl-{run_id}", "planned_at": datetime.now(tz=UTC)})
    client.start([Planned(launch)], LaunchLimits(), tick=lambda: None)


def test_two_starts_that_share_a_ledger_see_each_other_before_a_machine_is_listed(clients, monkeypatch):
    """The second asks the account; while the answer is on its way, the first writes its launch down."""
    first, second = clients

    def meanwhile(_targets):
        if not first.ledger.entries():
            first.ledger.plan([ASKED.model_copy(update={"run_id": "theirs"})])
            first.ledger.move("theirs", State.SUBMITTED, at=NOON)
        return [ProviderAnswer(where="EC2")]

    monkeypatch.setattr(account_budget, "machines_of_anybody", meanwhile)
    with pytest.raises(RefusedError, match=r"account_usd 15\.00: the worst case is 10\.00 USD, open launches of this"):
        start(second, "mine")
    assert [entry.launch.run_id for entry in second.ledger.entries()] == ["theirs"]


def test_a_launch_that_is_over_leaves_room_in_the_account(clients):
    first, second = clients
    start(first, "one")
    start(second, "two")
    assert [entry.state for entry in second.ledger.entries()] == [State.DOWN_VERIFIED] * 2


def test_an_open_launch_seen_up_beyond_its_worst_case_counts_until_then(clients):
    """Worst case: one hour, 10 USD. Seen up after three hours: 30 USD are gone from the budget."""
    client = clients[0]
    client.ledger.plan([ASKED])
    client.ledger.move("mine", State.SUBMITTED, at=NOON)
    assert used_usd(client.ledger.entries()) == pytest.approx(10.0)
    client.ledger.see_up("mine", elapsed_s=3 * 3600.0)
    assert used_usd(client.ledger.entries()) == pytest.approx(30.0)
