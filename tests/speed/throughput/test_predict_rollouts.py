"""Steps of trainings on their own completions: phases, speed, memory, and alternatives."""

from __future__ import annotations

from typing import Any

import pytest

from planner.decide.options.estimate_plan import estimate_plan
from planner.errors import InputError
from planner.model.answer.rollout_estimate import RolloutEstimate
from planner.model.catalog import Catalog
from planner.model.plan.plan import Plan
from planner.speed.generation.rollout_step import SWITCH_SECONDS
from planner.speed.throughput.fastest_strategy import fastest
from planner.speed.throughput.prediction_notes import phases_text
from planner.speed.throughput.speed import Speed
from tests.speed.throughput.asking import asked

GRPO = {
    "method": "grpo", "group": 8, "prompts": 64, "completion_tokens": {"mean": 900, "most": 4096}, "reference": "model",
    "precision": "bf16", "strategy": "fsdp2",
}  # fmt: skip
H100 = {"own": "H100-SXM", "count": 8}


def answer(catalog: Catalog, option: dict[str, Any] | None = None, ref: str = "qwen2.5-7b", **training: Any) -> Speed:
    """Return the speed of the training, with these keys of `training` changed."""
    stated = {name: value for name, value in (GRPO | training).items() if value is not None}
    job, candidate = asked(
        catalog, option or H100, workload={"ref": ref, "seq_len": 4396}, training=stated,
        work={"samples": 6400, "tokens_per_sample": 300},
    )  # fmt: skip
    return fastest(job, candidate, catalog)[1]


def step(
    catalog: Catalog, option: dict[str, Any] | None = None, ref: str = "qwen2.5-7b", **training: Any
) -> RolloutEstimate:
    """Return the step of the training."""
    found = answer(catalog, option, ref, **training)
    assert found.rollout is not None, found.problems
    return found.rollout


def test_a_rate_is_prompts_over_seconds_of_a_step(catalog: Catalog) -> None:
    """A step has 64 prompts; the range is at least a factor of 2 in both directions."""
    found = answer(catalog)
    assert found.rollout is not None
    assert found.samples_per_s is not None
    assert found.samples_per_s.value == pytest.approx(64 / found.rollout.step_seconds)
    assert found.samples_per_s.high >= 2 * found.samples_per_s.value >= 4 * found.samples_per_s.low
    assert sum(found.rollout.shares.values()) == pytest.approx(1)
    assert phases_text(found.rollout).startswith("a step of 64 prompts takes ")


def test_the_phases_of_each_method(catalog: Catalog) -> None:
    """RLOO has GRPO's phases, and one less without a reference. PPO's critic values tokens and trains as long again."""
    usual = step(catalog).seconds
    assert set(usual) == {"generation", "old_policy", "reference", "training", "weights"}
    assert set(step(catalog, method="rloo").seconds) == set(usual)
    assert "reference" not in step(catalog, reference="none").seconds
    ppo = step(catalog, method="ppo", group=None, prompts=512, reward="model").seconds
    assert ppo["critic"] == ppo["training"]
    assert ppo["values"] == ppo["reference"] == ppo["reward"]


def test_hugging_faces_trainer_takes_one_step_on_fresh_completions(catalog: Catalog) -> None:
    """Its old policy is the trained one, so no pass computes it."""
    assert "old_policy" not in step(catalog, framework="HF Trainer").seconds


@pytest.mark.parametrize(
    "slower",
    [
        pytest.param({"completion_tokens": {"mean": 1800, "most": 4096}}, id="longer completions"),
        pytest.param({"group": 16}, id="larger groups"),
        pytest.param({"generation": {"engine": "trainer"}}, id="the trainer's own generation"),
        pytest.param({"generation": {"devices": 2}}, id="two of the devices generate, in turn"),
        pytest.param({"generation": {"at_once": 4}}, id="four completions at a time"),
        pytest.param({"generation": {"sleep_level": 1}}, id="weights that wait in the host's memory"),
    ],
)
def test_changes_that_take_longer(catalog: Catalog, slower: dict[str, Any]) -> None:
    """Each change takes longer for the same prompts."""
    assert step(catalog, **slower).step_seconds > step(catalog).step_seconds


def test_one_step_ahead_is_faster_than_in_turn(catalog: Catalog) -> None:
    """Simultaneous generation and training on the same division of devices take less than one after the other."""
    apart = step(catalog, generation={"devices": 4})
    ahead = step(catalog, generation={"devices": 4, "asynchronous": True})
    assert ahead.step_seconds < apart.step_seconds
    assert (ahead.training_devices, ahead.generating_devices) == (4, 4)
    assert ahead.shares["waiting"] < apart.shares["waiting"]
    promised = next(change for change in apart.instead if change.what == "generation one step ahead")
    assert promised.step_seconds == pytest.approx(ahead.step_seconds)


def test_shorter_completions_are_as_promised(catalog: Catalog) -> None:
    """The alternative agrees with a plan of completions that are half as long and have half the limit."""
    promised = next(change for change in step(catalog).instead if change.what == "completions half as long")
    assert promised.prompts_ratio > 1.2
    half = step(catalog, completion_tokens={"mean": 450, "most": 2048})
    assert promised.step_seconds == pytest.approx(half.step_seconds, rel=0.2)


def test_memory_of_both_phases(catalog: Catalog) -> None:
    """A copy's devices share 7.6e9 weights of 2 bytes; cache and weights together fit the memory."""
    found = step(catalog)
    generation = next(need for need in found.memory if need.phase == "generation")
    assert generation.parts["weights"] * found.tensor == pytest.approx(7_615_616_512 * 2 / 2**30, rel=1e-6)
    assert generation.total_gib <= 80
    assert {need.phase for need in found.memory} == {"generation", "training"}


def test_the_cache_has_the_engine_s_share_without_weights(catalog: Catalog) -> None:
    """The cache is 0.4 of 79.19 GiB, less 2 of the engine and 14.18 of all weights on one device.

    A sequence takes 28 x 2 x 4 x 128 x 2 bytes per token and 300 + 900 tokens; 64 completions per device need more.
    """
    found = step(catalog, generation={"tensor": 1, "memory_share": 0.4}, prompts=512)
    free = 0.4 * 79.19 - 2 - 7_615_616_512 * 2 / 2**30
    assert found.at_once == int(free * 2**30 / (28 * 2 * 4 * 128 * 2 * 1200))


def test_an_engine_that_never_sleeps_is_not_woken_up(catalog: Catalog) -> None:
    """Waking up takes two seconds of each step; TRL's engine sleeps only if a plan states it."""
    asleep = step(catalog, framework="HF Trainer", generation={"tensor": 1, "sleep_level": 2}).seconds["weights"]
    usual = step(catalog, framework="HF Trainer", generation={"tensor": 1}).seconds["weights"]
    assert asleep - usual == pytest.approx(SWITCH_SECONDS)
    host = step(catalog, framework="HF Trainer", generation={"tensor": 1, "sleep_level": 1}).seconds["weights"]
    assert host - asleep == pytest.approx(2 * 7_615_616_512 * 2 / 20e9)


@pytest.mark.parametrize(
    ("engine", "network", "devices", "at_once", "published"),
    [
        pytest.param({"engine": "trainer"}, "llama-2-13b", 8, 2, 2590.72, id="DeepSpeed-Chat, two at a time"),
        pytest.param({"devices": 2}, "llama-2-13b", 8, 8, 1425.75, id="vLLM, eight at a time"),
        pytest.param({"devices": 4, "tensor": 4}, "llama-2-70b", 16, 4, 7122.65, id="vLLM over four, four at a time"),
    ],
)
def test_published_generation_in_small_batches(
    catalog: Catalog, engine: dict[str, Any], network: str, devices: int, at_once: int, published: float
) -> None:
    """OpenRLHF's benchmark of 2024 on A800s: 1,024 prompts and answers of 1,024 tokens, with its micro-batches."""
    found = step(
        catalog, {"own": "A800-80GB-SXM", "count": 8, "nodes": devices // 8, "network_gbit_per_s": 3200}, ref=network,
        method="ppo", group=None, prompts=1024, completion_tokens={"mean": 1024, "most": 1024}, reward="model",
        checkpointing="full", offload="optimizer", strategy=None, framework="DeepSpeed",
        generation=engine | {"at_once": at_once},
    )  # fmt: skip
    assert found.at_once == at_once
    assert found.seconds["generation"] == pytest.approx(published, rel=0.2)


def test_a_large_network_is_divided_to_generate(catalog: Catalog) -> None:
    """70 billion 16-bit weights do not fit one device of 80 GB."""
    found = step(catalog, {"own": "H100-SXM", "count": 8, "nodes": 4, "network_gbit_per_s": 3200}, ref="llama-3.1-70b")
    assert found.tensor > 1


@pytest.mark.parametrize(
    ("training", "says"),
    [
        pytest.param({"generation": {"devices": 8}}, "the rest cannot be divided evenly", id="no device trains"),
        pytest.param({"generation": {"tensor": 3}}, "do not divide into copies of 3", id="odd copies"),
    ],
)
def test_devices_that_do_not_divide(catalog: Catalog, training: dict[str, Any], says: str) -> None:
    """The reason names the devices."""
    found = answer(catalog, **training)
    assert found.samples_per_s is None
    assert says in found.problems[0].text


def test_unmeasured_kinds_say_so(catalog: Catalog) -> None:
    """Steps with an engine on Hopper were published, but none with a critic."""
    assert answer(catalog).known_from == "rollouts modelled; steps of this kind were published"
    assert answer(catalog, {"own": "L40S", "count": 8}, ref="qwen2.5-1.5b").known_from is not None
    ppo = answer(catalog, method="ppo", group=None, prompts=512)
    assert ppo.known_from == "rollouts modelled; no measurement of this kind"


def test_an_mfu_says_nothing_of_generation(catalog: Catalog) -> None:
    """An MFU is that of the training passes, and not of whole steps."""
    stated = {name: value for name, value in GRPO.items() if value is not None}
    job, candidate = asked(
        catalog, H100, workload={"ref": "qwen2.5-7b", "seq_len": 4396}, training=stated,
        work={"samples": 6400, "tokens_per_sample": 300}, assumptions={"mfu": 0.4},
    )  # fmt: skip
    found = fastest(job, candidate, catalog)[1]
    assert found.samples_per_s is None
    assert "mfu says nothing of generation" in found.problems[0].text


def test_a_service_by_the_token_sells_no_rollouts(catalog: Catalog) -> None:
    """Its price is for existing texts, so no cost is stated."""
    plan = {
        "schema_version": 1, "name": "test", "workload": {"ref": "qwen2.5-7b", "seq_len": 4396}, "training": GRPO,
        "work": {"samples": 6400, "tokens_per_sample": 300},
        "options": [{"offer": "somebody/fine-tuning", "price": "hosted_training", "usd_per_million_tokens": 0.5}],
    }  # fmt: skip
    (option,) = estimate_plan(Plan.model_validate(plan), catalog).options
    assert option.usd_total is None
    assert "generates its own" in (option.why_not or "")


def test_a_reference_cannot_be_computed_beforehand(catalog: Catalog) -> None:
    """Completions are new in every step."""
    with pytest.raises(InputError, match="are new each step"):
        answer(catalog, reference="precomputed")


def test_lengths_must_be_stated(catalog: Catalog) -> None:
    """Without lengths of completions there is no estimate."""
    with pytest.raises(InputError, match="how long the prompts and completions of grpo are"):
        answer(catalog, completion_tokens=None)
