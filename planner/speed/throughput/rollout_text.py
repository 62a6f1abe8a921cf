"""Texts about a step with rollouts: its phases, its memory, and alternatives."""

from __future__ import annotations

from planner.model.answer.rollout_estimate import RolloutEstimate

SEEN = 0.005
"""Least share of a step for a phase to be named."""


def shares_text(estimate: RolloutEstimate) -> str:
    """Return the phases, the longest first: generation 62 %, training 30 %, waiting 8 %."""
    shares = estimate.shares.items()
    return ", ".join(f"{name.replace('_', ' ')} {100 * share:.0f} %" for name, share in shares if share >= SEEN)


def phases_text(estimate: RolloutEstimate) -> str:
    """Return the seconds of a step and its phases in one line."""
    return f"a step of {estimate.prompts} prompts takes {estimate.step_seconds:,.3g} s: {shares_text(estimate)}"


def memory_text(estimate: RolloutEstimate) -> str:
    """Return the memory of each phase on a device."""
    phases = [
        f"{need.phase} {need.total_gib:.0f} GiB ({', '.join(f'{name} {gib:.1f}' for name, gib in need.parts.items())})"
        for need in estimate.memory
    ]
    return f"memory of a device: {'; '.join(phases)}"


def changes_text(estimate: RolloutEstimate) -> str:
    """Return the seconds of alternative steps, with their prompts per second over those of the plan."""
    changes = [
        f"{change.what}: {change.step_seconds:,.3g} s (x{change.prompts_ratio:.2g})" for change in estimate.instead
    ]
    return f"a step instead, with {'; '.join(changes)}"
