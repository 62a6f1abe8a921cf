"""Supervised fine-tuning packed, padded and with a loss over completions only: tokens and time by hand.

There are 50,000 samples of 700 tokens on average (a prompt of 300, a completion of 400); a sequence has at most 2,048.

| variant | sequences | tokens computed per sample | tokens in the loss per sample |
|---|---|---|---|
| packed | 50,000 x 700 / 2,048 = 17,090 | 700 | 700 |
| padded, one by one | 50,000 | 700 | 700 |
| padded, four at a time | 50,000 | 700 x (1 + 0.5 x 1.029) = 1,060 | 700 |
| padded, sixteen at a time | 50,000 | 700 x (1 + 0.5 x 1.766) = 1,318 | 700 |
| padded to the full length | 50,000 | 2,048 | 700 |
| padded, completion-only | as padded | as padded | 400 |

1.029 and 1.766 are the expected maxima of 4 and 16 standard normals (Harter 1961, table 1); 0.5 is the assumed spread.
"""

from __future__ import annotations

from typing import Any

import pytest

from planner.model.catalog import Catalog
from planner.model.plan.plan import FlopsConvention
from planner.network.flops import flops_per_sample
from planner.scenario.training_setup import LENGTH_VARIATION
from planner.speed.physics.planned_text_config import planned_text_config
from planner.speed.throughput.fastest_strategy import fastest
from tests.speed.throughput.asking import asked

SAMPLES, MEAN, LENGTH = 50_000, 700, 2048
LARGEST = {1: 0.0, 4: 1.0294, 16: 1.7660}
"""Expected maximum of n standard normals."""
COMPLETION = 400
ONE_H100 = {"own": "H100-SXM", "count": 1}
WORK = {"samples_per_epoch": SAMPLES, "epochs": 1, "tokens_per_sample": MEAN}
FULL = {"samples_per_epoch": SAMPLES, "epochs": 1}


def hours(catalog: Catalog, training: dict[str, Any], work: dict[str, Any] = WORK, option: Any = ONE_H100) -> float:
    """Return the hours at benchmark speed."""
    job, candidate = _asked(catalog, training, work, option)
    rate = fastest(job, candidate, catalog)[1].samples_per_s
    assert rate is not None
    return job.samples_per_epoch / rate.value / 3600


def config(catalog: Catalog, training: dict[str, Any], work: dict[str, Any] = WORK, *, micro_batch: int) -> Any:
    """Return the facts of a micro-batch for the physics."""
    job, candidate = _asked(catalog, training, work, ONE_H100)
    return planned_text_config(job.setup, candidate.cluster, micro_batch=micro_batch, micro_batches=1)


def _asked(catalog: Catalog, training: dict[str, Any], work: dict[str, Any], option: Any) -> Any:
    usual = {"precision": "bf16", "checkpointing": "full", "optimizer": "paged-adamw-8bit", "weights": "16bit"}
    return asked(
        catalog, option, workload={"ref": "qwen2.5-1.5b", "seq_len": LENGTH}, work=work, training=usual | training
    )


def test_packed_samples_are_full_sequences_without_padding(catalog: Catalog) -> None:
    """17,090 sequences contain 35 million tokens; no device waits for a longer micro-batch."""
    job, _ = _asked(catalog, {}, WORK, ONE_H100)
    assert job.samples_per_epoch == 17_090
    assert job.tokens_per_epoch == SAMPLES * MEAN
    found = config(catalog, {}, micro_batch=4)
    assert (found["seq_len"], found["variable_length"]) == (LENGTH, 0)


@pytest.mark.parametrize("micro_batch", LARGEST)
def test_padded_samples_are_as_long_as_the_longest_of_their_batch(catalog: Catalog, micro_batch: int) -> None:
    """A sample stays a sequence, and other devices may have a longer one."""
    job, _ = _asked(catalog, {"packing": False}, WORK, ONE_H100)
    assert (job.samples_per_epoch, job.tokens_per_epoch) == (SAMPLES, SAMPLES * MEAN)
    found = config(catalog, {"packing": False}, micro_batch=micro_batch)
    by_hand = MEAN * (1 + LENGTH_VARIATION * LARGEST[micro_batch])
    assert found["seq_len"] == pytest.approx(by_hand, rel=0.02)
    assert found["variable_length"] == 1


def test_samples_without_a_mean_are_full(catalog: Catalog) -> None:
    """They are full too with a trainer that pads all samples to one length."""
    found = config(catalog, {"packing": False}, FULL, micro_batch=4)
    assert (found["seq_len"], found["variable_length"]) == (LENGTH, 0)


def test_no_batch_is_longer_than_the_limit(catalog: Catalog) -> None:
    """1,500 tokens x 1.88 are cut at 2,048."""
    found = config(catalog, {"packing": False}, WORK | {"tokens_per_sample": 1500}, micro_batch=16)
    assert found["seq_len"] == LENGTH


def test_time_is_that_of_the_tokens_that_are_computed(catalog: Catalog) -> None:
    """On one device, hours are proportional to the FLOPs of the lengths above, within a tenth."""
    network = _asked(catalog, {}, WORK, ONE_H100)[0].setup.network

    def flops(sequences: float, length: float) -> float:
        return sequences * flops_per_sample(network, seq_len=length, convention=FlopsConvention.CAUSAL)

    four = {"packing": False, "micro_batch": 4, "global_batch": 16}
    expected = {
        "packed": flops(17_090, LENGTH),
        "padded": flops(SAMPLES, MEAN * (1 + LENGTH_VARIATION * LARGEST[4])),
        "full": flops(SAMPLES, LENGTH),
    }
    found = {
        "packed": hours(catalog, {"micro_batch": 4, "global_batch": 16}),
        "padded": hours(catalog, four),
        "full": hours(catalog, four, FULL),
    }
    for name in ("padded", "full"):
        assert found[name] / found["packed"] == pytest.approx(expected[name] / expected["packed"], rel=0.1)
    assert expected["padded"] / expected["packed"] == pytest.approx(1060 / 700, rel=0.05)


def test_devices_wait_for_the_longest_micro_batch_of_padded_samples_only(catalog: Catalog) -> None:
    """An eighth of the work takes longer on eight devices if lengths differ, and not if all sequences are full."""
    eight = {"own": "H100-SXM", "count": 8}
    how = {"strategy": "fsdp2", "micro_batch": 4, "global_batch": 32}
    packed, padded = ({"packing": flag} | how for flag in (True, False))

    def slowdown(training: dict[str, Any]) -> float:
        alone = {"packing": training["packing"], "micro_batch": 4, "global_batch": 4}
        return 8 * hours(catalog, training, option=eight) / hours(catalog, alone)

    assert slowdown(padded) > 1.05 * slowdown(packed)


def test_a_loss_over_completions_only_computes_every_token() -> None:
    """Torch counts the same FLOPs for 400 of 700 labels as for all: masked labels skip the sum, not the products."""
    torch = pytest.importorskip("torch")
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    from tests.workloads.preference_steps import SEQ_LEN, model_of_network, network, pairs

    decoder = network(layers=2, hidden=128)
    tokens = pairs(decoder, 1)
    counted = {}
    for name, prompt in (("all", 0), ("completions", SEQ_LEN * (MEAN - COMPLETION) // MEAN)):
        labels = tokens.clone()
        labels[:, :prompt] = -100
        with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
            logits = model_of_network(decoder).logits(tokens)
            torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten()).backward()
        counted[name] = counter.get_total_flops()
    assert counted["completions"] == counted["all"]
    whole = 2 * flops_per_sample(decoder, seq_len=SEQ_LEN, convention=FlopsConvention.FULL_ATTENTION)
    assert counted["all"] == pytest.approx(whole, rel=0.01)
