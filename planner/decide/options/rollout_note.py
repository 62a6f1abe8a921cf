"""Write a note on a training on its own completions: phases of a step, and the cost of prompts."""

from __future__ import annotations

from collections.abc import Sequence

from planner.model.answer.option_estimate import OptionEstimate
from planner.speed.throughput.prediction_notes import shares_text


def rollout_note(options: Sequence[OptionEstimate]) -> str | None:
    """Return the phases of a step on the option with the cheapest prompts; None if no option has rollouts.

    Without a known price it is the first option.
    """
    found = [(option, option.rollout) for option in options if option.rollout is not None]
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
