"""One step of a training on its own completions, as phases: who works in each, and who waits."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class RolloutPhase(StrEnum):
    """What happens in a step, in this order."""

    GENERATION = "generation"
    """Completions are written."""
    REWARD = "reward"
    """A reward model scores them. A reward function takes no time of the devices."""
    OLD_POLICY = "old_policy"
    """Log-probabilities of the completions under the weights that wrote them, by the trainer."""
    REFERENCE = "reference"
    """Log-probabilities under the frozen reference."""
    VALUES = "values"
    """The critic values every token (PPO)."""
    TRAINING = "training"
    """Forward and backward passes and the optimizer's steps of the policy."""
    CRITIC = "critic"
    """The same of the critic (PPO)."""
    WEIGHTS = "weights"
    """The new weights go to the engine, which wakes up or is told."""
    WAITING = "waiting"
    """Devices stand still: for the last completion, for the other group of devices, or for the host."""


ON_ENGINE = (RolloutPhase.GENERATION,)
"""Phases of the devices that generate. The others are of those that train; the weights are of both."""
HOST_SHARE = 0.05
"""Of a step, in which the host scores, pads and counts while devices stand still. Source: step less its phases in
verl's tables, 3 to 7 % (docs/decisions/2026-11-27-preferences-and-rollouts.md)."""
SWITCH_SECONDS = 2.0
"""To put an engine to sleep and wake it up again, besides moving weights. Source: vLLM's log lines of falling asleep
(1.3 to 1.6 s) and waking up (0.3 s) in huggingface/trl issue 4086."""


@dataclass(frozen=True)
class RolloutStep:
    """The seconds of each phase on its own devices, and how the two groups of devices work together."""

    busy: dict[RolloutPhase, float]
    """Seconds of the phases, without waiting."""
    tail: float
    """Seconds in which the engine's devices wait for the longest completion of all."""
    training_devices: int
    generating_devices: int
    """0: they are those that train."""
    ahead: bool = False
    """Generation of the next step goes on while this one is trained."""

    @property
    def devices(self) -> int:
        """All devices."""
        return self.training_devices + self.generating_devices

    @property
    def seconds(self) -> float:
        """Seconds from one step to the next.

        (generation + tail + everything else) / (1 - host's share); ahead: the longer of generation and everything else
        in place of their sum, and the weights.
        """
        generating = sum(self.busy.get(phase, 0.0) for phase in ON_ENGINE) + self.tail
        weights = self.busy.get(RolloutPhase.WEIGHTS, 0.0)
        training = sum(self.busy.values()) - generating + self.tail - weights
        together = max(generating, training) if self.ahead else generating + training
        return (together + weights) / (1 - HOST_SHARE)

    @property
    def shares(self) -> dict[RolloutPhase, float]:
        """Return the part of all device-seconds that each phase takes, the largest first; they add up to 1."""
        whole = self.devices * self.seconds
        shares = {phase: seconds * self._devices_of(phase) / whole for phase, seconds in self.busy.items() if seconds}
        shares[RolloutPhase.WAITING] = max(0.0, 1 - sum(shares.values()))
        return dict(sorted(shares.items(), key=lambda pair: -pair[1]))

    def _devices_of(self, phase: RolloutPhase) -> int:
        """Return how many devices work in a phase."""
        if not self.generating_devices or phase is RolloutPhase.WEIGHTS:
            return self.devices
        return self.generating_devices if phase in ON_ENGINE else self.training_devices


@dataclass(frozen=True)
class TrainedPasses:
    """Which passes of a trained network a step has besides its training, and what a forward pass is of that."""

    training_seconds: float
    """Of forward and backward passes over all completions, with the optimizer."""
    forward_share: float
    """Of those seconds that one forward pass takes alone."""
    reference: bool
    old_policy: bool
    reward_model: bool
    critic: bool
    """A second trained network of the same size, with a pass of its own over the completions."""

    @property
    def forward_passes(self) -> int:
        """Passes over all completions without gradients."""
        return int(self.reference) + int(self.old_policy) + int(self.reward_model) + int(self.critic)

    def phases(self) -> dict[RolloutPhase, float]:
        """Return the seconds of each: a forward pass, or as long as the training."""
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
    """Return the part of a training pass that its forward pass alone takes.

    All weights: 1 / (3 + recomputed): forward 1, backward 2, and what is computed again. Adapters: 1 / (2 + recomputed)
    as frozen weights need no gradient of their own.
    """
    return 1 / ((2 if adapters else 3) + recomputed)


def weight_seconds(*, weight_bytes: float, rate: float, switches: bool) -> float:
    """Return the seconds in which new weights reach the engine: all their bytes over a device's link.

    Every device of an engine gets the parameters that other devices hold. `rate`: bytes/s of its slowest link.
    `switches`: the engine sleeps while its devices train, and has to be woken up.
    """
    return weight_bytes / rate + (SWITCH_SECONDS if switches else 0.0)
