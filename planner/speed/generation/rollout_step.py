"""Phases of one step of a training on its own completions: which devices work in each, and which wait."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class RolloutPhase(StrEnum):
    """Phases of a step in their order."""

    GENERATION = "generation"
    """The engine writes completions."""
    REWARD = "reward"
    """A reward model scores them. A reward function takes no time of the devices."""
    OLD_POLICY = "old_policy"
    """The trainer computes log-probabilities of the completions under the weights that wrote them."""
    REFERENCE = "reference"
    """The trainer computes log-probabilities under the frozen reference."""
    VALUES = "values"
    """The critic values every token (PPO)."""
    TRAINING = "training"
    """The policy's forward and backward passes and optimizer steps."""
    CRITIC = "critic"
    """The critic's forward and backward passes and optimizer steps (PPO)."""
    WEIGHTS = "weights"
    """The new weights go to the engine."""
    WAITING = "waiting"
    """Devices stand still: for the last completion, for the other group of devices, or for the host."""


HOST_SHARE = 0.05
"""Share of a step in which the host scores, pads and counts while devices stand still. Source: step less its phases in
verl's tables, 3 to 7 % (docs/decisions/2026-11-27-preferences-and-rollouts.md)."""
SWITCH_SECONDS = 2.0
"""Seconds to put an engine to sleep and wake it up again, besides moving weights. Source: vLLM's log lines of falling
asleep (1.3 to 1.6 s) and waking up (0.3 s) in huggingface/trl issue 4086."""


@dataclass(frozen=True)
class RolloutStep:
    """Seconds of each phase on its own devices, and the way in which the two groups of devices work together."""

    busy: dict[RolloutPhase, float]
    """Seconds of each phase, without waiting."""
    tail: float
    """Seconds in which the engine's devices wait for the longest completion of all."""
    training_devices: int
    generating_devices: int
    """Devices that only generate; 0 if the training devices generate."""
    ahead: bool = False
    """True if the next step is generated while this one is trained."""

    @property
    def devices(self) -> int:
        """Number of all devices."""
        return self.training_devices + self.generating_devices

    @property
    def seconds(self) -> float:
        """Seconds from one step to the next.

        seconds = (generation + tail + training phases + weights) / (1 - host's share). If generation runs ahead, the
        longer of generation with its tail and the training phases replaces their sum.
        """
        generating = self.busy.get(RolloutPhase.GENERATION, 0.0) + self.tail
        weights = self.busy.get(RolloutPhase.WEIGHTS, 0.0)
        training = sum(self.busy.values()) - generating + self.tail - weights
        together = max(generating, training) if self.ahead else generating + training
        return (together + weights) / (1 - HOST_SHARE)

    @property
    def shares(self) -> dict[RolloutPhase, float]:
        """Share of all device-seconds that each phase takes, the largest first. The shares add up to 1."""
        whole = self.devices * self.seconds
        shares = {phase: seconds * self._devices_of(phase) / whole for phase, seconds in self.busy.items() if seconds}
        shares[RolloutPhase.WAITING] = max(0.0, 1 - sum(shares.values()))
        return dict(sorted(shares.items(), key=lambda pair: -pair[1]))

    def _devices_of(self, phase: RolloutPhase) -> int:
        """Return the number of devices that work in a phase."""
        if not self.generating_devices or phase is RolloutPhase.WEIGHTS:
            return self.devices
        return self.generating_devices if phase is RolloutPhase.GENERATION else self.training_devices


@dataclass(frozen=True)
class TrainedPasses:
    """Passes of a step besides its training, and the time of a forward pass relative to the training."""

    training_seconds: float
    """Seconds of forward and backward passes over all completions, with the optimizer."""
    forward_share: float
    """Share of those seconds that one forward pass takes alone."""
    reference: bool
    old_policy: bool
    reward_model: bool
    critic: bool
    """A second trained network of the same size, with a pass of its own over the completions."""

    @property
    def forward_passes(self) -> int:
        """Number of passes over all completions without gradients."""
        return int(self.reference) + int(self.old_policy) + int(self.reward_model) + int(self.critic)

    def phases(self) -> dict[RolloutPhase, float]:
        """Return the seconds of each phase: those of a forward pass, or those of the training."""
        forward = self.training_seconds * self.forward_share
        return {
            RolloutPhase.REWARD: forward * self.reward_model,
            RolloutPhase.OLD_POLICY: forward * self.old_policy,
            RolloutPhase.REFERENCE: forward * self.reference,
            RolloutPhase.VALUES: forward * self.critic,
            RolloutPhase.TRAINING: self.training_seconds,
            RolloutPhase.CRITIC: self.training_seconds * self.critic,
        }


def forward_share(*, recomputed: float, adapters: bool) -> float:
    """Return the share of a training pass that its forward pass takes.

    Training of all weights: 1 / (3 + recomputed), because the backward pass takes twice the forward pass.
    Adapters: 1 / (2 + recomputed), because frozen weights need no gradient.
    """
    return 1 / ((2 if adapters else 3) + recomputed)


def weight_seconds(*, weight_bytes: float, rate: float, switches: bool) -> float:
    """Return the seconds in which new weights reach the engine: all their bytes over a device's link.

    Every device of an engine receives the parameters that other devices hold. `rate` is the bytes per second of its
    slowest link. `switches` is true if the engine sleeps while its devices train, so that it must be woken up.
    """
    return weight_bytes / rate + (SWITCH_SECONDS if switches else 0.0)
