"""Write a step with rollouts in words: its phases, the memory of each, and steps under other settings."""

from __future__ import annotations

from planner.model.answer.rollout_estimate import RolloutEstimate

LEAST_SHOWN_SHARE = 0.005
"""Smallest share of a step for which a phase is named."""


def shares_text(estimate: RolloutEstimate) -> str:
    """Return the phases with their shares, the longest first: `generation 62 %, training 30 %, waiting 8 %`."""
    shares = estimate.shares.items()
    return ", ".join(
        f"{name.replace('_', ' ')} {100 * share:.0f} %" for name, share in shares if share >= LEAST_SHOWN_SHARE
    )


def phases_text(estimate: RolloutEstimate) -> str:
    """Return the seconds of a step and its phases in one line."""
    return f"a step of {estimate.prompts} prompts takes {estimate.step_seconds:,.3g} s: {shares_text(estimate)}"


def memory_text(estimate: RolloutEstimate) -> str:
    """Return the memory that each phase needs on one device, with its parts."""
    phases = [
        f"{need.phase} {need.total_gib:.0f} GiB ({', '.join(f'{name} {gib:.1f}' for name, gib in need.parts.items())})"
        for need in estimate.memory
    ]
    return f"memory per device: {'; '.join(phases)}"


def changes_text(estimate: RolloutEstimate) -> str:
    """Return the seconds of a step under each other setting, and its prompts per second relative to the plan's."""
    changes = [
        f"{change.what}: {change.step_seconds:,.3g} s (x{change.prompts_ratio:.2g})" for change in estimate.instead
    ]
    return f"a step with other settings: {'; '.join(changes)}"
