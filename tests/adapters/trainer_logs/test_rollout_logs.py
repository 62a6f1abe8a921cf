"""Logs of trainings on their own completions: phases, lengths and divergence, and the run that is made of them."""

import json
from statistics import fmean

import pytest

from planner.adapters.trainer_logs.trainer_log import OtherWork
from planner.model.evidence.run_rates import training_passes
from planner.speed.physics.planned_config import observed_run
from planner.speed.throughput.matching_runs import measured_runs, same_workload
from planner.use_cases.importing.check_run import check_run
from planner.use_cases.importing.imported_runs import records_of
from planner.use_cases.importing.run_facts import Stated
from tests.speed.throughput.asking import asked

STEP = (
    "{before}step:{n} - global_seqlen/mean:547190.500 - actor/kl_loss:0.001 - actor/grad_norm:0.069 - perf/mfu/actor:"
    "0.4 - response_length/mean:324.958 - response_length/max:1024.000 - response_length/clip_ratio:0.004 - "
    "prompt_length/mean:102.534 - prompt_length/max:256.000 - timing_s/gen:74.020 - timing_s/old_log_prob:3.566 - "
    "timing_s/ref:3.420 - timing_s/adv:1.167 - timing_s/update_actor:14.302{more} - timing_s/step:96.551 - "
    "timing_per_token_ms/gen:0.044 - perf/total_num_tokens:2188762.000 - perf/time_per_step:96.551 - "
    "perf/throughput:5667.335{end}\n"
)
"""A step as verl prints it; figures of its issue 1208, four devices of 1,024 prompts with five completions each."""
RAY = "(TaskRunner pid=16292) "


def verl(count: int = 12, *, before: str = "", more: str = "", end: str = "") -> str:
    """Return the console's output of the given number of steps."""
    other = f"{before}Training Progress:   3%|3         | 1/30\n{before}step:0 - val-core/openai/gsm8k/acc/mean@1:0.5\n"
    return other + "".join(STEP.format(before=before, n=n, more=more, end=end) for n in range(1, count + 1))


@pytest.mark.parametrize(("before", "end"), [("", ""), (RAY, ""), ("", " - num_turns/mean:np.float64(2.0)")])
def test_verl_s_steps_are_read(tmp_path, read, before, end):
    """Seconds, phases and lengths as printed; 2,188,762 / (102.534 + 324.958) = 5,120 completions on four devices."""
    (tmp_path / "train.log").write_text(verl(before=before, end=end))
    log = read(tmp_path / "train.log")
    assert [span.seconds for span in log.spans] == [96.551] * 12
    assert log.rollouts.phase_seconds == pytest.approx(
        {"generation": 74.02, "old_policy": 3.566, "reference": 3.42, "training": 14.302}
    )
    assert log.rollouts.completion_tokens == pytest.approx(324.958)
    assert log.rollouts.stopped_share == pytest.approx(0.004)
    assert log.rollouts.divergence == pytest.approx(0.001)
    assert (log.facts.global_batch, log.facts.devices, log.facts.seq_len) == (5120, 4, 427)
    assert log.facts.objective == "grpo"


def test_a_critic_says_that_it_is_ppo(tmp_path, read):
    """Values and a critic's update are phases of their own."""
    (tmp_path / "train.log").write_text(verl(more=" - timing_s/values:3.1 - timing_s/update_critic:12.5"))
    log = read(tmp_path / "train.log")
    assert log.facts.objective == "ppo"
    assert log.rollouts.phase_seconds["critic"] == pytest.approx(12.5)
    assert log.rollouts.phase_seconds["values"] == pytest.approx(3.1)


def test_steps_with_a_validation_are_left_out(tmp_path, read):
    """A step in which verl tested the model is not one of training alone."""
    text = verl(6) + STEP.format(before="", n=7, more=" - timing_s/testing:30.1", end="")
    (tmp_path / "train.log").write_text(text)
    log = read(tmp_path / "train.log")
    assert [span.other_work for span in log.spans] == [None] * 6 + [OtherWork.EVALUATION]


def test_a_cut_line_is_passed_over(tmp_path, read):
    """A line that ends before the step's time says nothing, and is counted as not understood."""
    text = verl(5) + STEP.format(before="", n=6, more="", end="").partition(" - timing_s/step")[0] + "\n"
    (tmp_path / "train.log").write_text(text)
    log = read(tmp_path / "train.log")
    assert (len(log.spans), log.used_lines, log.skipped_lines) == (5, 5, 1)


def test_trl_s_own_log_has_lengths_and_divergence(logs, read):
    """Twelve steps of TRL's GRPOTrainer on a CPU: the means of its own file, recomputed here."""
    history = json.loads((logs / "trl_grpo" / "trainer_state.json").read_text())["log_history"]
    steps = [entry for entry in history if "step_time" in entry]
    for path in (logs / "trl_grpo", logs / "trl_grpo" / "console.log"):
        log = read(path)
        assert log.facts.objective == "grpo"
        assert log.rollouts.step_seconds == pytest.approx(fmean(step["step_time"] for step in steps), rel=1e-3)
        mean = fmean(step["completions/mean_length"] for step in steps)
        assert log.rollouts.completion_tokens == pytest.approx(mean, rel=1e-3)
        stopped = fmean(step["completions/clipped_ratio"] for step in steps)
        assert log.rollouts.stopped_share == pytest.approx(stopped, rel=1e-3)
        assert log.rollouts.divergence == pytest.approx(fmean(step["kl"] for step in steps), rel=1e-3)
        assert log.rollouts.phase_seconds == {}, "TRL times no phases in its log"


def test_a_training_on_written_answers_has_no_rollouts(logs, read):
    """TRL's SFTTrainer writes none of these figures."""
    assert read(logs / "trl").rollouts is None


def test_a_check_compares_the_training_passes_alone(tmp_path, catalog):
    """5,120 samples in 14.302 s of 96.551 s: the passes are 6.75 times as fast as the whole steps."""
    (tmp_path / "train.log").write_text(verl())
    stated = Stated(workload="qwen2.5-1.5b", accelerator="H100-SXM")
    (run,) = records_of(tmp_path / "train.log", stated, catalog)
    assert run.throughput.value == pytest.approx(5120 / 96.551, rel=0.01)
    passes = training_passes(run)
    assert passes.throughput.value == pytest.approx(5120 / 14.302, rel=0.01)
    checked = check_run(run, catalog)
    assert checked.sentence.startswith("Of its training passes alone: ")
    assert checked.measured == run.throughput
    assert checked.rollouts == run.log.rollouts


def test_a_run_with_rollouts_answers_no_plan_and_corrects_the_passes(tmp_path, catalog):
    """Its samples are completions and its seconds those of generation too: it measures no training on tokens."""
    (tmp_path / "train.log").write_text(verl())
    stated = Stated(workload="qwen2.5-1.5b", accelerator="H100-SXM", micro_batch=4)
    (run,) = records_of(tmp_path / "train.log", stated, catalog)
    plain = run.model_copy(update={"objective": None})
    job, candidate = asked(catalog, {"own": "H100-SXM", "count": 4}, workload={"ref": "qwen2.5-1.5b", "seq_len": 427})
    mine = catalog.model_copy(update={"runs": {plain.id: plain}})
    assert measured_runs(job, candidate, mine) == []
    assert not same_workload(plain, job)
    seen = observed_run(run, catalog, candidate.node)
    assert seen.tokens_per_s_per_gpu == pytest.approx(5120 / 14.302 * 427 / 4, rel=0.01)
