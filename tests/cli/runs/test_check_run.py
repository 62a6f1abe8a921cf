"""`planner check-run`: a log, a result or a run's id; exit code 0 whatever the answer."""

from __future__ import annotations

from pathlib import Path

LOGS = Path(__file__).parents[2] / "adapters" / "trainer_logs" / "logs"


def test_a_run_by_its_id_on_a_screen(planner):
    answer = planner("check-run", "seed-003-rtx3090-ddp-x8")
    assert answer.code == 0
    assert "the link between accelerators" in answer.out
    assert "nvidia-smi topo -p2p r" in answer.out
    assert max(map(len, answer.out.splitlines())) <= 100


def test_a_log_that_is_not_stored_as_a_document(planner):
    log = LOGS / "megatron" / "megatron.log"
    answer = planner("check-run", log, "--workload", "gpt-305m", "--accelerator", "RTX-3090", "--json")
    assert answer.code == 0, answer.err
    assert answer.document["verdict"] in ("normal", "slow", "too_fast")
    assert answer.document["expected"]["low"] < answer.document["expected"]["value"]
    assert planner("runs", "list", "--json").out.count("-log-") == 0


def test_the_screen_says_how_many_lines_were_used_and_skipped(planner, tmp_path):
    """Three of the twelve lines of iterations lose the time that they state."""
    text = (LOGS / "megatron" / "megatron.log").read_text(encoding="utf-8")
    spoilt = text.replace("elapsed time per iteration (ms): 1", "elapsed time per iteration (ms): nan 1", 3)
    (tmp_path / "megatron.log").write_text(spoilt, encoding="utf-8")
    answer = planner("check-run", tmp_path / "megatron.log", "--workload", "gpt-305m", "--accelerator", "RTX-3090")
    assert "9 lines used, 3 skipped" in " ".join(answer.out.split())


def test_what_is_missing_is_asked_for_by_its_flag(planner):
    answer = planner("check-run", LOGS / "megatron" / "megatron.log", "--workload", "gpt-305m")
    assert (answer.code, "Add --accelerator" in answer.err) == (2, True)


def test_a_name_that_is_neither_path_nor_run(planner):
    answer = planner("check-run", "no-such-run")
    assert (answer.code, "no run 'no-such-run'" in answer.err) == (2, True)


def test_the_audit_stands_with_the_answer_and_with_the_import(planner):
    log = LOGS / "megatron" / "megatron.log"
    facts = ("--workload", "llama3-8b", "--accelerator", "RTX-3090")  # 58 samples/s of 8B parameters on two cards
    checked = planner("check-run", log, *facts, "--json").document
    assert checked["audit"]["verdict"] == "impossible"
    imported = planner("runs", "import", log, *facts, "--json")
    assert imported.document["audits"] == [checked["audit"]]
    assert "impossible as stated" in planner("check-run", log, *facts).out
    assert "impossible as stated" in planner("runs", "import", log, *facts).err
