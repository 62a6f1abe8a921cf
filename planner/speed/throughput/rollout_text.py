"""A step with rollouts in words: its phases, its memory, what would change."""

from __future__ import annotations

from planner.model.answer.rollout_estimate import RolloutEstimate

SEEN = 0.005
"""Part of a step below which a phase is left out."""


def shares_text(estimate: RolloutEstimate) -> str:
    """Write the phases, the longest first: generation 62 %, training 30 %, waiting 8 %."""
    shares = estimate.shares.items()
    return ", ".join(f"{name.replace('_', ' ')} {100 * share:.0f} %" for name, share in shares if share >= SEEN)


def phases_text(estimate: RolloutEstimate) -> str:
    """Write the seconds of a step and its phases in one line."""
    return f"a step of {estimate.prompts} prompts takes {estimate.step_seconds:,.3g} s: {shares_text(estimate)}"


def memory_text(estimate: RolloutEstimate) -> str:
    """Write the memory of each phase on a device."""
    told = [
        f"{one.phase} {one.total_gib:.0f} GiB ({', '.join(f'{name} {gib:.1f}' for name, gib in one.parts.items())})"
        for one in estimate.memory
    ]
    return f"memory of a device: {'; '.join(told)}"


def changes_text(estimate: RolloutEstimate) -> str:
    """Write what would change under other arrangements, with prompts per second over those of the plan."""
    told = [f"{one.what}: {one.step_seconds:,.3g} s (x{one.prompts_ratio:.2g})" for one in estimate.instead]
    return f"a step instead, with {'; '.join(told)}"
