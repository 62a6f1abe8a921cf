"""One step of a training on its own completions, as an answer shows it: phases, memory, what would change."""

from __future__ import annotations

from planner.model.base import Count, Frozen, NonNegative, Positive, Text
from planner.model.quantity import Quantity


class RolloutChange(Frozen):
    """A step under another arrangement."""

    what: Text
    """What is different."""
    step_seconds: Positive
    prompts_ratio: Positive
    """Prompts per second over those of the plan."""


class RolloutMemory(Frozen):
    """GiB on each device in one phase, by what takes them."""

    phase: Text
    parts: dict[str, NonNegative]

    @property
    def total_gib(self) -> float:
        """The sum of the parts."""
        return sum(self.parts.values())


class RolloutEstimate(Frozen):
    """Where the seconds of a step go, on which devices."""

    step_seconds: Positive
    prompts: Count
    completions: Count
    shares: dict[str, NonNegative]
    """Part of all device-seconds, by phase, the largest first: generation, reward, old_policy, reference, values,
    training, critic, weights, waiting. They add up to 1."""
    seconds: dict[str, NonNegative]
    """Of the phases on their own devices, without waiting."""
    training_devices: Count
    generating_devices: NonNegative
    """0: completions are generated on the devices that train."""
    engine: Text
    tensor: Count
    """Devices that share one copy of the weights while they generate."""
    at_once: Count
    """Completions that one copy writes at a time."""
    memory: tuple[RolloutMemory, ...]
    instead: tuple[RolloutChange, ...] = ()
    measured_kind: bool
    """Whether steps of this kind were measured and published; else the range reaches at least a factor of 2."""
    usd_per_1000_prompts: Quantity | None = None
    """What 1,000 prompts with their completions cost, of all that one training costs."""
