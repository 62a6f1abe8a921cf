"""Logs of trainings on preferences: the method by its figures, step times, and lengths of both answers."""

from __future__ import annotations

import json

import pytest

from planner.adapters.trainer_logs.log_source import open_source
from planner.adapters.trainer_logs.rollout_figures import objective_of_figures
from planner.model.network.training_method import TrainingMethod
from planner.scenario.recorded_setup import setup_of_run
from planner.use_cases.importing.imported_runs import record_of_log
from planner.use_cases.importing.run_facts import Stated
from tests.adapters.trainer_logs.conftest import part
from tests.bundled import bundled_catalog


def test_a_log_of_dpo_times_its_steps_as_a_callback_did(logs, read, timed):
    log = read(logs / "trl_dpo")
    found = part(log)
    assert found.seconds / found.steps == pytest.approx(timed("trl_dpo"), rel=0.05)
    assert (log.facts.objective, log.facts.micro_batch, log.doubts) == ("dpo", 4, ())


def test_its_record_counts_pairs_of_two_sequences_each(logs, read, timed):
    """Prompts of 30 words on average, answers of 60 and an end: 91 tokens a sequence; 4 pairs a step."""
    stated = Stated(workload="qwen3-0.6b", accelerator="RTX-3090", gpus=1, seq_len=160, global_batch=4)
    log = read(logs / "trl_dpo")
    record = record_of_log(log, open_source(logs / "trl_dpo"), stated, bundled_catalog())
    assert record.objective is TrainingMethod.DPO
    assert record.seq_len == pytest.approx(91, abs=2)
    assert record.throughput.value == pytest.approx(4 / timed("trl_dpo"), rel=0.05)
    assert not [doubt for doubt in record.verdict if "totals" in doubt]
    assert setup_of_run(record).objective.method is TrainingMethod.DPO


@pytest.mark.parametrize(
    ("figures", "objective"),
    [
        # as TRL 1.16 names them in the lines of each trainer
        pytest.param({"loss", "rewards/chosen", "rewards/margins", "logps/chosen"}, "dpo", id="DPO, and CPO"),
        pytest.param({"rewards/chosen", "rewards/margins", "nll_loss", "log_odds_ratio"}, "orpo", id="ORPO"),
        pytest.param({"rewards/chosen", "rewards/margins", "kl"}, "kto", id="KTO"),
        pytest.param({"loss", "min_reward", "mean_reward", "max_reward", "margin"}, "rm", id="rewards"),
        pytest.param({"loss", "num_tokens", "mean_token_accuracy"}, None, id="SFT"),
        pytest.param({"loss", "reward", "kl", "completions/mean_length"}, None, id="GRPO is none of them"),
    ],
)
def test_the_method_by_its_figures(figures: set[str], objective: str | None) -> None:
    assert objective_of_figures(figures) == objective


@pytest.mark.parametrize(("folder", "objective"), [("trl_kto", "kto"), ("trl_orpo", "orpo"), ("trl_reward", "rm")])
def test_the_method_of_a_real_log(folder: str, objective: str, logs, read) -> None:
    """Eight steps of four samples on a processor, by TRL 1.16."""
    facts = read(logs / folder).facts
    assert (facts.objective, facts.micro_batch) == (objective, 4)


def test_a_configuration_beside_the_log_tells_simpo_from_dpo(write, read):
    state = {
        "global_step": 10, "max_steps": 10, "train_batch_size": 2,
        "log_history": [
            {"loss": 0.7, "rewards/chosen": 0.1, "rewards/margins": 0.1, "step": 10},
            {"train_runtime": 20.0, "train_samples_per_second": 1.0, "train_steps_per_second": 0.5, "step": 10},
        ],
    }  # fmt: skip
    config = {"stage": "dpo", "pref_loss": "simpo", "model_name_or_path": "Qwen/Qwen2.5-7B", "cutoff_len": 2048}
    log = read(write(trainer_state__json=json.dumps(state), args__json=json.dumps(config)))
    assert log.facts.objective == "simpo"
