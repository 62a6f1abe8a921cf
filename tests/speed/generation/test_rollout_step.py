"""Sums of a step's phases, on one group of devices and on two, against sums done by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.speed.generation.rollout_step import (
    HOST_SHARE,
    SWITCH_SECONDS,
    RolloutPhase,
    RolloutStep,
    TrainedPasses,
    forward_share,
    weight_seconds,
)

BUSY = {
    RolloutPhase.GENERATION: 40.0, RolloutPhase.REFERENCE: 5.0, RolloutPhase.OLD_POLICY: 5.0,
    RolloutPhase.TRAINING: 20.0, RolloutPhase.WEIGHTS: 3.0,
}  # fmt: skip
ACTIVE = 1 - HOST_SHARE


def step(*, generating: int = 0, ahead: bool = False, tail: float = 4.0) -> RolloutStep:
    """Return a step of eight devices that train, and of `generating` others that generate."""
    return RolloutStep(BUSY, tail=tail, training_devices=8, generating_devices=generating, ahead=ahead)


def test_on_the_same_devices_phases_add_up() -> None:
    """40 + 4 of tail + 5 + 5 + 20 + 3 = 77 seconds, and the host's share; shares are those of time."""
    together = step()
    assert together.seconds == pytest.approx(77 / ACTIVE)
    assert together.shares[RolloutPhase.GENERATION] == pytest.approx(40 / 77 * ACTIVE)
    assert together.shares[RolloutPhase.WAITING] == pytest.approx(1 - 73 / 77 * ACTIVE)


def test_on_other_devices_one_group_stands_still() -> None:
    """Equal seconds on twice the devices: each group waits while the other works."""
    apart = step(generating=8)
    assert apart.seconds == step().seconds
    assert apart.shares[RolloutPhase.GENERATION] == pytest.approx(40 / 77 * ACTIVE / 2)
    assert apart.shares[RolloutPhase.WAITING] > 0.45


def test_one_step_ahead_the_longer_group_decides() -> None:
    """max(44, 30) + 3 seconds: training hides behind generation."""
    assert step(generating=8, ahead=True).seconds == pytest.approx(47 / ACTIVE)


@given(
    generation=st.floats(0.1, 1e4), training=st.floats(0.1, 1e4), tail=st.floats(0, 1e3),
    generating=st.integers(1, 64), ahead=st.booleans(),
)  # fmt: skip
def test_shares_add_up_and_ahead_never_takes_longer(
    generation: float, training: float, tail: float, generating: int, ahead: bool
) -> None:
    """Shares of device-seconds are positive and add up to one; running ahead is never slower."""
    busy = {RolloutPhase.GENERATION: generation, RolloutPhase.TRAINING: training}
    asked, overlapped = (
        RolloutStep(busy, tail=tail, training_devices=8, generating_devices=generating, ahead=way)
        for way in (ahead, True)
    )
    assert sum(asked.shares.values()) == pytest.approx(1)
    assert min(asked.shares.values()) >= 0
    assert overlapped.seconds <= asked.seconds * (1 + 1e-9)


def test_ppo_trains_a_critic_and_scores_with_a_model() -> None:
    """A forward pass takes a quarter of 80 seconds of training with full recomputation: 20."""
    share = forward_share(recomputed=1.0, adapters=False)
    passes = TrainedPasses(80.0, share, reference=True, old_policy=True, reward_model=True, critic=True)
    assert passes.phases() == {
        RolloutPhase.REWARD: 20.0, RolloutPhase.OLD_POLICY: 20.0, RolloutPhase.REFERENCE: 20.0,
        RolloutPhase.VALUES: 20.0, RolloutPhase.TRAINING: 80.0, RolloutPhase.CRITIC: 80.0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("recomputed", "adapters", "share"), [(0.0, False, 1 / 3), (1.0, False, 1 / 4), (0.0, True, 1 / 2)]
)
def test_share_of_a_forward_pass_in_a_training_pass(recomputed: float, adapters: bool, share: float) -> None:
    """One of three, one of four with recomputation, one of two with frozen weights."""
    assert forward_share(recomputed=recomputed, adapters=adapters) == pytest.approx(share)


def test_weights_move_over_the_link_and_an_engine_wakes_up() -> None:
    """16 GB at 40 GB/s are 0.4 s; on the devices that train, the switch comes on top."""
    assert weight_seconds(weight_bytes=16e9, rate=40e9, switches=False) == pytest.approx(0.4)
    assert weight_seconds(weight_bytes=16e9, rate=40e9, switches=True) == pytest.approx(0.4 + SWITCH_SECONDS)
