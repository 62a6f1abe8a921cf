"""Takes down launches that the ledger cannot read, by the id that their machines carry.

A ledger may be damaged, wholly or in one line, or may be new and empty. Machines still carry the label of their launch,
and hosts its id. This proves nothing, because the owner of the machines is not known.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from planner.errors import InputError, NotFoundError, PlannerError, StoreError
from planner.launcher.documents import FoundResource
from planner.launcher.drive.unwritten import fault_text
from planner.launcher.plan.backend import DownEvidence
from planner.launcher.plan.target import Reach
from planner.launcher.plan.task import cluster_name
from planner.use_cases.launching.launch_target import read_hosts
from planner.use_cases.launching.launches import Launches, open_ids

MADE_BY_US = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{6}")
"""Pattern of launch ids that launch_plan.py makes."""
ANY_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
"""Pattern of ids without `*` and `?`, with which a provider would match other machines too."""
WHERE = "by label and id"


def to_take_down(launches: Launches, run_ids: Sequence[str] | None) -> tuple[list[str], dict[str, PlannerError]]:
    """Return the readable launches, by default the open ones, and the errors of the unreadable ones.

    Raises an error for an unknown launch before anything is taken down.
    """
    if not run_ids:
        try:
            return open_ids(launches.ledger.entries()), dict(launches.ledger.unreadable())
        except StoreError as error:
            fix = "Without it --all names nothing. See what runs: planner launches reap; then: planner launches down ID"
            raise StoreError(error.message, fix=fix) from error
    readable: list[str] = []
    unread: dict[str, PlannerError] = {}
    for run_id in run_ids:
        try:
            launches.ledger.entry(run_id)
            readable.append(run_id)
        except StoreError as error:
            if ANY_ID.fullmatch(run_id) is None:
                raise InputError(f"'{run_id}' is not the id of a launch.", fix="Name it as reap shows it.") from error
            unread[run_id] = error
        except NotFoundError as error:
            if MADE_BY_US.fullmatch(run_id) is None or launches.ledger.entries():
                raise
            unread[run_id] = error  # the ledger is empty: deleted, cut to nothing, or another workspace's
    return readable, unread


def take_down_by_id(launches: Launches, run_ids: Sequence[str]) -> tuple[FoundResource, ...]:
    """End everything with these ids on this machine, on the hosts and in the clouds. Return what was seen then."""
    found = []
    for run_id in run_ids:
        answers = [_ended(launches, reach, run_id) for reach in Reach]
        evidence = DownEvidence(
            down=all(answer.down for answer in answers),
            checks=tuple(check for answer in answers for check in answer.checks),
        )
        found.append(
            FoundResource(
                name=cluster_name(run_id),
                where=WHERE,
                run_id=run_id,
                detail="the ledger does not mention it",
                verdict="should be gone",
                alarm=not evidence.down,
                evidence=evidence,
            )
        )
    return tuple(found)


def _ended(launches: Launches, reach: Reach, run_id: str) -> DownEvidence:
    try:
        if reach is Reach.SSH and not read_hosts(launches.home):
            return DownEvidence(down=True, checks=())
        return launches.backend(reach).down_by_id(run_id)
    except Exception as error:  # noqa: BLE001  one way that fails must not keep the others from being tried
        return DownEvidence(down=False, checks=(f"{reach.value}: {fault_text(error)}",))
