import json
import os

import pytest

from planner.workloads.contract import failure
from planner.workloads.contract.result import MEASURE, WARMUP, Record, steps_file, write_atomically


@pytest.fixture
def record(tmp_path):
    made = Record(tmp_path / "result.json", rank=0, world_size=2, devices_per_node=2)
    made.document.update(global_batch=8, spec={"seq_len": 128})
    return made


def test_a_failed_write_leaves_the_old_file_whole_and_no_draft(tmp_path, monkeypatch):
    path = tmp_path / "result.json"
    write_atomically(path, "old")

    def full_disk(descriptor):
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="no space"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_steps_are_on_disk_before_the_record_is(record):
    record.add_steps(WARMUP, [0.5], units=[1024])
    record.add_steps(MEASURE, [0.25, 0.25], units=[1024, 1000])
    rows = [json.loads(line) for line in steps_file(record.out).read_text().splitlines()]
    assert [(row["step"], row["phase"], row["tokens"]) for row in rows] == [
        (1, "warmup", 1024),
        (2, "measure", 1024),
        (3, "measure", 1000),
    ]
    assert not record.out.exists()


def test_a_window_cut_short_counts_what_was_measured(record):
    record.add_steps(MEASURE, [0.25, 0.25], units=[1024, 1000])
    record.close(failure.INTERRUPTED, "stopped")
    document = json.loads(record.out.read_text())
    assert (document["steps"], document["window_s"]) == (2, 0.5)
    assert (document["samples"], document["tokens"], document["padding_tokens"]) == (16, 2024, 24)


def test_the_first_reason_stays(record):
    record.close(failure.COMPLETED)
    assert record.close(failure.INTERRUPTED, "too late") == failure.COMPLETED


def test_a_rank_that_lost_its_peers_gives_the_reason_of_the_first_that_failed(record):
    failure.leave_reason(record.out, 1, failure.OUT_OF_MEMORY, "CUDA out of memory")
    failure.leave_reason(record.out, 2, failure.ERROR, "connection closed by peer")
    assert record.close(failure.ERROR, "connection closed by peer") == failure.OUT_OF_MEMORY
    assert json.loads(record.out.read_text())["error"] == "rank 1: CUDA out of memory"


def test_a_loss_that_is_not_finite_is_null_in_json(record):
    record.set_losses([7.0, float("nan")], float("inf"))
    record.close(failure.LOSS_NOT_FINITE)
    document = json.loads(record.out.read_text())
    assert document["losses_first10"] == [7.0, None]
    assert document["loss_last"] is None


def test_an_earlier_result_cannot_pass_for_this_run(tmp_path):
    out = tmp_path / "result.json"
    out.write_text("{}")
    Record(out, rank=0, world_size=1, devices_per_node=1)
    assert not out.exists()


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        pytest.param(RuntimeError("CUDA out of memory. Tried to allocate"), "out_of_memory", id="CUDA"),
        pytest.param(RuntimeError("DefaultCPUAllocator: can't allocate memory"), "out_of_memory", id="CPU"),
        pytest.param(MemoryError(), "out_of_memory", id="Python"),
        pytest.param(KeyboardInterrupt(), "interrupted", id="Ctrl-C"),
        pytest.param(failure.RunError("wrong_build", "sm_70"), "wrong_build", id="ours"),
        pytest.param(ValueError("x"), "error", id="anything else"),
    ],
)
def test_every_exception_has_a_reason(error, reason):
    assert failure.reason_of(error) == reason


@pytest.mark.parametrize("reason", failure.EXIT_REASONS)
def test_exit_code_0_means_there_is_a_measurement(reason):
    assert (failure.exit_code(reason) == 0) == (reason in ("completed", "not_steady"))
