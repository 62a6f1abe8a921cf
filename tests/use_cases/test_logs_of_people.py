"""Ordinary folders and logs: read once and right, or refused with the reason; never an invented speed."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from planner.adapters.documents import parse_model
from planner.adapters.stored_prices.price_filter import NOTHING
from planner.errors import InputError
from planner.model.evidence.run import RunRecord
from planner.model.network.adapters import FrozenFormat
from planner.model.plan.plan import Plan
from planner.speed.diagnosis.run_setup import setup_of
from planner.use_cases import catalogs, plans
from planner.use_cases.asking.ask import plan_of_question
from planner.use_cases.asking.question import TrainingQuestion
from planner.use_cases.importing.check_run import check_run
from planner.use_cases.importing.imported_runs import records_of
from planner.use_cases.importing.run_facts import MissingFactError, Stated
from tests.use_cases.logs_of_people import (
    factory_folder,
    factory_rows,
    megatron_line,
    nanochat,
    trainer_console,
)

CATALOG = catalogs.audited(catalogs.open_catalog(None, wanted=NOTHING))
FOUR_A100 = Stated(workload="llama3-8b", accelerator="A100-80GB-SXM", gpus=4, seq_len=2048, global_batch=30)
ONE_A100 = Stated(workload="llama3-8b", accelerator="A100-80GB-SXM", gpus=1, seq_len=1024)


def run_of(path: Path, stated: Stated = FOUR_A100) -> RunRecord:
    """Return the one run of a log."""
    (record,) = records_of(path, stated, CATALOG)
    return record


def written(folder: Path, name: str, text: str) -> Path:
    """Write a log and return its path."""
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def test_three_files_of_one_training_are_one_run_by_its_steps(tmp_path):
    record = run_of(factory_folder(tmp_path))
    assert record.throughput.value == pytest.approx(30 / 2.0)
    assert record.log is not None
    assert len(record.log.sha256) == 3
    assert not [doubt for doubt in record.verdict if "its total" in doubt]  # 2.07 s of a step with start-up: 3 % off


def test_totals_that_say_another_speed_widen_the_range(tmp_path):
    folder = factory_folder(tmp_path)
    state = json.loads((folder / "trainer_state.json").read_text(encoding="utf-8"))
    slow = {"train_runtime": 1200.0, "train_samples_per_second": 7.5, "train_steps_per_second": 0.25}
    state["log_history"] = [{"step": 300} | slow]
    written(folder, "trainer_state.json", json.dumps(state))
    written(folder, "all_results.json", json.dumps(slow))
    record = run_of(folder)
    assert record.throughput.low <= 7.5 <= record.throughput.value == pytest.approx(15.0)
    assert any("its steps say 15 samples/s and its total 7.5" in doubt for doubt in record.verdict)


def test_files_of_two_trainings_in_one_folder_are_a_contradiction_that_names_both(tmp_path):
    folder = factory_folder(tmp_path, planned=500)
    with pytest.raises(InputError, match=r"trainer_log\.jsonl says 300 and .* says 500"):
        run_of(folder)


@pytest.mark.parametrize("apart", [None, 7.0, 90.0, 1000.0], ids=["one rank", "7 s", "90 s", "over an interval"])
def test_ranks_that_write_one_file_are_told_apart_by_their_clocks(tmp_path, apart):
    record = run_of(written(tmp_path, "trainer_log.jsonl", factory_rows(900, 10, 12.0, apart=apart)))
    assert record.throughput.value == pytest.approx(30 / 12.0, rel=0.01)
    assert record.log is not None
    assert "compile and warm-up" not in record.log.dropped_seconds


def test_hours_are_never_compile(tmp_path):
    rows = [
        json.dumps({"current_steps": step, "loss": 1.0, "elapsed_time": "0:00:00" if not step else ""} | {
            "elapsed_time": f"{7 + 20 * step // 3600}:{20 * step % 3600 // 60:02d}:{20 * step % 60:02d}"
        }) if step else json.dumps({"current_steps": 0, "loss": 1.0, "elapsed_time": "0:00:00"})
        for step in range(0, 400, 10)
    ]  # fmt: skip
    record = run_of(written(tmp_path, "trainer_log.jsonl", "\n".join(rows)))
    assert record.throughput.value == pytest.approx(30 / 20.0, rel=0.01)
    assert record.log is not None
    assert record.log.dropped_seconds == {"other work": pytest.approx(7 * 3600 + 200)}


def test_a_rate_in_tokens_that_contradicts_the_batch_is_refused(tmp_path):
    stated = Stated(workload="gpt-305m", accelerator="RTX-4090", gpus=1, seq_len=2048, global_batch=128)
    path = written(tmp_path, "nano.log", nanochat(40, rate="1,024"))  # 4 s x 1,024 tokens/s: 2 samples, not 128
    with pytest.raises(InputError, match=r"4,096 tokens, 2 samples of 2,048, and the batch is 128"):
        run_of(path, stated)
    agreed = run_of(written(tmp_path, "good.log", nanochat(40, rate="65,536")), stated)
    assert agreed.throughput.value == pytest.approx(32.0)


def test_figures_with_their_running_mean_are_read(tmp_path):
    lines = [megatron_line(step, "3000.0" if step < 4 else f"{800 + step % 5}.5/1100.0") for step in range(1, 61)]
    stated = Stated(workload="llama3-8b", accelerator="MI300X", gpus=8, seq_len=4096)
    assert run_of(written(tmp_path, "m.log", "\n".join(lines)), stated).throughput.value == pytest.approx(
        24 / 0.8025, rel=0.01
    )


def test_a_reader_that_skips_most_lines_says_so(tmp_path):
    lines = [megatron_line(step, "3000.0" if step < 20 else "unknown") for step in range(1, 61)]
    stated = Stated(workload="llama3-8b", accelerator="MI300X", gpus=8, seq_len=4096)
    record = run_of(written(tmp_path, "m.log", "\n".join(lines)), stated)
    assert any("41 of 60 lines of steps were not understood" in doubt for doubt in record.verdict)


@pytest.mark.parametrize(
    ("step", "elapsed"),
    [
        pytest.param("iteration", lambda n: f"{n * 25 // 60}m {n * 25 % 60}s", id="minutes"),
        pytest.param("global_step/max_steps", lambda n: f"4 days, 5:{n * 25 // 60:02d}:{n * 25 % 60:02d}", id="days"),
        pytest.param("global_step/max_steps", lambda n: f"1h {n * 25 // 60}m {n * 25 % 60}s", id="hours"),
    ],
)
def test_durations_of_ms_swift_are_read(tmp_path, step, elapsed):
    lines = [f"{{'loss': 0.5, '{step}': '{n}/400', 'elapsed_time': '{elapsed(n)}'}}" for n in range(5, 140, 5)]
    assert run_of(written(tmp_path, "swift.log", "\n".join(lines))).throughput.value == pytest.approx(30 / 25)


def test_a_prediction_is_no_training(tmp_path):
    path = written(tmp_path, "trainer_log.jsonl", factory_rows(500, 5, 1.0, loss=False))
    with pytest.raises(InputError, match="no training"):
        run_of(path)


def test_tokens_that_trl_counts_are_those_of_a_sample(tmp_path):
    console = trainer_console(200, 3.0, batch=12, tokens=150)
    record = run_of(written(tmp_path, "trl.log", console), ONE_A100)
    assert record.seq_len == 150
    assert record.throughput.value == pytest.approx(4.0)
    # 600 tokens/s x 6 x 7.5e9 matmul weights, and little attention, of 312e12 FLOP/s
    assert check_run(record, CATALOG).share_of_peak == pytest.approx(600 * 6 * 7.504e9 / 312e12, rel=0.03)


def test_files_of_another_training_beside_a_lone_log_are_left_out(tmp_path):
    written(tmp_path, "axolotl.yaml", "base_model: Qwen/Qwen2.5-7B\nadapter: qlora\nmicro_batch_size: 2\n")
    record = run_of(written(tmp_path, "train.log", trainer_console(80, 3.0, batch=12)), ONE_A100)
    assert (record.micro_batch, record.method) == (12, "full")


TRAINED = "trainable params: 20,971,520 || all params: 8,051,232,768 || trainable%: 0.2605"
"""Rank 8 on all linear maps of a Llama 3 8B: 8 x 2,621,440 inputs and outputs."""


def test_adapters_follow_from_the_count_of_trained_parameters(tmp_path):
    lines = f"Quantizing model to 4 bit with bitsandbytes.\n{TRAINED}"
    record = run_of(
        written(tmp_path, "q.log", trainer_console(80, 6.0, batch=4, devices=2, lines=lines)),
        Stated(workload="llama3-8b", accelerator="RTX-3090", gpus=2, seq_len=1024, packed=True),
    )
    assert record.adapters is not None
    assert (record.adapters.rank, len(record.adapters.targets), record.adapters.frozen) == (8, 7, FrozenFormat.NF4)
    whole = trainer_console(80, 6.0, batch=4, lines="  Number of trainable parameters = 8,030,261,248")
    assert run_of(written(tmp_path, "full.log", whole), ONE_A100).method == "full"


def test_check_run_and_ask_expect_the_same_speed_of_one_training(tmp_path):
    lines = f"Quantizing model to 4 bit with bitsandbytes.\n{TRAINED}"
    record = run_of(
        written(tmp_path, "q.log", trainer_console(80, 6.0, batch=4, devices=2, lines=lines)),
        Stated(workload="llama3-8b", accelerator="RTX-3090", gpus=2, seq_len=1024, packed=True),
    )
    setup = setup_of(record, CATALOG)
    assert setup is not None
    training = {
        "precision": setup.precision, "adapters": record.adapters, "framework": "HF Trainer", "global_batch": 4,
        "micro_batch": setup.micro_batch, "checkpointing": setup.checkpointing, "strategy": setup.strategy,
    }  # fmt: skip
    plan = parse_model(Plan, {
        "schema_version": 1, "name": "the same", "workload": {"ref": "llama3-8b", "seq_len": 1024},
        "work": {"samples": 1000.0}, "training": training, "options": [{"own": "RTX-3090", "count": 2}], "limits": {},
    }, where="test")  # fmt: skip
    asked = plans.compare(plan, CATALOG, today=date(2026, 11, 26)).options[0].throughput
    expected = check_run(record, CATALOG).expected
    assert asked is not None
    assert expected is not None
    assert (expected.value, expected.low, expected.high) == pytest.approx((asked.value, asked.low, asked.high))


def test_a_log_without_times_asks_for_them_and_uses_the_rest(tmp_path):
    state = {"global_step": 400, "max_steps": 400, "train_batch_size": 12, "log_history": [{"step": 400, "loss": 1.0}]}
    path = written(tmp_path, "trainer_state.json", json.dumps(state))
    stated = Stated(workload="llama3-8b", accelerator="A100-80GB-SXM", gpus=1, seq_len=1024, global_batch=12)
    with pytest.raises(MissingFactError, match="how many hours its 400 steps took") as missing:
        run_of(path, stated)
    assert missing.value.flag == "--hours"
    timed = Stated(**{**vars(stated), "hours": 2.0})
    assert run_of(path, timed).throughput.value == pytest.approx(400 * 12 / 7200)


def test_a_summary_of_w_and_b_is_a_total(tmp_path):
    summary = {"_runtime": 1000.0, "train/global_step": 400, "train/loss": 1.0}
    record = run_of(written(tmp_path, "wandb-summary.json", json.dumps(summary)))
    assert record.throughput.value == pytest.approx(30 * 400 / 1000)
    assert record.verdict


def test_a_folder_of_mlflow_with_one_value_each_is_a_total(tmp_path):
    for name, value in (("train_runtime", 500.0), ("train_loss", 1.5)):
        (tmp_path / "metrics").mkdir(exist_ok=True)
        written(tmp_path / "metrics", name, f"1790000000000 {value} 250\n")
    (tmp_path / "params").mkdir()
    written(tmp_path / "params", "per_device_train_batch_size", "4")
    record = run_of(tmp_path)
    assert record.throughput.value == pytest.approx(30 * 250 / 500)
    assert record.micro_batch == 4


def test_the_whole_job_stands_in_the_log(tmp_path):
    record = run_of(written(tmp_path, "t.log", trainer_console(50, 3.0, batch=12, planned=4000)), ONE_A100)
    assert record.log is not None
    assert record.log.planned_samples == 4000 * 12


def test_a_log_whose_speed_cannot_be_true_is_answered_by_the_estimate_of_check_run(tmp_path):
    """20 ms for 4 samples of 1,024 tokens of 8 billion parameters: 6 x 8e9 x 4 x 1024 / 0.02 = 9.8 PFLOP/s."""
    lines = f"Quantizing model to 4 bit with bitsandbytes.\n{TRAINED}"
    record = run_of(
        written(tmp_path, "q.log", trainer_console(4000, 0.02, batch=4, devices=2, planned=4000, lines=lines)),
        Stated(workload="llama3-8b", accelerator="RTX-3090", gpus=2, seq_len=1024, packed=True),
    )
    asked = plan_of_question(
        TrainingQuestion(own=("2xRTX-3090",), find=False, log=record), CATALOG, today=date(2026, 11, 26)
    )
    assert [line for line in asked.assumed if "cannot be true" in line and "check-run" in line]
    (option,) = plans.compare(asked.plan, CATALOG, today=date(2026, 11, 26)).options
    expected = check_run(record, CATALOG).expected
    assert option.throughput is not None
    assert expected is not None
    assert option.throughput.value == pytest.approx(expected.value, rel=1e-6)
    assert "your own log" not in option.throughput.source
