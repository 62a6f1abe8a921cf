"""Memory settings that follow from the names of trainers and cards, and the memory of DeepSpeed's step."""

from __future__ import annotations

import pytest

from benchmarks.memory_reports import OTHER_VALUES, MemoryReport, predicted, score_reports
from planner.adapters.csv_rows import read_rows
from planner.adapters.workspace import catalogs_dir
from planner.model.hardware.machines import Accelerator
from planner.model.network.adapters import Adapters, FrozenFormat
from planner.model.network.trainer_memory import (
    Attention,
    Kernels,
    Loss,
    Optimizer,
    TrainerMemory,
    TrainerSettings,
    WeightFormat,
)
from planner.model.network.workload import Checkpointing, Precision, Strategy
from planner.scenario.trainers import TRAINERS, habits_of
from planner.scenario.training_setup import TrainingSetup
from planner.speed.memory.constants import FITTED
from planner.speed.memory.memory import device_memory
from planner.speed.memory.planned_settings import (
    assumed_attention,
    planned_settings,
    planned_trainer_memory,
    usual_checkpointing,
)
from planner.speed.memory.states import state_bytes_per_parameter
from planner.use_cases.networks import find_architecture
from tests.bundled import bundled_catalog

GIB = 2**30
CARDS = {card.id: card for card in read_rows(Accelerator, catalogs_dir() / "hardware" / "accelerators.csv")}
REPORTS = read_rows(MemoryReport, catalogs_dir() / "memory" / "reports.csv")
METHOD_REPORTS = read_rows(MemoryReport, catalogs_dir() / "memory" / "method_reports.csv")


@pytest.mark.parametrize(
    ("framework", "attention"),
    [
        pytest.param("HF Trainer 4.30", Attention.EAGER, id="before 4.36"),
        pytest.param("HF Trainer 4.36", Attention.SDPA, id="4.36"),
        pytest.param("HF Trainer", Attention.SDPA, id="newest"),
        pytest.param("LLaMA-Factory 0.2, DeepSpeed", Attention.EAGER, id="LLaMA-Factory of 2023"),
        pytest.param("LLaMA-Factory 0.9", Attention.SDPA, id="LLaMA-Factory of 2025"),
        pytest.param("home-made", None, id="unknown"),
    ],
)
def test_the_version_says_how_attention_is_computed(framework, attention) -> None:
    assert planned_settings(TrainerSettings(), framework).attention is attention


def test_a_plan_overrides_the_table() -> None:
    stated = TrainerSettings(attention=Attention.EAGER, loss=Loss.EAGER, kernels=Kernels.EAGER)
    trainer = planned_trainer_memory(stated, "unsloth 2025.3")
    assert (trainer.eager_attention, trainer.loss, trainer.kernels) == (True, Loss.EAGER, Kernels.EAGER)
    assert trainer.offloads_inputs


def test_every_trainer_has_its_source() -> None:
    assert all(len(habits.source) > 20 for habits in TRAINERS)
    assert all(habits.flags.keys() <= TrainerMemory.model_fields.keys() for habits in TRAINERS)
    assert habits_of("LLaMA-Factory 0.8.4, unsloth") is habits_of("unsloth")


@pytest.mark.parametrize(
    ("card", "framework", "eager"),
    [
        pytest.param("V100-SXM2-32GB", None, True, id="too old for flash attention"),
        pytest.param("T4", None, True, id="Turing"),
        pytest.param("RTX-3090", None, False, id="Ampere"),
        pytest.param("V100-SXM2-32GB", "HF Trainer 4.50", False, id="the trainer says"),
    ],
)
def test_an_old_card_has_eager_attention_by_default(card, framework, eager) -> None:
    settings = assumed_attention(TrainerSettings(), framework, CARDS[card])
    assert (settings.attention is Attention.EAGER) is eager


@pytest.mark.parametrize(
    ("card", "gib"),
    [("A40", 44.35), ("T4", 14.75), ("A10", 22.0), ("L20", 44.4), ("A100-80GB-SXM", 79.15), ("RTX-5090", 31.36)],
)
def test_a_card_has_what_torch_shows(card, gib) -> None:
    assert CARDS[card].training_gib == pytest.approx(gib, abs=0.1)


def test_the_share_of_cards_without_a_report_is_that_of_the_others() -> None:
    """It is the median of torch's figure over the data sheet's, without GDDR6 with ECC (under 0.95)."""
    shares = sorted(card.torch_gib / card.hbm_gib for card in CARDS.values() if card.torch_gib and card.hbm_gib)
    whole = [share for share in shares if share > 0.95]
    assert len(whole) >= 8
    assert whole[len(whole) // 2] == pytest.approx(0.985, abs=0.007)


@pytest.mark.parametrize(
    ("parameters", "devices", "gib"),
    [pytest.param(13.9e9, 4, 12.94, id="Baichuan2-13B on 4"), pytest.param(6.74e9, 8, 3.14, id="Llama-7B on 8")],
)
def test_deepspeed_steps_with_an_fp32_copy_of_its_gradients(parameters, devices, gib) -> None:
    """The sizes are allocations that failed in two reports."""
    fused = state_bytes_per_parameter(Strategy.ZERO2, devices=devices, precision=Precision.BF16)
    assert fused.step * parameters / GIB == pytest.approx(gib, rel=0.01)
    unfused = state_bytes_per_parameter(Strategy.ZERO2, devices=devices, trainer=TrainerMemory(fused_step=False))
    assert unfused.step * parameters / GIB == pytest.approx(3 * gib, rel=0.01)


@pytest.mark.parametrize("name", ["factory-1158", "factory-1221", "starcoder-103-8192"])
def test_runs_that_failed_for_a_known_cause_are_unlikely_to_fit(name) -> None:
    (report,) = [report for report in REPORTS if report.id == name]
    assert predicted(report, CARDS).chance < 0.4


def test_reports_are_predicted_no_worse_than_when_the_table_was_made() -> None:
    """Mean error and coverage of all reports, and of those with samples of one length (docs/accuracy-tables.md)."""
    found = [predicted(report, CARDS) for report in REPORTS]
    score = score_reports(found)
    assert (score.peaks, score.failed, score.ran) == (70, 30, 83)
    assert score.mean_error_pct < 17.6
    assert score.failed_below_04 >= 21
    assert score.ran_above_06 >= 0.9 * score.ran
    one_length = score_reports([prediction for prediction in found if not prediction.report.id.startswith("swift")])
    assert one_length.mean_error_pct < 12.5
    assert one_length.inside_pct >= 85


def test_reports_of_methods_are_predicted_no_worse_than_when_the_table_was_made() -> None:
    """Failures and runs of preference and rollout trainings (docs/decisions/2026-11-27-memory-of-trainers.md)."""
    score = score_reports([predicted(report, CARDS) for report in METHOD_REPORTS])
    assert (score.peaks, score.failed, score.ran) == (4, 17, 17)
    assert score.failed_below_04 >= 9
    assert score.ran_above_06 >= 15


def test_open_fields_of_a_report_take_each_likely_value() -> None:
    """The assumed value counts half, so a card with 80 or 40 GB has the mean of both chances."""
    report = next(report for report in METHOD_REPORTS if report.id == "dpo-qwen7b-8x80")
    variants = [(weight, variant.gpu) for weight, variant in report.variants]
    assert variants == [(0.5, "A100-80GB-SXM"), (0.5, "A100-40GB-SXM")]
    closed = [predicted(variant.model_copy(update={"open": None}), CARDS).chance for _, variant in report.variants]
    assert predicted(report, CARDS).chance == pytest.approx(sum(closed) / 2)
    several = next(report for report in METHOD_REPORTS if report.id == "grpo-qwen7b-2xh20")
    assert len(several.variants) == 3 * 2
    assert sum(weight for weight, _ in several.variants) == pytest.approx(1)


def test_open_fields_name_fields_of_a_report() -> None:
    """Each has other likely values."""
    for report in METHOD_REPORTS:
        assert all(OTHER_VALUES[name].get(getattr(report, name)) for name in (report.open or "").split()), report.id


def torchtune_gib(
    network: str,
    seq_len: int,
    micro_batch: int,
    adapters: Adapters | None = None,
    framework: str = "torchtune, torch.compile",
    **flags: bool,
) -> float:
    """Return the GiB of tensors that torch's allocator counts for a torchtune recipe on one device."""
    architecture = find_architecture(network, bundled_catalog()).architecture
    trainer = planned_trainer_memory(TrainerSettings(), framework, one_device=adapters is None)
    setup = TrainingSetup(
        workload="asked",
        network=architecture,
        seq_len=seq_len,
        precision=Precision.BF16,
        checkpointing=usual_checkpointing(architecture, framework),
        strategy=Strategy.DDP,
        adapters=adapters,
        micro_batch=micro_batch,
    )
    return device_memory(setup, devices=1, trainer=trainer.model_copy(update=flags)).tensors_gib


@pytest.mark.parametrize(
    ("network", "seq_len", "rank", "frozen", "offloads", "published_gib"),
    [
        pytest.param("llama-3.1-8b", 2048, 8, FrozenFormat.NF4, False, 7.4, id="8B QLoRA on an RTX 4090"),
        pytest.param("llama-3.2-3b", 4096, 64, FrozenFormat.SIXTEEN_BIT, True, 8.5, id="3B LoRA, inputs offloaded"),
        pytest.param("llama-3.2-3b", 4096, 64, FrozenFormat.NF4, True, 4.6, id="3B QLoRA, inputs offloaded"),
    ],
)
def test_recipes_of_torchtune_need_the_memory_in_its_readme(network, seq_len, rank, frozen, offloads, published_gib):
    """Micro-batch 2, torch.compile. The 3B rows are "Peak Memory Active"; for 8B the kind of count is not stated."""
    adapters = Adapters(rank=rank, frozen=frozen)
    counted = torchtune_gib(network, seq_len, 2, adapters, offloads_inputs=offloads)
    assert counted == pytest.approx(published_gib, rel=0.05)
    assert FITTED.slack * counted == pytest.approx(published_gib, rel=0.1), "with the allocator's slack"


def test_all_weights_on_one_card_need_weights_inputs_and_logits():
    """1.5B at 8,192 tokens needs 10.95 GiB on an RTX 4090, with an eager loss.

    By hand: weights in 16 bits without gradients or moments; 28 inputs of 1,536 numbers per token; for each of 151,936
    logits 2 bytes, 4 of its log-softmax, and 4 of one chunk in eight; 8 bytes per hidden unit of the last norm.
    """
    weights, inputs = 2 * 1_543_714_304, 28 * 2 * 1536 * 8192
    logits, norm = 8192 * 151_936 * (2 + 4 + 4 / 8), 8 * 1536 * 8192
    counted = torchtune_gib("qwen2.5-1.5b", 8192, 1, framework="torchtune")
    assert counted == pytest.approx((weights + inputs + logits + norm) / GIB, rel=1e-3)
    assert counted == pytest.approx(10.95, rel=0.05)


@pytest.mark.parametrize(
    ("stated", "one_device", "optimizer", "in_backward"),
    [
        pytest.param(TrainerSettings(), True, Optimizer.PAGED_ADAMW, True, id="one device"),
        pytest.param(TrainerSettings(), False, Optimizer.ADAMW, False, id="several devices, or adapters"),
        pytest.param(TrainerSettings(optimizer=Optimizer.ADAMW), True, Optimizer.ADAMW, False, id="another optimizer"),
    ],
)
def test_the_recipe_of_one_device_steps_in_the_backward_pass(stated, one_device, optimizer, in_backward):
    trainer = planned_trainer_memory(stated, "torchtune", one_device=one_device)
    assert (trainer.optimizer, trainer.step_in_backward) == (optimizer, in_backward)
    assert trainer.weights is WeightFormat.SIXTEEN_BIT


def test_no_other_trainer_implies_a_recipe():
    network = find_architecture("qwen2.5-1.5b", bundled_catalog()).architecture
    assert usual_checkpointing(network, "torchtune") is Checkpointing.FULL
    assert usual_checkpointing(network, "HF Trainer") is None
    trainer = planned_trainer_memory(TrainerSettings(), "HF Trainer", one_device=True)
    assert (trainer.optimizer, trainer.step_in_backward) == (Optimizer.ADAMW, False)
