"""What the names of trainers and cards say of memory, and DeepSpeed's step."""

from __future__ import annotations

import pytest

from planner.adapters.csv_rows import read_rows
from planner.adapters.workspace import catalogs_dir
from planner.model.hardware.machines import Accelerator
from planner.model.network.trainer_memory import Attention, Kernels, Loss, TrainerMemory, TrainerSettings
from planner.model.network.workload import Precision, Strategy
from planner.scenario.trainers import TRAINERS, habits_of
from planner.speed.calibration.memory_reports import MemoryReport, predicted, score_reports
from planner.speed.memory.planned_settings import assumed_attention, planned_settings, planned_trainer_memory
from planner.speed.memory.states import state_bytes_per_parameter

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
def test_an_old_card_writes_attention_out_where_nobody_says_more(card, framework, eager) -> None:
    settings = assumed_attention(TrainerSettings(), framework, CARDS[card])
    assert (settings.attention is Attention.EAGER) is eager


@pytest.mark.parametrize(
    ("card", "gib"),
    [("A40", 44.35), ("T4", 14.75), ("A10", 22.0), ("L20", 44.4), ("A100-80GB-SXM", 79.15), ("RTX-5090", 31.36)],
)
def test_a_card_has_what_torch_shows(card, gib) -> None:
    assert CARDS[card].training_gib == pytest.approx(gib, abs=0.1)


def test_the_share_of_cards_without_a_report_is_that_of_the_others() -> None:
    """GDDR6 with ECC apart (under 0.95), the middle of torch's figure over the data sheet's."""
    shares = sorted(card.torch_gib / card.hbm_gib for card in CARDS.values() if card.torch_gib and card.hbm_gib)
    whole = [share for share in shares if share > 0.95]
    assert len(whole) >= 8
    assert whole[len(whole) // 2] == pytest.approx(0.985, abs=0.007)


@pytest.mark.parametrize(
    ("parameters", "devices", "gib"),
    [pytest.param(13.9e9, 4, 12.94, id="Baichuan2-13B on 4"), pytest.param(6.74e9, 8, 3.14, id="Llama-7B on 8")],
)
def test_deepspeed_steps_with_an_fp32_copy_of_its_gradients(parameters, devices, gib) -> None:
    """The sizes that could not be allocated, as two reports print them."""
    fused = state_bytes_per_parameter(Strategy.ZERO2, devices=devices, precision=Precision.BF16)
    assert fused.step * parameters / GIB == pytest.approx(gib, rel=0.01)
    unfused = state_bytes_per_parameter(Strategy.ZERO2, devices=devices, trainer=TrainerMemory(fused_step=False))
    assert unfused.step * parameters / GIB == pytest.approx(3 * gib, rel=0.01)


@pytest.mark.parametrize("name", ["factory-1158", "factory-1221", "starcoder-103-8192"])
def test_runs_that_failed_for_a_known_cause_are_unlikely_to_fit(name) -> None:
    (report,) = [report for report in REPORTS if report.id == name]
    assert predicted(report, CARDS).chance < 0.4


def test_reports_are_predicted_no_worse_than_when_the_table_was_made() -> None:
    """Mean error and coverage of all, and of samples of one length alone (docs/accuracy-tables.md, Memory)."""
    found = [predicted(report, CARDS) for report in REPORTS]
    score = score_reports(found)
    assert (score.peaks, score.failed, score.ran) == (70, 30, 83)
    assert score.mean_error_pct < 17.6
    assert score.failed_below_04 >= 21
    assert score.ran_above_06 >= 0.9 * score.ran
    one_length = score_reports([one for one in found if not one.report.id.startswith("swift")])
    assert one_length.mean_error_pct < 12.5
    assert one_length.inside_pct >= 85


def test_reports_of_methods_are_predicted_no_worse_than_when_the_table_was_made() -> None:
    """Failures and runs of preference and rollout trainings (docs/decisions/2026-11-27-memory-of-rollouts.md)."""
    score = score_reports([predicted(report, CARDS) for report in METHOD_REPORTS])
    assert (score.peaks, score.failed, score.ran) == (4, 15, 16)
    assert score.failed_below_04 >= 7
    assert score.ran_above_06 >= 14
