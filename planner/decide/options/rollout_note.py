"""The line below a table about a training on its own completions: the phases of a step, and what prompts cost."""

from __future__ import annotations

from collections.abc import Sequence

from planner.model.answer.option_estimate import OptionEstimate
from planner.speed.throughput.rollout_text import shares_text


def rollout_note(options: Sequence[OptionEstimate]) -> str | None:
    """Return the phases of a step on the option whose prompts cost least; None where no option has rollouts.

    Without a price that is known, of the first option.
    """
    found = [(one, one.rollout) for one in options if one.rollout is not None]
    if not found:
        return None
    priced = [pair for pair in found if pair[1].usd_per_1000_prompts is not None]
    option, step = min(priced, key=_usd, default=found[0])
    usd = step.usd_per_1000_prompts
    cost = "" if usd is None else f"; 1,000 prompts cost {usd.value:,.3g} USD"
    size = f"a step of {step.completions:,} completions, {step.step_seconds:,.3g} s at benchmark speed"
    return f"{option.display_name}: {size}: {shares_text(step)}{cost}"


def _usd(pair: tuple[OptionEstimate, object]) -> float:
    rollout = pair[0].rollout
    assert rollout is not None, "only these are compared"
    assert rollout.usd_per_1000_prompts is not None, "only these are compared"
    return rollout.usd_per_1000_prompts.value
