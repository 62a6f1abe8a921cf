"""A person's own token shards: read in order, dealt out like synthetic samples, refused where they cannot be right."""

from __future__ import annotations

import json
import struct
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch

from planner.cli.main import run
from planner.launcher.collect.record import record_of
from planner.workloads.contract.failure import RunError
from planner.workloads.contract.spec import Spec, SpecError
from planner.workloads.contract.spec_reader import from_json
from planner.workloads.inputs.shard_data import ShardTokens
from planner.workloads.inputs.shards import open_shards

CPU = torch.device("cpu")
MakeSpec = Callable[..., Spec]


@pytest.fixture
def spec_of_data(spec_document: Callable[..., dict[str, Any]]) -> MakeSpec:
    """Return the samples of 4 tokens, ids under 1,024."""

    def make(path: Path, dtype: str = "uint16", **changes: Any) -> Spec:
        data = {"path": str(path), "dtype": dtype}
        return from_json(spec_document(seq_len=4, **{"micro_batch": 1, "data": data} | changes))

    return make


def write(path: Path, tokens: list[int], dtype: str = "uint16") -> Path:
    if path.suffix == ".npy":
        numpy.save(path, numpy.array(tokens, dtype=dtype))
    else:
        path.write_bytes(array({"uint16": "H", "uint32": "I"}[dtype], tokens).tobytes())
    return path


@pytest.mark.parametrize(
    ("name", "dtype"),
    [("a.npy", "uint16"), ("a.npy", "uint32"), ("a.bin", "uint16"), ("a.bin", "uint32")],
)
def test_samples_are_consecutive_blocks_and_their_targets_one_further(
    tmp_path: Path, spec_of_data: MakeSpec, name: str, dtype: str
) -> None:
    """Twelve tokens hold two samples of 4 and their targets; the last three tokens are no whole sample."""
    shards = write(tmp_path / name, [1023, *range(1, 12)], dtype)
    tokens = ShardTokens(spec_of_data(shards, dtype), rank=0, world_size=1, device=CPU)
    steps = [tokens.micro_batches(step)[0] for step in range(3)]
    assert [inputs.tolist() for inputs, _ in steps] == [[[1023, 1, 2, 3]], [[4, 5, 6, 7]], [[1023, 1, 2, 3]]]
    assert [targets.tolist() for _, targets in steps] == [[[1, 2, 3, 4]], [[5, 6, 7, 8]], [[1, 2, 3, 4]]]
    assert steps[0][0].dtype == torch.int64


def test_a_folder_is_read_in_the_order_of_names_and_other_files_are_left_alone(
    tmp_path: Path, spec_of_data: MakeSpec
) -> None:
    write(tmp_path / "b.bin", [20, 21, 22, 23, 24])
    write(tmp_path / "a.npy", [10, 11, 12, 13, 14])
    (tmp_path / "README.txt").write_text("not tokens")
    shards = open_shards(spec_of_data(tmp_path))
    assert shards.samples == 2
    assert [shards.place(number)[0].path.name for number in range(3)] == ["a.npy", "b.bin", "a.npy"]


@pytest.mark.parametrize(
    ("micro_batch", "accumulation", "world_size"), [(4, 1, 1), (1, 4, 1), (2, 1, 2), (1, 2, 2), (1, 1, 4)]
)
def test_any_split_of_a_global_batch_reads_the_same_samples(
    tmp_path: Path, spec_of_data: MakeSpec, micro_batch: int, accumulation: int, world_size: int
) -> None:
    path = write(tmp_path / "a.bin", list(range(33)))
    spec = spec_of_data(path, micro_batch=micro_batch, grad_accumulation=accumulation)
    firsts = []
    for rank in range(world_size):
        tokens = ShardTokens(spec, rank=rank, world_size=world_size, device=CPU)
        batches = [batch for step in range(2) for batch in tokens.micro_batches(step)]
        firsts += [int(row[0]) for inputs, _ in batches for row in inputs]
    assert sorted(firsts) == [4 * number for number in range(8)]


NPY_2D = numpy.zeros((2, 8), dtype="uint16")


def half_an_npy(path: Path) -> None:
    write(path, list(range(100)))
    path.write_bytes(path.read_bytes()[:-50])


@pytest.mark.parametrize(
    ("name", "make", "message"),
    [
        pytest.param("none.bin", None, "there is no such file or folder", id="missing"),
        pytest.param(
            "a.bin", lambda path: write(path, [1, 2, 3, 4, 1024]), "hold the id 1024; the vocabulary has 1024"
        ),
        pytest.param("a.bin", lambda path: write(path, [1, 2, 3, 4]), "holds 4 tokens; one sample needs 5", id="short"),
        pytest.param("a.bin", lambda path: path.write_bytes(b"\x01" * 11), "11 bytes of uint16 are not", id="odd size"),
        pytest.param("a.bin", lambda path: path.write_bytes(b""), "is empty", id="empty"),
        pytest.param("a.npy", half_an_npy, "are not 100 numbers. Is the file cut short", id="cut short"),
        pytest.param("a.npy", lambda path: path.write_bytes(b"PK\x03\x04 a zip"), "is no .npy file", id="no npy"),
        pytest.param("a.npy", lambda path: path.write_bytes(b"\x93NUMPY\x01\x00\xff"), "header cannot be", id="header"),
        pytest.param("a.npy", lambda path: numpy.save(path, NPY_2D), r"2 dimension\(s\) of '<u2'", id="two dimensions"),
        pytest.param("a.npy", lambda path: numpy.save(path, numpy.zeros(9)), "of '<f8'", id="not tokens"),
        pytest.param("a.txt", lambda path: path.write_text("1 2 3"), "is no token shard", id="ending"),
        pytest.param("folder", lambda path: path.mkdir(), "holds no token shards", id="an empty folder"),
    ],
)
def test_what_cannot_be_trained_on_is_refused(
    tmp_path: Path, spec_of_data: MakeSpec, name: str, make: Callable[[Path], object] | None, message: str
) -> None:
    path = tmp_path / name
    if make is not None:
        make(path)
    with pytest.raises(SpecError, match=message) as refused:
        open_shards(spec_of_data(path))
    assert name in str(refused.value)


def test_a_wrong_id_far_inside_ends_the_run_where_it_is_read(tmp_path: Path, spec_of_data: MakeSpec) -> None:
    path = write(tmp_path / "a.bin", [*range(1, 6), 60_000, *range(1, 10)])
    tokens = ShardTokens(spec_of_data(path), rank=0, world_size=1, device=CPU)
    tokens.micro_batches(0)
    with pytest.raises(RunError, match="tokens 4 to 8 hold the id 60000"):
        tokens.micro_batches(1)


def test_less_data_than_a_step_takes_is_refused(tmp_path: Path, spec_of_data: MakeSpec) -> None:
    path = write(tmp_path / "a.bin", list(range(9)))
    with pytest.raises(RunError, match="hold 2 samples of 4 tokens, and one step takes 4"):
        ShardTokens(spec_of_data(path), rank=0, world_size=4, device=CPU)


def test_an_npy_of_version_2_is_read_too(tmp_path: Path, spec_of_data: MakeSpec) -> None:
    """Its header has four bytes of length where version 1 has two (numpy.lib.format)."""
    header = b"{'descr': '<u2', 'fortran_order': False, 'shape': (5,), }\n"
    numbers = array("H", range(5)).tobytes()
    path = tmp_path / "a.npy"
    path.write_bytes(b"\x93NUMPY\x02\x00" + struct.pack("<I", len(header)) + header + numbers)
    assert numpy.load(path).tolist() == [0, 1, 2, 3, 4]
    assert open_shards(spec_of_data(path)).samples == 1


@pytest.mark.slow
def test_two_processes_train_on_shards_and_the_record_says_so(
    tmp_path: Path, bare_node: Callable[[], Any], spec_document: Callable[..., dict[str, Any]]
) -> None:
    """Tokens that repeat: learned by heart far below what random tokens allow."""
    write(tmp_path / "a.npy", [number % 7 for number in range(129)])
    write(tmp_path / "b.bin", [number % 7 for number in range(300)])
    data = {"path": str(tmp_path), "dtype": "uint16"}
    node_run = bare_node().run(spec_document(micro_batch=1, data=data), processes=2)
    assert node_run.code == 0, node_run.stderr
    result = node_run.result
    assert result["loss_last"] < result["losses_first10"][0] - 0.5
    assert (result["padding_tokens"], result["tokens"]) == (0, result["samples"] * 128)
    record = record_of([result], aliases={})
    assert record.data == "shards"
    assert record.data_wait_fraction == pytest.approx(result["data_wait_s"] / result["window_s"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["--data", "nowhere.bin"], "nowhere.bin: there is no such file", id="no data"),
        pytest.param(["--data", ".", "--data-dtype", "int8"], "--data-dtype int8", id="dtype"),
    ],
)
def test_wrong_data_is_refused_before_anything_runs(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert run(["bench", "cpu-smoke", "--gpus", "1", "--json", *arguments]) == 2
    captured = capsys.readouterr()
    assert message in json.loads(captured.out)["error"]["message"]
