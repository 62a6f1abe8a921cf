"""Tables as W&B, MLflow and TensorBoard give them out, and Parquet."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from planner.adapters.trainer_logs import trackers
from planner.errors import InputError
from tests.adapters.trainer_logs.conftest import part


def history(logs: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (logs / "wandb" / "history.jsonl").read_text(encoding="utf-8").splitlines()]


def written(path: Path, columns: dict[str, list[Any]]) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


def test_a_history_in_parquet_is_read_as_its_json_lines_are(tmp_path, logs, read):
    rows = history(logs)
    names = dict.fromkeys(name for row in rows for name in row)
    path = written(tmp_path / "0000.parquet", {name: [row.get(name) for row in rows] for name in names})
    mine, theirs = part(read(path)), part(read(logs / "wandb"))
    assert mine.steps == theirs.steps
    assert mine.seconds == pytest.approx(theirs.seconds, rel=1e-6)


def test_times_of_parquet_s_own_type_are_read(tmp_path, read):
    times = pa.array([1_700_000_000_000 + 2_000 * n for n in range(20)], pa.timestamp("ms"))
    pq.write_table(pa.table({"step": pa.array(range(20)), "timestamp": times}), tmp_path / "a.parquet")
    found = part(read(tmp_path / "a.parquet"))
    assert found.seconds / found.steps == 2.0


def test_parquet_without_the_columns_is_refused_with_what_it_needs(tmp_path, read):
    with pytest.raises(InputError, match="say no step") as caught:
        read(written(tmp_path / "a.parquet", {"a": [1, 2]}))
    assert "column step" in caught.value.fix


@pytest.mark.parametrize("data", [b"PAR1" + b"\x00" * 50 + b"PAR1", b"PAR1", b"", b"step,elapsed_s\n1,1\n"])
def test_a_file_that_is_no_parquet_is_refused(tmp_path, read, data):
    (tmp_path / "a.parquet").write_bytes(data)
    with pytest.raises(InputError, match="is no Parquet file"):
        read(tmp_path / "a.parquet")


def test_parquet_that_unpacks_to_too_much_is_refused_before_it_is_unpacked(tmp_path, read, monkeypatch):
    path = written(tmp_path / "a.parquet", {"step": list(range(1000)), "elapsed_s": [float(n) for n in range(1000)]})
    monkeypatch.setattr(trackers, "MOST_COLUMN_BYTES", 1_000)
    with pytest.raises(InputError, match="unpacks to"):
        read(path)


def test_too_many_rows_of_parquet_are_refused(tmp_path, read, monkeypatch):
    monkeypatch.setattr(trackers, "MOST_ROWS", 10)
    with pytest.raises(InputError, match="over 10 rows"):
        read(written(tmp_path / "a.parquet", {"step": list(range(11))}))


def test_without_pyarrow_it_is_asked_for(tmp_path, read, monkeypatch):
    path = written(tmp_path / "a.parquet", {"step": [1]})
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(InputError, match="needs pyarrow") as caught:
        read(path)
    assert "training-planner[app]" in caught.value.fix


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param(
            "loss.csv", "Wall time,Step,Value\n" + "".join(f"{1.7e9 + 2 * n:.2f},{n},2.5\n" for n in range(20)),
            id="TensorBoard's CSV",
        ),
        pytest.param(
            "loss.json", json.dumps([[1.7e9 + 2 * n, n, 2.5] for n in range(20)]), id="TensorBoard's JSON",
        ),
        pytest.param(
            "history.json",
            json.dumps({"metrics": [
                {"key": "loss", "value": 2.5, "timestamp": 1_700_000_000_000 + 2_000 * n, "step": n} for n in range(20)
            ]}),
            id="MLflow's history of a metric",
        ),
        pytest.param(
            "wandb_export.csv",
            '"Relative Time (Process)","happy-run-1 - train/global_step","happy-run-1 - train/global_step__MIN",'
            '"happy-run-1 - train/global_step__MAX"\n' + "".join(f"{2 * n},{n},{n},{n}\n" for n in range(20)),
            id="a chart of W&B",
        ),
    ],
)  # fmt: skip
def test_what_others_give_out_is_read(write, read, tmp_path, name, text):
    (tmp_path / name).write_text(text, encoding="utf-8")
    found = part(read(tmp_path / name))
    assert found.seconds / found.steps == pytest.approx(2.0)


def test_an_evaluation_between_two_rows_of_one_step_is_left_out(write, read):
    rows = "".join(
        f"{n},{2 * n + 50 * (n > 10)},2.5\n" + (f"{n},{2 * n + 50},\n" if n == 10 else "") for n in range(21)
    )
    found = part(read(write(log__csv="step,elapsed_s,loss\n" + rows)))
    assert (found.steps, found.seconds) == (20, 40.0)


@pytest.mark.parametrize(
    ("name", "data", "told", "fix"),
    [
        pytest.param("mlflow.db", b"SQLite format 3\x00", "MLflow's", "get_metric_history", id="a database"),
        pytest.param("run-abc.wandb", b":W&B\x00\x00", "W&B's own", "output.log", id="W&B"),
        pytest.param("events.out.tfevents.1.host.1.0", b"\x18\x00", "TensorBoard's", "as CSV", id="TensorBoard"),
        pytest.param("data.log", b"PAR1....", "Parquet", "Rename", id="Parquet of another name"),
    ],
)
def test_files_of_others_that_are_no_text_say_what_to_do(tmp_path, read, name, data, told, fix):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=told) as caught:
        read(tmp_path / name)
    assert fix in caught.value.fix
