"""A backend that follows a test's script and remembers its calls, for cases that a real one cannot produce."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path

from planner.errors import NodeError
from planner.launcher.plan.backend import (
    Collected,
    DownEvidence,
    Launch,
    LaunchPhase,
    Leftover,
    NodeStatus,
    ProviderTime,
)
from planner.launcher.plan.sighting import Sighting


@dataclass
class ScriptedBackend:
    """`statuses` are given one after the other, the last one for ever; errors are raised where they stand."""

    statuses: list[NodeStatus] = field(default_factory=lambda: [NodeStatus(phase=LaunchPhase.SUCCEEDED)])
    submit_error: NodeError | None = None
    collect_errors: int = 0
    """Number of times that collecting fails before it works."""
    results: int = 1
    steps: int = 1
    complete: bool = True
    still_up: int = 0
    """Number of times that verification finds something before it finds nothing."""
    time: ProviderTime = field(default_factory=ProviderTime)
    """Provider's statement of the time; none unless a test sets it."""
    leftovers: list[Leftover] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    """The changing questions in order: submit, collect, down, verify."""

    def check(self, launch: Launch) -> tuple[str, ...]:
        return (f"{launch.target.id}: would do",)

    def account(self, launch: Launch) -> str | None:
        return None

    def ready(self, launch: Launch) -> None:
        del launch

    def submit(self, launch: Launch) -> None:
        self.asked.append("submit")
        if self.submit_error is not None:
            raise self.submit_error

    def status(self, launch: Launch) -> NodeStatus:
        return self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]

    def logs(self, launch: Launch, write: Callable[[str], None]) -> None:
        write("a log\n")

    def collect(self, launch: Launch, into: Path) -> Collected:
        self.asked.append("collect")
        if self.collect_errors:
            self.collect_errors -= 1
            raise NodeError("No space left on device.")
        return Collected(
            folder=into,
            results=tuple(into / f"result-{number}.json" for number in range(self.results)),
            steps=tuple(into / f"steps-{number}.jsonl" for number in range(self.steps)),
            log=None,
            complete=self.complete,
        )

    def sight(self, launch: Launch) -> tuple[Sighting, ...]:
        return ()

    def other_witness(self, launch: Launch) -> str | None:
        return None

    def down(self, launch: Launch) -> None:
        self.asked.append("down")

    def verify_down(self, launch: Launch) -> DownEvidence:
        self.asked.append("verify")
        if self.still_up:
            self.still_up -= 1
            return DownEvidence(down=False, checks=("describe_instances: 1 running",))
        return DownEvidence(down=True, checks=("describe_instances: none",))

    def down_by_id(self, run_id: str) -> DownEvidence:
        self.asked.append(f"down {run_id}")
        return DownEvidence(down=True, checks=(f"{run_id}: 0",))

    def provider_time(self, launch: Launch) -> ProviderTime:
        return self.time

    def find_leftovers(self, known: Collection[Launch]) -> list[Leftover]:
        return self.leftovers

    def delete_part(self, left: Leftover) -> None:
        self.leftovers.remove(left)

    def close(self) -> None:
        pass
