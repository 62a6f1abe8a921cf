"""Laws over trainings drawn at random: a setting that is known to be no slower is not predicted to be slower."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import pytest
from hypothesis import assume, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from planner.model.network.workload import Strategy
from planner.speed.throughput.predict import predict
from planner.speed.throughput.prediction import Prediction
from tests.bundled import bundled_catalog
from tests.speed.throughput.asking import asked

pytestmark = pytest.mark.slow

NETWORKS = ("pythia-410m", "qwen3-0.6b", "llama-3.2-1b", "qwen2.5-7b", "llama3-8b", "qwen3-30b-a3b")
FRAMEWORKS = ("HF Trainer", "TRL", "axolotl", "torchtune", "DeepSpeed", "Megatron-LM", "torchtitan")
MACHINES = (
    "lambda/gpu_1x_h100_sxm5",
    "lambda/gpu_8x_h100_sxm5",
    "aws/p4d.24xlarge",
    "aws/p3.2xlarge",
    "aws/p3.16xlarge",
    "azure/Standard_NC64as_T4_v3",
    "aws/g5.48xlarge",
    "runpod/1x-rtx-4090",
)
NO_NEWER_FORMAT = ("aws/p3.2xlarge", "aws/p3.16xlarge", "azure/Standard_NC64as_T4_v3")
"""V100 and T4 have no units for bf16."""
BETTER = (("aws/p4d.24xlarge", "aws/p4de.24xlarge"), ("lambda/gpu_8x_h100_sxm5", "aws/p5en.48xlarge"))
"""A100 40 GB and 80 GB; H100 and H200 with NVLink: more memory and bandwidth, the same cores."""
LARGE = ("qwen2.5-7b", "llama3-8b", "qwen3-30b-a3b")
NOISE = 0.07
"""Error of one accelerator's own measurements (test_catalog_laws.py)."""


def trainings(
    networks: Sequence[str] = NETWORKS,
    lengths: Sequence[int] = (256, 512, 1024),
    strategies: Sequence[str] = tuple(Strategy),
) -> st.SearchStrategy[dict[str, Any]]:
    """Draw a network, a machine and the settings of a training."""
    return st.fixed_dictionaries(
        {
            "network": st.sampled_from(networks),
            "seq_len": st.sampled_from(lengths),
            "machine": st.sampled_from(MACHINES),
            "accumulation": st.sampled_from([1, 4]),
            "training": st.fixed_dictionaries(
                {
                    "micro_batch": st.sampled_from([2, 4, 8, 16]),
                    "checkpointing": st.sampled_from(["none", "selective", "full"]),
                    "strategy": st.sampled_from(strategies),
                },
                optional={"framework": st.sampled_from(FRAMEWORKS)},
            ),
        }
    )


def tokens_per_s(
    drawn: dict[str, Any], *, seq_len: int | None = None, machine: str | None = None, **training: Any
) -> float:
    """Return the tokens that all accelerators train in a second. Skip trainings that cannot be predicted."""
    offer, how = machine or drawn["machine"], drawn["training"] | training
    devices = bundled_catalog().nodes[offer].accelerators
    job, candidate = asked(
        bundled_catalog(),
        {"offer": offer, "usd_per_hour": 1.0},
        workload={"ref": drawn["network"], "seq_len": seq_len or drawn["seq_len"]},
        training=how | {"global_batch": how["micro_batch"] * drawn["accumulation"] * devices},
    )
    found = predict(job, candidate, bundled_catalog())
    assume(isinstance(found, Prediction))
    return cast(Prediction, found).samples_per_s.value * (seq_len or drawn["seq_len"])


@hypothesis_settings(max_examples=100, deadline=None)
@given(trainings())
def test_bf16_is_not_slower_than_fp32(drawn: dict[str, Any]) -> None:
    assume(drawn["machine"] not in NO_NEWER_FORMAT)
    assert tokens_per_s(drawn, precision="bf16") >= tokens_per_s(drawn, precision="fp32") * (1 - NOISE)


@hypothesis_settings(max_examples=100, deadline=None)
@given(trainings(), st.sampled_from(BETTER))
def test_a_better_card_of_the_same_kind_never_loses(drawn: dict[str, Any], cards: tuple[str, str]) -> None:
    usual, better = (tokens_per_s(drawn, machine=machine) for machine in cards)
    assert better >= usual * (1 - NOISE)


@hypothesis_settings(max_examples=100, deadline=None)
@given(trainings())
def test_a_longer_sequence_is_no_cheaper_per_token(drawn: dict[str, Any]) -> None:
    """Half the samples of twice the length have equally many tokens, and twice the attention.

    Attention reaches more of the peak at greater lengths, which is worth up to 1 % of a small network's step.
    """
    batch = drawn["training"]["micro_batch"]
    longer = tokens_per_s(drawn, seq_len=2 * drawn["seq_len"], micro_batch=batch // 2)
    assert longer <= tokens_per_s(drawn) * 1.01


@hypothesis_settings(max_examples=100, deadline=None)
@given(trainings(), st.sampled_from(["optimizer", "all"]))
def test_offloading_is_never_faster(drawn: dict[str, Any], offload: str) -> None:
    assert tokens_per_s(drawn, offload=offload) <= tokens_per_s(drawn) * (1 + 1e-9)


@hypothesis_settings(max_examples=100, deadline=None)
@given(trainings(LARGE, lengths=(2048, 4096)), st.integers(1, 64))
def test_adapters_are_not_slower_than_training_every_weight(drawn: dict[str, Any], rank: int) -> None:
    """Recomputation, kernels and 16-bit weights are equal, whole on each accelerator or sharded.

    Networks and batches are large, because steps of small ones wait for the host, which also launches the kernels of
    adapters. There, adapters are slower in reality too.
    """
    adapters = {"rank": rank, "frozen": "16bit"}
    assert tokens_per_s(drawn, adapters=adapters) >= tokens_per_s(drawn) * (1 - 1e-9)
