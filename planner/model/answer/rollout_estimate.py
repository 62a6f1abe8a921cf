"""One step of a training on its own completions, as an answer shows it: phases, memory, possible changes."""

from __future__ import annotations

from planner.model.base import Count, Frozen, NonNegative, Positive, Text
from planner.model.quantity import Quantity


class RolloutChange(Frozen):
    """A step under another arrangement."""

    what: Text
    """Description of the change."""
    step_seconds: Positive
    prompts_ratio: Positive
    """Prompts per second relative to the plan's."""


class RolloutMemory(Frozen):
    """GiB on each device in one phase, by content."""

    phase: Text
    parts: dict[str, NonNegative]

    @property
    def total_gib(self) -> float:
        """Sum of the parts."""
        return sum(self.parts.values())


class RolloutEstimate(Frozen):
    """Split of a step's seconds, and the devices."""

    step_seconds: Positive
    prompts: Count
    completions: Count
    shares: dict[str, NonNegative]
    """Share of all device-seconds by phase, the largest first: generation, reward, old_policy, reference, values,
    training, critic, weights, waiting. They add up to 1.
    """
    seconds: dict[str, NonNegative]
    """Seconds of the phases on their own devices, without waiting."""
    training_devices: Count
    generating_devices: NonNegative
    """Devices that only generate; 0 if completions are generated on the training devices."""
    engine: Text
    tensor: Count
    """Devices that share one copy of the weights during generation."""
    at_once: Count
    """Completions that one copy writes at a time."""
    memory: tuple[RolloutMemory, ...]
    instead: tuple[RolloutChange, ...] = ()
    measured_kind: bool
    """True if steps of this kind were measured and published; otherwise the range is at least a factor of 2."""
    usd_per_1000_prompts: Quantity | None = None
    """Cost of 1,000 prompts with their completions, as part of all that one training costs."""
