"""Contract of every backend: see launcher/plan/backend.py."""

from __future__ import annotations

from pathlib import Path

from planner.launcher.plan.backend import Backend, Launch, LaunchPhase


def check_never_submitted(backend: Backend, launch: Launch, into: Path) -> None:
    """Ask for a launch that never existed: a look changes nothing, no results come, and `down` is proven."""
    status = backend.status(launch)
    assert status.phase in (LaunchPhase.LOST, LaunchPhase.UNKNOWN, LaunchPhase.REFUSED), status
    assert status.launched is None
    collected = backend.collect(launch, into)
    assert collected.results == ()
    assert collected.steps == ()
    assert not collected.complete
    for _ in range(2):
        backend.down(launch)
    evidence = backend.verify_down(launch)
    assert evidence.down
    assert evidence.checks
    assert all(evidence.checks)
    assert launch.run_id not in {leftover.run_id for leftover in backend.find_leftovers([launch])}
